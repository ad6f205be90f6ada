"""Draws the pictures of docs/measure-predictions.md: python docs/figures/displays.py [FOLDER]."""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from probcal import DecisionCurveDisplay, ReliabilityDisplay
from probcal.reporting.drawing import drawing_style

DISPLAYS = {"display-reliability": ReliabilityDisplay, "display-decision": DecisionCurveDisplay}


def main(folder: Path) -> None:
    X, y = make_classification(6000, n_redundant=10, flip_y=0.2, random_state=0)
    models = [GaussianNB().fit(X[:3000], y[:3000]), LogisticRegression(max_iter=500).fit(X[:3000], y[:3000])]
    with drawing_style():
        for name, display in DISPLAYS.items():
            figure = Figure(figsize=(5, 5 if display is ReliabilityDisplay else 3.6), layout="constrained")
            axes = figure.add_subplot()
            for model in models:
                display.from_estimator(model, X[3000:], y[3000:], ax=axes)
            figure.savefig(folder / f"{name}.png", dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
