"""Test that a run moves its results from the log to the table, and that a full disk leaves them in the log."""

import os

import pytest

from probcal.errors import StoreError
from probcal.store import table_file
from probcal.store.cell_result import CellResult
from probcal.store.folder import Store


def result(repetition):
    return CellResult("adult", repetition, "j48", "direct", "done", "run1", 1.5, metrics={"rms": 0.25})


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def write(store, *numbers):
    with store.writing("small"):
        for number in numbers:
            store.add(result(number))


def full_disk(file):
    raise OSError(28, os.strerror(28))


@pytest.fixture
def left(store, monkeypatch):
    """Return a store whose last run could not write the table."""
    write(store, 0)
    with monkeypatch.context() as patch:
        patch.setattr(table_file, "sync_file", full_disk)
        write(store, 1)
    return store


def log_of(store):
    return (store.folder / "cells.jsonl").read_text()


def test_a_table_that_cannot_be_written_leaves_the_results_in_the_log(left):
    assert len(log_of(left).splitlines()) == 2
    assert [one.repetition for one in left.results().values()] == [0, 1]
    assert not (left.folder / "cells.parquet.new").exists()


def test_the_next_run_moves_what_was_left(left):
    write(left, 2)
    assert len(log_of(left).splitlines()) == 1
    assert len(left.results()) == 3


def test_a_run_without_cells_moves_what_was_left(left):
    left.move_left_results("small")
    assert len(log_of(left).splitlines()) == 1
    assert len(left.results()) == 2


def test_a_run_without_cells_moves_nothing_while_another_writes(left):
    with left.writing("small"):
        before = log_of(left)
        Store(left.folder).move_left_results("small")
        assert log_of(left) == before
    assert len(left.results()) == 2


def test_a_run_without_cells_does_not_move_lines_of_an_earlier_version(store):
    write(store, 0)
    (store.folder / "cells.parquet").unlink()
    (store.folder / "cells.jsonl").write_text(result(0).to_json() + "\n")
    store.move_left_results("small")
    assert not (store.folder / "cells.parquet").exists()


def test_a_run_without_cells_leaves_broken_lines_to_the_reader(left):
    with (left.folder / "cells.jsonl").open("a") as log:
        log.write("broken\n")
    before = log_of(left)
    left.move_left_results("small")
    assert log_of(left) == before
    with pytest.raises(StoreError, match="is not the result of a cell"):
        left.results()
