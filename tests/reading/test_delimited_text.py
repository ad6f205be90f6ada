"""Test that delimited text of any program is read without further information."""

import csv
import io
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.reading.delimited import read_delimited_text

field = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n,;\t|\"'"), min_size=1, max_size=12)
tables = st.integers(2, 5).flatmap(
    lambda width: st.lists(st.lists(field, min_size=width, max_size=width), min_size=2, max_size=8)
)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(tables, st.sampled_from(",;\t|"), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_quoted_table_is_read_back_unchanged(rows, delimiter, encoding):
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
    table = read_delimited_text(written.getvalue().encode(encoding), Path("any.csv"))
    assert table.names == [name.strip() for name in rows[0]]
    found = zip(*(column.to_pylist() for column in table.columns), strict=True)
    assert [[text.strip() for text in row] for row in found] == [[text.strip() for text in row] for row in rows[1:]]
    assert any(note.startswith("separated by") for note in table.notes)


def test_decimal_commas_between_semicolons_do_not_split_fields():
    text = "a;b;left\n" + "".join(f"{i},5;{i},25;yes\n" for i in range(20))
    assert read_delimited_text(text.encode(), Path("any.csv")).lines.tolist() == list(range(2, 22))


def test_colons_and_blanks_between_commas_do_not_split_fields():
    text = "at,what,left\n" + "".join(f"10:{i},two words,no\n" for i in range(10, 30))
    assert read_delimited_text(text.encode(), Path("any.csv")).lines.tolist() == list(range(2, 22))
