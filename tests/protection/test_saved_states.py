"""Test states of streams: a saved state restores the stream, and a damaged one is rejected."""

import copy
import json
import math
from functools import partial

import numpy as np
import pytest
from streams import drifting

from probcal import CompositeJumper, SimpleJumper
from probcal.protection import Cox, Quadratic
from probcal.protection.stream_input import number
from probcal.protection.stream_state import Feedback

DELETED = object()


def saved(make=SimpleJumper):
    jumper = make()
    jumper.protect(*drifting(50), delay=5)
    return jumper.state()


def damaged(path, value, make=SimpleJumper):
    state = saved(make)
    part = state
    for one in path[:-1]:
        part = part[one]
    if value is DELETED:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return state


CAPITAL, WAITING = ("jumpers", 0, "capital"), ("feedback", "waiting")


@pytest.mark.parametrize(
    ("path", "values", "message"),
    [
        ((*CAPITAL, 0), [-1, math.nan, 1e308, "x", None, True, 10**400], r"\[0\].capital must be a finite"),
        ((*CAPITAL, 0), [0.9], r"jumpers\[0\].capital must sum to 1"),
        (CAPITAL, [[1.0], "x", None, {}], r"jumpers\[0\].capital must be a list of 5"),
        (("jumpers",), [[], None, 3], "jumpers must be a list of 1"),
        (("jumpers", 0), [{}, None], r"jumpers\[0\] must have the entries capital, log10"),
        (("jumpers", 0, "log10"), [[0.0], "ab", None], r"jumpers\[0\].log10 must be a list of 2"),
        (("feedback", "row"), [math.nan, math.inf, "x", -1, None, 1.5], "feedback.row must be a whole number"),
        (WAITING, ["x", -1, [], {}], "feedback.waiting must have the entries rows, likelihoods, base"),
        ((*WAITING, "rows"), [[], [1, 1, 2, 3, 4], [46, 47, 48, 49, 50], "x", [math.nan] * 5], "rows must be row"),
        ((*WAITING, "likelihoods"), [[], [[0.5] * 4] * 5, "x"], "waiting.likelihoods must be a list of 5"),
        ((*WAITING, "likelihoods", 2), [[2] * 5, ["x"] * 5], "waiting.likelihoods must be a finite number"),
        ((*WAITING, "likelihoods", 2), [[0.0] * 5], "waiting.likelihoods must not all be 0"),
        ((*WAITING, "base"), [[0.0] * 5, [math.nan] * 5], "waiting.base must be a finite number"),
        (("log10_martingale",), [[], "x", math.nan, None], "log10_martingale must be a list of 2"),
        (("log10_martingale", 1), [math.nan, math.inf, "x", None], "log10_martingale must be a finite number"),
        (("highest",), [-1, math.nan, "x", None], "highest must be a finite number"),
        (("n_classes",), [0, 1, -2, 2.0, "x", True], "n_classes must be a whole number of at least 2"),
        (("n_classes",), [None], "jumpers must be a list of 0"),
        (("parameters", "jump_rate"), [0, "x", None, math.nan], "a jump rate must be a number"),
        (("parameters", "jump_rate"), [DELETED], "parameters must have the entries"),
        (("parameters", "start"), [DELETED], "parameters must have the entries"),
        (("parameters", "truncation"), [DELETED], "parameters must have the entries"),
        (("parameters", "calibrators"), ["quadratik", None, 3, {}, {"cubic": [0]}, []], "no.* calibrators"),
        (("feedback",), [DELETED], "it must have the entries"),
    ],
)  # fmt: skip
def test_damaged_state_is_rejected_with_the_damaged_part(path, values, message):
    for value in values:
        with pytest.raises(ValueError, match=f"no state of SimpleJumper.*{message}"):
            SimpleJumper.from_state(damaged(path, value))


def test_every_jumper_of_a_composite_state_is_checked():
    state = damaged(("jumpers", 2, "log10"), [math.nan, 0.0], CompositeJumper)
    with pytest.raises(ValueError, match=r"jumpers\[2\].log10"):
        CompositeJumper.from_state(state)


def test_state_of_a_new_stream_can_be_restored():
    state = SimpleJumper().state()
    assert SimpleJumper.from_state(json.loads(json.dumps(state))).state() == state
    waiting = {"rows": [0], "likelihoods": [[]], "base": [0.5]}
    with pytest.raises(ValueError, match="waiting"):
        SimpleJumper.from_state(state | {"feedback": {"row": 1, "waiting": waiting}})


def square(p):
    return p**2


COX = Cox(((0, 1), (0.5, 2)))


@pytest.mark.parametrize("calibrators", ["cox", Quadratic((0, 0.1, -0.1)), COX, Quadratic()])
def test_state_stores_families_with_their_parameters(calibrators):
    jumper = SimpleJumper(calibrators)
    jumper.protect(*drifting(50))
    state = json.loads(json.dumps(jumper.state()))
    for given in (None, calibrators):
        again = SimpleJumper.from_state(state, calibrators=given)
        assert again.state() == jumper.state() and again.predict_one(0.3) == jumper.predict_one(0.3)


@pytest.mark.parametrize(
    ("of_the_stream", "others"),
    [
        ("quadratic", [Quadratic((0, 0.1, -0.1, 0.2, -0.2)), [np.sqrt] * 5, "cox"]),
        (Quadratic((0, 0.5)), [Quadratic((0, -0.5)), [np.sqrt] * 2]),
        (COX, [[np.sqrt, square], Cox(((0, 1), (0.5, 1)))]),
        ([np.sqrt, square], [COX, [square, np.sqrt], [np.sqrt] * 3, "quadratic", [np.sqrt, partial(square)]]),
    ],
)
def test_calibrators_that_differ_from_the_state_are_rejected(of_the_stream, others):
    state = saved(lambda: SimpleJumper(of_the_stream))
    for other in others:
        with pytest.raises(ValueError, match="the stream has the calibrators"):
            SimpleJumper.from_state(state, calibrators=other)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copied_jumper_is_independent(copied):
    jumper = SimpleJumper([np.sqrt, square])
    jumper.learn_one(0.3, 1)
    other, before = copied(jumper), jumper.state()
    assert other.state() == before
    other.learn_one(0.3, 1)
    assert jumper.state() == before != other.state()


def test_likelihoods_rounded_above_1_can_be_restored():
    feedback = Feedback()
    feedback.arrivals(np.array([[0.5, 1.0 + 1e-12]]), np.array([1.0]), 3, 1)
    assert Feedback.from_state(feedback.state(), 2).state() == feedback.state()


def test_message_names_the_range_only_where_there_is_one():
    with pytest.raises(ValueError, match=r"^x must be a finite number, not nan$"):
        number(math.nan, "x", -math.inf, math.inf)
    with pytest.raises(ValueError, match=r"^x must be a finite number within \[0, 1\], not 2$"):
        number(2, "x", 0, 1)
