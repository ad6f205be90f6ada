"""Test the table of results: every field survives, equal results give equal bytes, and other files are refused."""

import copy
import json
import math
import re
import struct
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from probcal import __version__
from probcal.errors import StoreError
from probcal.store import table_file
from probcal.store.cell_result import CellResult
from probcal.store.folder import Store
from probcal.store.table_file import read_table, write_table
from tests.store.small_store import result

MOST = 10**15
PLACE = {"at": 0, "rows": 2, "digest": "ab"}
LINE = {"x": [0.0, 1.0], "y": [0, -2.5]}
CURVES = {"roc": [LINE], "iso_probability": [{**LINE, "level": 0.5}], "training_rows": [{**LINE, "label": "no"}]}


EVERYTHING = result(
    key={"data": "ab", "curves": "cd"}, metrics={"rms": 0.25, "cxe": math.inf}, stages={"rms": [0.5, math.nan]},
    curves=CURVES, n_train=3, n_test=0, warnings={"UserWarning": 2}, error_type="ValueError", message="two\nlines",
    traceback="", shared_seconds=0.5, predictions=PLACE | {"columns": 2, "labels": 3},
)  # fmt: skip


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cells.parquet"


def written(path, *results):
    write_table(path, results)
    return path


def read(path):
    """Return the results of a table in which every number can be."""
    rows = read_table(path)
    assert [fault for _, fault in rows if fault] == []
    return [row for row, _ in rows]


def exactly(value):
    """Return a value in which NaN equals itself, -0.0 differs from 0.0, and 1 differs from 1.0 and from True."""
    if isinstance(value, float):
        return "float", struct.pack("<d", math.nan if math.isnan(value) else value)
    if isinstance(value, Mapping):
        return {name: exactly(item) for name, item in value.items()}
    if isinstance(value, list):
        return [exactly(item) for item in value]
    return type(value), value


def parts(row):
    return {part.name: exactly(getattr(row, part.name)) for part in fields(row)}


# --- what is kept --------------------------------------------------------------------------------------------------

COUNTS = st.integers(0, MOST)
NAMES = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
METRICS = NAMES | st.sampled_from(
    ["seconds", "dataset", "n_train", "message", "key.data", "key.", "predictions.at", "metric rms", "metric ", "index"]
)
NUMBERS = st.floats(-1e100, 1e100) | st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 5e-324])
FINITE = st.floats(-1e100, 1e100) | st.integers(-(10**9), 10**9)
POINTS = st.lists(st.tuples(FINITE, FINITE), min_size=1, max_size=3).map(
    lambda points: {"x": [x for x, _ in points], "y": [y for _, y in points]}
)
PLACES = st.fixed_dictionaries(
    {"at": COUNTS, "rows": st.integers(0, 10**6), "digest": NAMES},
    optional={"columns": st.integers(1, 10**4), "labels": st.integers(1, 10**4)},
)
SECONDS = st.floats(0, MOST)
TEXTS = st.none() | NAMES
RESULTS = st.builds(
    CellResult,
    dataset=NAMES, repetition=COUNTS, learner=NAMES, method=NAMES, run=NAMES, seconds=SECONDS,
    status=st.sampled_from(["done", "failed", "timeout"]),
    key=st.dictionaries(NAMES.filter(lambda name: name != "code"), NAMES, max_size=3),
    metrics=st.dictionaries(METRICS.map(lambda name: f"my {name}" if name.isalpha() else name), NUMBERS, max_size=4),
    stages=st.dictionaries(NAMES.map("my {}".format), st.lists(NUMBERS, max_size=3), max_size=2),
    curves=st.dictionaries(NAMES.map("my {}".format), st.lists(POINTS, max_size=2), max_size=2),
    n_train=st.none() | COUNTS, n_test=st.none() | COUNTS, warnings=st.dictionaries(NAMES, COUNTS, max_size=2),
    error_type=TEXTS, message=TEXTS, traceback=TEXTS, shared_seconds=SECONDS, predictions=st.none() | PLACES,
)  # fmt: skip


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rows=st.lists(RESULTS, max_size=4))
@example(rows=[])
@example(rows=[result()])
@example(rows=[EVERYTHING, result(1), EVERYTHING])
@example(rows=[result(metrics={"seconds": 7.0, "metric seconds": 8.0, "key.data": 9.0}, key={"data": "ab"}), result(1)])
def test_every_field_survives_writing_and_reading(path, rows):
    given = copy.deepcopy(rows)
    assert [parts(row) for row in read(written(path, *rows))] == [parts(row) for row in given]
    assert [parts(row) for row in rows] == [parts(row) for row in given], "writing changes no result"
    assert [parts(CellResult.from_json(row.to_json())) for row in rows] == [parts(row) for row in given], "in the log"


def test_the_example_has_a_value_in_every_field():
    plain = result()
    kept_out = {"dataset", "repetition", "learner", "method", "status", "run", "seconds", "later_failure"}
    same = {part.name for part in fields(plain) if getattr(plain, part.name) == getattr(EVERYTHING, part.name)}
    assert same == kept_out


def test_a_missing_metric_is_no_nan(path):
    rows = [result(metrics={"auc": math.nan}), result(1, metrics={}), result(2, metrics={"cxe": 1.0})]
    assert [exactly(row.metrics) for row in read(written(path, *rows))] == [exactly(row.metrics) for row in rows]
    columns = parquet.read_table(path).to_pydict()
    assert [type(value) for value in columns["auc"]] == [float, type(None), type(None)]


def test_half_of_a_surrogate_pair_becomes_a_question_mark(path):
    odd = result(status="failed", error_type="\ud800", message="a\udcffb ∞ 雪 \0", traceback="\udcff")
    [row] = read(written(path, odd))
    assert (row.error_type, row.message, row.traceback) == ("?", "a?b ∞ 雪 \0", "?")
    assert row == CellResult.from_json(odd.to_json()), "as in a line of the log"


def test_every_row_has_its_own_mappings(path):
    first, second = read(written(path, EVERYTHING, replace(EVERYTHING, repetition=1)))
    for name in ("metrics", "stages", "curves", "warnings", "predictions"):
        assert getattr(first, name) == getattr(second, name) and getattr(first, name) is not getattr(second, name)


def test_a_first_key_is_stored_in_its_present_form(path):
    [row] = read(written(path, result(key={"data": "ab", "code": "of nobody", "versions": "x"})))
    assert row.key == {"data": "ab", "numerics": "unknown"}


def test_equal_results_give_equal_bytes(path):
    rows = [EVERYTHING, result(1, metrics={"rms": 0.1}), result(2, status="failed", message="no")]
    first = written(path, *rows).read_bytes()
    assert written(path, *(CellResult.from_json(row.to_json()) for row in rows)).read_bytes() == first
    assert written(path, *read(path)).read_bytes() == first
    assert written(path, *rows[::-1]).read_bytes() != first


def test_only_columns_with_a_value_are_written(path):
    names = parquet.read_schema(written(path, result(metrics={"rms": 0.5}))).names
    assert names == ["dataset", "repetition", "learner", "method", "status", "run", "seconds", "rms"]


@pytest.mark.parametrize("name", ["seconds", "key.data", "predictions.at", "metric rms", "dataset"])
def test_a_metric_may_have_the_name_of_a_column(path, name):
    row = result(metrics={name: 0.75, "rms": 0.25}, key={"data": "ab"}, predictions=PLACE)
    assert read(written(path, row)) == [row]
    assert f"metric {name}" in parquet.read_schema(path).names


# --- numbers -------------------------------------------------------------------------------------------------------


def test_numbers_beyond_1e100_become_infinite(path):
    metrics = {"mine": 1.1e100, "yours": -1.1e100, "kept": 1e100, "also": -1e100}
    [row] = read(written(path, result(metrics=metrics, stages={"mine": [1.1e100, 1e100]})))
    assert row.metrics == {"mine": math.inf, "yours": -math.inf, "kept": 1e100, "also": -1e100}
    assert row.stages == {"mine": [math.inf, 1e100]}


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"metrics": {"rms": 7.5}}, "rms is 7.5, but rms lies between 0 and 1"),
        ({"metrics": {"auc": 1.0000001}}, "auc is 1.0000001, but auc lies between 0 and 1"),
        ({"metrics": {"rms": math.nan}}, "rms is nan, but rms always has a value"),
        ({"metrics": {"cxe": -1.0}}, "cxe is -1, but cxe is never below 0"),
        ({"metrics": {"errors": math.inf}}, "errors is inf, but errors is a count"),
        ({"metrics": {"cost(0.3)": 0.8}}, "cost(0.3) is 0.8, but cost(0.3) lies between 0 and 0.7"),
        ({"stages": {"rms": [0.3, math.nan, 7.5]}}, "rms after stage 3 is 7.5, but rms lies between 0 and 1"),
    ],
)
def test_impossible_number_is_reported_with_its_cell(tmp_path, more, fault):
    rows = [result(0, metrics={"rms": 0.0, "auc": math.nan}), result(1, **more), result(2, metrics={"rms": 1.0})]
    store = Store(tmp_path)
    written(tmp_path / "cells.parquet", *rows)
    with pytest.raises(StoreError) as refusal:
        store.results()
    first, advice = str(refusal.value).splitlines()
    assert first == f"{tmp_path / 'cells.parquet'}: adult/1/j48/probing: {fault}"
    assert advice.startswith(f"probcal verify {tmp_path} --discard removes these results")
    assert [exactly(row.metrics) for row in store.results_with_any_values().values()] == [
        exactly(row.metrics) for row in rows
    ]
    assert store.impossible_results().keys() == {"adult/1/j48/probing"}


def test_table_and_log_report_the_same_faults(tmp_path):
    rows = [
        result(number, metrics={"rms": rms, "auc": auc}, stages={"rms": [rms]} if number % 2 else {})
        for number, (rms, auc) in enumerate([(0.5, 0.5), (7.5, 2.0), (0.5, -1.0), (math.nan, math.nan), (2.0, 0.5)])
    ]
    told = []
    for name, text in (("table", None), ("log", "".join(row.to_json() + "\n" for row in rows))):
        (tmp_path / name).mkdir()
        if text is None:
            written(tmp_path / name / "cells.parquet", *rows)
        else:
            (tmp_path / name / "cells.jsonl").write_text(text)
        with pytest.raises(StoreError) as refusal:
            Store(tmp_path / name).results()
        told.append([line.partition(": ")[2] for line in str(refusal.value).splitlines()[:-1]])
    assert told[0] == told[1] and len(told[0]) == 4


# --- other files ---------------------------------------------------------------------------------------------------


def refused(path):
    """Return the message about a table that cannot be read, without the name of the file and the advice."""
    with pytest.raises(StoreError) as refusal:
        read_table(path)
    text = str(refusal.value)
    advice = (
        "; get the file again, or remove it and the lines of cells.jsonl that begin with"
        ' {"probcal", and run the experiment again'
    )
    assert text.startswith(f"{path}: ") and text.endswith(advice) and "\n" not in text
    with pytest.raises(StoreError, match=re.escape(text)):
        Store(path.parent).results()
    return text.removeprefix(f"{path}: ").removesuffix(advice)


def columns_of(path):
    """Return the columns of a table with every field, to change them."""
    table = parquet.read_table(written(path, EVERYTHING, EVERYTHING))
    return dict(zip(table.column_names, table.columns, strict=True))


def write_columns(path, columns, about=None):
    about = {"format": 1, "probcal": "17.2.1"} if about is None else about
    names, arrays = zip(*(columns if isinstance(columns, list) else columns.items()), strict=True)
    table = pa.Table.from_arrays([*arrays], [*names]).replace_schema_metadata({"probcal": json.dumps(about)})
    parquet.write_table(table, path)


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1PAR1", b"dataset,learner\n" * 20, b'{"dataset": 1}\n', b"\0" * 99]
)
def test_a_file_that_is_no_table_is_refused(path, content):
    path.write_bytes(content)
    assert refused(path)


def test_a_table_that_is_cut_off_anywhere_is_refused(path):
    content = written(path, result(metrics={"rms": 0.5}), result(1)).read_bytes()
    for end in [*range(0, len(content), 11), len(content) - 1]:
        path.write_bytes(content[:end])
        with pytest.raises(StoreError, match=r"cells\.parquet: .*get the file again"):
            read_table(path)


def test_a_folder_in_place_of_the_table_is_refused(path):
    path.mkdir()
    with pytest.raises(StoreError, match=r"cells\.parquet is a folder, not a file; remove it"):
        Store(path.parent).results()
    with pytest.raises(StoreError, match=r"cells\.parquet: cannot be read: .*Is a directory"):
        read_table(path)


@pytest.mark.parametrize("about", ["no", [1], {}, {"format": "1"}, {"format": True}, {"format": 1.0}, None])
def test_a_parquet_file_of_others_is_refused(path, about):
    table = parquet.read_table(written(path, result()))
    parquet.write_table(table.replace_schema_metadata(about and {"probcal": json.dumps(about)}), path)
    assert refused(path) == "lacks the metadata of probcal, as if another program had written it"


def test_a_newer_format_names_the_version_that_wrote_it(path):
    write_columns(path, {"anything": pa.array([[1]])}, {"format": 2, "probcal": "17.2.1"})
    assert refused(path) == (
        f"was written by probcal 17.2.1, and this is probcal {__version__}; nothing is lost, read it with that"
        " version or a newer one"
    )


def test_a_message_is_short_and_printable(path):
    write_columns(path, columns_of(path), {"format": 2, "probcal": "\x1b[2J\n" * 1000})
    text = refused(path)
    assert "\x1b" not in text and len(text) < 1000


LISTS = pa.array([["a"], ["b"]])
OTHER_KINDS = [pa.array([1, 2], pa.int32()), pa.array([b"a", b"b"]), pa.array([True, False]), pa.nulls(2)]


COLUMNS = ("dataset", "repetition", "seconds", "n_train", "message", "rms", "key.data", "stages")


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_a_wrong_type_is_named(path, name):
    columns = columns_of(path)
    write_columns(path, columns | {name: LISTS})
    assert refused(path).startswith(f'column "{name}" has the type list<')
    for values in OTHER_KINDS:
        write_columns(path, columns | {name: values})
        assert refused(path) == f'column "{name}" has the type {values.type}'
    for values in (pa.array(["1", "2"]), pa.array([1, 2]), pa.array([1.0, 2.0])):
        if values.type != columns[name].type:
            write_columns(path, columns | {name: values})
            assert refused(path) == f'column "{name}" has the type {values.type}, not {columns[name].type}'


REQUIRED = ("dataset", "repetition", "learner", "method", "status", "run", "seconds")


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_required_column_is_named(path, name):
    columns = columns_of(path)
    values = columns.pop(name)
    write_columns(path, columns)
    assert refused(path) == f'lacks the column "{name}"'
    write_columns(path, columns | {name: pa.array([values[0].as_py(), None], values.type)})
    assert refused(path) == f'column "{name}" lacks a value'


def test_every_other_column_may_be_missing(path):
    columns = columns_of(path)
    for name in columns.keys() - {*REQUIRED} - {"predictions.rows", "predictions.digest"}:
        write_columns(path, {other: values for other, values in columns.items() if other != name})
        assert len(read(path)) == 2
    write_columns(path, {name: columns[name] for name in REQUIRED})
    assert [parts(row) for row in read(path)] == [parts(result())] * 2


@pytest.mark.parametrize("name", ["repetition", "n_train", "n_test", "predictions.at", "predictions.rows"])
def test_a_count_lies_between_0_and_1e15(path, name):
    columns = columns_of(path)
    for value in (-1, MOST + 1, -(2**63), 2**63 - 1):
        write_columns(path, columns | {name: pa.array([0, value])})
        assert refused(path) == f'column "{name}" holds a number below 0 or above 1e+15'
    write_columns(path, columns | {name: pa.array([0, MOST if "rows" not in name else 1])})
    assert len(read(path)) == 2


@pytest.mark.parametrize("name", ["seconds", "shared_seconds"])
@pytest.mark.parametrize("value", [-0.5, 1.1 * MOST, math.nan, math.inf, -math.inf])
def test_seconds_lie_between_0_and_1e15(path, name, value):
    write_columns(path, columns_of(path) | {name: pa.array([0.0, value])})
    assert refused(path) == f'column "{name}" holds a number below 0 or above 1e+15'


def test_an_unknown_status_is_named(path):
    write_columns(path, columns_of(path) | {"status": pa.array(["done", "superseded"])})
    assert refused(path) == 'has the unknown status "superseded"'


@pytest.mark.parametrize("name", ["rms", "dataset", "key.data"])
def test_a_repeated_column_is_refused(path, name):
    columns = [*columns_of(path).items()]
    write_columns(path, [*columns, (name, dict(columns)[name])])
    assert refused(path) == "two columns have the same name"


@pytest.mark.parametrize("name", ["warnings", "stages", "curves"])
@pytest.mark.parametrize("text", ["{", "", "[]", "7", "null", '"a"', "[" * 100_000, '{"a": 1.5}', '{"a": [[]]}', "{}x"])
def test_a_part_that_is_no_json_of_its_kind_is_refused(path, name, text):
    write_columns(path, columns_of(path) | {name: pa.array([text, None], pa.string())})
    assert refused(path)


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("warnings", '{"UserWarning": -1}', "warnings.UserWarning: Input should be greater than or equal to 0"),
        ("stages", '{"rms": ["a"]}', "stages.rms.0: is no number"),
        ("stages", '{"rms": [true]}', "stages.rms.0: is no number"),
        ("curves", '{"roc": [{"x": [0.0], "y": []}]}', 'a line of the curve "roc" lacks x and y'),
        ("curves", '{"roc": [{"x": [1e999], "y": [0]}]}', 'a line of the curve "roc" lacks x and y'),
    ],
)
def test_a_part_with_a_wrong_value_is_named(path, name, text, fault):
    write_columns(path, columns_of(path) | {name: pa.array([text, None], pa.string())})
    assert refused(path).startswith(fault)


@pytest.mark.parametrize(
    "change",
    [
        {"predictions.rows": pa.array([None, 2], pa.int64())},
        {"predictions.digest": pa.array([None, "ab"])},
        {"predictions.columns": pa.array([0, 2])},
        {"predictions.labels": pa.array([MOST, 2])},
        {"predictions.rows": pa.array([MOST, 2]), "predictions.columns": pa.array([2, 2])},
        {"predictions.rows": None},
        {"predictions.digest": None},
    ],
)
def test_a_place_that_cannot_be_is_refused(path, change):
    columns = {name: values for name, values in (columns_of(path) | change).items() if values is not None}
    write_columns(path, columns)
    assert "predictions.bin" in (text := refused(path)) or "shape" in text


def test_a_table_that_would_take_much_memory_is_refused(path, monkeypatch):
    columns = columns_of(path)
    write_columns(path, {name: pa.nulls(1 << 18, values.type) for name, values in columns.items()})
    assert path.stat().st_size < 20_000, "a small file"
    monkeypatch.setattr(table_file, "_MOST_BYTES", 1 << 24)
    monkeypatch.setattr(parquet.ParquetFile, "read", lambda *_, **__: pytest.fail("it was read"))
    assert refused(path) == "would take 250 MB of memory, more than 16"


def test_long_texts_that_are_compressed_well_are_refused(path, monkeypatch):
    columns = columns_of(path)
    table = pa.table(columns | {"message": pa.array(["a" * (1 << 22), "b"])})
    table = table.replace_schema_metadata({"probcal": json.dumps({"format": 1, "probcal": "1"})})
    parquet.write_table(table, path, compression="zstd")
    monkeypatch.setattr(table_file, "_MOST_BYTES", 1 << 21)
    assert path.stat().st_size < 100_000, "a small file"
    assert refused(path) == "would take 4 MB of memory, more than 2"


def test_reading_pauses_the_garbage_collector_only_for_itself(path):
    import gc

    written(path, result())
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        read_table(path)
        assert gc.isenabled() is enabled
    gc.enable()


def test_no_flipped_bit_ends_with_an_exception(path):
    rows = [
        result(i, message=f"no {i % 3}", metrics={"rms": i / 50, "auc": 0.5}, key={"data": "ab"}) for i in range(40)
    ]
    whole = bytearray(written(path, *rows).read_bytes())
    random = np.random.default_rng(0)
    for place, bit in zip(random.integers(len(whole), size=400).tolist(), random.integers(8, size=400), strict=True):
        damaged = whole.copy()
        damaged[place] ^= 1 << int(bit)
        path.write_bytes(damaged)
        with suppress(StoreError):  # some bits change a number, which the digest in the log tells
            read_table(path)
