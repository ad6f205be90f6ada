"""How protection compares with its rivals on streams in order of time: python benchmarks/protection_study.py DATA

DATA is the folder of original files. The base is a forest of 50 trees, trained on the first fifth of the rows (the
first 10,000 of Bank Marketing) and truncated to [.01, .99]. Every number is the log loss of a forecaster divided by
that of the best single expert in hindsight. Below 1, the world changed and no single expert was best throughout.
Takes
ten minutes. ``--null`` instead counts false alarms on 10,000 calibrated streams, in three minutes, ``--settings``
compares the calibrating functions and the jump rate of the Simple Jumper on Bank Marketing, and ``--regret FIGURE``
draws what each forecaster has lost against the best single expert, row by row.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import speed
from scipy.special import expit, logit
from sklearn.ensemble import RandomForestClassifier

from probcal.methods.calibrators.sigmoid import SigmoidCalibrator
from probcal.protection import CompositeJumper, ProtectedForecaster, Quadratic, SimpleJumper, first_alarm
from probcal.protection.experts import Experts

LEAST = 0.01
REAL = {
    "Bank Marketing": ("bank-marketing/bank-full.csv", 10_000),
    "electricity": ("arena/electricity6.csv.xz", None),
    "weather": ("arena/weather-NOAA.csv.xz", None),
    "EEG, eye state": ("arena/eeg-eye-state.csv.xz", None),
    "ozone": ("arena/ozone-onehr.csv.xz", None),
}
REFIT, WINDOW, WINDOW_STEP = 1000, 500, 50
FEEDBACK = ((0, 1), (100, 1), (1000, 1), (0, 10), (1000, 10))
HEAD = [
    "stream", "delay", "label every", "best single expert, bits a row", "base", "Simple Jumper", "Composite Jumper",
    "online Platt .01", "online Platt .1", "window of 500", "mean of labels", "refit every 1,000", "mixture",
    "mixture with refits", "S above 100 after",
]  # fmt: skip
FADING = 0.05
"""Weight of the newest label in the mean of labels, which is river's ``stats.EWMean(fading_factor=.05)``."""


def main() -> None:
    parser = speed.parser(__doc__, "protection_study")
    parser.add_argument("data", type=Path, help="folder of original data files")
    parser.add_argument("--null", action="store_true", help="count false alarms on calibrated streams")
    parser.add_argument("--settings", action="store_true", help="compare the settings of the Simple Jumper")
    parser.add_argument("--regret", metavar="FIGURE", help="draw curves of regret")
    options = parser.parse_args()
    if options.regret:
        regret(options.regret, options.data)
        return
    if options.settings:
        settings(options.out.replace("protection_study", "protection_settings"), next(streams(options.data)))
        return
    if options.null:
        false_alarms(options.out.replace("protection_study", "protection_null"))
        return
    lines = [
        compared(name, p, y, refits, delay, every)
        for name, p, y, rows in streams(options.data)
        for delay, every in FEEDBACK
        for refits in [None if rows is None else refitted(*rows, delay, every)]
    ]
    columns = [[float(line[place]) for line in lines if line[place]] for place in range(4, len(HEAD) - 1)]
    for name, summary in (("mean of the lines", np.mean), ("worst of the lines", np.max)):
        lines.append([name, "", "", "", *(f"{summary(column):.4f}" for column in columns), ""])
    description = "Log loss divided by that of the best single expert in hindsight. Refits are not among the experts."
    speed.report(options.out, "protection_study.py DATA", description, HEAD, lines)


def streams(folder: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray, Any]]:
    """Yield name, truncated base probabilities, labels, and the rows for refits (None for a simulated stream)."""
    for name, (file, first) in REAL.items():
        table = pd.read_csv(folder / file, sep=None, engine="python", na_values="?")
        target = table.pop(table.columns[-1])
        y = (target == "yes").to_numpy(int) if name == "Bank Marketing" else target.to_numpy(float).astype(int)
        n_train = first or len(y) // 5
        numeric = [
            column if pd.api.types.is_numeric_dtype(column) else column.astype("category").cat.codes
            for _, column in table.items()
        ]
        X = pd.concat(numeric, axis=1)
        X = X.loc[:, X.iloc[:n_train].notna().any()]
        X = X.fillna(X.iloc[:n_train].median()).to_numpy(float)
        yield name, forest(X[:n_train], y[:n_train], X[n_train:]), y[n_train:], (X, y, n_train)
    rng = np.random.default_rng(0)
    place = np.arange(20_000)
    worlds = {
        "simulated, no change": (0 * place, 1.0),
        "simulated, one jump": (np.where(place < 8_000, 0, 1.5), 1.0),
        "simulated, slope": (0 * place, np.where(place < 8_000, 1, 0.4)),
        "simulated, wave": (1.5 * np.sin(place / 1000), 1.0),
    }
    for name, (shift, slope) in worlds.items():
        p = expit(rng.normal(-1, 1.5, len(place))).clip(LEAST, 1 - LEAST)
        yield name, p, (rng.random(len(p)) < expit(shift + slope * logit(p))).astype(int), None


def forest(X: np.ndarray, y: np.ndarray, of: np.ndarray) -> np.ndarray:
    model = RandomForestClassifier(50, random_state=2021).fit(X, y)
    return np.asarray(model.predict_proba(of)[:, 1]).clip(LEAST, 1 - LEAST)


def refitted(X: np.ndarray, y: np.ndarray, n_train: int, delay: int, every: int) -> np.ndarray:
    """Return the predictions of a forest that is fitted again every 1,000 rows, on all labels that have arrived."""
    parts = []
    for start in range(0, len(y) - n_train, REFIT):
        known = np.arange(0, max(start - delay, 0), every) + n_train
        rows = np.concatenate([np.arange(n_train), known])
        parts.append(forest(X[rows], y[rows], X[n_train + start : n_train + start + REFIT]))
    return np.concatenate(parts)


def windowed(p: np.ndarray, y: np.ndarray, delay: int, every: int) -> np.ndarray:
    """Return base probabilities through a sigmoid map that is fitted every 50 rows on the last 500 labels."""
    parts = []
    for start in range(0, len(p), WINDOW_STEP):
        known = np.arange(0, max(start - delay, 0), every)[-WINDOW:]
        scores = logit(p[start : start + WINDOW_STEP])
        if len(set(y[known].tolist())) < 2:
            parts.append(expit(scores))
        else:
            parts.append(SigmoidCalibrator(input="score").fit(logit(p[known]), y[known]).predict_proba(scores)[:, 1])
    return np.concatenate(parts)


def mean_of_labels(y: np.ndarray, delay: int, every: int) -> np.ndarray:
    """Return the mean of the labels known before each row, in which older ones count ever less. At first it is .5."""
    known = y[::every].astype(float)
    means = [0.5]
    for label in known.tolist():
        means.append(label if len(means) == 1 else (1 - FADING) * means[-1] + FADING * label)
    n_known = np.maximum(np.arange(len(y)) - delay + every - 1, 0) // every
    return np.array(means)[n_known]


def compared(name: str, p: np.ndarray, y: np.ndarray, refits: np.ndarray | None, delay: int, every: int) -> list[Any]:
    """Return a line of the table."""
    feedback = {"delay": delay, "every": every}
    experts = Experts(2, 0).protect(p, y, np.empty((len(p), 0)), delay, every)
    best = min(bits(expert, y) for expert in experts.T)
    rate = 1 / (1 + delay // every / 4)  # as ProtectedClassifier has it
    protected, log10_martingale = ProtectedForecaster(0, rate, LEAST).protect(p, y, **feedback)
    alarm = first_alarm(log10_martingale, 100)
    rivals: list[np.ndarray | None] = [
        p,
        SimpleJumper(truncation=LEAST).protect(p, y, **feedback)[0],
        CompositeJumper(truncation=LEAST).protect(p, y, **feedback)[0],
        experts[:, 5],
        experts[:, 7],
        windowed(p, y, delay, every).clip(LEAST / 10, 1 - LEAST / 10),
        mean_of_labels(y, delay, every).clip(LEAST, 1 - LEAST),
        refits,
        protected,
        None if refits is None else with_refits(p, y, refits, rate, feedback),
    ]
    ratios = ["" if rival is None else f"{bits(rival, y) / best:.4f}" for rival in rivals]
    return [name, delay, every, f"{best:.4f}", *ratios, "never" if alarm is None else f"{alarm + 1:,}"]


def with_refits(p: np.ndarray, y: np.ndarray, refits: np.ndarray, rate: float, feedback: Any) -> np.ndarray:
    return ProtectedForecaster(1, rate, LEAST).protect(p, y, forecasts=refits[:, None], **feedback)[0]


def bits(p: np.ndarray, y: np.ndarray) -> float:
    return float(-np.log2(np.where(y == 1, p, 1 - p)).mean())


def regret(figure: str, folder: Path) -> None:
    """Draw, for each real stream whose labels come at once, the bits lost so far against the best single expert."""
    from matplotlib.figure import Figure

    from probcal.reporting.drawing import COLOURS, GREY, drawing_style

    with drawing_style():
        canvas = Figure(figsize=(7.2, 7.8), layout="constrained")
        panels = canvas.subplots(3, 2).ravel()
        for axes, (name, p, y, _) in zip(panels[:-1], streams(folder), strict=False):
            experts = Experts(2, 0).protect(p, y, np.empty((len(p), 0)), 0, 1)
            best = min(experts.T, key=lambda expert: bits(expert, y))
            rivals = {
                "mixture": ProtectedForecaster(0, 1.0, LEAST).protect(p, y)[0],
                "Composite Jumper": CompositeJumper(truncation=LEAST).protect(p, y)[0],
                "online Platt .01": experts[:, 5],
                "window of 500": windowed(p, y, 0, 1).clip(LEAST / 10, 1 - LEAST / 10),
            }
            for (rival, values), color in zip(rivals.items(), COLOURS, strict=False):
                lost = np.cumsum(np.log2(np.where(y == 1, best / values, (1 - best) / (1 - values))))
                axes.plot(lost, color=color, label=rival, linewidth=1)
            axes.axhline(0, color=GREY, linewidth=0.8)
            axes.set_title(name)
            axes.set_xlabel("Row")
            axes.locator_params(axis="x", nbins=4)
            axes.set_ylabel("Bits lost")
            axes.spines[["top", "right"]].set_visible(False)
        panels[-1].axis("off")
        panels[-1].legend(*panels[0].get_legend_handles_labels(), loc="center", frameon=False)
        canvas.savefig(figure, dpi=120, metadata={"Software": None})


def settings(out: str, bank_marketing: tuple[str, np.ndarray, np.ndarray, Any]) -> None:
    """Compare the log10 loss of Simple Jumpers, which the seed says depends slightly on E and J."""
    _, p, y, _ = bank_marketing
    lines = []
    for eps in ((0, 1, -1), (0, 1, -1, 0.5, -0.5), (0, 1, -1, 0.75, -0.75, 0.5, -0.5, 0.25, -0.25), (0, 0.5, -0.5)):
        losses = [
            bits(SimpleJumper(Quadratic(eps), rate, truncation=LEAST).protect(p, y)[0], y) * len(y) * np.log10(2)
            for rate in (0.1, 0.01, 0.001, 0.0001)
        ]
        lines.append([", ".join(f"{number:g}" for number in eps), *(f"{loss:,.0f}" for loss in losses)])
    base = bits(p, y) * len(y) * np.log10(2)
    head = ["E", "J = .1", "J = .01", "J = .001", "J = .0001"]
    description = f"log10 loss of the Simple Jumper on Bank Marketing. The base has {base:,.0f}."
    speed.report(out, "protection_study.py DATA --settings", description, head, lines)


def false_alarms(out: str) -> None:
    """Count on how many calibrated streams the capital ever reaches a level c, which theory limits to a share 1 / c."""
    rng = np.random.default_rng(0)
    n_streams, n_rows, levels = 10_000, 300, (2, 5, 10, 20, 100)
    lines = []
    for delay in (0, 10):
        reached = np.zeros(len(levels))
        for _ in range(n_streams):
            p = rng.beta(*rng.choice([0.5, 1, 3], 2), n_rows).clip(LEAST, 1 - LEAST)
            forecaster = ProtectedForecaster(learning_rate=1 / (1 + delay / 4), truncation=LEAST)
            forecaster.protect(p, (rng.random(n_rows) < p).astype(int), delay=delay)
            reached += [forecaster.has_reached(level) for level in levels]
        lines += [
            [delay, level, f"{1 / level:.4f}", f"{share:.4f}"]
            for level, share in zip(levels, reached / n_streams, strict=True)
        ]
    description = f"{n_streams:,} streams of {n_rows} rows whose labels have the predicted probabilities."
    head = ["delay", "level c", "at most, by theory", "share of streams that reached c"]
    speed.report(out, "protection_study.py DATA --null", description, head, lines)


if __name__ == "__main__":
    main()
