"""Test the warnings about columns and labels that make results too good or too bad."""

import numpy as np
import pyarrow as pa
import pytest

from probcal.try_table.column_types import ColumnChoices, infer_column
from probcal.try_table.column_warnings import warnings

LABELS = np.array(["bad", "good"] * 30, dtype=object)


def said(values, labels=LABELS):
    """Return the warnings about a column of these values as text."""
    text = pa.chunked_array([list(map(str, values))], pa.large_string())
    return [line for _, line in warnings([infer_column("c", text, ColumnChoices())], labels)]


@pytest.mark.parametrize("codes", [{-99: 3}, {-999: 3}, {999: 3}, {-9: 3}, {-99: 3, 999: 4}])
def test_number_far_from_others_is_named_as_sentinel(codes):
    [line] = said([*(code for code, rows in codes.items() for _ in range(rows)), *[*range(30, 60)] * 2][:60])
    listing = " and ".join(f"{code} in {rows} rows" for code, rows in codes.items())
    assert line.startswith(f'"c" is {listing}, far from all others')


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


@pytest.mark.parametrize(
    "values",
    [
        [95, 96, 97, 98] * 15,
        [*range(40, 100)],
        [-99, *range(59)],
        [-99, -120, -99, -99, *range(56)],
        [2**53, 1, 2, 3] * 15,
        ["1.5e22", "2.5e21", "3.25e22"] * 20,
        [0.1, 0.2] * 30,
    ],
)
def test_numbers_among_others_and_exact_ones_give_no_warning(values):
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
