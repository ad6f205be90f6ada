"""Rows to the alarm, against other detectors with as many false alarms: python benchmarks/monitor_peers.py [-o FILE]

Each stream has 2,000 calibrated rows, and then 10,000 rows whose log-odds changed. Rivals with a free parameter get the
most sensitive one with which at most 5 of 100 calibrated streams of 12,000 rows alarm. Ours needs none: its 5 % hold
for any number of rows. Rivals: detectors of river (``--river PYTHON`` names a Python that has it), which watch y - p or
the log loss of each row; NannyML (``--nannyml PYTHON``), which judges the accuracy of every 500 rows by the first
2,000, and its estimate without labels; and a test of c_emp every 500 rows with Bonferroni for the 24 tests. Takes
twenty minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import speed
from scipy.special import expit

from probcal.metrics import asymptotic_calibration_bound, empirical_calibration_error
from probcal.protection import CalibrationMonitor

BEFORE, AFTER, N_NULL, N_STREAMS, RATE = 2_000, 10_000, 100, 30, 0.05
WEEK = 500
CHANGES = {
    "shift + 1": (1.0, 1.0, 1.0),
    "shift + .5": (0.5, 1.0, 1.0),
    "slope x .7": (0.0, 0.7, 1.0),
    "slope x 1.5": (0.0, 1.5, 1.0),
    "shift + 1 in a fifth of the rows": (1.0, 1.0, 0.2),
    "gradual, to + 1 after 10,000 rows": (1.0, 1.0, np.nan),
}
"""Shift and slope of the log-odds, and the share of the rows that change."""
SIGNALS = {"y - p": lambda p, y: y - p, "log loss": lambda p, y: -np.log(np.where(y == 1, p, 1 - p))}
Streams = tuple[np.ndarray, np.ndarray]


def main() -> None:
    parser = speed.parser(__doc__, "monitor_peers")
    parser.add_argument("--river", metavar="PYTHON", help="a Python that has river")
    parser.add_argument("--nannyml", metavar="PYTHON", help="a Python that has NannyML")
    parser.add_argument(
        "--mean",
        type=float,
        default=-1.0,
        help="mean of the log-odds (%(default)s: a base rate of .33; 0: .5; -7.3: .002)",
    )
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    null = streams(rng, (0.0, 1.0, 1.0), N_NULL, options.mean)
    changed = {name: streams(rng, change, N_STREAMS, options.mean) for name, change in CHANGES.items()}
    worlds = {"no change": null, **changed}
    alarms = {"monitor": {name: our_alarms(*one) for name, one in worlds.items()}}
    alarms["c_emp"] = {name: c_emp_alarms(*one) for name, one in worlds.items()}
    if options.river:
        for signal, of in SIGNALS.items():
            found = {name: river(options.river, of(*one)) for name, one in worlds.items()}
            alarms |= most_sensitive(found, lambda name, value, signal=signal: f"{name} {value} on {signal}")
    if options.nannyml:
        found = {name: nannyml(options.nannyml, *one) for name, one in worlds.items()}
        alarms |= most_sensitive(found, lambda name, value: f"{name}, {value} deviations")
    lines = [["no change: alarms in 100 streams", *(str(false_alarms(rows["no change"])) for rows in alarms.values())]]
    lines += [[name, *(delay(rows[name]) for rows in alarms.values())] for name in CHANGES]
    description = (
        f"Base rate {null[1].mean():.2g}. Median rows from the change to the alarm in {N_STREAMS} streams. In "
        "brackets: streams without an alarm, and with one before the change, if there are any."
    )
    script = "monitor_peers.py" if options.mean == -1 else f"monitor_peers.py --mean {options.mean:g}"
    speed.report(options.out, script, description, ["", *alarms], lines)


def streams(
    rng: np.random.Generator, change: tuple[float, float, float], n_streams: int, mean: float = -1.0
) -> Streams:
    """Return predictions and labels, (n_streams, n_rows)."""
    shift, slope, share = change
    log_odds = rng.normal(mean, 1.5, (n_streams, BEFORE + AFTER))
    place = np.arange(BEFORE + AFTER) - BEFORE
    # a gradual change has no share: it grows from row to row
    size = np.clip(place / AFTER, 0, 1) if np.isnan(share) else (place >= 0) & (rng.random(log_odds.shape) < share)
    truth = expit(log_odds + size * (shift + (slope - 1) * log_odds))
    return expit(log_odds), (rng.random(log_odds.shape) < truth).astype(int)


def our_alarms(p: np.ndarray, y: np.ndarray) -> list[int | None]:
    alarms = [CalibrationMonitor(RATE).update(*one).alarm_ for one in zip(p, y, strict=True)]
    return [None if alarm is None else alarm - 1 for alarm in alarms]


def c_emp_alarms(p: np.ndarray, y: np.ndarray) -> list[int | None]:
    """Return the last row of the first block whose c_emp is above its bound."""
    weeks = range(0, BEFORE + AFTER, WEEK)
    most = asymptotic_calibration_bound(WEEK, RATE / len(weeks), float(np.sqrt((p * (1 - p)).mean())))
    return [
        next((first + WEEK - 1 for first in weeks if c_emp(one, labels, first) > most), None)
        for one, labels in zip(p, y, strict=True)
    ]


def c_emp(p: np.ndarray, y: np.ndarray, first: int) -> float:
    return empirical_calibration_error(y[first : first + WEEK], p[first : first + WEEK])


def river(python: str, signal: np.ndarray) -> dict[str, dict[str, list[int | None]]]:
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "streams.npy", signal)
        command = [python, Path(__file__).with_name("river_alarms.py"), Path(folder) / "streams.npy"]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(json.loads(output))


def nannyml(python: str, p: np.ndarray, y: np.ndarray) -> dict[str, dict[str, list[int | None]]]:
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "streams.npz", p=p, y=y)
        command = [python, "-W", "ignore", Path(__file__).with_name("nannyml_alarms.py")]
        output = subprocess.run(
            [*command, Path(folder) / "streams.npz", str(BEFORE)], check=True, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"NML_DISABLE_USAGE_LOGGING": "1"},
        ).stdout  # fmt: skip
    return dict(json.loads(output.splitlines()[-1]))


def most_sensitive(
    found: dict[str, dict[str, dict[str, list[int | None]]]], title: Callable[[str, str], str]
) -> dict[str, dict[str, list[int | None]]]:
    """Return the alarms of each detector with the first of its values that has few enough false alarms."""
    columns = {}
    for detector, by_value in found["no change"].items():
        sensitive = [value for value, rows in by_value.items() if false_alarms(rows) <= RATE * N_NULL]
        if sensitive:
            columns[title(detector, sensitive[0])] = {one: rows[detector][sensitive[0]] for one, rows in found.items()}
    return columns


def false_alarms(rows: list[int | None]) -> int:
    return sum(row is not None for row in rows)


def delay(rows: list[int | None]) -> str:
    missed, early = sum(row is None for row in rows), sum(row is not None and row < BEFORE for row in rows)
    delays = [np.inf if row is None else row - BEFORE + 1 for row in rows if row is None or row >= BEFORE]
    middle = float(np.quantile(delays, 0.5, method="inverted_cdf"))
    text = f"{middle:.0f}" if np.isfinite(middle) else "none"
    return text + (f" ({missed}, {early})" if missed or early else "")


if __name__ == "__main__":
    main()
