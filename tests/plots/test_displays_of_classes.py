"""Test that displays draw one of several classes, also one that the rows lack."""

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from probcal.plots.decision import DecisionCurveDisplay
from probcal.plots.reliability import ReliabilityDisplay
from probcal.plots.scores import ScoreHistogramDisplay

CLASSES = np.array(["cat", "cow", "dog"])
CODES = np.arange(90) % 3
X = CODES[:, None] + np.random.default_rng(0).normal(size=(90, 1))
MODEL = GaussianNB().fit(X, CLASSES[CODES])
WITHOUT_DOG = CODES < 2
every_display = pytest.mark.parametrize("display", [ReliabilityDisplay, DecisionCurveDisplay, ScoreHistogramDisplay])


def drawn(display):
    return repr(display.curve if hasattr(display, "curve") else display.histogram)


@every_display
@pytest.mark.parametrize("label", CLASSES)
def test_a_class_is_drawn_against_the_others_also_if_no_row_has_it(display, label):
    rows, y = X[WITHOUT_DOG], CLASSES[CODES[WITHOUT_DOG]]
    P = MODEL.predict_proba(rows)
    one = display.from_estimator(MODEL, rows, y, pos_label=label)
    for p in (P, P[:, CLASSES.tolist().index(label)]):
        other = display.from_predictions(y, p, pos_label=label, labels=MODEL.classes_)
        assert drawn(other) == drawn(one) and other.pos_label == label


@every_display
def test_given_predictions_of_one_class_need_all_labels(display):
    y, p = CLASSES[CODES], MODEL.predict_proba(X)[:, 0]
    with pytest.raises(ValueError, match="name all of them with labels"):
        display.from_predictions(y, p, pos_label="cat")


@every_display
def test_large_labels_are_drawn_apart(display):
    large = np.array([2**53, 2**53 + 1, 2**53 + 2])
    model = GaussianNB().fit(X, large[CODES])
    y = pd.Series(large[CODES], dtype="Int64")
    one = display.from_estimator(model, X, y, pos_label=2**53 + 1)
    assert drawn(one) == drawn(display.from_estimator(MODEL, X, CLASSES[CODES], pos_label="cow"))
    with pytest.raises(ValueError, match=f"y holds the label {2**53 + 3}, which is no class of GaussianNB"):
        display.from_estimator(model, X, y + 1, pos_label=2**53)
