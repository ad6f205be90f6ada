"""A results folder after the writing process was killed at the worst moment."""

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


def test_a_line_that_lacks_only_its_end_is_not_a_result_because_the_next_run_cuts_it_off(store):
    with (store.folder / "cells.jsonl").open("a", encoding="utf-8") as file:
        file.write(result(1).to_json())
    before = store.results()
    with store.writing("small"):
        pass
    assert before == store.results()
    assert list(before) == ["adult/0/j48/probing"]


def test_a_folder_killed_before_its_experiment_file_was_in_place_is_still_ours(tmp_path):
    (tmp_path / "experiment.json.new").write_text('{"name": "sm', encoding="utf-8")
    with Store(tmp_path).writing("small") as store:
        store.write_experiment({"name": "small"})
    assert store.experiment() == {"name": "small"}


def test_provenance_keeps_every_kind_of_line_separator_inside_a_text(store):
    run = {"run": "run1", "command": "one\u2028two\x85three"}
    store.add_run(run)
    assert store.runs() == {"run1": run}
