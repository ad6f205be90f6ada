"""Delimited text as any program writes it, read back without being told how."""

import csv
import io
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.try_table.file_reader import MISSING, read_delimited_text

field = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n,;\t|\"'"), min_size=1, max_size=12)
tables = st.integers(2, 5).flatmap(
    lambda width: st.lists(st.lists(field, min_size=width, max_size=width), min_size=2, max_size=8)
)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(tables, st.sampled_from(",;\t|"), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
def test_a_table_with_all_fields_quoted_comes_back_whatever_is_in_them(rows, delimiter, encoding):
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
    frame, notes, *_ = read_delimited_text(written.getvalue().encode(encoding), Path("any.csv"))
    assert list(frame.columns) == [name.strip() for name in rows[0]]
    texts = frame.astype(object).where(frame.notna(), None)
    wanted = [[None if (bare := value.strip()) in MISSING else bare for value in row] for row in rows[1:]]
    assert texts.to_numpy().tolist() == wanted
    assert any(note.startswith("separated by") for note in notes)


def test_numbers_with_a_decimal_comma_between_semicolons_are_not_parted_at_the_comma():
    text = "a;b;left\n" + "".join(f"{i},5;{i},25;yes\n" for i in range(20))
    assert read_delimited_text(text.encode(), Path("any.csv"))[0].shape == (20, 3)


def test_times_and_prose_between_commas_are_not_parted_at_colons_or_blanks():
    text = "at,what,left\n" + "".join(f"10:{i},two words,no\n" for i in range(10, 30))
    assert read_delimited_text(text.encode(), Path("any.csv"))[0].shape == (20, 3)
