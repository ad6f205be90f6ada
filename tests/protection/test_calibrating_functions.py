"""Test the families of calibrating functions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streams import quick

from probcal import SimpleJumper
from probcal.protection import Cox, Quadratic
from probcal.protection.calibrating_functions import FAMILIES, family

EACH = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def test_quadratic_functions_agree_with_the_poster():
    # p (1 - p) = .16 at p = .2
    assert FAMILIES["quadratic"].apply_one(0.2) == pytest.approx([0.2, 0.36, 0.04, 0.28, 0.12], abs=1e-15)
    assert sorted(FAMILIES["quadratic"].eps) == [-1, -0.5, 0, 0.5, 1]


def test_nine_cox_functions_agree_with_hand_calculation():
    # odds of .2 are 1/4; the powers 1, 1/2, 2 give 1/4, 1/2, 1/16; each is multiplied by e^0, e^1, e^-1
    odds = [odds * math.exp(a) for odds in (1 / 4, 1 / 2, 1 / 16) for a in (0, 1, -1)]
    assert FAMILIES["cox"].apply_one(0.2) == pytest.approx([one / (1 + one) for one in odds], rel=1e-14)


def test_slipped_cox_functions_use_indices_as_values():
    # a and b are the indices 0, 1, 2: odds 1, 1/4, 1/16 times e^0, e^1, e^2; the first function is the constant 1/2
    odds = [odds * math.exp(a) for odds in (1, 1 / 4, 1 / 16) for a in (0, 1, 2)]
    assert FAMILIES["cox_slipped"].apply_one(0.2) == pytest.approx([one / (1 + one) for one in odds], rel=1e-14)
    assert FAMILIES["cox_slipped"].apply_one(0.9)[0] == 0.5


@EACH
@quick
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_functions_return_equal_probabilities_for_arrays_and_numbers(family, p):
    values = family.apply(np.array(p))
    assert ((values >= 0) & (values <= 1)).all()
    assert values == pytest.approx(np.array([family.apply_one(one) for one in p]), rel=1e-14)


@pytest.mark.parametrize("name", ["quadratic", "cox"])
def test_first_function_is_the_identity(name):
    p = np.linspace(0, 1, 101)
    assert FAMILIES[name].apply(p)[:, 0] == pytest.approx(p, abs=1e-15)


def test_simplex_functions_of_two_classes_agree_with_binary_functions():
    # for class 1, +eps gives f_eps of P(y = 1); for class 0, +eps gives f_-eps of P(y = 1)
    p = np.linspace(0, 1, 21)
    on_simplex = Quadratic().apply(np.column_stack([1 - p, p]))
    of_two = dict(zip(Quadratic().eps, Quadratic().apply(p).T, strict=True))
    expected = [of_two[0]] + [of_two[sign * eps] for eps in (1, -1, 0.5, -0.5) for sign in (-1, 1)]
    assert on_simplex[:, :, 1] == pytest.approx(np.array(expected).T, abs=1e-15)


@quick
@given(st.lists(st.floats(0, 1), min_size=3, max_size=6).filter(lambda one: sum(one) > 0.01))
def test_functions_on_the_simplex_return_probabilities(weights):
    p = np.array([weights]) / sum(weights)
    values = Quadratic().apply(p)
    assert values.shape == (1, 1 + 4 * len(weights), len(weights))
    assert (values >= -1e-16).all()
    assert values.sum(axis=2) == pytest.approx(1, abs=1e-12)
    assert np.array_equal(values[:, 0], p)


def test_own_functions_of_the_user_are_accepted():
    p, y = np.linspace(0.1, 0.9, 50), np.arange(50) % 2
    own = SimpleJumper([lambda p: p, lambda p: p + p * (1 - p), lambda p: p - p * (1 - p)])
    named = SimpleJumper(Quadratic((0, 1, -1)))
    assert own.protect(p, y)[0] == pytest.approx(named.protect(p, y)[0], rel=1e-14)
    assert own.predict_one(0.3) == pytest.approx(named.predict_one(0.3), rel=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SimpleJumper("quadratik"), "no calibrators 'quadratik'; did you mean \"quadratic\""),
        (lambda: SimpleJumper([]), "a name, a family or a list of functions"),
        (lambda: SimpleJumper(["cox"]), "a name, a family or a list of functions"),
        (lambda: Quadratic((0, 1.01)), r"within \[-1, 1\]"),
        (lambda: Cox(((0, -1),)), "b not negative"),
        (lambda: Cox(((100.5, 1),)), "at most 100"),
        (lambda: Cox(((0, 0), (0, 100.5))), "at most 100"),
        (lambda: Cox(((0, 1, 2),)), "pairs"),
        (lambda: Cox((3,)), "pairs must be a sequence"),
        (lambda: Cox(3), "pairs must be a sequence"),
        (lambda: Cox(()), "pairs"),
        (lambda: Quadratic(0.5), "eps must be a sequence"),
        (lambda: Quadratic("ab"), "eps must be a sequence"),
        (lambda: Quadratic(("a", "b")), "eps must be"),
        (lambda: Quadratic(()), "eps must be"),
        (lambda: SimpleJumper([lambda p: p, lambda p: p[:1]]).protect([0.1, 0.2], [0, 1]), "calibrator 1"),
        (lambda: SimpleJumper("cox").predict_one([0.1, 0.2, 0.7]), "for two classes"),
    ],
)
def test_invalid_families_are_rejected(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_arrays_and_lists_equal_tuples_as_parameters():
    assert Quadratic(np.array([0, 0.5])) == Quadratic([0, 0.5]) == Quadratic((0.0, 0.5))
    assert Cox([[0, 1]]) == Cox(np.array([[0, 1]])) == Cox(((0.0, 1.0),))


@pytest.mark.parametrize("pair", [(100, 100), (-100, 100), (100, 0), (-100, 0)])
def test_steepest_cox_functions_return_probabilities(pair):
    p = np.array([0, 1e-9, 0.5, 1 - 1e-9, 1])
    values = Cox((pair,)).apply(p)
    assert ((values >= 0) & (values <= 1)).all()
    assert values[:, 0] == pytest.approx([Cox((pair,)).apply_one(one)[0] for one in p.tolist()], rel=1e-14)


@pytest.mark.parametrize("calibrators", ["quadratic", "cox", [np.sqrt]], ids=["quadratic", "cox", "own functions"])
def test_family_is_immutable_and_hashable(calibrators):
    found = family(calibrators)
    assert {found: "kept"}[family(calibrators)] == "kept"
    for name in vars(found):
        with pytest.raises(AttributeError):
            setattr(found, name, ())
