"""Test that a line of a newer version is rejected with that version, and that nothing is deleted."""

from __future__ import annotations

import json

import pyarrow.parquet as parquet
import pytest

from probcal import __version__
from probcal.errors import StoreError
from probcal.store.cell_result import CellResult, UnknownParts, is_newer, version_message
from probcal.store.folder import Store
from tests.commands import contents, probcal

ROW = {"dataset": "adult", "repetition": 0, "learner": "j48", "method": "direct", "status": "done", "run": "run1",
       "seconds": 1.0, "metrics": {"rms": 0.3}}  # fmt: skip


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "results")
    with store.writing("small"):
        store.write_experiment({"name": "small"})
        store.add(CellResult.from_json(json.dumps(ROW)))
        store.add_run({"run": "run1", "probcal": __version__})
    return store


def with_line(store, **changed):
    with (store.folder / "cells.jsonl").open("a") as file:
        file.write(json.dumps({**ROW, "repetition": 1, **changed}) + "\n")
    return store


def the_message(store):
    with pytest.raises(StoreError) as caught:
        store.results()
    return str(caught.value)


def test_every_line_names_the_version_that_wrote_it(store):
    with store.writing("small"):
        store.add(CellResult.from_json(json.dumps(ROW)))
        first, line = (store.folder / "cells.jsonl").read_text().splitlines()
    assert json.loads(line)["probcal"] == __version__
    assert json.loads(first).keys() == {"probcal", "table"}


def test_the_table_names_the_version_that_wrote_it(store):
    about = json.loads(parquet.read_schema(store.folder / "cells.parquet").metadata[b"probcal"])
    assert about == {"format": 1, "probcal": __version__}


def test_versions_before_the_table_refuse_the_log(store):
    [line] = (store.folder / "cells.jsonl").read_text().splitlines()
    with pytest.raises(UnknownParts) as caught:  # as those versions read every line
        CellResult.from_json(line)
    told = version_message(line.replace("0.2.0", "17.2.1"), caught.value, dict)
    assert told.startswith("written by probcal 17.2.1, and this is probcal ") and "nothing is lost" in told


def test_newer_line_message_names_version_and_upgrade_command(store):
    said = the_message(with_line(store, probcal="17.2.1", confidence=[0.1, 0.2]))
    assert said == (
        f"{store.folder / 'cells.jsonl'}:2: this line was written by probcal 17.2.1, and this is probcal "
        f"{__version__}; nothing is lost, read it with that version or a newer one"
    )


def test_line_without_version_takes_that_of_its_run(store):
    store.add_run({"run": "run2", "probcal": "17.2.1"})
    assert "written by probcal 17.2.1" in the_message(with_line(store, run="run2", confidence=[0.1]))


CHANGED = [{"metrics": [1, 2]}, {"status": "superseded"}, {"predictions": {"file": "p.parquet"}}, {"seconds": "1 s"}]


@pytest.mark.parametrize("changed", CHANGED)
def test_changed_type_in_a_newer_line_names_its_version(store, changed):
    assert "written by probcal 17.2.1" in the_message(with_line(store, probcal="17.2.1", **changed))


def test_many_newer_lines_give_one_message(store):
    for repetition in range(1, 51):
        with_line(store, repetition=repetition, probcal="17.2.1", confidence=1)
    assert "this and 49 more lines were written by probcal 17.2.1" in the_message(store)
    assert "\n" not in the_message(store)


def test_message_on_unknown_field_does_not_advise_deletion(store):
    said = the_message(with_line(store, confidence=[0.1]))
    assert 'does not know its part "confidence"; nothing is lost, use the version that wrote it' in said
    assert "remove" not in said


def test_readable_line_of_a_newer_version_is_read(store):
    assert len(with_line(store, probcal="17.2.1").results()) == 2


def test_line_without_any_version_is_read(store):
    assert len(with_line(store).results()) == 2


@pytest.mark.parametrize("command", ["table", "status", "check", "compare"])
def test_reading_commands_reject_a_newer_line_and_delete_nothing(store, command):
    with_line(store, probcal="17.2.1", confidence=1)
    experiment = {"name": "small", "title": "x", "metrics": ["rms"], "datasets": [], "columns": [], "repetitions": {}}
    (store.folder / "experiment.json").write_text(
        json.dumps(experiment | {"config_path": "small.yaml", "config": "name: small", "seed": 0, "quick": False})
    )
    before = contents(store.folder)
    done = probcal(command, store.folder)
    assert (done.exit_code, "this line was written by probcal 17.2.1" in done.stderr) == (2, True)
    assert contents(store.folder) == before


@pytest.mark.parametrize(
    ("version", "newer"),
    [("0.1.0", False), ("0.0.9", False), ("0.1", False), ("", False), ("x", False), ("0.1.0.dev3", False),
     ("0.1.1", True), ("0.2.0rc1", True), ("1", True), ("0.10.0", True), ("9" * 5000, True)],
)  # fmt: skip
def test_versions_are_compared_by_their_numbers(monkeypatch, version, newer):
    monkeypatch.setattr("probcal.store.cell_result.__version__", "0.1.0")
    assert is_newer(version) is newer
