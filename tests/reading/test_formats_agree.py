"""Test that a table has the same types and values in every format, and a model the same inputs from each of them."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from probcal.errors import DataError
from probcal.reading.table import read_table
from probcal.reading.table_plan import NewColumn, TablePlan, load_table_plan, read_inputs, write_table_plan
from probcal.try_table.experiment_files import table_files
from probcal.try_table.preparation import TableRequest, prepare

RANDOM = np.random.default_rng(0)
N = 120
LEFT = np.where(RANDOM.random(N) < 0.4, "yes", "no")
COMMON = {"left": LEFT, "x": RANDOM.normal(size=N)}
FAR, EARLY = (pd.Timestamp(day).as_unit("s") for day in ("9999-12-31", "1492-10-12"))


def any_of(*values):
    return RANDOM.choice(values, N)


TABLES = {
    "numbers": {
        "whole": RANDOM.integers(0, 9, N),
        "single": RANDOM.normal(size=N).astype("f4"),
        "big": RANDOM.normal(size=N) * 1e9,
    },
    "gaps": {
        "count": pd.array([None, *RANDOM.integers(0, 9, N - 1)], "Int64"),
        "part": [None, *RANDOM.normal(size=N - 1)],
    },
    "booleans": {"flag": RANDOM.random(N) < 0.5, "other": pd.array([None, *(RANDOM.random(N - 1) < 0.5)], "boolean")},
    "texts": {"plan": any_of("basic", "plus", "Größe"), "town": any_of("a b", "NA", "nan", "none")},
    "codes": {"post": any_of("01234", "00501", "10000"), "release": any_of("1.2.3", "1.10.0")},
    "dates": {
        "on": pd.date_range("2020-01-01", periods=N, unit="s"),
        "far": [FAR if i % 9 == 0 else EARLY + pd.Timedelta(days=i) for i in range(N)],
    },
    "money": {"price": any_of("$1,250", "$900", "$1.50"), "share": any_of("10%", "5.5%", "0.5%")},
    "limits": {"lab": ["<10" if i % 40 == 0 else f"{i * 7 % 101}.5" for i in range(N)]},
    "words": {"grade": any_of("1.2B", "350M", "980K"), "mixed": any_of("10%", "0.10", "5%")},
}
FORMATS = ("comma", "semicolon", "parquet", "arff")


def frame_of(name):
    return pd.DataFrame(
        {
            key: list(values) if isinstance(values, list) else values
            for key, values in {**COMMON, **TABLES[name]}.items()
        }
    )


def texts_of(column):
    """Return the values of a column as text, and None where one is missing."""
    return [None if pd.isna(value) else str(value) for value in column.array]


def european(text):
    """Return a number as a European program writes it."""
    return (text or "").replace(".", ",")


def write(frame, path, kind):
    """Write the frame in one format and return its path."""
    path = path.with_suffix({"parquet": ".parquet", "arff": ".arff"}.get(kind, ".csv"))
    if kind == "parquet":
        frame.to_parquet(path)
    elif kind == "arff":
        path.write_text(arff_text(frame), encoding="utf-8")
    elif kind == "semicolon":
        texts = frame.copy()
        for name in frame.select_dtypes("number"):
            texts[name] = [european(value) for value in texts_of(frame[name])]
        texts.to_csv(path, index=False, sep=";", encoding="utf-8-sig", lineterminator="\r\n")
    else:
        frame.to_csv(path, index=False)
    return path


def arff_text(frame):
    lines = ["@relation t % a comment"]
    for name in frame:
        values = frame[name]
        is_number = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        is_date = pd.api.types.is_datetime64_any_dtype(values)
        kind = "numeric % a comment" if is_number else "date 'yyyy-MM-dd HH:mm:ss'" if is_date else "string"
        lines.append(f"@attribute '{name}' {kind}")
    columns = [texts_of(frame[name]) for name in frame]
    rows = [",".join("?" if text is None else f"'{text}'" for text in row) for row in zip(*columns, strict=True)]
    return "\n".join([*lines, "@data", *rows]) + "\n"


def prepared(frame, folder, kind):
    return prepare(TableRequest(str(write(frame, folder / kind, kind)), "left"))


TYPED = [name for name in TABLES if name not in ("money", "limits", "words")]
"""Tables that every format can hold. The others are texts that look like numbers, which ARFF declares as text."""


@pytest.mark.parametrize(
    ("name", "kind"), [*product(TYPED, FORMATS[1:]), *product(("money", "limits", "words"), ["parquet"])]
)
def test_types_and_values_are_equal_in_every_format(tmp_path, name, kind):
    frame = frame_of(name)
    first, other = prepared(frame, tmp_path, "comma"), prepared(frame, tmp_path, kind)
    kinds, other_kinds = (
        [(column.name, column.kind, column.missing) for column in table.columns] for table in (first, other)
    )
    assert kinds == other_kinds
    assert other.target.counts == first.target.counts
    for a, b in zip(first.inputs, other.inputs, strict=True):
        pd.testing.assert_series_equal(a.values.astype(object), b.values.astype(object), check_names=False)
    datasets = [table_files(table, "t").dataset for table in (first, other)]
    assert datasets[0].card.seed_name == datasets[1].card.seed_name
    assert datasets[0].fingerprint() == datasets[1].fingerprint()


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("trained", FORMATS)
def test_a_plan_reads_new_rows_of_every_format_alike(tmp_path, name, trained):
    frame = frame_of(name)
    write_table_plan(prepared(frame, tmp_path, trained).plan_of_new_rows(), tmp_path / "columns.json")
    frames = []
    for kind in FORMATS:
        new = read_inputs(write(frame, tmp_path / f"new-{kind}", kind), load_table_plan(tmp_path / "columns.json"))
        assert new.warnings == []
        frames.append(new.X)
    for other in frames[1:]:
        pd.testing.assert_frame_equal(frames[0], other)


def plan_of(path, values, separator=","):
    """Return the plan of a column ``x`` of these texts."""
    rows = "".join(f"{values[i % len(values)]}{separator}{'yes' if i % 3 else 'no'}\n" for i in range(60))
    path.write_text(f"x{separator}left\n{rows}")
    return prepare(TableRequest(str(path), "left")).inputs[0].plan


def new_values(plan, values):
    """Return the values of a new column as its plan reads them."""
    return NewColumn(plan, pa.chunked_array([values]), "row {}".format).read(False, []).tolist()


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.25, 0.5, 2.125]),
        pa.array([1.25, 0.5, 2.125], pa.float32()),
        pa.array([Decimal("1.250"), Decimal("0.500"), Decimal("2.125")]),
        pa.array(["1,250", "0,5", "2,125"]),
        pa.array(["1,250", "0,5", "2,125"]).dictionary_encode(),
        pa.array([1.25, 0.5, 2.125]).dictionary_encode(),
    ],
)
def test_model_of_decimal_commas_reads_typed_numbers(tmp_path, column):
    plan = plan_of(tmp_path / "eu.csv", [f"{i / 7:.3f}".replace(".", ",") for i in range(60)], ";")
    pa.parquet.write_table(pa.table({"x": column}), tmp_path / "new.parquet")
    assert new_values(plan, read_table(str(tmp_path / "new.parquet")).columns[0].chunk(0)) == [1.25, 0.5, 2.125]


@pytest.mark.parametrize(
    ("training", "new", "values"),
    [(["0", "1"], [True, False], [1.0, 0.0]), (["True", "False"], ["1", "0"], ["true", "false"])],
)
def test_flags_are_numbers_and_booleans_alike(tmp_path, training, new, values):
    assert new_values(plan_of(tmp_path / "t.csv", training), new) == values


def test_parts_of_one_are_read_for_per_cent(tmp_path):
    assert new_values(plan_of(tmp_path / "t.csv", ["10%", "5.5%", "80%"]), [0.1, 0.8]) == [0.1, 0.8]


@pytest.mark.parametrize(
    ("training", "new", "fault"),
    [
        (["10%", "5.5%", "80%"], [0.1, 80.0], r"row 1: column \"x\" holds 80, .* written like '12.5%'"),
        (
            ["2026-01-01 10:00", "2026-01-02 10:00", "2026-01-20 10:00"],
            ["2026-01-01 10:00", "2026-01-01 10:00+02:00"],
            "some times have a time zone and others none",
        ),
        (["a", "b"], pa.nulls(2), "holds values of a type that is not read"),
        (["3", "4", "5"], [True, False], r"is of the type bool, and the model reads numbers written like '12\.5'"),
    ],
)
def test_new_values_of_another_form_are_refused(tmp_path, training, new, fault):
    plan = plan_of(tmp_path / "t.csv", training)
    with pytest.raises(DataError, match=fault):
        new_values(plan, new)


def test_new_thousands_that_only_some_values_separate_are_refused(tmp_path):
    plan = plan_of(tmp_path / "t.csv", ["1250.5", "3.5", "2500"])
    table = TablePlan((plan,), "left", ("no", "yes"), {"no": 0, "yes": 1}, ".", False, 0.001)
    write_table_plan(table, tmp_path / "columns.json")
    (tmp_path / "new.csv").write_text('x,z\n"1,250",1\n2500,2\n')
    with pytest.raises(DataError, match=r'"1,250" is read as 1.25, .*the model reads numbers written like'):
        read_inputs(tmp_path / "new.csv", load_table_plan(tmp_path / "columns.json"))


def test_ambiguous_numbers_of_another_separator_are_refused(tmp_path):
    plan = plan_of(tmp_path / "eu.csv", [f"{i / 7:.2f}".replace(".", ",") for i in range(60)], ";")
    table = TablePlan((plan,), "left", ("no", "yes"), {"no": 0, "yes": 1}, ".", False, 0.001)
    write_table_plan(table, tmp_path / "columns.json")
    (tmp_path / "new.csv").write_text('x,z\n"1,250",1\n')
    with pytest.raises(DataError, match=r'"1,250" is read as 1250.*and the model reads numbers written like .12,5.'):
        read_inputs(tmp_path / "new.csv", load_table_plan(tmp_path / "columns.json"))
    for text in ("x,z\n1.25,1\n", "x;z\n1,250;1\n", "x\tz\n1,250\t1\n", 'x,z\n"1,25",1\n'):
        (tmp_path / "new.csv").write_text(text)
        assert read_inputs(tmp_path / "new.csv", load_table_plan(tmp_path / "columns.json")).X["x"].tolist() == [1.25]
