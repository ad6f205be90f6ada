"""Test what a results folder reads, rejects and writes. ``test_table_and_log.py`` tests how it holds results."""

import json
import os
import stat
import struct

import numpy as np
import pytest

from probcal.errors import StoreError
from probcal.store import folder as store_folder
from probcal.store.folder import Store, find_stores
from probcal.store.predictions import Predictions
from tests.store.small_store import P, Y, append, result, write
from tests.stored_rows import unpack


def test_added_result_is_on_disk_at_once(store):
    with store.writing("small"):
        store.add(result(), Y, P)
        [stored] = Store(store.folder).results().values()
        assert np.array_equal(Store(store.folder).predictions(stored)[1], P)


def test_a_failed_attempt_never_replaces_a_finished_result(store):
    write(store, result(0), result(0, "failed", "run2"), result(1, "failed"), result(1, "timeout", "run2"))
    write(store, result(2, "failed"), result(2, "done", "run2"), result(3), result(3, run="run2"))
    finished, failed, mended, repeated = store.results().values()
    assert (finished.status, finished.run, finished.later_failure.run) == ("done", "run1", "run2")
    assert (failed.status, failed.run, failed.later_failure) == ("timeout", "run2", None)
    assert (mended.status, mended.run, mended.later_failure) == ("done", "run2", None)
    assert (repeated.status, repeated.run) == ("done", "run2")


@pytest.mark.parametrize(("n_broken", "listed", "more"), [(1, 1, []), (10, 10, []), (12, 10, ["and 2 more lines"])])
def test_at_most_ten_broken_lines_are_listed(store, n_broken, listed, more):
    write(store, result())
    append(store, "cells.jsonl", *["nonsense"] * n_broken, "", result(1).to_json())
    with pytest.raises(StoreError) as refusal:
        store.results()
    lines = str(refusal.value).splitlines()
    assert len(lines) == listed + len(more) and lines[listed:] == more
    assert lines[0].endswith("cells.jsonl:2: is not the result of a cell; remove this line to run that cell again")


TORN = ('{"dataset": "adu', '{"dataset": "adult"}', '{"dataset": "adult", "rep\xff', result(1).to_json())


@pytest.mark.parametrize("torn", TORN)
def test_line_without_its_end_is_ignored_and_then_removed(store, torn):
    write(store, result(0))
    with (store.folder / "cells.jsonl").open("a", encoding="latin-1") as file:
        file.write(torn)
    assert list(store.results()) == ["adult/0/j48/probing"]
    write(store, result(2))
    assert list(store.results()) == ["adult/0/j48/probing", "adult/2/j48/probing"]
    assert len((store.folder / "cells.jsonl").read_bytes().splitlines()) == 1


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
        store.add_run({"run": "run1", "code": {}, "ended": "ä\u2028\x85"})
    append(store, "runs.jsonl", "", "nonsense", "[]", "{}", '{"run": []}')
    append(store, "runs.jsonl", '{"run": "run2", "code": 1}', '{"run": "run3", "versions": []}', '{"run": "run4"}')
    assert store.runs() == {"run1": {"run": "run1", "code": {}, "ended": "ä\u2028\x85"}, "run4": {"run": "run4"}}


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


def test_two_class_predictions_keep_their_file_format(store):
    # An int8 label and a little-endian float64 probability, 9 bytes: files of earlier versions stay readable.
    with store.writing("small"):
        store.add(result(), Y, P)
    stored = (store.folder / "predictions.bin").read_bytes()
    assert stored == b"".join(struct.pack("<bd", y, p) for y, p in zip(Y.tolist(), P.tolist(), strict=True))


def test_predictions_of_several_labels_keep_their_shape(tmp_path):
    kept = Predictions(tmp_path / "predictions.bin")
    y, p = np.array([[0, 1, 1], [1, 0, 0]], dtype=np.int8), np.arange(12).reshape(2, 3, 2) / 12
    three_classes = np.array([[0.1, 0.9, 0], [1 / 3, 1 / 3, 1 / 3], [0, 0, 1]])
    first, second, third = kept.add(Y, P), kept.add(y, p), kept.add(Y, three_classes)
    kept.close()
    kept.close()
    assert first | {"digest": ""} == {"at": 0, "rows": 3, "digest": ""}
    assert second | {"digest": ""} == {"at": 27, "rows": 2, "columns": 2, "labels": 3, "digest": ""}
    assert len(first["digest"]) == 12
    for where, given in ((first, (Y, P)), (second, (y, p)), (third, (Y, three_classes))):
        found = kept.read(where)
        assert all(np.array_equal(a, b) and a.flags.writeable for a, b in zip(found[:2], given, strict=True))


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
