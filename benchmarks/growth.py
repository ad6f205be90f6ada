"""Seconds against rows and against probes: python benchmarks/growth.py [--learner L] [--rows N] [--probes K] [-o FILE]

The everyday loop, with scikit-learn's defaults, and ProbingClassifier on Gaussians of 50 columns: 100 probes on 10^4
to 10^6 rows, 10 to 400 probes on 30,000 rows, and both small or large together. Of long loops only so many
thresholds, evenly chosen, are fitted that it ends in a few minutes, and the seconds multiplied (column "fitted"). A
line is written as soon as it is known; what the file has already is not run again. CPU seconds in a fresh process
with one BLAS thread, the mean over several draws of the rows where they are short: how many probes a shortcut leaves
to the learner hangs on the rows. growth_report.py makes of it a model and a figure. All of it takes an hour or two,
most of it for trees.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import Any

import joblib
import numpy as np
import speed
from probing_data import gaussians

from probcal._io import csv_text

ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
PROBES = (10, 25, 50, 200, 400)
AT_ROWS, AT_PROBES = 30_000, 100
AT_ROWS_OF = {"c45": 10_000}
CORNERS = ((10_000, 10), (100_000, 10))
"""(rows, probes): without these, time of rows and time of rows for every probe could not be told apart."""
ROWS_FITTED = {"gaussian_nb": 10**7, "logistic": 10**7, "linear_svm": 4 * 10**6, "c45": 3 * 10**5}
"""Rows times fits of a loop before it is cut short."""
MOST_ROWS = {"c45": 30_000}
"""A hundred trees on 1,000,000 rows would take hours, and as many in a loop days."""
DRAWS, ENOUGH = 8, 20.0
"""A setting is timed on so many draws of the rows, or until so many seconds were spent on it."""
MEASUREMENTS = speed.RESULTS / "growth.csv"


@dataclass(frozen=True)
class Measurement:
    """``way``: "loop" or "probing". ``cpu`` and ``wall``: mean seconds of all ``probes``; ``peak``: MB."""

    learner: str
    way: str
    rows: int
    probes: int
    fitted: int
    draws: int
    cpu: float
    wall: float
    peak: float


def main() -> None:
    parser = argparse.ArgumentParser(description="Seconds against rows and against probes.")
    parser.add_argument("--learner", action="append", choices=ROWS_FITTED, help="all unless given; may be repeated")
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS, help=f"with {AT_PROBES} probes")
    parser.add_argument("--probes", type=int, nargs="*", default=PROBES, help=f"on {AT_ROWS:,} rows")
    parser.add_argument("--corners", action=argparse.BooleanOptionalAction, default=True, help=f"{CORNERS} as well")
    parser.add_argument("-o", "--out", type=Path, default=MEASUREMENTS, metavar="FILE", help="(%(default)s)")
    asked = parser.parse_args()
    done = {(one.learner, one.rows, one.probes) for one in read(asked.out)} if asked.out.exists() else set()
    settings = [(rows, AT_PROBES) for rows in asked.rows]
    settings += [(rows, probes) for rows in (AT_ROWS, *AT_ROWS_OF.values()) for probes in asked.probes]
    settings += CORNERS if asked.corners else ()
    for rows, probes in settings:
        wanted = [one for one in asked.learner or ROWS_FITTED if (one, rows, probes) not in done]
        wanted = [one for one in wanted if is_due(one, rows, probes)]
        if not wanted:
            continue
        for learner in wanted:
            both = measured(learner, rows, probes)
            write(asked.out, both)
            print(*both, sep="\n", flush=True)


def is_due(learner: str, rows: int, probes: int) -> bool:
    """Whether the learner is timed at this setting."""
    if probes in PROBES and (rows, probes) not in CORNERS:
        return rows == AT_ROWS_OF.get(learner, AT_ROWS)
    return rows <= MOST_ROWS.get(learner, rows)


def measured(learner: str, rows: int, probes: int) -> list[Measurement]:
    """Of ProbingClassifier and of the loop."""
    fitted = min(probes, max(1, ROWS_FITTED[learner] // rows))
    ours: list[speed.Cost] = []
    loops: list[speed.Cost] = []
    with tempfile.TemporaryDirectory() as name:
        data, out = Path(name) / "data.joblib", Path(name) / "thresholds.joblib"
        for draw in range(DRAWS):
            X, y = gaussians(rows, draw)
            joblib.dump((X, y, None), data)
            ours.append(once(data, learner, "probing", out, "--probes", probes))
            if spent(loops) < ENOUGH:
                joblib.dump((X, y, some_of(joblib.load(out)[0], fitted)), data)
                loops.append(once(data, learner, "default", out))
            if spent(ours) >= ENOUGH:
                break
    both = (("probing", probes, 1, ours), ("loop", fitted, probes / fitted, loops))
    return [Measurement(learner, way, rows, probes, n, len(costs), *told(costs, by)) for way, n, by, costs in both]


def once(*words: Any) -> speed.Cost:
    return speed.alone("probing_once.py", *words, "--no-labels")[0]


def spent(costs: list[speed.Cost]) -> float:
    return sum(one.cpu for one in costs)


def some_of(thresholds: np.ndarray, n: int) -> np.ndarray:
    """``n`` of them, evenly chosen."""
    if n >= len(thresholds):
        return thresholds
    return thresholds[np.linspace(0, len(thresholds) - 1, n + 2).round().astype(int)[1:-1]]


def told(costs: list[speed.Cost], times: float) -> tuple[float, float, float]:
    cpu, wall = (fmean(getattr(one, name) for one in costs) for name in ("cpu", "wall"))
    return round(cpu * times, 4), round(wall * times, 4), round(max(one.peak for one in costs), 1)


def read(path: Path) -> list[Measurement]:
    kinds = (str, str, int, int, int, int, float, float, float)
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Measurement(*(kind(one) for kind, one in zip(kinds, row.values(), strict=True)))
            for row in csv.DictReader(file)
        ]


def write(path: Path, found: list[Measurement]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        header = [[field.name for field in fields(Measurement)]] if new else []
        file.write(csv_text([*header, *(asdict(one).values() for one in found)]))


if __name__ == "__main__":
    main()
