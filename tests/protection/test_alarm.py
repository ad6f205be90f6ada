"""Test the alarm row by row, and the value of ``log10_martingale`` with delayed labels."""

import json
import math

import numpy as np
import pytest
from streams import drifting, log10_loss, one_by_one

from probcal import CompositeJumper, SimpleJumper
from probcal.protection import first_alarm

BOTH = pytest.mark.parametrize("make", [SimpleJumper, CompositeJumper])


def risen_and_fallen():
    """Return a base of .3 with 100 labels 1 and then 300 labels 0, so that the martingale rises and falls."""
    p = np.full(400, 0.3)
    return p, (np.arange(400) < 100).astype(int)


@BOTH
def test_alarm_comes_at_the_same_row_in_stream_and_array(make):
    p, y = risen_and_fallen()
    row = first_alarm(make().protect(p, y)[1], 100)
    jumper, reached = make(), []
    for one, label in zip(p.tolist(), y.tolist(), strict=True):
        jumper.learn_one(one, label)
        reached.append(jumper.has_reached(100))
    assert reached == [False] * row + [True] * (400 - row)


def test_alarm_remains_after_the_martingale_falls():
    jumper = SimpleJumper([lambda p: 1 - p])
    assert not jumper.has_reached(1.001)
    jumper.protect(*risen_and_fallen())
    assert jumper.log10_martingale < 0 and jumper.has_reached(1e30)
    state = json.loads(json.dumps(jumper.state()))
    assert SimpleJumper.from_state(state, calibrators=jumper.calibrators).has_reached(1e30)


@pytest.mark.parametrize("level", [1, 0.5, math.nan, math.inf, "x", None])
def test_invalid_level_is_rejected(level):
    for call in (SimpleJumper().has_reached, lambda level: first_alarm([0.0], level)):
        with pytest.raises(ValueError, match="above 1"):
            call(level)


@pytest.mark.parametrize("log10", [3.0, [[3.0]], [math.nan], ["x"], None, np.ma.array([3.0], mask=[True])])
def test_invalid_martingale_is_rejected(log10):
    with pytest.raises(ValueError, match="log10_martingale must"):
        first_alarm(log10, 100)


def test_only_protect_measures_the_gain_with_delayed_labels():
    p, y = drifting(2000)
    jumper = SimpleJumper()
    estimates = one_by_one(jumper, p.tolist(), y, delay=200)
    for one, label in zip(p[-201:].tolist(), y[-201:].tolist(), strict=True):
        jumper.learn_one(one, label)
    late = SimpleJumper()
    late.protect(p, y, delay=200)
    gained = log10_loss(p, y) - log10_loss(estimates, y)
    assert late.log10_martingale == pytest.approx(gained, rel=1e-9)
    assert jumper.log10_martingale == pytest.approx(SimpleJumper().protect(p, y)[1][-1], rel=1e-9)
    assert jumper.log10_martingale > gained + 1
    assert "late" in SimpleJumper.log10_martingale.__doc__
