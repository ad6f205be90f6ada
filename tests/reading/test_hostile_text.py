"""Test that no text makes the reader slow."""

from __future__ import annotations

import time

import pytest

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
