"""Draws the picture of README.md, of the model in its first code: python docs/figures/before_and_after.py [FOLDER]."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from probcal import IsotonicClassifier
from probcal.reporting.drawing import drawing_style

BEFORE, AFTER = "#D55E00", "#0072B2"


def main(folder: Path) -> None:
    X, y = make_classification(20_000, n_redundant=10, flip_y=0.2, random_state=0)
    model = GaussianNB().fit(X[:5000], y[:5000])
    calibrated = IsotonicClassifier(model, calibration="prefit").fit(X[5000:10_000], y[5000:10_000])
    with drawing_style(), rc_context({"font.size": 11.5, "legend.fontsize": 11.5}):
        figure = Figure(figsize=(5.2, 5), layout="constrained", facecolor="white")
        axes = figure.add_subplot()
        for one, label, colour, marker in (
            (model, "a model", BEFORE, "o"),
            (calibrated, "the same model, calibrated", AFTER, "s"),
        ):
            predicted, observed = points(one.predict_proba(X[10_000:])[:, 1], y[10_000:])
            axes.plot(predicted, observed, marker=marker, color=colour, label=label)
            if one is model:
                ends = list(zip(predicted, observed, strict=True))[:: len(predicted) - 1]
        for point, place, tail in ((ends[0], (0.03, 0.58), (0.03, 0)), (ends[1], (0.62, 0.42), (0.97, 1))):
            axes.annotate(
                f"It predicts {point[0]:.0%}.\nIt happens in {point[1]:.0%}.",
                point,
                xytext=place,
                color=BEFORE,
                arrowprops={"arrowstyle": "->", "color": BEFORE, "shrinkB": 6, "relpos": tail},
            )
        axes.plot([0, 1], [0, 1], color="#777777", linewidth=1, zorder=0, label="perfect")
        axes.set_xlabel("What the model predicts")
        axes.set_ylabel("How often it happens")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(PercentFormatter(1))
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.set_aspect("equal")
        axes.legend(loc="upper left", frameon=False)
    figure.savefig(folder / "before-and-after.png", dpi=130, metadata={"Software": None})


def points(p: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean prediction and observed frequency of the rows in each tenth of [0, 1] that has a hundred rows."""
    tenth = np.minimum((10 * p).astype(int), 9)
    rows = [tenth == one for one in range(10) if np.sum(tenth == one) >= 100]
    return np.array([p[one].mean() for one in rows]), np.array([y[one].mean() for one in rows])


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
