"""Test that Parquet files are read as CSV is, exactly, and only up to the limit of bytes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from probcal.errors import DataError
from probcal.reading.parquet_file import read_parquet_columns
from probcal.reading.table import read_table
from probcal.try_table.preparation import TableRequest, prepare
from tests.commands import refused

N = 120
LEFT = ["yes" if i % 3 else "no" for i in range(N)]


def written(path, options=None, **columns):
    pa.parquet.write_table(pa.table({**columns, "left": LEFT}), path, **(options or {}))
    return path


def columns_of(path, **more):
    return {column.name: column for column in prepare(TableRequest(str(path), "left", **more), 2).columns}


def test_words_for_missing_are_missing_as_in_csv(tmp_path):
    labels = ["nan" if i % 9 == 0 else label for i, label in enumerate(LEFT)]
    table = pa.table({"x": np.arange(N) / 7, "plan": ["NA", "a", "b"] * (N // 3), "left": labels})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    prepared = prepare(TableRequest(str(tmp_path / "t.parquet"), "left"))
    assert prepared.target.counts.keys() == {"no", "yes"}
    assert prepared.columns[1].missing == sum(i % 3 == 0 for i in range(N) if i % 9)


def test_large_ids_with_gaps_stay_apart(tmp_path):
    ids = pa.array([None if i == 0 else 2**60 + i // 4 for i in range(N)])
    path = written(tmp_path / "t.parquet", x=np.arange(N) / 7, g=ids)
    assert columns_of(path, group="g")["g"].about.startswith("31 groups of up to 4 rows")
    assert columns_of(path, category=("g",))["g"].about.startswith("30 values")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pa.array([dt.date(9999, 12, 31), dt.date(1, 1, 1)] * (N // 2)), "date"),
        (pa.array([253_402_214_400, -62_135_596_800] * (N // 2), pa.timestamp("s", "Europe/Berlin")), "date"),
        (pa.array([Decimal("1.250"), Decimal("-3.5")] * (N // 2)), "number"),
        (pa.array(np.float16([1.5, 2.5] * (N // 2))), "number"),
        (pa.array([1.5, 2.5] * (N // 2)).dictionary_encode(), "number"),
        (pa.array(["u", "v"] * (N // 2)).dictionary_encode(), "category"),
        (pa.array([True, None, False] * (N // 3)), "category"),
        (pa.array([2**63 + i for i in range(N)], pa.uint64()), "left out"),
        (pa.nulls(N), "left out"),
        (pa.array([b"x"] * N), "left out"),
        (pa.array([{"a": 1}] * N), "left out"),
    ],
)
def test_every_arrow_type_has_a_kind(tmp_path, values, kind):
    path = written(tmp_path / "t.parquet", x=np.arange(N) / 7, v=values)
    assert columns_of(path)["v"].kind == kind
    table = read_table(str(path))
    assert [len(table.pandas_column(place)) for place in range(2)] == [N, N]


def test_index_with_a_name_is_a_column(tmp_path):
    frame = pd.DataFrame({"x": np.arange(N) / 7, "left": LEFT})
    for index, names in ((pd.Index(LEFT, name="who"), ["who", "x", "left"]), (pd.Index(LEFT), ["x", "left"])):
        frame.set_index(index).to_parquet(tmp_path / "t.parquet")
        assert list(read_table(str(tmp_path / "t.parquet")).names) == names
    frame.rename_axis("n").to_parquet(tmp_path / "t.parquet")
    assert read_table(str(tmp_path / "t.parquet")).columns[0].to_pylist() == list(range(N))


def test_few_bytes_that_stand_for_many_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBCAL_LARGEST_MB", "1")
    same = pa.DictionaryArray.from_arrays(pa.array([0] * 400_000, pa.int32()), ["x"])
    pa.parquet.write_table(pa.table({"a": same, "left": same}), tmp_path / "rows.parquet")
    assert (tmp_path / "rows.parquet").stat().st_size < 10_000
    assert "is larger than 1 MB unpacked" in refused("try", tmp_path / "rows.parquet", "-t", "left")


def test_text_that_shares_its_beginning_is_decoded_up_to_the_limit(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBCAL_LARGEST_MB", "1")
    texts = [f"{'x' * 20_000}{i}" for i in range(N)]
    options = {"use_dictionary": False, "column_encoding": {"t": "DELTA_BYTE_ARRAY", "left": "PLAIN"}}
    path = written(tmp_path / "t.parquet", options, t=texts)
    with pytest.raises(DataError, match="is larger than 1 MB unpacked"):
        read_parquet_columns(path.read_bytes(), path)
    monkeypatch.setenv("PROBCAL_LARGEST_MB", "10")
    _, columns = read_parquet_columns(path.read_bytes(), path)
    assert columns[0].to_pylist() == texts


def test_one_long_text_in_many_rows_is_held_once(tmp_path):
    levels = pa.DictionaryArray.from_arrays(pa.array([0] * 200_000, pa.int32()), ["x" * 100_000])
    pa.parquet.write_table(pa.table({"a": levels}), tmp_path / "t.parquet")
    _, [column] = read_parquet_columns((tmp_path / "t.parquet").read_bytes(), tmp_path)
    assert column.nbytes < 2_000_000
