"""Test a results folder whose writing process was killed in the middle of a write."""

import pytest

from probcal.store.folder import CellResult, Store


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "results")
    with store.writing("small"):
        store.write_experiment({"name": "small"})
        store.add(result(0))
    return store


def result(repetition):
    return CellResult("adult", repetition, "j48", "probing", "done", "run1", 1.0, metrics={"rms": 0.3})


def test_line_without_newline_is_not_a_result(store):
    with (store.folder / "cells.jsonl").open("a", encoding="utf-8") as file:
        file.write(result(1).to_json())
    before = store.results()
    with store.writing("small"):
        pass
    assert before == store.results()
    assert list(before) == ["adult/0/j48/probing"]
    with store.writing("small"):
        store.add(result(2))
    assert list(store.results()) == ["adult/0/j48/probing", "adult/2/j48/probing"]


def test_folder_without_a_finished_experiment_file_is_accepted(tmp_path):
    (tmp_path / "experiment.json.new").write_text('{"name": "sm', encoding="utf-8")
    with Store(tmp_path).writing("small") as store:
        store.write_experiment({"name": "small"})
    assert store.experiment() == {"name": "small"}


def test_run_record_keeps_line_separators_in_text(store):
    run = {"run": "run1", "command": "one\u2028two\x85three"}
    store.add_run(run)
    assert store.runs() == {"run1": run}
