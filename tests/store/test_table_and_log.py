"""Test the two files of results: the log of a run, the table it moves to, and folders of earlier versions."""

import json
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest

from probcal.errors import StoreError
from probcal.store import folder as store_folder
from probcal.store.cell_result import CellResult, key_digest
from probcal.store.folder import Store
from tests.commands import contents
from tests.store.small_store import P, Y, append, result, write
from tests.stored_rows import unpack


def table_of(store):
    return parquet.read_table(store.folder / "cells.parquet").to_pydict()


def log_of(store):
    """Return the results in the log, without its lines about the table."""
    first, *lines = (store.folder / "cells.jsonl").read_text().splitlines()
    assert json.loads(first).keys() == {"probcal", "table"}
    return [CellResult.from_json(line) for line in lines if "table" not in json.loads(line)]


def everything(store):
    """Return each result with its last failed attempt."""
    return {name: (one, one.later_failure) for name, one in store.results().items()}


def test_a_run_that_ends_moves_its_results_to_the_table(store):
    with store.writing("small"):
        store.add(result(0))
        store.add(result(1), Y, P)
        assert [one.repetition for one in log_of(store)] == [0, 1]
        assert not (store.folder / "cells.parquet").exists()
        before = store.results()
    assert log_of(store) == [] and table_of(store)["repetition"] == [0, 1]
    assert store.results() == before
    assert sorted(path.name for path in store.folder.iterdir()) == [
        ".lock", "cells.jsonl", "cells.parquet", "predictions.bin",
    ]  # fmt: skip


def test_writing_without_results_moves_nothing(store):
    write(store, result(0))
    unpack(store.folder)
    before = store.state()
    with store.writing("small"):
        store.write_experiment({"name": "small"})
    assert store.state() == before


def test_results_in_the_log_replace_those_in_the_table(store):
    write(store, result(0, metrics={"rms": 0.1}), result(1, metrics={"rms": 0.1}), result(2, "failed"))
    append(store, "cells.jsonl", *(result(n, run="run2", metrics={"rms": 0.2}).to_json() for n in (1, 2, 3)))
    runs = {one.repetition: (one.run, one.metrics["rms"]) for one in store.results().values()}
    assert runs == {0: ("run1", 0.1), 1: ("run2", 0.2), 2: ("run2", 0.2), 3: ("run2", 0.2)}
    before = everything(store)
    write(store, result(4))
    assert everything(store) == before | {"adult/4/j48/probing": (result(4), None)}
    assert table_of(store)["repetition"] == [0, 1, 2, 3, 4] and log_of(store) == []


def test_failed_attempts_are_kept_through_the_table(store):
    failed = result(0, "failed", "run2", error_type="ValueError", message="no")
    write(store, result(0), failed, result(1))
    for _ in range(2):
        [first, second] = store.results().values()
        assert (first, first.later_failure, second.later_failure) == (result(0), failed, None)
        assert table_of(store)["status"] == ["done", "failed", "done"]
        write(store, result(1))
    write(store, result(0, "timeout", "run3"))
    assert store.results()["adult/0/j48/probing"].later_failure == result(0, "timeout", "run3")
    assert table_of(store)["run"] == ["run1", "run3", "run1"], "only the last attempt"
    write(store, result(0, run="run4"))
    assert table_of(store)["run"] == ["run4", "run1"]


def test_a_log_with_broken_lines_is_not_moved(store):
    write(store, result(0))
    append(store, "cells.jsonl", result(1).to_json(), "nonsense")
    before = contents(store.folder)
    write(store, result(2))
    assert contents(store.folder)["cells.parquet"] == before["cells.parquet"]
    assert contents(store.folder)["cells.jsonl"] == before["cells.jsonl"] + result(2).to_json().encode() + b"\n"
    with pytest.raises(StoreError, match=r"cells\.jsonl:3: is not the result of a cell; remove this line"):
        store.results()
    path = store.folder / "cells.jsonl"
    path.write_text(path.read_text().replace("nonsense\n", ""))
    assert [one.repetition for one in store.results().values()] == [0, 1, 2]
    write(store, result(3))
    assert table_of(store)["repetition"] == [0, 1, 2, 3]


def test_a_kill_before_the_log_is_emptied_changes_no_result(store, monkeypatch):
    failed = result(0, "failed", "run2")
    with monkeypatch.context() as patch:
        patch.setattr(store_folder, "empty_log", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            write(store, result(0), result(1), failed)
    expected = {"adult/0/j48/probing": (result(0), failed), "adult/1/j48/probing": (result(1), None)}
    assert len(log_of(store)) == len(table_of(store)["run"]) == 3, "both hold all results"
    assert everything(store) == expected
    write(store, result(2))
    assert everything(store) == expected | {"adult/2/j48/probing": (result(2), None)}
    assert log_of(store) == [] and table_of(store)["repetition"] == [0, 0, 1, 2]


def full_disk(*_, **__):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("where", ["write_table", "replace"])
def test_a_full_disk_keeps_the_log_and_all_results(store, monkeypatch, where):
    write(store, result(0))
    with monkeypatch.context() as patch:
        if where == "write_table":
            patch.setattr("probcal.store.table_file.pq.write_table", full_disk)
        else:
            patch.setattr(os, "replace", full_disk)
        write(store, result(1))
    assert log_of(store) == [result(1)] and table_of(store)["repetition"] == [0]
    assert [one.repetition for one in store.results().values()] == [0, 1]
    write(store, result(2))
    assert log_of(store) == [] and table_of(store)["repetition"] == [0, 1, 2]


@pytest.fixture
def left(store, monkeypatch):
    """Return a store whose last run could not write the table, and left its result in the log."""
    write(store, result(0))
    with monkeypatch.context() as patch:
        patch.setattr("probcal.store.table_file.pq.write_table", full_disk)
        write(store, result(1))
    return store


def test_a_run_without_cells_moves_what_was_left(left):
    with left.writing("small"):
        before = contents(left.folder)
        Store(left.folder).move_left_results("small")
        assert contents(left.folder) == before, "while another writes"
    left.move_left_results("small")
    assert log_of(left) == [] and len(left.results()) == 2


def test_a_run_without_cells_leaves_broken_lines_and_earlier_versions(left):
    append(left, "cells.jsonl", "broken")
    before = contents(left.folder)
    left.move_left_results("small")
    assert contents(left.folder) | {".lock": b""} == before | {".lock": b""}
    (left.folder / "cells.parquet").unlink()
    (left.folder / "cells.jsonl").write_text(result(0).to_json() + "\n")
    left.move_left_results("small")
    assert not (left.folder / "cells.parquet").exists()


def test_a_table_without_a_log_is_read_and_extended(store):
    write(store, result(0))
    (store.folder / "cells.jsonl").unlink()
    assert list(store.results()) == ["adult/0/j48/probing"]
    write(store, result(1))
    assert table_of(store)["repetition"] == [0, 1]


def test_a_read_folder_is_read_anew_after_every_change(store):
    write(store, result(0))
    other = Store(store.folder)
    assert len(store.results()) == len(other.results()) == 1
    write(other, result(1))
    assert len(store.results()) == 2
    append(store, "cells.jsonl", result(2).to_json())
    assert len(store.results()) == len(other.results()) == 3


def test_changing_returned_results_changes_no_later_reading(store):
    write(store, result(0))
    store.results().clear()
    store.results_with_any_values().clear()
    assert len(store.results()) == len(store.results_with_any_values()) == 1


def test_pandas_reads_one_column_per_metric(store):
    write(store, result(0, metrics={"rms": 0.25, "cxe": np.inf}), result(1, metrics={"rms": 0.5, "auc": np.nan}))
    frame = pd.read_parquet(store.folder / "cells.parquet")
    assert frame["rms"].tolist() == [0.25, 0.5] and frame["cxe"].tolist()[0] == np.inf
    assert frame.groupby("learner")["rms"].mean().to_dict() == {"j48": 0.375}
    assert frame["dataset"].tolist() == ["adult", "adult"] and frame["repetition"].tolist() == [0, 1]


# --- results that are removed ------------------------------------------------------------------------------------


def test_discarded_results_are_removed_from_table_and_log(store):
    write(store, result(0), result(1), result(1, "failed", "run2"), result(2))
    append(store, "cells.jsonl", result(2, run="run2").to_json(), result(3).to_json(), result(4).to_json())
    with store.writing("small"):
        store.discard({"adult/1/j48/probing", "adult/2/j48/probing", "adult/3/j48/probing", "of nobody"})
    assert [one.repetition for one in store.results().values()] == [0, 4]
    assert table_of(store)["repetition"] == [0, 4] and log_of(store) == []


def test_nothing_is_discarded_beside_broken_lines(store):
    write(store, result(0), result(1))
    append(store, "cells.jsonl", "nonsense")
    before = contents(store.folder)
    with pytest.raises(StoreError, match=r"cells\.jsonl:2: is not the result of a cell"), store.writing("small"):
        store.discard({"adult/0/j48/probing"})
    assert contents(store.folder) | {".lock": b""} == before | {".lock": b""}


def test_a_full_disk_discards_nothing(store, monkeypatch):
    write(store, result(0), result(1))
    with monkeypatch.context() as patch:
        patch.setattr("probcal.store.table_file.pq.write_table", full_disk)
        with pytest.raises(StoreError, match="No space left on device"), store.writing("small"):
            store.discard({"adult/0/j48/probing"})
    assert len(store.results()) == 2


# --- folders of earlier versions ---------------------------------------------------------------------------------

KEY = {"data": "ab", "learner": "cd"}


@pytest.fixture
def earlier(store):
    """Return a folder of a version before the table. Of its four results, the last two are stale."""
    rows = [
        result(0, key=KEY, metrics={"rms": 0.25}),
        result(1, run="run2", key=KEY | {"stages": "ef"}),
        result(2, run="run2", key=KEY | {"learner": "of earlier settings"}),
        result(3, "failed", key=KEY | {"code": "of earlier code", "versions": "1"}),
    ]
    store.folder.mkdir()
    lines = [rows[0].to_json(), *(one.to_json() for one in rows), result(0, "failed", "run3").to_json()]
    append(store, "cells.jsonl", *lines)
    keys = dict.fromkeys([one.id for one in rows] + ["of/0/no/result"], key_digest(KEY))
    (store.folder / "experiment.json").write_text(json.dumps({"name": "small", "title": "größer", "keys": keys}))
    return store


STALE = {"run2": ["adult/2/j48/probing"], "run1": ["adult/3/j48/probing"]}


def test_marks_of_earlier_versions_are_read(earlier):
    before = contents(earlier.folder)
    assert earlier.experiment() == {"name": "small", "title": "größer", "stale": STALE}
    assert contents(earlier.folder) == before


def test_conversion_keeps_results_and_stale_marks(earlier):
    before = everything(earlier)
    with earlier.writing("small"):
        assert earlier.convert() == 4
    after = everything(earlier)
    assert after.keys() == before.keys()
    for name in before:
        for one, other in zip(before[name], after[name], strict=True):
            assert one is None or replace(one, key={}) == replace(other, key={})
            assert one is None or key_digest(one.key) == key_digest(other.key)
    assert json.loads((earlier.folder / "experiment.json").read_text("utf-8")) == earlier.experiment()
    assert earlier.experiment() == {"name": "small", "title": "größer", "stale": STALE}
    assert log_of(earlier) == [] and table_of(earlier)["repetition"] == [0, 0, 1, 2, 3]


def test_a_second_conversion_changes_nothing(earlier):
    with earlier.writing("small"):
        earlier.convert()
    before = contents(earlier.folder)
    with Store(earlier.folder).writing("small") as again:
        assert again.convert() == 4
    assert contents(earlier.folder) | {".lock": b""} == before | {".lock": b""}


def test_a_conversion_that_was_killed_can_be_repeated(earlier, monkeypatch):
    expected = earlier.experiment()
    for name in ("_write_table", "empty_log"):
        with monkeypatch.context() as patch:
            place = Store if name == "_write_table" else store_folder
            patch.setattr(place, name, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt), earlier.writing("small"):
                earlier.convert()
        assert earlier.experiment() == expected and len(earlier.results()) == 4
    with earlier.writing("small"):
        earlier.convert()
    assert earlier.experiment() == expected and len(earlier.results()) == 4 and log_of(earlier) == []


def test_a_folder_with_broken_lines_is_not_converted(earlier):
    append(earlier, "cells.jsonl", "nonsense")
    before = contents(earlier.folder)
    with pytest.raises(StoreError, match=r"cells\.jsonl:7: is not the result of a cell"), earlier.writing("small"):
        earlier.convert()
    assert contents(earlier.folder) | {".lock": b""} == before | {".lock": b""}


def test_a_new_result_of_a_stale_cell_is_not_stale(earlier):
    with earlier.writing("small"):
        earlier.convert()
        earlier.add(result(2, run="run4", key=KEY))
    marks = {(run, cell) for run, cells in earlier.experiment()["stale"].items() for cell in cells}
    assert {one.repetition for one in earlier.results().values() if (one.run, one.id) in marks} == {3}


# --- a table that does not belong to its log ----------------------------------------------------------------------


def test_a_missing_table_is_noticed(store):
    write(store, result(0), result(1))
    (store.folder / "cells.parquet").unlink()
    with pytest.raises(StoreError, match=r"cells\.parquet is missing: .*cells\.jsonl has the digest of another one"):
        store.results()


def test_a_table_of_an_earlier_run_is_noticed(store):
    write(store, result(0))
    earlier = (store.folder / "cells.parquet").read_bytes()
    write(store, result(1))
    (store.folder / "cells.parquet").write_bytes(earlier)
    with pytest.raises(StoreError, match=r"cells\.parquet is not the table that belongs to it"):
        store.results()


def test_a_changed_bit_of_the_table_is_noticed(store):
    write(store, result(0, metrics={"rms": 0.1}), result(1, metrics={"rms": 0.25}))
    path = store.folder / "cells.parquet"
    content = path.read_bytes()
    for place in range(4, len(content), 29):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(StoreError, match=r"cells\.parquet"):
            store.results()
    path.write_bytes(content)
    assert len(store.results()) == 2
