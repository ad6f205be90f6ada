"""Test predictions near 0 and 1, small jump rates, and numbers of other types than float."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from streams import algorithm_1, drifting, log10_loss, one_by_one

from probcal import CompositeJumper, SimpleJumper
from probcal.protection import Quadratic

BOTH = pytest.mark.parametrize("make", [SimpleJumper, CompositeJumper])


@BOTH
def test_certain_wrong_base_has_finite_loss(make):
    p, y = [0.0, 1.0, 0.5, 1.0, 0.0], np.array([1, 0, 1, 1, 0])
    assert make().truncation == 1e-9
    estimates, log10 = make().protect(p, y)
    truncated = np.clip(p, 1e-9, 1 - 1e-9)
    assert np.isfinite(log10).all() and log10_loss(estimates, y) < 30
    # near 1 a float gives 1 - p' with a relative precision of about 1e-16 / 1e-9 only
    assert log10[-1] == pytest.approx(log10_loss(truncated, y) - log10_loss(estimates, y), abs=1e-3)
    assert estimates == pytest.approx(one_by_one(make(), p, y), rel=1e-12)


@BOTH
def test_default_truncation_leaves_other_predictions_unchanged(make):
    p, y = drifting(500)
    p[:4] = 1e-9, 1e-6, 1 - 1e-6, 0.5
    for found, plain in zip(make().protect(p, y), make(truncation=None).protect(p, y), strict=True):
        assert np.array_equal(found, plain)


def test_certain_predictions_of_several_classes_are_accepted():
    estimates, log10 = SimpleJumper().protect([[1.0, 0.0, 0.0]] * 2, [1, 0])
    assert np.isfinite(log10).all() and (estimates > 0).all()


@pytest.mark.parametrize("row", [[0.333334, 0.333334, 0.333334], [0.333333, 0.333333, 0.333332]])
@pytest.mark.parametrize("truncation", [None, 1e-9])
def test_rows_rounded_to_six_decimals_are_accepted(row, truncation):
    SimpleJumper([lambda p: p, lambda p: p], truncation=truncation).protect([row], [0])
    estimate = SimpleJumper(truncation=truncation).predict_one(row)
    assert estimate.sum() == pytest.approx(1, abs=1e-5 if truncation is None else 1e-12)


@pytest.mark.parametrize("q", [1 - 2**-53, 1 - 1e-15])
@pytest.mark.parametrize("jumper", [SimpleJumper, CompositeJumper])
def test_prediction_below_1_is_not_rounded_to_1(q, jumper):
    # nearly all capital is on the constant 1: 1 - p' is below 1e-17, but floats near 1 have a distance of 1e-16
    one = jumper([lambda p: 0 * p + 1, lambda p: p], start="first", truncation=None)
    one.protect([0.5] * 50, [1] * 50)
    assert one.predict_one(q) < 1
    assert one.protect([q], [0])[0][0] < 1
    several = [[q, 1 - q, 0.0]]
    assert jumper(start="first", calibrators=Quadratic((1, 0)), truncation=None).protect(several, [1])[0].max() < 1


@pytest.mark.parametrize("kind", [np.float32, Fraction])
def test_parameters_of_other_number_types_become_floats(kind):
    jumper = SimpleJumper(Quadratic((kind(0), kind(0.5))), jump_rate=kind(0.01), truncation=kind(0.25))
    p, y = drifting(50)
    estimates, log10 = jumper.protect(p, y)
    assert log10[-1] == pytest.approx(log10_loss(p.clip(0.25, 0.75), y) - log10_loss(estimates, y), rel=1e-12)
    json.dumps(jumper.state())
    json.dumps(CompositeJumper(jump_rates=np.array([0.1], np.float32), passive_weight=kind(0.5)).state())


@pytest.mark.parametrize("p", [1e-3, 1e-14, 1e-30, 1e-150])
def test_tiny_predictions_lose_no_precision(p):
    # p - p (1 - p) is p^2
    assert Quadratic((-1,)).apply_one(p) == pytest.approx([p * p], rel=1e-15, abs=0)
    assert Quadratic((-1,)).apply(np.array([p]))[0, 0] == pytest.approx(p * p, rel=1e-15, abs=0)
    rest = (1 - p) / 2
    assert Quadratic((-1,)).apply(np.array([[p, rest, rest]]))[0, 0, 0] == pytest.approx(p * p, rel=1e-15, abs=0)


@pytest.mark.parametrize("jump_rate", [1e-12, 1e-6, 0.5])
@pytest.mark.parametrize("eps", [(0, 1, -1), (-1, 0.5)])
def test_tiny_jump_rates_and_predictions_lose_no_precision(jump_rate, eps):
    rng = np.random.default_rng(0)
    p, y = 10.0 ** rng.uniform(-250, -1, 200), rng.integers(0, 2, 200)
    make = lambda: SimpleJumper(Quadratic(eps), jump_rate, truncation=None)  # noqa: E731
    estimates, log10 = make().protect(p, y)
    jumper, streamed = make(), []
    for one, label in zip(p.tolist(), y.tolist(), strict=True):
        streamed.append(jumper.predict_one(one))
        jumper.learn_one(one, label)
    exact, _ = algorithm_1(zip(p[:40].tolist(), y[:40].tolist(), strict=True), jump_rate, eps=eps)
    assert np.abs(estimates / streamed - 1).max() < 1e-12
    assert log10[-1] == pytest.approx(jumper.log10_martingale, rel=1e-12)
    assert max(abs(Fraction(a) / b - 1) for a, b in zip(estimates[:40].tolist(), exact, strict=True)) < 1e-12


@pytest.mark.parametrize("jump_rate", [5e-324, 1e-100, 9e-13])
def test_too_small_jump_rates_are_rejected(jump_rate):
    for make in (lambda: SimpleJumper(jump_rate=jump_rate), lambda: CompositeJumper(jump_rates=(0.1, jump_rate))):
        with pytest.raises(ValueError, match=r"a jump rate must be a number from 1e-12 to 1, not \d"):
            make()


@pytest.mark.parametrize("truncation", [1e-300, 2.0**-54, math.nan, "x", 10**400])
def test_truncation_too_small_for_floats_is_rejected(truncation):
    with pytest.raises(ValueError, match="large enough that 1 - truncation is not 1"):
        SimpleJumper(truncation=truncation)
