"""The alarm row by row, and what ``log10_martingale`` is where labels come late."""

import json
import math

import numpy as np
import pytest
from streams import drifting, log10_loss, one_by_one

from probcal import CompositeJumper, SimpleJumper
from probcal.protection import first_alarm

BOTH = pytest.mark.parametrize("make", [SimpleJumper, CompositeJumper])


def risen_and_fallen():
    """A base that is wrong first, and then has its labels the other way round."""
    p = np.full(400, 0.3)
    return p, (np.arange(400) < 100).astype(int)


@BOTH
def test_row_by_row_it_comes_where_it_comes_in_an_array(make):
    p, y = risen_and_fallen()
    row = first_alarm(make().protect(p, y)[1], 100)
    jumper, reached = make(), []
    for one, label in zip(p.tolist(), y.tolist(), strict=True):
        jumper.learn_one(one, label)
        reached.append(jumper.has_reached(100))
    assert reached == [False] * row + [True] * (400 - row)


def test_it_stays_when_the_martingale_falls_again_and_in_the_state():
    jumper = SimpleJumper([lambda p: 1 - p])
    assert not jumper.has_reached(1.001)
    jumper.protect(*risen_and_fallen())
    assert jumper.log10_martingale < 0 and jumper.has_reached(1e30)
    state = json.loads(json.dumps(jumper.state()))
    assert SimpleJumper.from_state(state, calibrators=jumper.calibrators).has_reached(1e30)


@pytest.mark.parametrize("level", [1, 0.5, math.nan, math.inf, "x", None])
def test_a_level_that_is_none_is_refused(level):
    for call in (SimpleJumper().has_reached, lambda level: first_alarm([0.0], level)):
        with pytest.raises(ValueError, match="above 1"):
            call(level)


@pytest.mark.parametrize("log10", [3.0, [[3.0]], [math.nan], ["x"], None, np.ma.array([3.0], mask=[True])])
def test_a_martingale_that_is_none_is_refused(log10):
    with pytest.raises(ValueError, match="log10_martingale must"):
        first_alarm(log10, 100)


def test_with_labels_that_come_late_only_protect_counts_what_its_estimates_gained():
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
