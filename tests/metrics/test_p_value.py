"""Test the p-value of c_emp: the range of Brownian motion, and its level for calibrated predictions."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from probcal.metrics import calibration_p_value
from probcal.metrics.calibration import range_exceeds


@pytest.mark.parametrize(("x", "below"), [(1, 0.063365), (2, 0.818506), (3, 0.989201)])
def test_distribution_of_the_range_agrees_with_hand_calculation(x, below):
    # the series for large x: 8 (Q(2) - 2 Q(4)) = 8 (.0227501 - .0000633) = .181494 = 1 - .818506;
    # the series for small x: (8 + 2 / (pi/2)^2) e^(-pi^2 / 2) = 8.810569 * .007192 = .063365
    assert range_exceeds(x) == pytest.approx(1 - below, abs=5e-7)


def test_both_series_agree_where_they_meet():
    either_side = range_exceeds(1.5), range_exceeds(math.nextafter(1.5, 2))
    assert either_side[0] == pytest.approx(either_side[1], rel=1e-14)


def test_range_has_the_moments_given_by_feller():
    # mean 2 sqrt(2 / pi), mean square 4 ln 2; both are integrals of P(range > x)
    mean = quad(range_exceeds, 0, 40, points=[0.3, 1.5], epsabs=1e-12, limit=200)[0]
    mean_square = quad(lambda x: 2 * x * range_exceeds(x), 0, 40, points=[0.3, 1.5], epsabs=1e-12, limit=200)[0]
    assert mean == pytest.approx(2 * math.sqrt(2 / math.pi), abs=1e-10)
    assert mean_square == pytest.approx(4 * math.log(2), abs=1e-10)


def test_range_exceeds_falls_from_one_to_zero():
    x = np.concatenate([np.linspace(0, 5, 2001), np.linspace(5, 45, 401)])
    found = [range_exceeds(one) for one in x]
    assert found[0] == 1
    assert all(0 <= b <= a for a, b in itertools.pairwise(found))
    # for large x only the first term is left: 8 Q(20) = 8 * 2.753624e-89
    assert range_exceeds(20) == pytest.approx(8 * 2.753624e-89, rel=1e-6)
    assert range_exceeds(math.inf) == 0


@pytest.mark.parametrize(("n", "value"), [(1, 1 - 0.063365), (4, 1 - 0.818506), (9, 1 - 0.989201)])
def test_p_value_measures_c_emp_in_standard_deviations(n, value):
    # n predictions of .5 and every label 1: the sum is n/2 and its standard deviation sqrt(n)/2, ratio sqrt(n)
    assert calibration_p_value([1] * n, [0.5] * n) == pytest.approx(value, abs=5e-7)


def test_weights_enter_the_standard_deviation_by_their_square():
    # weights 3 and 4: the sum is 7/2 and its standard deviation sqrt(9 + 16)/2 = 5/2
    assert calibration_p_value([1, 1], [0.5, 0.5], [3, 4]) == pytest.approx(range_exceeds(1.4), rel=1e-12)


def test_certain_predictions_have_p_value_one_or_zero():
    assert calibration_p_value([0, 1, 1], [0, 1, 1]) == 1
    assert calibration_p_value([0, 1, 0], [0, 1, 1]) == 0
    assert calibration_p_value([0, 1, 0], [0, 1, 1], [1, 1, 0]) == 1, "the row that weighs nothing is not asked"


def test_tiny_predictions_still_have_a_standard_deviation():
    assert calibration_p_value([0, 0], [5e-324, 5e-324]) == 1
    assert calibration_p_value([1, 0], [1e-300, 5e-324]) == 0


@pytest.mark.parametrize("weigh", [False, True])
def test_calibrated_predictions_are_rejected_at_the_level(weigh):
    rng = np.random.default_rng(1)
    found = []
    for _ in range(1500):
        p = rng.beta(0.7, 2, 3000)
        found.append(calibration_p_value(rng.random(3000) < p, p, rng.random(3000) if weigh else None))
    for level in (0.01, 0.05, 0.2, 0.5, 0.8):
        # the standard error of 1500 draws is at most .013; the steps of the sum reduce its range by about .02
        assert np.mean(np.array(found) < level) == pytest.approx(level, abs=0.045)
