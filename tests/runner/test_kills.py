"""Test runs that are killed. reliability/kills.py tests more cases."""

import os
import random
import shutil
import signal
import subprocess
import sys

import pytest
from run_bench import processes_of_session, wait_for, wait_until_gone

from probcal.store.folder import Store

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

STUCK = """
    import ctypes
    import pathlib
    import subprocess

    from sklearn.dummy import DummyClassifier


    class Stuck(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            subprocess.Popen(["sleep", "600"])
            pathlib.Path("stuck").touch()
            ctypes.PyDLL(None).sleep(600)
"""
YESTERDAY = """
    import datetime

    import probcal.runner.provenance


    class Yesterday(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.datetime.now(tz) - datetime.timedelta(days=1)


    probcal.runner.provenance.datetime = Yesterday
"""


@pytest.fixture
def slow(bench):
    """Plan twenty-four cells that wait at ``bench.gate``."""
    bench.gate = bench.gated()
    bench.config(
        learners={"slow": {"type": "slow.Slow", "params": {"max_features": 2}}}, methods=["direct"], repeats=24
    )
    return bench


def after(cells, bench, *words, stderr=subprocess.PIPE):
    """Start a run. Return when it has ended ``cells`` more cells and its next ones wait."""
    ended = bench.ended()
    bench.gate.let(cells)
    let = bench.gate.begun() + cells
    process = bench.start(*words, stderr=stderr, text=True)
    wait_for(lambda: process.poll() is not None or (bench.ended() == ended + cells and bench.gate.begun() > let))
    assert process.poll() is None
    return process


def same_as_undisturbed(bench):
    """Check that metrics, keys and predictions equal those of an undisturbed run."""
    assert bench.run("-o", "undisturbed").code == 0
    ours, theirs = Store(bench.results), Store(bench.folder / "undisturbed")
    for cell, result in theirs.results().items():
        kept = ours.results()[cell]
        assert (kept.metrics, kept.key) == (result.metrics, result.key)
        assert [part.tobytes() for part in ours.predictions(kept)] == [
            part.tobytes() for part in theirs.predictions(result)
        ]
    return len(theirs.results()) == len(ours.results())


@pytest.mark.slow
def test_repeatedly_killed_run_runs_every_cell_once(slow):
    chance = random.Random(1)
    for _ in range(3):
        process = after(chance.randint(1, 4), slow, "-j", "2", stderr=subprocess.DEVNULL)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(300)
        wait_until_gone(process.pid)
    slow.gate.open()
    kept = len(slow.rows())
    assert kept == slow.ended(), "no cell ran twice"
    assert slow.run("-j", "2").code == 0
    assert (len(slow.rows()), slow.ran()) == (24, [24 - kept])
    assert same_as_undisturbed(slow)


@pytest.mark.slow
def test_killed_worker_fails_one_cell_and_the_run_continues(slow):
    process = after(2, slow)
    [worker] = [one for one in processes_of_session(process.pid) if os.getpgid(one) == one != process.pid]
    os.kill(worker, signal.SIGKILL)
    slow.gate.open()
    said = process.communicate(timeout=300)[1]
    [lost] = [row for row in slow.rows() if row["status"] != "done"]
    assert (process.returncode, len(slow.rows()), slow.ran()) == (1, 24, [24])
    assert lost["message"] == "killed: out of memory?" and "WorkerDied: killed: out of memory?" in said
    assert slow.run("--retry-failed").code == 0
    assert same_as_undisturbed(slow)


@pytest.mark.slow
def test_workers_in_native_code_end_with_a_killed_run(bench):
    bench.module("stuck", STUCK)
    bench.config(learners={"stuck": {"type": "stuck.Stuck"}}, methods=["direct"], repeats=1)
    process = bench.start(stderr=subprocess.DEVNULL)
    wait_for(lambda: process.poll() is not None or (bench.folder / "stuck").exists(), 300)
    process.kill()
    process.wait(300)
    wait_until_gone(process.pid)


@pytest.mark.slow
def test_run_after_a_lost_terminal_resumes(slow):
    process = after(2, slow, "-j", "2", stderr=subprocess.DEVNULL)
    os.killpg(process.pid, signal.SIGHUP)
    assert process.wait(300) == -signal.SIGHUP
    wait_until_gone(process.pid)
    slow.gate.open()
    kept = slow.ended()
    assert slow.run().code == 0
    assert (len(slow.rows()), slow.ran()[-1]) == (24, 24 - kept)


@pytest.mark.slow
def test_removed_results_folder_ends_the_run_with_a_message(slow):
    process = after(2, slow)
    process.send_signal(signal.SIGSTOP)  # else it could write a file there between two steps of rmtree
    shutil.rmtree(slow.results)
    process.send_signal(signal.SIGCONT)
    slow.gate.open()
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 2
    assert "cells.jsonl was removed while results were written to it; run again" in said
    assert "kept" not in said and "Traceback" not in said


@pytest.mark.slow
def test_moved_results_folder_ends_the_run_and_can_resume(slow):
    process = after(2, slow)
    slow.results.rename(slow.folder / "moved")
    slow.gate.open()
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 2
    assert "cells.jsonl was moved while results were written to it; move it back and run again to go on" in said
    assert "all cells are done" not in said and "Traceback" not in said and not slow.results.exists()
    (slow.folder / "moved").rename(slow.results)
    kept = len(slow.rows())
    assert slow.run().code == 0
    assert (kept >= 3, len(slow.rows()), slow.ran()[-1]) == (True, 24, 24 - kept)


@pytest.mark.slow
def test_clock_set_back_does_not_affect_resuming(slow):
    process = after(3, slow, stderr=subprocess.DEVNULL)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(300)
    slow.gate.open()
    today, kept = {row["run"] for row in slow.rows()}, slow.ended()
    slow.module("sitecustomize", YESTERDAY)
    assert slow.start(stderr=subprocess.DEVNULL).wait(300) == 0
    yesterday = {row["run"] for row in slow.rows()} - today
    assert max(yesterday) < min(today)
    assert len(slow.rows()) == 24 and slow.ran() == [24 - kept]
    slow.config(learners={"slow": {"type": "slow.Slow"}}, methods=["direct"], repeats=1)  # now stale
    assert slow.start(stderr=subprocess.DEVNULL).wait(300) == 0
    assert Store(slow.results).results()["wine-first/0/slow/direct"].run not in today | yesterday


@pytest.mark.slow
def test_only_one_of_two_simultaneous_runs_writes(slow):
    slow.gate.open()
    both = [slow.start(stderr=subprocess.PIPE, text=True) for _ in range(2)]
    ends = [(one.communicate(timeout=300)[1], one.returncode) for one in both]
    assert sorted(code for _, code in ends) in ([0, 2], [0, 0])
    assert all("another probcal run is writing to" in said for said, code in ends if code)
    assert sorted(row["repetition"] for row in slow.rows()) == list(range(24)) and sum(slow.ran()) == 24
