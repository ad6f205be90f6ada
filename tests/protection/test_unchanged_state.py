"""Test that predictions and rejected calls leave the state and the inputs unchanged."""

import numpy as np
import pytest
from streams import drifting

from probcal import CompositeJumper, SimpleJumper

MAKE = pytest.mark.parametrize(
    "make", [SimpleJumper, lambda: CompositeJumper("quadratic")], ids=["simple", "composite"]
)


def refused(call, *what):
    with pytest.raises(ValueError):
        call(*what)


@MAKE
@pytest.mark.parametrize(
    "call",
    [
        lambda one: one.predict_one([0.2, 0.3, 0.5]),
        lambda one: refused(one.learn_one, [0.2, 0.3, 0.5], 3),
        lambda one: refused(one.learn_one, [0.2, 0.3, 0.6], 2),
        lambda one: one.protect(np.empty((0, 3)), []),
        lambda one: refused(one.protect, [[0.2, 0.3, 0.5]], [3]),
    ],
)
def test_calls_without_learning_leave_the_state_unchanged(make, call):
    jumper = make()
    before = jumper.state()
    call(jumper)
    assert jumper.state() == before
    jumper.learn_one(0.3, 1)


def test_error_in_an_own_function_leaves_the_state_unchanged():
    def breaks(p):
        if 0.25 in p:
            raise KeyError("mine")
        return p

    p, y = drifting(20_000)
    p[19_000] = 0.25  # in the second part
    jumper = SimpleJumper([breaks])
    jumper.learn_one(0.5, 1)
    before = jumper.state()
    with pytest.raises(KeyError, match="mine"):
        jumper.protect(p, y)
    assert jumper.state() == before


def test_rejected_label_leaves_the_composite_state_unchanged():
    jumper = CompositeJumper([lambda p: 0 * p, lambda p: p])
    jumper.learn_one(0.5, 1)
    before = jumper.state()
    refused(jumper.learn_one, 0.5, "x")
    assert jumper.state() == before


@pytest.mark.parametrize("truncation", [None, 1e-9])
def test_in_place_calibrator_leaves_the_input_array_unchanged(truncation):
    def halved(p):
        p *= 0.5
        return p

    p, y = drifting(100)
    before = p.copy()
    found = SimpleJumper([lambda p: p, halved], truncation=truncation).protect(p, y)[0]
    assert np.array_equal(p, before)
    assert np.array_equal(found, SimpleJumper([lambda p: p, lambda p: p * 0.5], truncation=truncation).protect(p, y)[0])


def test_in_place_family_is_rejected():
    class Halved:
        def apply(self, p):
            p *= 0.5
            return p[:, None]

        def apply_one(self, p):
            return [p * 0.5]

    p, y = drifting(100)
    before = p.copy()
    with pytest.raises(ValueError, match="read-only"):
        SimpleJumper(Halved(), truncation=None).protect(p, y)
    assert np.array_equal(p, before)


@pytest.mark.parametrize("name", ["jump_rate", "calibrators", "start", "truncation", "jump_rates", "passive_weight"])
def test_parameters_are_read_only(name):
    jumper = SimpleJumper() if hasattr(SimpleJumper, name) else CompositeJumper()
    with pytest.raises(AttributeError):
        setattr(jumper, name, 0.5)


def test_repr_shows_the_parameters():
    assert (
        repr(SimpleJumper())
        == "SimpleJumper(calibrators='quadratic', jump_rate=0.01, start='uniform', truncation=1e-09)"
    )
    assert "passive_weight=0.5" in repr(CompositeJumper())
