"""Test weights in what tables and diagrams show: only their ratios count, and rows of weight 0 are left out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.metrics import (
    ASKED_METRICS,
    METRICS,
    all_metrics,
    binned_curve,
    calibration_intercept,
    calibration_slope,
    decision_curve,
    isotonic_curve,
    loess_curve,
    metrics_by_group,
    reliability_curve,
    roc_curve,
    score_histogram,
    sharpness,
)


def every_number(y, p, weights, truth):
    """Return all metrics and the arrays of all curves, as one flat array."""
    bands = [
        one
        for kind in ("consistency", "confidence")
        for curve in [reliability_curve(y, p, bands=kind, n_resamples=5, sample_weight=weights)]
        for one in (*curve.bins, curve.bars.low, curve.bars.high, curve.band.low, curve.band.high, curve.counts)
    ]
    found = [
        *all_metrics(y, p, weights, truth, also=ASKED_METRICS).values(),
        calibration_slope(y, p, weights),
        calibration_intercept(y, p, weights),
        sharpness(p, weights),
        *binned_curve(y, p, sample_weight=weights),
        *binned_curve(y, p, strategy="uniform", sample_weight=weights),
        *isotonic_curve(y, p, weights),
        *loess_curve(y, p, weights),
        *decision_curve(y, p, sample_weight=weights),
        *roc_curve(y, p, sample_weight=weights),
        *score_histogram(y, p, sample_weight=weights),
        metrics_by_group(y, p, np.arange(len(y)) % 3, weights).to_numpy(),
        *bands,
    ]
    return np.concatenate([np.ravel(one) for one in found])


def weighted(n, seed):
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(n) * 0.98 + 0.01, 2)
    truth = np.clip(p + 0.1, 0, 1)
    return (rng.random(n) < p).astype(int), p, rng.choice([0.0, 1.0, 2.0, 3.0], n), truth


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(40, 90), st.integers(0, 1000), st.floats(-12, 12).map(lambda power: 10.0**power))
def test_no_metric_and_no_curve_depends_on_the_scale_of_weights(n, seed, factor):
    y, p, weights, truth = weighted(n, seed)
    plain = every_number(y, p, weights, truth)
    np.testing.assert_allclose(every_number(y, p, weights * factor, truth), plain, rtol=1e-7, atol=1e-9)
    assert np.array_equal(every_number(y, p, weights * 2.0**-40, truth), plain, equal_nan=True)


@pytest.mark.parametrize("weight", [1 / 80, 7.0, 1e-300, 1e300])
def test_equal_weights_give_the_numbers_without_weights(weight):
    y, p, _, truth = weighted(80, 0)
    weights = np.full(80, weight)
    assert np.array_equal(every_number(y, p, weights, truth), every_number(y, p, None, truth), equal_nan=True)


def test_rows_of_weight_0_are_left_out_of_every_metric():
    y, p, weights, truth = weighted(80, 1)
    kept = weights > 0
    whole = all_metrics(y, p, weights, truth, also=ASKED_METRICS)
    assert set(whole) == set(METRICS) | set(ASKED_METRICS)
    assert whole == all_metrics(y[kept], p[kept], weights[kept], truth[kept], also=ASKED_METRICS)


def test_l_max_ignores_rows_of_weight_0():
    found = all_metrics([1, 0, 1], [0.5, 0.1, 0.9], [1, 2, 0], [0.6, 0.1, 0.2], also=["l_max"])
    assert found["l_max"] == pytest.approx(0.1, rel=1e-12)
