"""Test what a results folder reads, rejects and writes, one rule at a time."""

import json
import os
import stat
from dataclasses import replace

import numpy as np
import pandas
import pyarrow.parquet as parquet
import pytest

from probcal.errors import StoreError
from probcal.store import folder as store_folder
from probcal.store.cell_result import CellResult, key_digest
from probcal.store.folder import Store, find_stores
from probcal.store.predictions import Predictions
from tests.commands import contents
from tests.stored_rows import unpack

Y, P = np.array([0, 1, 1], dtype=np.int8), np.array([0.1, 0.7, 0.2])


def result(repetition=0, status="done", run="run1", **more):
    return CellResult("adult", repetition, "j48", "probing", status, run, 1.5, **more)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def write(store, *results):
    with store.writing("small"):
        for one in results:
            store.add(one)


def append(store, name, *lines):
    with (store.folder / name).open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def test_a_failed_attempt_never_replaces_a_finished_result(store):
    write(store, result(0), result(0, "failed", "run2"), result(1, "failed"), result(1, "timeout", "run2"))
    write(store, result(2, "failed"), result(2, "done", "run2"))
    finished, failed, mended = store.results().values()
    assert (finished.status, finished.run, finished.failed_since.run) == ("done", "run1", "run2")
    assert (failed.status, failed.run, failed.failed_since) == ("timeout", "run2", None)
    assert (mended.status, mended.run, mended.failed_since) == ("done", "run2", None)


@pytest.mark.parametrize(("n_broken", "listed", "more"), [(1, 1, []), (10, 10, []), (12, 10, ["and 2 more lines"])])
def test_at_most_ten_broken_lines_are_listed(store, n_broken, listed, more):
    write(store, result())
    append(store, "cells.jsonl", *["nonsense"] * n_broken, "", result(1).to_json())
    with pytest.raises(StoreError) as refusal:
        store.results()
    lines = str(refusal.value).splitlines()
    assert len(lines) == listed + len(more) and lines[listed:] == more
    assert lines[0].endswith("cells.jsonl:2: is not the result of a cell; remove this line to run that cell again")


def test_impossible_value_is_rejected_unless_replaced_or_requested(store):
    write(store, result(0, metrics={"rms": 1.5}), result(1))
    with pytest.raises(StoreError, match=r"cells\.parquet: adult/0/j48/probing: rms is 1\.5.*\nprobcal verify"):
        store.results()
    unpack(store.folder)
    with pytest.raises(StoreError, match=r"cells\.jsonl:1: adult/0/j48/probing: rms is 1\.5.*\nprobcal verify"):
        store.results()
    assert store.results_with_any_values()["adult/0/j48/probing"].metrics == {"rms": 1.5}
    write(store, result(0, "failed", metrics={"rms": 7.0}))
    with pytest.raises(StoreError, match=r"rms is 1\.5"):
        store.results()
    write(store, result(0, metrics={"rms": 0.5}))
    assert store.results()["adult/0/j48/probing"].metrics == {"rms": 0.5}


def test_broken_line_is_named_with_its_number(store):
    write(store, result())
    append(store, "cells.jsonl", json.dumps(json.loads(result(1).to_json()) | {"seconds": -1}), result(2).to_json())
    with pytest.raises(StoreError, match=r"cells\.jsonl:2: is not .* \(seconds: .*\); remove"):
        store.results()


def test_the_state_changes_with_every_added_result(store):
    assert store.state() == ()
    states = set()
    with store.writing("small"):
        for repetition in range(3):
            store.add(result(repetition))
            states.add(store.state())
        size = (store.folder / "cells.jsonl").stat().st_size
    assert len(states) == 3 and max(states)[0] == size
    ended = store.state()
    assert ended not in states and len(ended) > len(max(states)), "the results moved to the table"
    (store.folder / "cells.jsonl").unlink()
    assert store.state() not in (*states, ended)
    table = store.folder / "cells.parquet"
    before = store.state()
    content, time = table.read_bytes(), table.stat().st_mtime_ns
    table.write_bytes(content[:-1] + b"x")
    os.utime(table, ns=(time, time))
    assert store.state() != before, "an edit that keeps size and time"


def test_results_are_added_only_while_writing(store):
    with pytest.raises(RuntimeError, match="inside"):
        store.add(result())
    write(store, result())
    with pytest.raises(RuntimeError, match="inside"):
        store.add(result())


def test_predictions_exist_only_if_added_and_stored(store):
    with store.writing("small"):
        store.add(result(0), Y, P)
        store.add(result(1))
        store.add(result(2), Y, None)
    with_them, *without = store.results().values()
    assert store.has_predictions(with_them)
    assert not any(map(store.has_predictions, without))
    for one in without:
        with pytest.raises(StoreError, match="does not hold the predictions"):
            store.predictions(one)
    (store.folder / "predictions.bin").unlink()
    assert not store.has_predictions(with_them)


def test_an_experiment_is_written_only_if_it_changed(store):
    with store.writing("small"):
        store.write_experiment({"name": "small", "title": "größer"})
        path = store.folder / "experiment.json"
        before = path.stat().st_ino
        store.write_experiment({"name": "small", "title": "größer"})
        assert path.stat().st_ino == before
        assert "größer" in path.read_text(encoding="utf-8")
        store.write_experiment({"name": "small"})
    assert store.experiment() == {"name": "small"}
    assert sorted(one.name for one in store.folder.iterdir()) == [".lock", "experiment.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"is not a results folder of probcal \(it has no experiment\.json\)"),
        ("{", r"experiment\.json cannot be read"),
        pytest.param("[" * 100_000, r"experiment\.json cannot be read", id="nested too deeply"),
        ("[1]", "does not describe an experiment"),
        ("{}", "does not describe an experiment"),
        ('{"name": 1}', "does not describe an experiment"),
    ],
)
def test_malformed_experiment_is_rejected(store, text, message):
    store.folder.mkdir()
    if text is not None:
        (store.folder / "experiment.json").write_text(text)
    assert store.exists() is (text is not None)
    with pytest.raises(StoreError, match=message):
        store.experiment()


def test_last_valid_line_of_a_run_counts(store):
    with store.writing("small"):
        store.add_run({"run": "run1", "versions": {}})
        store.add_run({"run": "run1", "code": {}, "ended": "ä"})
    append(store, "runs.jsonl", "", "nonsense", "[]", "{}", '{"run": []}')
    append(store, "runs.jsonl", '{"run": "run2", "code": 1}', '{"run": "run3", "versions": []}', '{"run": "run4"}')
    assert store.runs() == {"run1": {"run": "run1", "code": {}, "ended": "ä"}, "run4": {"run": "run4"}}


def test_folders_are_found_recursively_in_name_order(tmp_path):
    for name in ("b", "a/deeper", "c/x"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "experiment.json").write_text("{}")
    assert [one.folder.relative_to(tmp_path).as_posix() for one in find_stores(tmp_path)] == ["a/deeper", "b", "c/x"]


def test_folder_with_only_probcal_files_accepts_results(store):
    store.folder.mkdir()
    for name in (".lock", "cells.jsonl", "cells.jsonl.new", "cells.parquet.new", "accepted.csv", "running.json"):
        (store.folder / name).write_text("")
    (store.folder / "figures").mkdir()
    write(store, result())
    assert list(store.results()) == ["adult/0/j48/probing"]


def test_syncs_take_at_most_a_twentieth_of_the_time(store, monkeypatch):
    clock, syncs = [100.0], []

    def fsync(file):
        if stat.S_ISREG(os.fstat(file).st_mode):
            syncs.append(clock[0])
            clock[0] += 0.5  # one sync for one file: the results, since the predictions are not open

    monkeypatch.setattr(store_folder.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(os, "fsync", fsync)
    with store.writing("small"):
        for repetition in range(40):
            store.add(result(repetition))
            clock[0] += 1
        during = list(syncs)
    assert during == [100.0, 110.5, 121.0, 131.5], "each takes half a second, and the next comes ten seconds later"
    assert len(syncs) == len(during) + 3, "and at the end two for the log and one for the table"


def test_final_disk_error_is_raised_unless_another_error_is(store, monkeypatch):
    def fail(_):
        raise OSError(28, "no space left")

    monkeypatch.setattr(Store, "_sync", lambda store: None)  # nothing fails before the end
    monkeypatch.setattr(store_folder, "sync_file", fail)
    with pytest.raises(StoreError, match=r"cannot write to .* any more: no space left"):
        write(store, result())
    with pytest.raises(KeyError, match="mine"), store.writing("small"):
        store.add(result())
        raise KeyError("mine")


def test_predictions_are_synced_before_their_line(store, monkeypatch):
    synced = []

    def fsync(file):
        number = os.fstat(file).st_ino
        synced.extend(path.name for path in store.folder.iterdir() if path.stat().st_ino == number)

    monkeypatch.setattr(os, "fsync", fsync)
    with store.writing("small"):
        store.add(result(), Y, P)
        assert synced == ["predictions.bin", "cells.jsonl"]
    assert synced == ["predictions.bin", "cells.jsonl"] * 2 + ["cells.parquet.new", "cells.jsonl"]


def test_predictions_of_several_labels_keep_their_shape(tmp_path):
    kept = Predictions(tmp_path / "predictions.bin")
    y, p = np.array([[0, 1, 1], [1, 0, 0]], dtype=np.int8), np.arange(12).reshape(2, 3, 2) / 12
    first, second = kept.add(Y, P), kept.add(y, p)
    kept.close()
    kept.close()
    assert first | {"digest": ""} == {"at": 0, "rows": 3, "digest": ""}
    assert second | {"digest": ""} == {"at": 27, "rows": 2, "columns": 2, "labels": 3, "digest": ""}
    assert len(first["digest"]) == 12
    for where, given in ((first, (Y, P)), (second, (y, p))):
        found = kept.read(where)
        assert all(np.array_equal(one, other) and one.flags.writeable for one, other in zip(found, given, strict=True))


def test_predictions_at_a_wrong_place_are_not_found(tmp_path):
    kept = Predictions(tmp_path / "predictions.bin")
    where = kept.add(Y, P)
    kept.close()
    assert kept.read(where) is not None
    for change in ({"digest": "0"}, {"rows": 2}, {"rows": 4}, {"rows": 10**14}, {"at": 1}, {"at": 28}, {"columns": 2}):
        assert kept.read(where | change) is None
    assert kept.read(where | {"columns": 10**12, "labels": 10**3}) is None
    (tmp_path / "predictions.bin").unlink()
    assert kept.read(where) is None


def test_new_predictions_are_appended_to_those_of_other_runs(tmp_path):
    path = tmp_path / "predictions.bin"
    for place in (0, 27):
        kept = Predictions(path)
        kept.sync()
        assert kept.add(Y, P)["at"] == place
        kept.close()
        assert len(path.read_bytes()) == place + 27


def test_a_folder_inside_a_file_is_rejected(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot write to .*results: Not a directory; choose another with -o"):
        write(Store(tmp_path / "file" / "results"), result())


def test_blank_lines_between_results_are_skipped(store):
    write(store, result(0), result(1))
    cells = unpack(store.folder)
    cells.write_text(cells.read_text().replace("\n", "\n\n"))
    assert len(store.results()) == 2


# --- the table and the log ---------------------------------------------------------------------------------------


def table_of(store):
    return parquet.read_table(store.folder / "cells.parquet").to_pydict()


def log_of(store):
    """Return the results in the log, without its lines about the table."""
    first, *lines = (store.folder / "cells.jsonl").read_text().splitlines()
    assert json.loads(first).keys() == {"probcal", "table"}
    return [CellResult.from_json(line) for line in lines if "table" not in json.loads(line)]


def everything(store):
    """Return each result with its last failed attempt."""
    return {name: (one, one.failed_since) for name, one in store.results().items()}


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
        assert (first, first.failed_since, second.failed_since) == (result(0), failed, None)
        assert table_of(store)["status"] == ["done", "failed", "done"]
        write(store, result(1))
    write(store, result(0, "timeout", "run3"))
    assert store.results()["adult/0/j48/probing"].failed_since == result(0, "timeout", "run3")
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


def test_impossible_numbers_are_moved_and_still_reported(store):
    write(store, result(0, metrics={"rms": 7.5}), result(1))
    assert log_of(store) == [] and table_of(store)["rms"] == [7.5, None]
    with pytest.raises(StoreError, match=r"cells\.parquet: adult/0/j48/probing: rms is 7\.5"):
        store.results()


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


@pytest.mark.parametrize("where", ["write_table", "replace"])
def test_a_full_disk_keeps_the_log_and_all_results(store, monkeypatch, where):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    write(store, result(0))
    with monkeypatch.context() as patch:
        if where == "write_table":
            patch.setattr("probcal.store.table_file.pq.write_table", fail)
        else:
            patch.setattr(os, "replace", fail)
        write(store, result(1))
    assert log_of(store) == [result(1)] and table_of(store)["repetition"] == [0]
    assert [one.repetition for one in store.results().values()] == [0, 1]
    write(store, result(2))
    assert log_of(store) == [] and table_of(store)["repetition"] == [0, 1, 2]


@pytest.mark.parametrize("content", [b"", b"PAR1 torn"])
def test_a_left_new_table_is_harmless(store, content):
    write(store, result(0))
    for name in ("cells.parquet.new", "cells.jsonl.new"):
        (store.folder / name).write_bytes(content)
    assert list(store.results()) == ["adult/0/j48/probing"]
    write(store, result(1))
    assert table_of(store)["repetition"] == [0, 1]
    assert not (store.folder / "cells.parquet.new").exists() and not (store.folder / "cells.jsonl.new").exists()


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


def test_equal_results_give_equal_tables(tmp_path):
    for name in ("one", "other"):
        write(Store(tmp_path / name), *(result(n, metrics={"rms": n / 10}, n_test=3) for n in range(5)))
    assert contents(tmp_path / "one") | {".lock": b""} == contents(tmp_path / "other") | {".lock": b""}


def test_pandas_reads_one_column_per_metric(store):
    write(store, result(0, metrics={"rms": 0.25, "cxe": np.inf}), result(1, metrics={"rms": 0.5, "auc": np.nan}))
    frame = pandas.read_parquet(store.folder / "cells.parquet")
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


def test_discarding_removes_impossible_numbers(store):
    write(store, result(0, metrics={"rms": 7.5}), result(1, metrics={"rms": 0.5}))
    with store.writing("small"):
        store.discard(store.impossible_results())
    assert list(store.results()) == ["adult/1/j48/probing"] and store.impossible_results() == {}


def test_nothing_is_discarded_beside_broken_lines(store):
    write(store, result(0), result(1))
    append(store, "cells.jsonl", "nonsense")
    before = contents(store.folder)
    with pytest.raises(StoreError, match=r"cells\.jsonl:2: is not the result of a cell"), store.writing("small"):
        store.discard({"adult/0/j48/probing"})
    assert contents(store.folder) | {".lock": b""} == before | {".lock": b""}


def test_a_full_disk_discards_nothing(store, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    write(store, result(0), result(1))
    with monkeypatch.context() as patch:
        patch.setattr("probcal.store.table_file.pq.write_table", fail)
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
    for place in range(4, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(StoreError, match=r"cells\.parquet"):
            store.results()
    path.write_bytes(content)
    assert len(store.results()) == 2


def test_a_table_without_a_log_is_whole(store):
    write(store, result(0))
    (store.folder / "cells.jsonl").unlink()
    write(store, result(1))
    assert len(store.results()) == 2
