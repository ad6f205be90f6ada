"""Test the ROC curve against scikit-learn, and the ROC curve with fewer points."""

import numpy as np
import pytest
import sklearn.metrics

from probcal.metrics import roc_auc, roc_curve


def drawn(n, distinct=None):
    rng = np.random.default_rng(1)
    p = rng.random(n) if distinct is None else rng.integers(0, distinct, n) / distinct
    return (rng.random(n) < p).astype(int), p


def test_roc_curve_of_few_predictions_agrees_with_scikit_learn():
    y, p = drawn(500, distinct=20)
    expected_x, expected_y, _ = sklearn.metrics.roc_curve(y, p, drop_intermediate=False)
    x, y = roc_curve(y, p)
    np.testing.assert_allclose(x, expected_x, atol=1e-12)
    np.testing.assert_allclose(y, expected_y, atol=1e-12)


def test_thinned_roc_curve_preserves_the_area():
    y, p = drawn(20_000)
    x, height = roc_curve(y, p, n_points=100)
    assert len(x) <= 100
    assert (x[0], height[0]) == (0, 0) and (x[-1], height[-1]) == pytest.approx((1, 1))
    assert (np.diff(x) >= 0).all() and (np.diff(height) >= 0).all()
    assert np.trapezoid(height, x) == pytest.approx(roc_auc(y, p), abs=1e-3)


def test_roc_curve_of_one_class_is_rejected():
    with pytest.raises(ValueError, match="both classes"):
        roc_curve([1, 1], [0.2, 0.3])


def test_weights_and_repeated_rows_give_the_same_roc_curve():
    rng = np.random.default_rng(0)
    y, p, weight = rng.integers(0, 2, 60), rng.random(60).round(1), rng.integers(1, 4, 60)
    found = roc_curve(y, p, sample_weight=weight)
    assert np.array(found) == pytest.approx(np.array(roc_curve(np.repeat(y, weight), np.repeat(p, weight))))
