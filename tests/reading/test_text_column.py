"""Test the look at single bytes that decides whether a column of text needs a pattern: it never misses a match."""

from __future__ import annotations

import re

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from probcal.reading.text_column import _NO_NUMBER, TEXT, _has_blanks, _may_be_no_number

texts = st.lists(
    st.none() | st.text("0719+-.eE ax\u00e9\u00a0\n", max_size=5) | st.sampled_from(["007", "+0", "-07", "0.5", "--1"])
)


@given(texts, st.integers(0, 3))
def test_bytes_find_what_the_patterns_find(values, start):
    column = pa.array(values, TEXT).slice(min(start, len(values)))
    present = [value for value in values[start:] if value]
    has_blanks = any(not ("!" <= edge <= "~") for value in present for edge in (value[0], value[-1]))
    assert _has_blanks(column) == has_blanks
    if any(re.search(_NO_NUMBER, value) for value in present):
        assert _may_be_no_number(column)


def test_plain_numbers_need_no_pattern():
    assert not _may_be_no_number(pa.array(["0", "0.5", "-1", "+2", ".5", "-.25", "10", None, "1e5", "0e1"], TEXT))
