"""Test that a table has the same types and values in every format, and a model the same inputs from each of them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from probcal.config.entries import Component
from probcal.errors import DataError
from probcal.reading.column_plan import ColumnPlan, NewColumn
from probcal.reading.table import read_table
from probcal.try_table.experiment_files import table_files
from probcal.try_table.export import table_plan
from probcal.try_table.new_rows import TablePlan, read_new_rows, with_probabilities, write_table_plan
from probcal.try_table.pipeline_code import PipelinePlan
from probcal.try_table.preparation import TableRequest, prepare
from tests.commands import probcal

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
LEARNER = Component("tree", "sklearn.tree.DecisionTreeClassifier", {}, "Tree")
PLAN = PipelinePlan(LEARNER, Component("direct", "probcal.methods.direct.DirectClassifier", {}, "Direct"), 0)
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


@pytest.mark.parametrize("name", [name for name in TABLES if name not in ("money", "limits", "words")])
@pytest.mark.parametrize("kind", FORMATS[1:])
def test_types_and_values_are_equal_in_every_format(tmp_path, name, kind):
    frame = frame_of(name)
    first, other = prepared(frame, tmp_path, "comma"), prepared(frame, tmp_path, kind)
    assert [(one.name, one.kind, one.missing) for one in other.columns] == [
        (one.name, one.kind, one.missing) for one in first.columns
    ]
    assert other.target.counts == first.target.counts
    for a, b in zip(first.inputs, other.inputs, strict=True):
        pd.testing.assert_series_equal(a.values.astype(object), b.values.astype(object), check_names=False)
    cards = [table_files(one, "t").dataset for one in (first, other)]
    assert cards[0].card.seed_name == cards[1].card.seed_name
    assert cards[0].fingerprint() == cards[1].fingerprint()


@pytest.mark.parametrize("name", ["money", "limits", "words"])
def test_written_numbers_are_equal_in_csv_and_parquet(tmp_path, name):
    first, other = (prepared(frame_of(name), tmp_path, kind) for kind in ("comma", "parquet"))
    assert [(one.name, one.kind, one.about) for one in first.columns] == [
        (one.name, one.kind, one.about) for one in other.columns
    ]
    assert table_files(first, "t").dataset.fingerprint() == table_files(other, "t").dataset.fingerprint()


@pytest.mark.parametrize("name", [name for name in TABLES if name not in ("money", "limits", "words")])
@pytest.mark.parametrize("trained", FORMATS)
def test_a_plan_reads_new_rows_of_every_format_alike(tmp_path, name, trained):
    frame = frame_of(name)
    write_table_plan(table_plan(prepared(frame, tmp_path, trained), PLAN), tmp_path / "columns.json")
    frames = []
    for kind in FORMATS:
        new = read_new_rows(write(frame, tmp_path / f"new-{kind}", kind), tmp_path / "columns.json")
        assert new.warnings == []
        frames.append(new.X)
    for other in frames[1:]:
        pd.testing.assert_frame_equal(frames[0], other)


@pytest.mark.slow
@pytest.mark.parametrize("trained", FORMATS)
def test_a_model_gives_equal_probabilities_for_every_format(tmp_path, monkeypatch, trained):
    monkeypatch.chdir(tmp_path)
    frame = frame_of("booleans").assign(zone=RANDOM.choice([1, 2, 3], N), **TABLES["gaps"])
    path = write(frame, tmp_path / "table", trained)
    words = ("-t", "left", "-l", "logistic", "-m", "direct", "--splits", 2, "--category", "zone", "--export", "m")
    result = probcal("try", path, *words)
    assert result.exit_code == 0, result.output
    found = {}
    for kind in FORMATS:
        text, warnings = with_probabilities(str(write(frame, tmp_path / "new", kind)), tmp_path / "m")
        assert warnings == []
        found[kind] = [line.rpartition(",")[2] for line in text.splitlines()]
    assert len(set(map(tuple, found.values()))) == 1


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
    rows = "".join(f"{i / 7:.3f};{'yes' if i % 3 else 'no'}\n".replace(".", ",") for i in range(60))
    (tmp_path / "eu.csv").write_text("x;left\n" + rows)
    [plan] = [one.plan for one in prepare(TableRequest(str(tmp_path / "eu.csv"), "left")).inputs]
    pa.parquet.write_table(pa.table({"x": column}), tmp_path / "new.parquet")
    table = read_table(str(tmp_path / "new.parquet"))
    assert NewColumn(plan, table.columns[0], table.where).read(False, []).tolist() == [1.25, 0.5, 2.125]


@pytest.mark.parametrize(("training", "new"), [("0\n1\n", [True, False]), ("True\nFalse\n", ["1", "0"])])
def test_flags_are_numbers_and_booleans_alike(tmp_path, training, new):
    rows = [f"{flag},{i % 7},{'yes' if i % 3 else 'no'}" for i in range(60) for flag in [training.split()[i % 2]]]
    (tmp_path / "t.csv").write_text("flag,x,left\n" + "\n".join(rows))
    plan = prepare(TableRequest(str(tmp_path / "t.csv"), "left")).inputs[0].plan
    column = NewColumn(plan, pa.chunked_array([new]), "row {}".format)
    assert [str(value) for value in column.read(False, [])] in (["1.0", "0.0"], ["true", "false"])


def plan_of(path, values):
    """Return the plan of a column ``x`` of these texts."""
    rows = "".join(f"{values[i % len(values)]},{'yes' if i % 3 else 'no'}\n" for i in range(60))
    path.write_text("x,left\n" + rows)
    return prepare(TableRequest(str(path), "left")).inputs[0].plan


def test_per_cent_numbers_without_the_sign_are_refused(tmp_path):
    plan = plan_of(tmp_path / "t.csv", ["10%", "5.5%", "80%"])
    shares, per_cent = (NewColumn(plan, pa.chunked_array([new]), "row {}".format) for new in ([0.1, 0.8], [0.1, 80.0]))
    assert shares.read(False, []).tolist() == [0.1, 0.8]
    with pytest.raises(DataError, match=r"row 1: column \"x\" holds 80, .* written like '12.5%'"):
        per_cent.read(False, [])


def test_new_dates_of_which_some_have_a_zone_are_refused(tmp_path):
    plan = plan_of(tmp_path / "t.csv", ["2026-01-01 10:00", "2026-01-02 10:00", "2026-01-20 10:00"])
    new = pa.chunked_array([["2026-01-01 10:00", "2026-01-01 10:00+02:00"]])
    with pytest.raises(DataError, match="some times have a time zone and others none"):
        NewColumn(plan, new, "row {}".format).read(False, [])


def test_new_thousands_that_only_some_values_separate_are_refused(tmp_path):
    plan = plan_of(tmp_path / "t.csv", ["1250.5", "3.5", "2500"])
    reading = TablePlan((plan,), "left", ("no", "yes"), {"no": 0, "yes": 1}, ".", False, 0.001)
    write_table_plan(reading, tmp_path / "columns.json")
    (tmp_path / "new.csv").write_text('x,z\n"1,250",1\n2500,2\n')
    with pytest.raises(DataError, match=r'"1,250" is read as 1.25, .*the model reads numbers written like'):
        read_new_rows(tmp_path / "new.csv", tmp_path / "columns.json")


def test_ambiguous_numbers_of_another_separator_are_refused(tmp_path):
    rows = "".join(f"{i / 7:.2f};{'yes' if i % 3 else 'no'}\n".replace(".", ",") for i in range(60))
    (tmp_path / "eu.csv").write_text("x;left\n" + rows)
    prepared_table = prepare(TableRequest(str(tmp_path / "eu.csv"), "left"))
    write_table_plan(table_plan(prepared_table, PLAN), tmp_path / "columns.json")
    (tmp_path / "new.csv").write_text('x,z\n"1,250",1\n')
    with pytest.raises(DataError, match=r'"1,250" is read as 1250.*and the model reads numbers written like .12,5.'):
        read_new_rows(tmp_path / "new.csv", tmp_path / "columns.json")
    for text in ("x,z\n1.25,1\n", "x;z\n1,250;1\n", "x\tz\n1,250\t1\n", 'x,z\n"1,25",1\n'):
        (tmp_path / "new.csv").write_text(text)
        assert read_new_rows(tmp_path / "new.csv", tmp_path / "columns.json").X["x"].tolist() == [1.25]


def test_nested_values_in_place_of_a_column_are_refused():
    column = NewColumn(ColumnPlan("n", "category", levels=("a", "b")), pa.chunked_array([pa.nulls(2)]), "row {}".format)
    with pytest.raises(DataError, match="holds values of a type that is not read"):
        column.read(False, [])


def test_boolean_in_a_column_of_counts_is_refused():
    column = NewColumn(ColumnPlan("n", "number"), pa.chunked_array([[True, False]]), "row {}".format)
    with pytest.raises(DataError, match=r"is of the type bool, and the model reads numbers written like '12\.5'"):
        column.read(False, [])
