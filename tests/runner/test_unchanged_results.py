"""Test that a run without work changes no byte and no file time of the results folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import pytest
from run_bench import SLOW, wait_for

from probcal.store.folder import Store

LACKS = """
    from sklearn.tree import DecisionTreeClassifier


    class Lacks(DecisionTreeClassifier):
        @staticmethod
        def unmet_requirement():
            return "a thing is not installed"
"""


def state(folder):
    """Return every file with its bytes and its time, but for the lock, which names its holder while it is held."""
    return {
        path.relative_to(folder): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


@pytest.fixture
def done(bench):
    """Run four cells of the user's own table. Their files have a time in the past."""
    bench.config(datasets=[bench.coins()], methods=["direct"])
    assert bench.run("--data-dir", str(bench.folder)).code == 0
    for path in bench.results.rglob("*"):
        os.utime(path, ns=(10**18, 10**18))
    return bench


def stale(bench, learner=None):
    """Make the cells of the trees stale, and run nothing."""
    learners = {"dummy": {"type": "sklearn.dummy.DummyClassifier"}, "tree": learner or {"params": {"max_depth": 5}}}
    bench.config(datasets=["coins.yaml"], methods=["direct"], learners=learners)


def without_data(bench):
    """Remove the data files and the cache."""
    shutil.rmtree(bench.folder / "coins")
    shutil.rmtree(bench.folder / "cache")


@pytest.mark.slow
def test_finished_run_changes_no_file(done, monkeypatch):
    before = state(done.results)
    monkeypatch.setattr("probcal.store.folder.Store.writing", lambda *_: pytest.fail("it wants to write"))
    said = done.run("--data-dir", str(done.folder))
    assert said.code == 0 and "4 cells: 4 done" in said.said and "all cells are done" in said.said
    assert done.run("-l", "tree", "-d", "coins").code == 0
    path = done.folder / "small.yaml"
    path.write_text("# what I wanted to know\n" + path.read_text())
    assert done.run("--data-dir", str(done.folder)).code == 0
    assert state(done.results) == before


READING_OR_INVALID = [
    ("validate", "small.yaml"),
    ("run", "small.yaml", "--dry-run"),
    ("run", "small.yaml", "--no-such-option"),
    ("run", "small.yaml", "-l", "nobody"),
    ("run", "small.yaml", "--timeout", "soon"),
    ("run", "small.yaml", "--workers", "1", "--scheduler", "tcp://host:1"),
    ("status", "results/small"),
    ("table", "results/small"),
]


@pytest.mark.slow
def test_reading_or_invalid_commands_change_no_file(done):
    stale(done)
    before = state(done.results)
    for words in READING_OR_INVALID:
        done.probcal(*words)
        assert state(done.results) == before, words


@pytest.mark.slow
def test_missing_data_change_no_file(done):
    stale(done)
    without_data(done)
    before = state(done.results)
    ended = done.run()
    assert (ended.code, "no data" in ended.said) == (1, True)
    assert state(done.results) == before


@pytest.mark.slow
def test_first_run_without_data_creates_no_folder(bench):
    bench.config(datasets=[bench.coins()])
    shutil.rmtree(bench.folder / "coins")
    assert bench.run().code == 1
    assert not bench.results.exists()


@pytest.mark.slow
def test_missing_requirement_changes_no_file(done):
    done.module("lacks", LACKS)
    stale(done, {"type": "lacks.Lacks"})
    before = state(done.results)
    assert done.run("--data-dir", str(done.folder)).code == 2
    assert state(done.results) == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_interruption_before_the_first_result_changes_no_file(done):
    done.module("slow", SLOW.format(seconds=600))
    stale(done, {"type": "slow.Slow"})
    before = state(done.results)
    process = done.start("-l", "tree", "--data-dir", str(done.folder), stderr=subprocess.PIPE, text=True)
    running = done.results / "running.json"
    wait_for(lambda: process.poll() is not None or (running.exists() and '"running": {"coins' in running.read_text()))
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert state(done.results) == before


@pytest.mark.slow
def test_tables_follow_a_changed_title_without_new_cells(done):
    before = state(done.results)
    done.config(datasets=["coins.yaml"], methods=["direct"], title="Coins, tossed")
    said = done.run("--data-dir", str(done.folder)).said
    assert "nothing was run; the tables now show the experiment as small.yaml describes it" in said
    assert done.probcal("table", "results/small").said.startswith("# Coins, tossed")
    after = state(done.results)
    changed = {path.name for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed == {"experiment.json"}


def marked(bench):
    """Return the cells of the results that the last run found stale."""
    return {cell for cells in Store(bench.results).experiment()["stale"].values() for cell in cells}


@pytest.mark.parametrize("depth", [2, 5])
def test_run_keeps_stale_marks_of_data_that_are_missing(done, depth):
    stale(done, {"params": {"max_depth": depth}})
    assert done.run("-l", "dummy", "--data-dir", str(done.folder)).code == 0
    expected = {f"coins/{repetition}/tree/direct" for repetition in (0, 1)} if depth == 5 else set()
    assert marked(done) == expected
    without_data(done)
    done.config(datasets=["coins.yaml", "wine-first"], methods=["direct"])
    assert done.run().code == 0
    assert marked(done) == expected
    assert len(Store(done.results).results()) == 8
