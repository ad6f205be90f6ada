"""Test the Simple and the Composite Jumper against Algorithm 1 in fractions and hand calculations."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from streams import algorithm_1, arrays, drifting, jump_rates, log10_loss, quick, streams

from probcal import CompositeJumper, SimpleJumper


def test_first_two_steps_agree_with_hand_calculation():
    # eps = 0, 1, -1, .5, -.5 and J = .01. Step 1, p = .5: f = .5, .75, .25, .625, .375, all of weight .2, so p' = .5;
    # y = 1 leaves capital f / 2.5 = .2, .3, .1, .25, .15 and S = .5 / .5 = 1. Step 2, p = .8: after the jump
    # .99 C + .002 = .2, .299, .101, .2495, .1505 on f = .8, .96, .64, .88, .72, so
    # p' = .16 + .28704 + .06464 + .21956 + .10836 = .8396; y = 0: S = (1 - .8396) / (1 - .8) = .802
    estimates, log10 = SimpleJumper().protect([0.5, 0.8], [1, 0])
    assert estimates == pytest.approx([0.5, 0.8396], abs=1e-15)
    assert 10**log10 == pytest.approx([1, 0.802], abs=1e-15)

    jumper = SimpleJumper()
    assert jumper.predict_one(0.5) == pytest.approx(0.5, abs=1e-15)
    jumper.learn_one(0.5, 1)
    assert jumper.predict_one(0.8) == pytest.approx(0.8396, abs=1e-15)
    jumper.learn_one(0.8, 0)
    assert 10**jumper.log10_martingale == pytest.approx(0.802, abs=1e-15)


@quick
@given(streams, jump_rates)
def test_arrays_and_streams_agree_with_algorithm_1_in_fractions(stream, jump_rate):
    exact, martingales = algorithm_1(stream, jump_rate)
    p, y = arrays(stream)
    estimates, log10 = SimpleJumper(jump_rate=jump_rate).protect(p, y)
    assert estimates == pytest.approx([float(one) for one in exact], rel=1e-12)
    assert log10 == pytest.approx([_log10(one) for one in martingales], rel=1e-12, abs=1e-12)
    jumper = SimpleJumper(jump_rate=jump_rate)
    for one, label, estimate, martingale in zip(p, y, exact, martingales, strict=True):
        assert jumper.predict_one(one) == pytest.approx(float(estimate), rel=1e-12)
        jumper.learn_one(one, label)
        assert jumper.log10_martingale == pytest.approx(_log10(martingale), rel=1e-12, abs=1e-12)


def test_twenty_thousand_steps_agree_with_extended_precision():
    p, y = drifting(20_000)
    exact, _ = algorithm_1(zip(p.tolist(), y.tolist(), strict=True), 0.01, np.longdouble)
    exact = np.array(exact, dtype=np.longdouble)
    estimates, log10 = SimpleJumper().protect(p, y)
    assert np.abs(estimates / exact - 1).max() < 1e-12
    gains = np.log10(np.where(y == 1, exact / p, (1 - exact) / (1 - np.longdouble(1) * p)))
    assert np.abs(log10 - np.cumsum(gains)).max() < 1e-10
    assert log10[-1] > 1000  # S itself is too large for a float


@pytest.mark.parametrize("calibrators", ["quadratic", "cox", "cox_slipped"])
@pytest.mark.parametrize(("delay", "every"), [(0, 1), (7, 1), (0, 10), (30, 3)])
def test_log_loss_reduction_equals_the_log_martingale(calibrators, delay, every):
    p, y = drifting(5000)
    estimates, log10 = SimpleJumper(calibrators).protect(p, y, delay=delay, every=every)
    assert log10[-1] == pytest.approx(log10_loss(p, y) - log10_loss(estimates, y), rel=1e-9)


def test_start_first_puts_all_capital_on_the_first_calibrator():
    # p = .8 and J = .01: the identity has weight .99 + .01 / 5 = .992, the others .002, with p' = .96, .64, .88, .72
    jumper = SimpleJumper(start="first")
    assert jumper.predict_one(0.8) == pytest.approx(0.8 * 0.992 + 0.002 * (0.96 + 0.64 + 0.88 + 0.72), abs=1e-15)


def test_base_predictions_are_truncated_first():
    p, y = np.array([0.0, 1.0, 0.05, 0.5]), np.array([1, 0, 1, 0])
    found = SimpleJumper(truncation=0.1).protect(p, y)
    plain = SimpleJumper().protect(np.array([0.1, 0.9, 0.1, 0.5]), y)
    assert all(np.array_equal(a, b) for a, b in zip(found, plain, strict=True))


def test_certain_correct_base_needs_no_truncation():
    estimates, log10 = SimpleJumper(truncation=None).protect([0.0, 1.0, 0.0], [0, 1, 0])
    assert estimates.tolist() == pytest.approx([0, 1, 0], abs=1e-15)
    assert log10 == pytest.approx([0, 0, 0], abs=1e-15)
    assert ((estimates >= 0) & (estimates <= 1)).all()


def _log10(number: Fraction) -> float:
    return math.log10(number.numerator) - math.log10(number.denominator)


RATES = (1e-2, 1e-3, 1e-4)


@pytest.mark.parametrize("passive_weight", [0, 0.5, 0.9])
def test_composite_martingale_is_the_mixture_of_simple_martingales(passive_weight):
    p, y = drifting(500)
    simple = [10 ** SimpleJumper("cox", rate, "first").protect(p, y)[1] for rate in RATES]
    mixed = passive_weight + (1 - passive_weight) * np.mean(simple, axis=0)
    found = CompositeJumper(passive_weight=passive_weight).protect(p, y)[1]
    assert found == pytest.approx(np.log10(mixed), rel=1e-10, abs=1e-12)


@quick
@given(streams)
def test_martingale_never_falls_below_the_passive_weight(stream):
    log10 = CompositeJumper(passive_weight=0.25).protect(*arrays(stream))[1]
    assert (log10 >= np.log10(0.25) - 1e-12).all()


def test_composite_with_one_rate_equals_the_simple_jumper():
    p, y = drifting(2000)
    composite = CompositeJumper("quadratic", (0.01,), 0, "uniform").protect(p, y)
    for one, other in zip(composite, SimpleJumper().protect(p, y), strict=True):
        assert np.array_equal(one, other)


def test_base_weight_recovers_after_a_huge_martingale():
    # 2,000 labels are against the base, and the others agree with it. Plain floats would lose its weight at 10^308.
    p = np.full(12_000, 0.99)
    y = (np.arange(12_000) >= 2000).astype(int)
    estimates, log10 = CompositeJumper([lambda p: p, lambda p: 1 - p], (1e-12,)).protect(p, y)
    assert log10[1999] > 3900
    assert estimates[-1] == pytest.approx(0.99, abs=1e-9)
