"""Test the bars of ``ScoreHistogramDisplay`` against NumPy's histogram."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from probcal import ScoreHistogramDisplay
from probcal.metrics import score_histogram

RNG = np.random.default_rng(0)
P = RNG.random(200)
Y = (RNG.random(200) < P**2).astype(int)


def test_bars_of_each_class_sum_to_one():
    display = ScoreHistogramDisplay.from_predictions(Y, P, n_bins=4, name="model", color="green")
    for label, bars, sign in ((1, display.positive_, 1), (0, display.negative_, -1)):
        counts = np.histogram(P[label == Y], 4, (0, 1))[0]
        assert [bar.get_height() for bar in bars] == pytest.approx(sign * counts / counts.sum())
        assert bars[0].get_facecolor() == mpl.colors.to_rgba("green")
    assert display.ax_.get_title() == "model" and display.ax_.get_xlabel() == "Predicted probability"


def test_estimator_and_predictions_give_the_same_histogram():
    X, labels = P[:, None], np.where(Y, "yes", "no")
    model = GaussianNB().fit(X, labels)
    one = ScoreHistogramDisplay.from_estimator(model, X, labels)
    p = model.predict_proba(X)[:, 1]
    other = ScoreHistogramDisplay.from_predictions(labels, p, pos_label="yes", ax=one.figure_.add_subplot())
    assert np.array_equal(one.histogram.positive, other.histogram.positive)
    assert one.ax_.get_xlabel() == "Predicted probability (positive class: yes)"
    assert one.ax_.get_title() == "GaussianNB" and other.ax_ is not one.ax_


def test_row_of_weight_two_counts_as_two_rows():
    weight = np.arange(200) % 3 + 1
    one = score_histogram(Y, P, 5, weight)
    other = score_histogram(np.repeat(Y, weight), np.repeat(P, weight), 5)
    assert one.negative / one.negative.sum() == pytest.approx(other.negative / other.negative.sum())
    with pytest.raises(ValueError, match="n_bins must be a whole number"):
        score_histogram(Y, P, 0)
