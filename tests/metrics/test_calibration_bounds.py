"""Test the bounds of |c - c_emp| against hand calculations and distributions with known c."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.metrics import asymptotic_calibration_bound, calibration_bound, empirical_calibration_error, rms_error
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


class Known:
    """Hold f of a uniform X and P(Y = 1 | X), and compute c by its definition on a fine grid."""

    def __init__(self, f, truth):
        self.f, self.truth = f, truth
        x = (np.arange(200_000) + 0.5) / 200_000
        order = np.argsort(f(x), kind="stable")
        estimates, residuals = f(x)[order], (truth(x) - f(x))[order] / len(x)
        ends = np.append(np.flatnonzero(np.diff(estimates)), len(x) - 1)
        sums = np.append(0, np.cumsum(residuals)[ends])
        self.c = float(np.ptp(sums))

    def sample(self, n, rng):
        x = rng.random(n)
        return rng.random(n) < self.truth(x), self.f(x)


KNOWN = {
    "calibrated, near a half": Known(lambda x: 0.45 + 0.1 * x, lambda x: 0.45 + 0.1 * x),
    "calibrated, over all estimates": Known(lambda x: x, lambda x: x),
    "too sure of itself": Known(lambda x: x, lambda x: 0.3 + 0.4 * x),
    "a third too high": Known(lambda x: x, lambda x: x * 2 / 3),
    "two estimates": Known(lambda x: np.where(x < 0.5, 0.2, 0.7), lambda x: np.where(x < 0.5, 0.3, 0.7)),
    # the first interval and both together give c = 3/8; the variance in both is .39, above that of a calibrated f
    "two intervals equally bad": Known(lambda x: np.where(x < 0.375, 0, 0.5), lambda x: np.where(x < 0.375, 1, 0.5)),
    "always wrong": Known(lambda x: (x < 0.5) * 1.0, lambda x: (x >= 0.5) * 1.0),
}
N_SAMPLES = 1000


def distances(known, n, seed=0):
    """Return |c - c_emp| and the rms of ``N_SAMPLES`` samples of ``n`` rows."""
    rng = np.random.default_rng(seed)
    samples = [known.sample(n, rng) for _ in range(N_SAMPLES)]
    return np.array([(abs(empirical_calibration_error(y, p) - known.c), rms_error(y, p)) for y, p in samples]).T


@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
def test_c_exceeds_asymptotic_bound_in_about_delta_of_samples(known):
    found, rms = distances(known, 2000)
    for delta in (0.05, 0.2, 0.5):
        of_the_rows = np.array([asymptotic_calibration_bound(2000, delta, one) for one in rms])
        noise = 3 * math.sqrt(delta * (1 - delta) / N_SAMPLES)
        assert np.mean(found > of_the_rows) <= delta + noise
        if rms.mean() <= 0.5:
            assert np.mean(found > asymptotic_calibration_bound(2000, delta)) <= delta + noise


def test_asymptotic_bound_is_tight_for_calibrated_predictions_near_half():
    found, _ = distances(KNOWN["calibrated, near a half"], 4000)
    for delta in (0.05, 0.2, 0.5):
        # the standard error of 1000 samples is at most .016; the steps of 4000 rows reduce the range by about .02
        assert np.mean(found > asymptotic_calibration_bound(4000, delta)) == pytest.approx(delta, abs=0.05)
