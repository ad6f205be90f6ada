"""Test the input checks of the Jumpers: messages say what is wrong, where, and what to do."""

import math

import numpy as np
import pytest

from probcal import CompositeJumper, SimpleJumper

P, Y = [0.2, 0.6, 0.7], [0, 1, 1]


@pytest.mark.parametrize(
    ("p", "y", "message"),
    [
        ([0.2, 1.2, 0.7], Y, r"p must lie within \[0, 1\].*\(row 1: 1.2\)"),
        ([0.2, -0.2, 0.7], Y, r"p must lie within \[0, 1\].*\(row 1: -0.2\)"),
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
        (np.ma.array(P, mask=[0, 1, 0]), Y, "p must hold numbers, and no missing values"),
        (P, np.ma.array(Y, mask=[0, 1, 0]), "y must hold numbers, and no missing values"),
        (P, np.array([0, None, 1], dtype=object), "y must hold numbers, and no missing values"),
        (P, np.array([0, "1", 1], dtype=object), "y must hold numbers"),
        (P, [0, 1, 10**30], "whole numbers 0 to 1 only"),
        (P, [0, 1, math.nan], "whole numbers 0 to 1 only"),
    ],
)
def test_invalid_streams_are_rejected(p, y, message):
    with pytest.raises(ValueError, match=message):
        SimpleJumper(truncation=None).protect(p, y)


def test_message_counts_rows_over_the_whole_array():
    p, y = np.full(40_000, 0.5), np.zeros(40_000)
    p[39_000] = -1
    with pytest.raises(ValueError, match="row 39000"):
        SimpleJumper(truncation=None).protect(p, y)


@pytest.mark.parametrize(
    ("p", "y", "message"),
    [
        (1.2, 1, "p must lie within"),
        (-0.2, 1, "p must lie within"),
        (math.nan, 1, "p must lie within"),
        ("a", 1, "p must hold numbers"),
        (0.5, 2, "from 0 to 1, not 2"),
        (0.5, None, "from 0 to 1, not None"),
        (0.0, 1, "give a truncation"),
        (1.0, 0, "give a truncation"),
        ([0.5, 0.5, 0.0], 2, "give a truncation"),
        ([0.5, 0.5, 0.0], 3, "from 0 to 2, not 3"),
        (0.3, np.array([1]), "from 0 to 1, not array"),
        (np.ma.masked, 1, "p must hold numbers, and no missing values"),
        (np.ma.array([0.5, 0.3, 0.2], mask=[1, 0, 0]), 1, "p must hold numbers, and no missing values"),
    ],
)
def test_invalid_rows_are_rejected(p, y, message):
    with pytest.raises(ValueError, match=message):
        SimpleJumper(truncation=None).learn_one(p, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"jump_rate": 0}, r"jump rate must be .*, not 0$"),
        ({"jump_rate": 10**400}, "jump rate"),
        ({"jump_rate": 1.5}, "jump rate"),
        ({"jump_rate": "fast"}, "jump rate"),
        ({"start": "last"}, "'uniform' or 'first'"),
        ({"truncation": 0.5}, "truncation"),
        ({"truncation": 0}, "truncation"),
        ({"calibrators": "isotonic"}, "no calibrators 'isotonic'"),
    ],
)
def test_invalid_parameters_of_the_simple_jumper_are_rejected(parameters, message):
    with pytest.raises(ValueError, match=message):
        SimpleJumper(**parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"jump_rates": ()}, "jump rate"),
        ({"jump_rates": 0.01}, "jump_rates must be a sequence, not 0.01"),
        ({"jump_rates": "ab"}, "jump_rates must be a sequence"),
        ({"jump_rates": np.array(0.1)}, "a sequence"),
        ({"passive_weight": 1}, "passive_weight"),
        ({"passive_weight": -1}, "passive"),
    ],
)
def test_invalid_parameters_of_the_composite_jumper_are_rejected(parameters, message):
    with pytest.raises(ValueError, match=message):
        CompositeJumper(**parameters)


@pytest.mark.parametrize(
    "wrong", [{"delay": -1}, {"delay": 0.5}, {"every": 0}, {"every": True}, {"delay": 10**30}, {"every": 10**30}]
)
def test_invalid_delay_and_every_are_rejected(wrong):
    with pytest.raises(ValueError, match="must be a whole number"):
        SimpleJumper().protect(P, Y, **wrong)


@pytest.mark.parametrize("name", ["delay", "every"])
def test_delay_and_every_are_limited_to_1e15(name):
    protected, _ = SimpleJumper().protect(P, Y, **{name: 10**15})
    assert len(protected) == 3
    with pytest.raises(ValueError, match=name):
        SimpleJumper().protect(P, Y, **{name: 10**15 + 1})


def test_calibrators_that_all_exclude_a_label_are_rejected():
    never = [lambda p: 0 * p]
    with pytest.raises(ValueError, match="add the identity"):
        SimpleJumper(never).protect(P, Y)
    with pytest.raises(ValueError, match="add the identity"):
        SimpleJumper(never).learn_one(0.5, 1)


@pytest.mark.parametrize("values", [[0, 1, 1], [False, True, True], [0.0, np.int8(1), np.True_]])
def test_labels_in_an_object_array_are_accepted(values):
    found = SimpleJumper().protect(np.array(P, dtype=object), np.array(values, dtype=object))[0]
    assert found.tolist() == SimpleJumper().protect(P, Y)[0].tolist()


@pytest.mark.parametrize("y", [1, True, 1.0, np.int8(1), np.True_, np.float32(1)])
def test_label_can_be_any_number_type(y):
    jumper, plain = SimpleJumper(), SimpleJumper()
    jumper.learn_one(0.3, y)
    plain.learn_one(0.3, 1)
    assert jumper.state() == plain.state()


def test_empty_stream_is_accepted():
    estimates, log10 = SimpleJumper().protect([], [])
    assert estimates.shape == log10.shape == (0,)
