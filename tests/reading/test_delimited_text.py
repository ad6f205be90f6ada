"""Test that delimited text of any program is read without further information."""

import csv
import io
from pathlib import Path

import pytest
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
    assert [[text.strip() for text in row] for row in rows_of(table)] == [
        [text.strip() for text in row] for row in rows[1:]
    ]
    assert any(note.startswith("separated by") for note in table.notes)


def rows_of(table):
    return [list(row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]


@pytest.mark.parametrize(
    ("text", "names", "note"),
    [
        ("a;b;left\n" + "5,5;6,25;yes\n" * 20, ["a", "b", "left"], "separated by ';'"),
        ("spend, in EUR;left\n" + "12,5;yes\n0,25;no\n" * 10, ["spend, in EUR", "left"], "separated by ';'"),
        ("at,what,left\n" + "10:15,two words,no\n" * 20, ["at", "what", "left"], "separated by ','"),
        ("a b\n1  2\n3 4\n", ["a", "b"], "separated by blanks"),
        ("a\nsome words here\nand there\n", ["a"], "one column"),
    ],
)
def test_delimiter_is_what_all_lines_agree_on(text, names, note):
    table = read_delimited_text(text.encode(), Path("any.csv"))
    assert (table.names, table.notes) == (names, [note])


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('a,b\n1,"x, ""y"""\n', [["1", 'x, "y"']]),
        ('a,b\n1, "x,y"\n', [["1", "x,y"]]),
        ("a,b\n5'10\",2\n", [["5'10\"", "2"]]),
        ('a,b\n"1\n2",3\n4,5\n', [["1\n2", "3"], ["4", "5"]]),
        ('a,b\n"",2\n', [["", "2"]]),
        ('"a","b"\n"""","x"\n', [['"', "x"]]),
        ("a,b\r1,2\r", [["1", "2"]]),
        ("a,b\n1,2\n\n3,4", [["1", "2"], ["3", "4"]]),
        ("a,b\n1,2\n   \n3,4", [["1", "2"], ["3", "4"]]),
        ("a,b\n1,\n,2\n", [["1", ""], ["", "2"]]),
        ("a,b\n\ufeff1,2\n", [["\ufeff1", "2"]]),
        ("a\n1\n2\n", [["1"], ["2"]]),
        ("  \na\n1\n\n2\n \x1c\n3\n  ", [["1"], ["2"], ["3"]]),
        ('a\n1\n""\n" "\n2', [["1"], ["2"]]),
        ("a\r\n1\r\n \r\n2\r\n", [["1"], ["2"]]),
    ],
)
def test_fields_are_those_of_a_strict_reader(text, rows):
    table = read_delimited_text(text.encode(), Path("any.csv"))
    assert rows_of(table) == rows
    assert len(table.lines) == len(rows)


@pytest.mark.parametrize(
    ("text", "lines"),
    [("a,b\n1,2\n3,4\n", [2, 3]), ('a,b\n"1\n2",3\n4,5\n', [2, 4]), ("sep=,\na,b\n\n1,2\n\n3,4\n", [4, 6])],
)
def test_lines_are_those_of_the_file(text, lines):
    assert read_delimited_text(text.encode(), Path("any.csv")).lines.tolist() == lines
