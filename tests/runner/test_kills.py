"""Test runs that are killed, or whose results folder is taken away. reliability/kills.py tests more cases."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys

import pytest
from run_bench import in_the_middle, processes_of_session, same_as_undisturbed, wait_for, wait_until_gone

from probcal.store.folder import Store

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"),
    pytest.mark.slow,
]
N_CELLS = 24

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
    return bench.gated(N_CELLS, max_features=2)


def test_repeatedly_killed_run_runs_every_cell_once(slow):
    chance = random.Random(1)
    for _ in range(3):
        process = in_the_middle(slow, chance.randint(1, 4), "-j", "2", stderr=subprocess.DEVNULL)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(300)
        wait_until_gone(process.pid)
    slow.gate.open()
    kept = [row["repetition"] for row in slow.rows()]
    assert len(kept) == slow.ended(), "no cell ran twice"
    assert slow.run("-j", "2").code == 0
    rows = [row["repetition"] for row in slow.rows()]
    assert rows[: len(kept)] == kept and sorted(rows) == list(range(N_CELLS))
    assert slow.ran() == [N_CELLS - len(kept)]
    assert same_as_undisturbed(slow)


def test_killed_worker_fails_one_cell_and_the_run_continues(slow):
    process = in_the_middle(slow, 2)
    [worker] = [one for one in processes_of_session(process.pid) if os.getpgid(one) == one != process.pid]
    os.kill(worker, signal.SIGKILL)
    slow.gate.open()
    said = process.communicate(timeout=300)[1]
    [lost] = [row for row in slow.rows() if row["status"] != "done"]
    assert (process.returncode, len(slow.rows()), slow.ran()) == (1, N_CELLS, [N_CELLS])
    assert lost["message"] == "killed: out of memory?" and "WorkerDied: killed: out of memory?" in said
    assert slow.run("--retry-failed").code == 0
    assert same_as_undisturbed(slow)


def test_workers_in_native_code_end_with_a_killed_run(bench):
    bench.module("stuck", STUCK)
    bench.config(learners={"stuck": {"type": "stuck.Stuck"}}, methods=["direct"], repeats=1)
    process = bench.start(stderr=subprocess.DEVNULL)
    wait_for(lambda: process.poll() is not None or (bench.folder / "stuck").exists(), 300)
    process.kill()
    process.wait(300)
    wait_until_gone(process.pid)


def test_removed_results_folder_ends_the_run_with_a_message(slow):
    process = in_the_middle(slow, 2)
    process.send_signal(signal.SIGSTOP)  # else it could write a file there between two steps of rmtree
    shutil.rmtree(slow.results)
    process.send_signal(signal.SIGCONT)
    slow.gate.open()
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 2
    assert "cells.jsonl was removed while results were written to it; run again" in said
    assert "kept" not in said and "Traceback" not in said


def test_moved_results_folder_ends_the_run_and_can_resume(slow):
    process = in_the_middle(slow, 2)
    slow.results.rename(slow.folder / "moved")
    slow.gate.open()
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 2
    assert "cells.jsonl was moved while results were written to it; move it back and run again to go on" in said
    assert "all cells are done" not in said and "Traceback" not in said and not slow.results.exists()
    (slow.folder / "moved").rename(slow.results)
    kept = len(slow.rows())
    assert slow.run().code == 0
    assert (kept >= 3, len(slow.rows()), slow.ran()[-1]) == (True, N_CELLS, N_CELLS - kept)


def test_clock_set_back_does_not_affect_resuming(slow):
    process = in_the_middle(slow, 3, stderr=subprocess.DEVNULL)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(300)
    slow.gate.open()
    today, kept = {row["run"] for row in slow.rows()}, slow.ended()
    slow.module("sitecustomize", YESTERDAY)
    assert slow.start(stderr=subprocess.DEVNULL).wait(300) == 0
    yesterday = {row["run"] for row in slow.rows()} - today
    assert max(yesterday) < min(today)
    assert len(slow.rows()) == N_CELLS and slow.ran() == [N_CELLS - kept]
    slow.config(learners={"slow": {"type": "slow.Slow"}}, methods=["direct"], repeats=1)  # now stale
    assert slow.start(stderr=subprocess.DEVNULL).wait(300) == 0
    assert Store(slow.results).results()["wine-first/0/slow/direct"].run not in today | yesterday


def test_second_run_on_the_same_folder_is_rejected(slow):
    process = in_the_middle(slow, 3)
    second = slow.run()
    assert second.code == 2
    writer = f"process {process.pid} on {socket.gethostname()} since "
    assert f"another probcal run is writing to results/small ({writer}" in second.said
    assert "; wait for it, or choose -o" in second.said
    assert "stale" not in slow.probcal("status", "results/small").said
    slow.gate.open()
    assert process.wait(300) == 0


def test_only_one_of_two_simultaneous_runs_writes(slow):
    slow.gate.open()
    both = [slow.start(stderr=subprocess.PIPE, text=True) for _ in range(2)]
    ends = [(one.communicate(timeout=300)[1], one.returncode) for one in both]
    assert sorted(code for _, code in ends) in ([0, 2], [0, 0])
    assert all("another probcal run is writing to" in said for said, code in ends if code)
    assert sorted(row["repetition"] for row in slow.rows()) == list(range(N_CELLS)) and sum(slow.ran()) == N_CELLS
