"""Test ROC curves, cost curves and score histograms of predictions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_curve as reference_roc

from probcal.reporting.prediction_curves import MOST_POINTS, cost_curve, roc_curve
from probcal.reporting.prediction_summaries import Entry
from tests.reporting.small_estimates import estimates

many = settings(derandomize=True, deadline=None, max_examples=100)
TWO_CLASSES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), min_size=2, max_size=40).filter(
    lambda rows: len({y for y, _ in rows}) == 2
)


def of(rows):
    return estimates([y for y, _ in rows], [p / 9 for _, p in rows])


def least_cost(one, x):
    """Return the least cost over all thresholds and over always predicting one class, as in the definition."""
    costs = []
    for threshold in [*np.unique(one.p), np.inf]:
        called = one.p >= threshold
        fnr, fpr = 1 - called[one.y == 1].mean(), called[one.y == 0].mean()
        costs.append(fnr * x + fpr * (1 - x))
    return np.minimum(np.min(costs, axis=0), np.minimum(x, 1 - x))


@many
@given(rows=TWO_CLASSES)
def test_cost_curve_uses_the_best_threshold(rows):
    one = of(rows)
    curve = cost_curve(roc_curve(one))
    x = np.sort(np.r_[np.linspace(0, 1, 41), curve.x])
    assert np.interp(x, curve.x, curve.y) == pytest.approx(least_cost(one, x), abs=1e-12)
    assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0, 0, 1, 0)


@many
@given(rows=TWO_CLASSES)
def test_roc_curve_has_the_points_of_scikit_learn(rows):
    one = of(rows)
    found = roc_curve(one)
    x, y, _ = reference_roc(one.y, one.p, drop_intermediate=False)
    assert [*zip(found.x, found.y, strict=True)] == [*zip(x, y, strict=True)]


def test_long_roc_curve_is_thinned_without_moving_points():
    rng = np.random.default_rng(1)
    p = rng.random(30_000)
    one = estimates(rng.random(30_000) < p**2, p)
    found = roc_curve(one)
    x, y, _ = reference_roc(one.y, one.p, drop_intermediate=False)
    assert MOST_POINTS / 2 < len(found.x) <= MOST_POINTS
    assert {*zip(found.x, found.y, strict=True)} <= {*zip(x, y, strict=True)}
    at = np.linspace(0, 1, 1001)
    assert np.abs(np.interp(at, found.x, found.y) - np.interp(at, x, y)).max() < 0.01


def test_thinning_a_roc_curve_changes_no_cost():
    rng = np.random.default_rng(2)
    p = rng.random(5_000)
    one = estimates(rng.random(5_000) < p, p)
    x = np.linspace(0, 1, 101)
    curve = cost_curve(roc_curve(one))
    assert np.interp(x, curve.x, curve.y) == pytest.approx(least_cost(one, x), abs=1e-12)


@pytest.mark.parametrize("changes", [{"y": [1, 1]}, {"y": [0, 0]}, {"y": [0, 1], "top_label": True}])
def test_one_class_or_top_label_has_no_roc_curve(changes):
    assert roc_curve(estimates(**{"p": [0.2, 0.7], **changes})) is None


def test_score_histogram_counts_each_class_and_includes_one():
    negative, positive = Entry.of(estimates([0, 1, 1, 0, 1], [0.0, 0.05, 1.0, 0.5, 0.99]), "").scores
    assert [np.flatnonzero(counts).tolist() for counts in (negative, positive)] == [[0, 10], [1, 19]]
    assert (sum(negative), positive[1], positive[19]) == (2, 1, 2)
