"""Test the warnings about columns and labels that make results too good or too bad."""

import numpy as np
import pyarrow as pa
import pytest

from probcal.try_table.column_types import ColumnChoices, infer_column
from probcal.try_table.column_warnings import warnings
from probcal.try_table.traps import determines_label

LABELS = np.array(["bad", "good"] * 30, dtype=object)


def column(values):
    """Return the guessed column of these values as text."""
    text = pa.chunked_array([[None if value is None else str(value) for value in values]], pa.large_string())
    return infer_column("c", text, ColumnChoices())


def said(values, labels=LABELS):
    return list(warnings([column(values)], labels))


@pytest.mark.parametrize("copy", [[1, 2], ["x", "y"], [None, 5], ["b", "g1"]])
def test_a_copy_of_the_target_determines_it(copy):
    values = [*copy * 29, *(["b", "g2"] if "g1" in copy else [copy[0], 7 if copy[1] == 5 else copy[1]])]
    assert determines_label(column(values), LABELS)


def test_inexact_or_all_distinct_columns_are_no_copies():
    assert not determines_label(column([1, 2] * 29 + [2, 2]), LABELS)
    assert not determines_label(column([number * number for number in range(60)]), LABELS)


@pytest.mark.parametrize("number", [-99, -999, 999, -9])
def test_number_far_from_others_is_named_as_sentinel(number):
    [line] = said([number, number, number, *range(30, 60), *range(33, 60)])
    assert line.startswith(f'"c" is {number} in 3 rows, far from all others')


def test_each_sentinel_of_a_column_is_named():
    [line] = said([*[-99] * 3, *[999] * 4, *range(30, 60), *range(33, 56)])
    assert line.startswith('"c" is -99 in 3 rows and 999 in 4 rows, far from all others')


@pytest.mark.parametrize(
    ("usual", "codes"),
    [
        ([20.5, 21.5, 19.5, 24], [-999.9]),
        ([1000, 50_000, 90_000, 7], [-9999, 9999999]),
        ([0, 1, 2, 7], [96, 98]),
        ([300, 555, 700, 850], [-99, 999]),
    ],
)
def test_sentinels_of_all_usual_forms_are_named(usual, codes):
    [line] = said([*codes * 4, *usual * 13, *usual[: 8 - 4 * len(codes)]])
    assert all(f"{code} in 4 rows" in line for code in codes)


def test_numbers_near_a_hundred_are_no_sentinels():
    assert said([95, 96, 97, 98] * 15) == []


@pytest.mark.parametrize("values", [[*range(40, 100)], [-99, *range(59)], [-99, -120, -99, -99, *range(56)]])
def test_number_among_others_is_no_sentinel(values):
    assert said(values) == []


def test_labels_that_differ_only_in_capitals_are_named():
    labels = np.array(["No", "Yes", "yes"] * 20, dtype=object)
    assert said(["a", "b", "c", "a"] * 15, labels) == [
        'labels that differ only in capitals are read as different classes: "Yes", "yes"'
    ]


@pytest.mark.parametrize("first", [2**53, -(2**60), 2**63])
def test_ids_that_a_number_cannot_hold_are_named(first):
    [line] = said([first + 5001 * step for step in range(1, 4)] * 20)
    assert line.startswith('"c" holds numbers above 9,007,199,254,740,992 in 60 rows, whose last digits are rounded')
    assert '--category "c" keeps all digits' in line


@pytest.mark.parametrize("values", [[2**53, 1, 2, 3], ["1.5e22", "2.5e21", "3.25e22"], [0.1, 0.2]])
def test_exact_and_measured_numbers_are_not_called_rounded(values):
    assert said(values * (60 // len(values))) == []
