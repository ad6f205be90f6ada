"""Draws the pictures of docs/measure-predictions.md: python docs/figures/displays.py [FOLDER]."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
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
            save(figure, folder / f"{name}.png")
        X, y = make_classification(4000, n_informative=6, n_classes=4, random_state=0)
        trees = np.array(["ash", "beech", "elm", "oak"])[y]
        model = GaussianNB().fit(X[:2000], trees[:2000])
        save(ReliabilityDisplay.from_estimator(model, X[2000:], trees[2000:]).figure_, folder / "display-classes.png")
        X, y = make_classification(20_000, n_informative=6, weights=[0.99], flip_y=0.005, random_state=0)
        results = cross_validate(GaussianNB(), X, y, return_estimator=True, return_indices=True)
        axes = Figure(figsize=(5, 5), layout="constrained").add_subplot()
        save(
            ReliabilityDisplay.from_cv_results(results, X, y, scale="logit", ax=axes).figure_,
            folder / "display-folds.png",
        )


def save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=130, metadata={"Software": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
