"""Test that no text makes the reader slow, and that it reads odd text exactly."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from probcal.reading.delimited import read_delimited_text
from probcal.try_table.preparation import TableRequest, prepare

N = 300
TEXTS = {
    "digits": "1" * 3000 + "!",
    "groups": "1," * 1500 + "!",
    "blanks": "1" + " " * 3000 + "!",
    "dates": "2026-01-" * 400 + "!",
    "fractions": "1/" * 1500 + "!",
    "signs": "-+" * 1500 + "!",
    "money": "$" * 3000 + "1!",
    "zeros": "0" * 3000 + "!",
    "exponents": "1e" * 1500 + "!",
    "months": "janfebmar" * 300 + "!",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("option", ["nothing", "category"])
def test_long_fields_are_read_in_linear_time(tmp_path, name, option):
    rows = "".join(f'"{TEXTS[name]}{i % 9}",{i % 7}.5,{"yes" if i % 3 else "no"}\n' for i in range(N))
    (tmp_path / "t.csv").write_text("v,x,left\n" + rows)
    start = time.perf_counter()
    category = ("v",) if option == "category" else ()
    columns = prepare(TableRequest(str(tmp_path / "t.csv"), "left", category=category)).columns
    assert time.perf_counter() - start < 2
    assert [column.kind for column in columns] == ["category", "number"]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('a,b\n1,"x, ""y"""\n', [["1", 'x, "y"']]),
        ('a,b\n1, "x,y"\n', [["1", "x,y"]]),
        ('a,b\n5\'10",2\n', [["5'10\"", "2"]]),
        ('a,b\n"1\n2",3\n4,5\n', [["1\n2", "3"], ["4", "5"]]),
        ('a,b\n"",2\n', [["", "2"]]),
        ('"a","b"\n"""","x"\n', [['"', "x"]]),
        ("a,b\r1,2\r", [["1", "2"]]),
        ("a,b\n1,2\n\n3,4", [["1", "2"], ["3", "4"]]),
        ("a,b\n1,2\n   \n3,4", [["1", "2"], ["3", "4"]]),
        ("a,b\n1,\n,2\n", [["1", ""], ["", "2"]]),
        ("a,b\n\ufeff1,2\n", [["\ufeff1", "2"]]),
    ],
)
def test_fields_are_those_of_a_strict_reader(text, rows):
    table = read_delimited_text(text.encode(), Path("any.csv"))
    found = [list(row) for row in zip(*(column.to_pylist() for column in table.columns), strict=True)]
    assert found == rows
    assert len(table.lines) == len(rows)


@pytest.mark.parametrize(
    ("text", "lines"),
    [("a,b\n1,2\n3,4\n", [2, 3]), ('a,b\n"1\n2",3\n4,5\n', [2, 4]), ("sep=,\na,b\n\n1,2\n\n3,4\n", [4, 6])],
)
def test_lines_are_those_of_the_file(text, lines):
    assert read_delimited_text(text.encode(), Path("any.csv")).lines.tolist() == lines
