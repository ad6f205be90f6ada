"""Test calibration curves and distances from them against scikit-learn and R's loess (scikit-misc)."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression

from probcal.metrics import (
    binned_curve,
    calibration_distance_quantile,
    find_metric,
    integrated_calibration_index,
    isotonic_curve,
    loess_curve,
    reliability_curve,
)
from probcal.metrics.curves import wilson
from probcal.metrics.metric import Prediction

RNG = np.random.default_rng(0)
P = RNG.random(400)
Y = (RNG.random(400) < P**1.5).astype(int)
WEIGHT = RNG.integers(1, 4, 400)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_bins_agree_with_scikit_learn(strategy):
    observed, mean = calibration_curve(Y, P, n_bins=8, strategy=strategy)
    found = binned_curve(Y, P, 8, strategy)
    assert found.observed == pytest.approx(observed, rel=1e-12) and found.mean == pytest.approx(mean, rel=1e-12)
    assert found.weight.sum() == pytest.approx(400)


def test_equal_predictions_share_one_bin():
    found = binned_curve([0, 0, 1, 1, 1], [0.5, 0.5, 0.5, 0.5, 0.9], 4)
    assert found.mean.tolist() == [0.5, 0.9] and found.observed.tolist() == [0.5, 1]


def test_isotonic_curve_agrees_with_scikit_learn():
    found = isotonic_curve(Y, P, WEIGHT)
    assert found.observed == pytest.approx(IsotonicRegression().fit(P, Y, WEIGHT).predict(found.p), abs=1e-12)


def test_loess_curve_and_distances_agree_with_r():
    loess = pytest.importorskip("skmisc.loess").loess
    model = loess(P, Y, surface="direct")
    model.fit()
    expected = np.clip(model.predict(P).values, 0, 1)
    assert np.interp(P, *loess_curve(Y, P)) == pytest.approx(expected, abs=1e-9)
    distance = np.abs(expected - P)
    assert integrated_calibration_index(Y, P) == pytest.approx(distance.mean(), abs=1e-9)
    for q in (0.5, 0.9, 1):
        expected_quantile = np.quantile(distance, q, method="inverted_cdf")
        assert calibration_distance_quantile(Y, P, q) == pytest.approx(expected_quantile, abs=1e-9)


@pytest.mark.parametrize("curve", ["loess", "isotonic"])
def test_index_of_few_predictions_uses_their_observed_frequencies(curve):
    # the observed frequency is 1/4 at .2 and 3/4 at .7: distances .05 and .05
    y, p = [0, 0, 0, 1, 0, 1, 1, 1], [0.2] * 4 + [0.7] * 4
    assert integrated_calibration_index(y, p, curve=curve) == pytest.approx(0.05, abs=1e-12)
    # one prediction holds nine tenths of the rows
    assert integrated_calibration_index([0] * 9 + [1], [0.1] * 9 + [1.0], curve=curve) == pytest.approx(0.09, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"q": 0}, "q must be"), ({"q": 1.1}, "q must be"), ({"curve": "spline"}, 'curve must be "loess"')],
)
def test_invalid_options_of_curves_are_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        calibration_distance_quantile(Y, P, **options)
    with pytest.raises(ValueError, match="strategy must be"):
        binned_curve(Y, P, strategy="equal")
    with pytest.raises(ValueError, match="n_bins must be"):
        binned_curve(Y, P, 0)


def test_coarse_loess_changes_distances_by_less_than_one_thousandth():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 9, 5000)
    y = rng.random(5000) < p**1.3
    fine, coarse = (Prediction(y, p, coarse=one) for one in (False, True))
    for name in ("ici", "e50", "e90"):
        value = find_metric(name).value
        assert 0 < abs(value(fine) - value(coarse)) < 0.001


@pytest.mark.parametrize(("k", "n"), [(0, 1), (0, 10), (3, 10), (10, 10), (57, 1000)])
def test_interval_matches_wilson_in_scipy(k, n):
    low, high = wilson(np.array([k / n]), np.array([n]))
    expected = binomtest(k, n).proportion_ci(0.95, method="wilson")
    assert (low[0], high[0]) == (pytest.approx(expected.low, abs=1e-12), pytest.approx(expected.high, abs=1e-12))


def test_isotonic_band_covers_all_predictions_in_rising_order():
    band = reliability_curve(Y, P, n_resamples=5, random_state=0).band
    assert (band.p[0], band.p[-1]) == (P.min(), P.max()) and (np.diff(band.p) > 0).all()
    assert (band.low <= band.high).all() and (band.low >= 0).all() and (band.high <= 1).all()
