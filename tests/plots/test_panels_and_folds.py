"""Test reliability diagrams with a panel for each class, and with a line for each fold."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine, make_classification
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB

from probcal import ReliabilityDisplay
from probcal.metrics import binned_curve

QUICK = {"n_resamples": 10, "n_bins": 5}
X, CODES = load_wine(return_X_y=True)
Y = np.array(["red", "rose", "white"])[CODES]
MODEL = GaussianNB().fit(X[::2], Y[::2])
P = MODEL.predict_proba(X)


def same(display, y, p):
    bins = binned_curve(y, p, 5)
    return np.array_equal(display.prob_pred, bins.mean) and np.array_equal(display.prob_true, bins.observed)


def test_several_classes_have_a_panel_each_and_one_of_the_likeliest():
    display = ReliabilityDisplay.from_predictions(Y, P, **QUICK)
    assert same(display, MODEL.predict(X) == Y, P.max(axis=1))
    assert [*display.class_displays_] == ["red", "rose", "white"]
    for column, (label, panel) in enumerate(display.class_displays_.items()):
        assert same(panel, label == Y, P[:, column]) and panel.ax_.get_title() == label
    panels = display.figure_.axes
    assert len(panels) == 4 and panels[0].get_xlabel() == "Predicted probability of the likeliest class"
    assert [panel.get_legend() is None for panel in panels] == [False, True, True, True]


@pytest.mark.parametrize(
    ("y", "p", "labels", "names"),
    [
        (CODES, P, None, [0, 1, 2]),
        (
            Y,
            pd.DataFrame(P, columns=["red", "rose", "white"])[["white", "red", "rose"]],
            None,
            ["red", "rose", "white"],
        ),
        (CODES + 7, P, [7, 8, 9], [7, 8, 9]),
    ],
)
def test_panels_are_named_by_their_labels(y, p, labels, names):
    display = ReliabilityDisplay.from_predictions(y, p, labels=labels, **QUICK)
    assert [*display.class_displays_] == names
    assert same(display.class_displays_[names[2]], Y == "white", P[:, 2])


def test_an_estimator_of_several_classes_has_the_same_panels_on_given_axes():
    first = ReliabilityDisplay.from_estimator(MODEL, X, Y, **QUICK)
    second = ReliabilityDisplay.from_predictions(Y, P**2 / (P**2).sum(axis=1)[:, None], ax=first.figure_.axes, **QUICK)
    assert same(first.class_displays_["rose"], Y == "rose", P[:, 1])
    assert second.figure_ is first.figure_ and len(first.figure_.axes) == 4
    alone = ReliabilityDisplay.from_estimator(MODEL, X, Y, ax=plt.subplots()[1], **QUICK)
    assert alone.class_displays_ == {} and np.array_equal(alone.prob_true, first.prob_true)
    with pytest.raises(ValueError, match="ax holds 2 axes; give 1, or 4 for the likeliest and each class"):
        ReliabilityDisplay.from_predictions(Y, P, ax=first.figure_.axes[:2], **QUICK)


def test_weights_hold_in_every_panel():
    weight = np.arange(len(Y)) % 3 + 1.0
    one = ReliabilityDisplay.from_predictions(Y, P, sample_weight=weight, **QUICK)
    bins = binned_curve(Y == "rose", P[:, 1], 5, sample_weight=weight)
    assert np.allclose(one.class_displays_["rose"].prob_true, bins.observed)


def folds(n_classes=2, weights=None):
    X, y = make_classification(1500, n_informative=4, n_classes=n_classes, weights=weights, random_state=0)
    return cross_validate(GaussianNB(), X, y, cv=4, return_estimator=True, return_indices=True), X, y


@pytest.mark.parametrize("scale", ["linear", "logit"])
def test_folds_are_thin_lines_around_the_curve_of_all_test_rows(scale):
    results, X, y = folds(weights=[0.95])
    display = ReliabilityDisplay.from_cv_results(results, X, y, scale=scale, **QUICK)
    parts = [
        (y[rows], model.predict_proba(X[rows])[:, 1])
        for model, rows in zip(results["estimator"], results["indices"]["test"], strict=True)
    ]
    assert same(display, *map(np.concatenate, zip(*parts, strict=True)))
    assert len(display.fold_lines_) == 4
    for curve, line, (labels, p) in zip(display.fold_curves, display.fold_lines_, parts, strict=True):
        assert np.array_equal(curve.bins.observed, binned_curve(labels, p, 5).observed)
        assert line.get_linewidth() < display.curve_line_.get_linewidth()
        assert line.get_color() == display.line_.get_color()
    assert [one.get_text() for one in display.ax_.get_legend().get_texts()] == ["Perfectly calibrated", "GaussianNB"]


def test_folds_of_several_classes_show_one_against_the_others():
    results, X, y = folds(n_classes=3)
    display = ReliabilityDisplay.from_cv_results(results, pd.DataFrame(X), y, pos_label=2, isotonic=False, **QUICK)
    assert display.pos_label == 2 and len(display.fold_lines_) == 4
    with pytest.raises(ValueError, match="3 classes: give pos_label"):
        ReliabilityDisplay.from_cv_results(results, X, y)
    with pytest.raises(ValueError, match="call cross_validate with return_estimator=True and return_indices=True"):
        ReliabilityDisplay.from_cv_results({"test_score": []}, X, y)
