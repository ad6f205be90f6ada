"""Test the encoder against a sequence of three Weka filters, and test that it learns from training rows only."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.config.experiment_file import ENCODINGS
from probcal.data.encode import ENCODERS, NumericEncoder, OrdinalEncoder

pytestmark = pytest.mark.filterwarnings("error")


def nominal(*values, levels=None):
    """Make a categorical column; None is missing."""
    return pd.Categorical(list(values), categories=levels or sorted({v for v in values if v is not None}))


def encoded(train, test=None):
    encoder = NumericEncoder().fit(pd.DataFrame(train))
    return encoder.transform(pd.DataFrame(train if test is None else test)).tolist()


def test_only_levels_of_the_training_rows_are_encoded():
    assert encoded({"x": nominal("a", "c", levels=["a", "b", "c", "d"])}) == [[0], [1]]


def test_a_missing_level_becomes_the_most_frequent_training_level():
    # b is more frequent than a in the test rows, but a is more frequent in the training rows
    train, test = {"x": nominal("a", "a", "b", "c")}, {"x": nominal("b", "b", "b", None)}
    assert encoded(train, test)[-1] == [1, 0, 0]


def test_numbers_outside_the_training_range_leave_0_to_1():
    assert encoded({"x": [2.0, 4.0]}, {"x": [0.0, 3.0, 8.0]}) == [[-1], [0.5], [3]]


def test_a_missing_number_becomes_the_training_mean():
    # (2 + 4 + 12) / 3 = 6, and 6 is 4/10 of the way from 2 to 12
    assert encoded({"x": [2.0, 4.0, 12.0]}, {"x": [math.nan, 100.0]})[0] == [0.4]


def test_a_level_unseen_in_training_gives_zeros():
    assert encoded({"x": nominal("a", "b", "c")}, {"x": nominal("d", "b")}) == [[0, 0, 0], [0, 1, 0]]
    assert encoded({"x": nominal("a", "b")}, {"x": nominal("d", "b")}) == [[0], [1]]


@pytest.mark.parametrize(
    "train",
    [
        pytest.param([7.0, 7.0], id="constant number"),
        pytest.param([math.nan, math.nan], id="all numbers missing"),
        pytest.param(nominal("a", "a"), id="constant level"),
        pytest.param(nominal("a", None), id="constant level and a missing one"),
        pytest.param(nominal(None, None, levels=["a", "b", "c"]), id="all levels missing"),
    ],
)
def test_a_constant_training_column_gives_zeros(train):
    test = nominal("a", "b", "z", None) if isinstance(train, pd.Categorical) else [7.0, 8.0, -1e9, math.nan]
    assert encoded({"x": train}) == [[0], [0]]
    assert encoded({"x": train}, {"x": test}) == [[0]] * 4


def test_columns_are_found_by_name_in_training_order():
    train = pd.DataFrame({"n": [0.0, 1.0, 2.0], "c": nominal("a", "b", "c")})
    encoder = NumericEncoder().fit(train)
    assert encoder.transform(train).tolist() == [[0, 1, 0, 0], [0.5, 0, 1, 0], [1, 0, 0, 1]]
    assert encoder.transform(train[["c", "n"]]).tolist() == encoder.transform(train).tolist()


def test_the_declared_order_of_levels_does_not_matter():
    train = {"x": nominal("a", "b", "c"), "y": nominal("p", "q", "q")}
    test = {"x": nominal("c", "a", levels=["c", "b", "a"]), "y": nominal("q", None, levels=["q", "p"])}
    assert encoded(train, test) == [[0, 0, 1, 1], [1, 0, 0, 1]]


def test_declared_but_unused_levels_do_not_matter():
    train = {"x": nominal("a", "b", "c")}
    assert encoded(train, {"x": nominal("c")}) == [[0, 0, 1]]
    assert encoded(train, {"x": nominal("c", "aa", levels=["aa", "c"])}) == [[0, 0, 1], [0, 0, 0]]
    assert encoded(train, {"x": nominal(None, levels=["c"])}) == [[1, 0, 0]]


def test_levels_may_be_whole_numbers():
    # 2 is the most frequent level; as positions the levels would be 1, 0, 2
    train = {"x": pd.Categorical([2, 1, 3, 2], categories=[2, 1, 3])}
    assert encoded(train, {"x": pd.Categorical([1, None, 3])}) == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_the_frame_is_not_modified():
    frame = pd.DataFrame({"n": [1.0, math.nan, 3.0], "c": nominal("a", None, "b")}, index=[7, 7, 9])
    before = frame.copy()
    NumericEncoder().fit(frame).transform(frame)
    pd.testing.assert_frame_equal(frame, before)


numbers = st.none() | st.integers(-3, 3).map(float) | st.floats(-1e6, 1e6)
letters = st.none() | st.sampled_from("abcd")
some_rows = st.lists(st.tuples(numbers, letters), min_size=1, max_size=12)


def frame_of(rows, levels):
    return pd.DataFrame({
        "n": [math.nan if n is None else n for n, _ in rows],
        "c": pd.Categorical([c for _, c in rows], categories=list(levels)),
    })  # fmt: skip


@settings(max_examples=50, deadline=None, derandomize=True)
@given(some_rows, some_rows, st.permutations("abcd"))
def test_encoding_equals_three_weka_filters(train, test, levels):
    found = NumericEncoder().fit(frame_of(train, "abcd")).transform(frame_of(test, levels))
    expected = [
        replace_nominal_normalize([n for n, _ in train], [n for n, _ in test], None),
        replace_nominal_normalize([c for _, c in train], [c for _, c in test], "abcd"),
    ]
    np.testing.assert_allclose(found, np.hstack(expected), rtol=1e-12, atol=1e-12)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(some_rows, some_rows)
def test_the_encoding_of_a_row_ignores_other_rows(train, test):
    encoder = NumericEncoder().fit(frame_of(train, "abcd"))
    together = encoder.transform(frame_of(test, "abcd"))
    assert together.tolist() == [encoder.transform(frame_of([row], "abcd"))[0].tolist() for row in test]


def replace_nominal_normalize(train, test, order):
    """Apply ReplaceMissingValues, NominalToBinary and Normalize value by value; a numeric column has order None."""
    seen = [value for value in train if value is not None]
    if order is None:
        fill = math.fsum(seen) / len(seen) if seen else 0.0
        train, test = ([[fill if value is None else value] for value in column] for column in (train, test))
    else:
        levels = [level for level in order if level in seen]
        fill = max(levels, key=seen.count) if levels else None  # the first of equals
        shown = levels if len(levels) > 2 else levels[1:] or [None]
        train, test = (
            [[float((fill if value is None else value) == level) for level in shown] for value in column]
            for column in (train, test)
        )
    low, high = ([end(column) for column in zip(*train, strict=True)] for end in (min, max))
    return [[(v - a) / (b - a) if b > a else 0.0 for v, a, b in zip(row, low, high, strict=True)] for row in test]


def test_ordinals_are_alphabetical_and_all_columns_are_standardised():
    train = frame_of([(1.0, "b"), (3.0, "d"), (None, "b"), (2.0, "a")], "dcba")
    encoder = OrdinalEncoder().fit(train)
    # The numbers have mean 2 and sd sqrt(1/2); a missing number becomes 2.
    # The places 1, 3, 1, 0 have mean 5/4 and sd sqrt(19/16).
    np.testing.assert_allclose(encoder.transform(train)[:, 0], np.array([-1, 1, 0, 0]) / math.sqrt(1 / 2))
    np.testing.assert_allclose(encoder.transform(train)[:, 1], (np.array([1, 3, 1, 0]) - 1.25) / math.sqrt(19 / 16))
    later = frame_of([(4.0, "c"), (0.0, None)], "abcd")
    expected = [[2 / math.sqrt(1 / 2), 0.75 / math.sqrt(19 / 16)], [-2 / math.sqrt(1 / 2), 0]]
    np.testing.assert_allclose(encoder.transform(later), expected, atol=1e-12)


def test_an_experiment_may_name_every_encoding_of_the_runner():
    assert {*ENCODERS, "native"} == set(ENCODINGS)
