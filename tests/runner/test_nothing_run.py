"""A run that runs nothing changes no byte of the results folder, and no time of a file in it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import pytest
from run_bench import SLOW, wait_for

LACKS = """
    from sklearn.tree import DecisionTreeClassifier


    class Lacks(DecisionTreeClassifier):
        @staticmethod
        def unmet_requirement():
            return "a thing is not installed"
"""


def state(folder):
    """Every file with its bytes and its time."""
    return {
        path.relative_to(folder): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def done(bench):
    """Four cells of the user's own table, done; what was written lies an hour back."""
    bench.config(datasets=[bench.coins()], methods=["direct"])
    assert bench.run("--data-dir", str(bench.folder)).code == 0
    for path in bench.results.rglob("*"):
        os.utime(path, ns=(10**18, 10**18))
    return bench


def stale(bench, learner=None):
    """Makes the cells of the trees stale, and runs nothing."""
    learners = {"dummy": {"type": "sklearn.dummy.DummyClassifier"}, "tree": learner or {"params": {"max_depth": 5}}}
    bench.config(datasets=["coins.yaml"], methods=["direct"], learners=learners)


def without_data(bench):
    shutil.rmtree(bench.folder / "coins")
    shutil.rmtree(bench.folder / "cache")


@pytest.mark.slow
def test_when_all_is_done(done):
    before = state(done.results)
    assert done.run("--data-dir", str(done.folder)).code == 0
    assert done.run("-l", "tree", "-d", "coins").code == 0
    assert state(done.results) == before


@pytest.mark.slow
def test_when_a_comment_was_written_into_the_experiment(done):
    before = state(done.results)
    path = done.folder / "small.yaml"
    path.write_text("# what I wanted to know\n" + path.read_text())
    assert done.run("--data-dir", str(done.folder)).code == 0
    assert state(done.results) == before


@pytest.mark.slow
def test_when_the_data_are_not_to_be_had(done):
    stale(done)
    without_data(done)
    before = state(done.results)
    ended = done.run()
    assert (ended.code, "no data" in ended.said) == (1, True)
    assert state(done.results) == before


@pytest.mark.slow
def test_when_the_data_of_a_first_run_are_not_to_be_had(bench):
    bench.config(datasets=[bench.coins()])
    shutil.rmtree(bench.folder / "coins")
    assert bench.run().code == 1
    assert not bench.results.exists()


@pytest.mark.slow
def test_when_something_is_missing_that_a_learner_needs(done):
    done.module("lacks", LACKS)
    stale(done, {"type": "lacks.Lacks"})
    before = state(done.results)
    assert done.run("--data-dir", str(done.folder)).code == 2
    assert state(done.results) == before


@pytest.mark.parametrize(
    "words",
    [
        ("validate", "small.yaml"),
        ("run", "small.yaml", "--dry-run"),
        ("run", "small.yaml", "--no-such-option"),
        ("run", "small.yaml", "-l", "nobody"),
        ("run", "small.yaml", "--timeout", "soon"),
        ("run", "small.yaml", "--workers", "1", "--scheduler", "tcp://host:1"),
        ("status", "results/small"),
        ("table", "results/small"),
    ],
)
@pytest.mark.slow
def test_of_a_call_that_only_looks_or_is_mistaken(done, words):
    stale(done)
    before = state(done.results)
    done.probcal(*words)
    assert state(done.results) == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_when_it_is_interrupted_before_the_first_cell_has_ended(done):
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
def test_a_run_of_nothing_works_where_nothing_can_be_written(done, monkeypatch):
    monkeypatch.setattr("probcal.store.folder.Store.writing", lambda *_: pytest.fail("it wants to write"))
    assert done.run("--data-dir", str(done.folder)).code == 0


@pytest.mark.slow
def test_the_tables_follow_an_experiment_that_says_something_else(done):
    before = (done.results / "cells.jsonl").read_bytes()
    done.config(datasets=["coins.yaml"], methods=["direct"], title="Coins, tossed")
    said = done.run("--data-dir", str(done.folder)).said
    assert "nothing was run; the tables now show the experiment as small.yaml describes it" in said
    assert done.probcal("table", "results/small").said.startswith("# Coins, tossed")
    assert (done.results / "cells.jsonl").read_bytes() == before


def test_a_run_of_other_data_keeps_what_is_known_of_those_that_are_missing(done):
    kept = '"coins/0/tree/direct": '
    assert kept in (done.results / "experiment.json").read_text()
    without_data(done)
    done.config(datasets=["coins.yaml", "wine-first"], methods=["direct"])
    assert done.run().code == 0
    assert kept in (done.results / "experiment.json").read_text()
