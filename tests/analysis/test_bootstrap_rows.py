"""Test the bootstrap of test rows: the metrics of weighted rows, and the interval against scipy."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

from probcal.analysis.hypothesis_tests import (
    ROW_METRICS,
    bootstrap_rows,
    clipped_cross_entropy,
    metrics_of_weighted_rows,
)
from probcal.metrics import cross_entropy, rms_error, roc_auc

RANDOM = np.random.default_rng(7)
N = 120
Y = (RANDOM.random(N) < 0.4).astype(np.int8)
P = np.clip(np.round(0.4 * Y + 0.6 * RANDOM.random((2, N)), 2), 0.01, 0.99)  # two decimals give ties


def both(p):
    """Return both columns of (..., n) probabilities of class 1."""
    return np.stack([1 - p, p], axis=-1)


def drawn(p=P, n=2000, seed=1):
    return bootstrap_rows(Y, both(p), n, np.random.default_rng(seed))


def test_weights_of_one_give_the_unweighted_metrics():
    [found] = metrics_of_weighted_rows(Y, both(P), np.ones((1, N)))
    for place in range(2):
        known = [cross_entropy(Y, P[place]), rms_error(Y, P[place]), roc_auc(Y, P[place]), cross_entropy(Y, P[place])]
        assert found[place] == pytest.approx(known)


def test_a_weight_equals_that_many_rows():
    weights = RANDOM.integers(0, 4, (5, N)).astype(float)
    found = metrics_of_weighted_rows(Y, both(P[:1]), weights)[:, 0]
    for weight, numbers in zip(weights.astype(int), found, strict=True):
        y, p = np.repeat(Y, weight), np.repeat(P[0], weight)
        assert numbers[:3] == pytest.approx([cross_entropy(y, p), rms_error(y, p), roc_auc_score(y, p)])


def test_the_interval_of_a_paired_difference_equals_scipy():
    """Compare percentile bootstraps of the AUC of two columns on the same rows. Both are random: tolerance .008."""

    def difference(rows):
        return roc_auc(Y[rows], P[1, rows]) - roc_auc(Y[rows], P[0, rows])

    known = stats.bootstrap(
        (np.arange(N),), difference, vectorized=False, n_resamples=2000, method="percentile", random_state=3
    ).confidence_interval
    ours = drawn()[:, 1, ROW_METRICS.index("auc")] - drawn()[:, 0, ROW_METRICS.index("auc")]
    assert np.quantile(ours, [0.025, 0.975]) == pytest.approx([known.low, known.high], abs=0.008)


def test_both_columns_use_the_same_rows():
    found = drawn(np.array([P[0], P[0]]), 50)
    assert np.array_equal(found[:, 0], found[:, 1])


def test_an_infinite_row_is_in_63_percent_of_samples():
    """Check that 1 - 1/e = .632 of the samples have the row."""
    p = P[:1].copy()
    p[0, 0] = 1.0 - Y[0]
    found = drawn(p, 3000)[:, 0]
    assert np.isinf(found[:, 0]).mean() == pytest.approx(1 - math.exp(-1), abs=0.03)
    assert np.isfinite(found[:, 1:]).all()


def test_a_tiny_probability_gives_a_finite_loss():
    p = both(P[:1])
    p[0, 0] = [2.0**-80, 1.0] if Y[0] == 0 else [1.0, 2.0**-80]
    assert np.isfinite(metrics_of_weighted_rows(Y, p, np.ones((1, N)))).all()


def test_the_clipped_loss_of_a_certain_error_is_ten_bits():
    assert clipped_cross_entropy(np.array([1, 0]), both(np.array([0.0, 0.0]))) == pytest.approx(
        (-math.log2(0.001) - math.log2(0.999)) / 2
    )


def test_samples_of_one_class_are_drawn_again():
    y, p = np.array([1, 0, 0], dtype=np.int8), both(np.array([[0.9, 0.1, 0.2]]))
    found = bootstrap_rows(y, p, 200, np.random.default_rng(0))
    assert len(found) == 200 and np.isfinite(found).all()
    with pytest.raises(ValueError):
        bootstrap_rows(np.zeros(3, dtype=np.int8), p, 10, np.random.default_rng(0))
