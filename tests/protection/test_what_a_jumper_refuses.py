"""A user's mistake gets a message that says what, where and what to do."""

import math

import numpy as np
import pytest

from probcal import CompositeJumper, SimpleJumper

P, Y = [0.2, 0.6, 0.7], [0, 1, 1]


@pytest.mark.parametrize(
    ("p", "y", "message"),
    [
        ([0.2, 1.2, 0.7], Y, r"p must lie within \[0, 1\].*\(row 1: 1.2\)"),
        ([0.2, math.nan, 0.7], Y, r"no missing values \(row 1: nan\)"),
        (P, [0, 1, 2], r"whole numbers 0 to 1 only \(row 2: 2\)"),
        (P, [0, 1, 0.5], r"whole numbers 0 to 1 only \(row 2: 0.5\)"),
        (P, [0, 1], "equal n"),
        (P, [[0], [1], [1]], "equal n"),
        (["a", "b", "c"], Y, "p must hold numbers"),
        (P, ["no", "yes", "yes"], "y must hold numbers"),
        ([0.2, 0.0, 0.7], Y, r"0/0; give a truncation \(row 1: 1\)"),
        ([0.2, 1.0, 1.0], [0, 1, 0], r"0/0; give a truncation \(row 2: 0\)"),
        ([[0.2, 0.3, 0.4]] * 3, Y, r"each row of p must sum to 1 \(row 0"),
        ([[0.2, 0.8, 0.0]] * 3, [0, 1, 2], r"0/0; give a truncation \(row 2: 2\)"),
    ],
)
def test_streams_that_are_none(p, y, message):
    with pytest.raises(ValueError, match=message):
        SimpleJumper().protect(p, y)


def test_the_row_is_counted_over_the_whole_array():
    p, y = np.full(40_000, 0.5), np.zeros(40_000)
    p[39_000] = -1
    with pytest.raises(ValueError, match="row 39000"):
        SimpleJumper().protect(p, y)


@pytest.mark.parametrize(
    ("p", "y", "message"),
    [
        (1.2, 1, "p must lie within"),
        (math.nan, 1, "p must lie within"),
        ("a", 1, "p must hold numbers"),
        (0.5, 2, "from 0 to 1, not 2"),
        (0.5, None, "from 0 to 1, not None"),
        (0.0, 1, "give a truncation"),
        (1.0, 0, "give a truncation"),
        ([0.5, 0.5, 0.0], 2, "give a truncation"),
        ([0.5, 0.5, 0.0], 3, "from 0 to 2, not 3"),
    ],
)
def test_rows_that_are_none(p, y, message):
    with pytest.raises(ValueError, match=message):
        SimpleJumper().learn_one(p, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"jump_rate": 0}, "jump rate"),
        ({"jump_rate": 1.5}, "jump rate"),
        ({"jump_rate": "fast"}, "jump rate"),
        ({"start": "last"}, "'uniform' or 'first'"),
        ({"truncation": 0.5}, "truncation"),
        ({"truncation": 0}, "truncation"),
        ({"calibrators": "isotonic"}, "no calibrators 'isotonic'"),
    ],
)
def test_parameters_that_are_none(parameters, message):
    with pytest.raises(ValueError, match=message):
        SimpleJumper(**parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"jump_rates": ()}, "jump rate"), ({"passive_weight": 1}, "passive_weight"), ({"passive_weight": -1}, "passive")],
)
def test_parameters_of_the_mixture_that_are_none(parameters, message):
    with pytest.raises(ValueError, match=message):
        CompositeJumper(**parameters)


@pytest.mark.parametrize("wrong", [{"delay": -1}, {"delay": 0.5}, {"every": 0}, {"every": True}])
def test_feedback_that_is_none(wrong):
    with pytest.raises(ValueError, match="must be a whole number"):
        SimpleJumper().protect(P, Y, **wrong)


def test_calibrators_that_all_rule_a_label_out():
    never = [lambda p: 0 * p]
    with pytest.raises(ValueError, match="let the identity be among them"):
        SimpleJumper(never).protect(P, Y)
    with pytest.raises(ValueError, match="let the identity be among them"):
        SimpleJumper(never).learn_one(0.5, 1)


@pytest.mark.parametrize("state", [{}, {"parameters": {"calibrators": "cox", "speed": 1}}, None])
def test_a_state_that_is_none(state):
    with pytest.raises(ValueError, match="no state of SimpleJumper"):
        SimpleJumper.from_state(state)


def test_no_rows_are_no_mistake():
    estimates, log10 = SimpleJumper().protect([], [])
    assert estimates.shape == log10.shape == (0,)
