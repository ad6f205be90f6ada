"""Test Figure 6 of Nalbantov & Ivanov (2019) with a real learner: two surfaces cross inside the data."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull
from sklearn.svm import SVC

from probcal import WeightSweepClassifier
from probcal.data.card import find_card, read_card
from probcal.data.dataset import generated
from probcal.data.splits import stream_seed

CARD = read_card(find_card("gaussians-14"))
DRAWN = generated(CARD, stream_seed(2019, "draw", CARD.name, 0))  # the first repetition of an experiment of seed 2019
X, Y = DRAWN.X[:28], DRAWN.y[:28]
LEVELS = [0.5, 2 / 3]
"""w- / (w+ + w-) of the text's weights: 1.5 of both classes, then 1 of positive and 2 of negative rows."""


def test_two_linear_surfaces_cross_visibly_inside_the_data():
    fitted = WeightSweepClassifier(SVC(kernel="linear", C=1.0), LEVELS, random_state=0).fit(X, Y)
    normals = np.vstack([learner.coef_[0] for learner in fitted.estimators_])
    where = np.linalg.solve(normals, [-learner.intercept_[0] for learner in fitted.estimators_])
    sides = ConvexHull(X).equations
    assert (sides[:, :2] @ where + sides[:, 2] < -0.3).all()
    directions = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    assert np.degrees(np.arccos(directions[0] @ directions[1])) > 20
    assert fitted.measures(X) == {"crossings": 1}
    one, other = fitted.curves(X)["iso_probability"]
    assert (one["level"], other["level"]) == tuple(LEVELS)
