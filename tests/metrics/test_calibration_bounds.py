"""Test the bounds of |c - c_emp| against hand calculations and distributions with known c."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.metrics import asymptotic_calibration_bound, calibration_bound, empirical_calibration_error
from probcal.metrics.calibration import range_exceeds, range_quantile

BOUNDS = pytest.mark.parametrize("bound", [calibration_bound, asymptotic_calibration_bound])
quick = settings(max_examples=100, deadline=None, derandomize=True)


def test_bound_agrees_with_hand_calculation():
    # ln(2 / .05) = ln 40 = 3.688879; 8 * 3.688879 / 1000 = .02951104, whose root is .1717878
    assert calibration_bound(1000, 0.05) == pytest.approx(0.1717878, abs=1e-7)


@pytest.mark.parametrize(("x", "below"), [(2, 0.818506), (3, 0.989201)])
def test_asymptotic_bound_is_a_quantile_of_the_range(x, below):
    # test_p_value.py calculates the probabilities; the bound is x * .5 / sqrt(10000), and two fifths of it for rms .2
    assert asymptotic_calibration_bound(10_000, 1 - below) == pytest.approx(x / 200, rel=1e-5)
    assert asymptotic_calibration_bound(10_000, 1 - below, rms=0.2) == pytest.approx(x / 500, rel=1e-5)


@quick
@given(st.floats(1e-300, 1, exclude_max=True))
def test_range_quantile_inverts_the_distribution(delta):
    x = range_quantile(delta)
    assert range_exceeds(x) <= delta <= range_exceeds(math.nextafter(x, 0))


@BOUNDS
@quick
@given(n=st.integers(1, 10**9), delta=st.floats(1e-300, 0.5))
def test_bound_never_grows_with_rows_or_delta(bound, n, delta):
    value = bound(n, delta)
    assert 0 < value <= 1
    assert bound(n + 1, delta) <= value
    assert bound(n, 2 * delta * (1 - 1e-9)) <= value
    if value < 1:
        assert bound(2 * n, delta) < value
        assert bound(4 * n, delta) == pytest.approx(value / 2, rel=1e-12)


@quick
@given(st.integers(1, 10**9), st.floats(1e-12, 0.999))
def test_asymptotic_bound_never_exceeds_the_finite_bound(n, delta):
    assert asymptotic_calibration_bound(n, delta, rms=1) <= calibration_bound(n, delta)


def test_asymptotic_bound_is_zero_for_zero_rms():
    assert asymptotic_calibration_bound(10, 0.05, rms=0) == 0


@BOUNDS
@pytest.mark.parametrize("n", [0, -5, 10.0, math.nan, True, "10", None])
def test_invalid_number_of_rows_is_rejected(bound, n):
    with pytest.raises(ValueError, match="n, the number of rows, must be a whole number of at least 1, not"):
        bound(n, 0.05)


@BOUNDS
@pytest.mark.parametrize("delta", [0, 1, -0.1, 1.5, math.nan, True, "0.05", None])
def test_invalid_delta_is_rejected(bound, delta):
    with pytest.raises(ValueError, match="delta, the probability of a miss, must be a number between 0 and 1, not"):
        bound(100, delta)


@pytest.mark.parametrize("rms", [-0.1, 1.1, math.nan, True, "0.5", None])
def test_invalid_rms_is_rejected(rms):
    with pytest.raises(ValueError, match=r"rms must be one number within \[0, 1\]"):
        asymptotic_calibration_bound(100, 0.05, rms)


def test_asymptotic_bound_is_tight_for_calibrated_predictions_near_half():
    rng = np.random.default_rng(0)
    found = []  # |c - c_emp|, where c is 0
    for _ in range(1000):
        p = 0.45 + 0.1 * rng.random(4000)
        found.append(empirical_calibration_error(rng.random(4000) < p, p))
    for delta in (0.05, 0.2, 0.5):
        # the standard error of 1000 samples is at most .016; the steps of 4000 rows reduce the range by about .02
        misses = np.mean(np.array(found) > asymptotic_calibration_bound(4000, delta))
        assert misses == pytest.approx(delta, abs=0.05)
