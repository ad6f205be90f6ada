"""Test smooth ECE against the kernel formula of the paper and the package relplot."""

import numpy as np
import pytest

from probcal.metrics import all_metrics, smooth_expected_calibration_error

RNG = np.random.default_rng(0)


def literally(y, p, width):
    """Integrate |mean of K(t, p) (y - p)|, where K sums the Gaussian's mirror images at 0 and 1."""
    t = np.linspace(0, 1, 4001)[:, np.newaxis]
    images = [sign * p + 2 * k for k in range(-4, 5) for sign in (1, -1)]
    kernel = sum(np.exp(-((t - one) ** 2) / (2 * width**2)) for one in images) / (width * np.sqrt(2 * np.pi))
    return np.trapezoid(np.abs((kernel * (y - p)).mean(axis=1)), t[:, 0])


@pytest.mark.parametrize("power", [0.5, 1.0, 3.0])
def test_smooth_ece_equals_its_kernel_width(power):
    q = RNG.random(200)
    y = (RNG.random(200) < q).astype(float)
    p = q**power
    found = smooth_expected_calibration_error(y, p)
    assert literally(y, p, found) == pytest.approx(found, abs=1e-6)


def test_smooth_ece_agrees_with_relplot():
    relplot = pytest.importorskip("relplot")
    q = RNG.random(2000)
    y = (RNG.random(2000) < q).astype(float)
    # relplot finds the width to 1/1024, and cuts the kernel at a distance of 1/2, which matters for wide kernels
    assert smooth_expected_calibration_error(y, q**1.2) == pytest.approx(relplot.smECE(q**1.2, y), abs=1e-3)


def test_smooth_ece_of_one_prediction_is_its_distance():
    # the reflected kernel loses no mass, so the integral is |1/2 - .8| for every width
    assert smooth_expected_calibration_error([0, 1], [0.8, 0.8]) == pytest.approx(0.3, abs=1e-9)


def test_smooth_ece_reaches_zero_and_one():
    assert smooth_expected_calibration_error([0, 1], [0.0, 1.0]) == 0
    assert smooth_expected_calibration_error([1, 1], [0.0, 0.0]) == 1


def test_smooth_ece_of_nearly_equal_predictions_is_small():
    y = np.array([0, 1] * 50)
    p = np.where(y, 0.5 + 1e-6, 0.5 - 1e-6)
    found = all_metrics(y, p, also=["smece"])
    # residuals of 1/4 are 2e-6 apart, on both sides: the integral 5e-7 * 2 / (s sqrt(2 pi)) equals s at 6.316e-4
    assert found["smece"] == pytest.approx(6.316e-4, abs=1e-6)
    assert found["ece"] < 1e-5 and found["c_emp"] == pytest.approx(0.25, abs=1e-5), "c_emp sees the order of the rows"
