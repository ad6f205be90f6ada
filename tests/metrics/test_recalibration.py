"""Test calibration slope and intercept against statsmodels and hand calculations."""

import math

import numpy as np
import pytest
import statsmodels.api as sm

from probcal.metrics import all_metrics, calibration_intercept, calibration_slope

RNG = np.random.default_rng(0)
Q = RNG.beta(1, 2, 500)
Y = (RNG.random(500) < Q).astype(int)
P = Q**1.3 / (Q**1.3 + (1 - Q) ** 1.3)
WEIGHT = RNG.integers(1, 5, 500)
LOG_ODDS = np.log(P / (1 - P))


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_slope_and_intercept_agree_with_statsmodels(weight):
    family = sm.families.Binomial()
    both = sm.GLM(Y, sm.add_constant(LOG_ODDS), family=family, freq_weights=weight).fit(tol=1e-14)
    in_the_large = sm.GLM(Y, np.ones(500), offset=LOG_ODDS, family=family, freq_weights=weight).fit(tol=1e-14)
    assert calibration_slope(Y, P, weight) == pytest.approx(both.params[1], abs=1e-9)
    assert calibration_intercept(Y, P, weight) == pytest.approx(in_the_large.params[0], abs=1e-9)


def test_intercept_of_one_prediction_is_the_difference_of_log_odds():
    # log-odds of 1/4 are -ln 3, those of .5 are 0
    assert calibration_intercept([0, 0, 0, 1], [0.5] * 4) == pytest.approx(-math.log(3), rel=1e-12)


@pytest.mark.parametrize(
    ("y", "slope"), [((0, 0, 1, 1), math.inf), ((1, 1, 0, 0), -math.inf), ((0, 0, 0, 1), math.inf)]
)
def test_separated_classes_have_an_infinite_slope(y, slope):
    assert calibration_slope(y, [0.1, 0.2, 0.3, 0.4]) == slope
    assert calibration_slope(y, [0.1, 0.2, 0.2, 0.4]) == slope, "with a tie at the threshold"


def test_two_columns_preserve_tiny_probabilities():
    p = np.array([1e-30, 0.3, 0.7, 1 - 1e-16])
    columns = np.column_stack([[1.0, 0.7, 0.3, 1e-30], p])
    assert math.isfinite(calibration_slope([0, 1, 0, 1], columns))


@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([0, 1], [0.0, 0.5], "1 of 2 predictions are 0 or 1 and have no log-odds: clip them"),
        ([0, 0], [0.1, 0.5], "need both classes"),
        ([0, 1, 2], [[0.2, 0.3, 0.5]] * 3, "for two classes"),
    ],
)
def test_undefined_slope_and_intercept_are_rejected(y, p, message):
    for metric in (calibration_slope, calibration_intercept):
        with pytest.raises(ValueError, match=message):
            metric(y, p)


def test_slope_of_equal_predictions_is_rejected():
    with pytest.raises(ValueError, match="all are equal"):
        calibration_slope([0, 1], [0.5, 0.5])


def test_undefined_slope_and_intercept_are_nan_in_all_metrics():
    found = all_metrics([0, 1], [0.0, 0.5], also=["slope", "intercept"])
    assert math.isnan(found["slope"]) and math.isnan(found["intercept"])
