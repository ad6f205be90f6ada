"""Smooth ECE: against the kernel of the paper taken literally, and against relplot."""

import numpy as np
import pytest

from probcal.metrics import all_metrics, smooth_expected_calibration_error

RNG = np.random.default_rng(0)


def literally(y, p, width):
    """The integral of |mean of K(t, p) (y - p)|, K the sum of the Gaussian's mirror images at 0 and 1."""
    t = np.linspace(0, 1, 4001)[:, np.newaxis]
    images = [sign * p + 2 * k for k in range(-4, 5) for sign in (1, -1)]
    kernel = sum(np.exp(-((t - one) ** 2) / (2 * width**2)) for one in images) / (width * np.sqrt(2 * np.pi))
    return np.trapezoid(np.abs((kernel * (y - p)).mean(axis=1)), t[:, 0])


@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
def test_smooth_ece_is_the_width_at_which_it_equals_itself(power):
    q = RNG.random(200)
    y = (RNG.random(200) < q).astype(float)
    p = q**power
    found = smooth_expected_calibration_error(y, p)
    assert literally(y, p, found) == pytest.approx(found, abs=1e-6)


def test_smooth_ece_agrees_with_relplot():
    relplot = pytest.importorskip("relplot")
    q = RNG.random(2000)
    y = (RNG.random(2000) < q).astype(float)
    # its search knows the width to 1/1024, and it cuts the kernel at a distance of 1/2, which matters for wide ones
    assert smooth_expected_calibration_error(y, q**1.2) == pytest.approx(relplot.smECE(q**1.2, y), abs=1e-3)


def test_one_prediction_gives_its_distance_where_the_kernel_keeps_its_mass():
    # the reflected kernel loses no mass, so the integral is |1/2 - .8| for every width
    assert smooth_expected_calibration_error([0, 1], [0.8, 0.8]) == pytest.approx(0.3, abs=1e-9)


def test_the_ends_of_smooth_ece_are_zero_and_one():
    assert smooth_expected_calibration_error([0, 1], [0.0, 1.0]) == 0
    assert smooth_expected_calibration_error([1, 1], [0.0, 0.0]) == 1


def test_smooth_ece_is_continuous_in_the_predictions():
    y = np.array([0, 1] * 50)
    p = np.where(y, 0.5 + 1e-6, 0.5 - 1e-6)
    found = all_metrics(y, p, also=["smece"])
    # residuals of 1/4 lie 2e-6 apart, on both sides: the integral is 5e-7 * 2 / (s sqrt(2 pi)), which is s at 6.316e-4
    assert found["smece"] == pytest.approx(6.316e-4, abs=1e-6)
    assert found["ece"] < 1e-5 and found["c_emp"] == pytest.approx(0.25, abs=1e-5), "c_emp sees the order of the rows"
