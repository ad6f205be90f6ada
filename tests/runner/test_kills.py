"""Test runs whose processes are killed. reliability/kills.py and places.py test more cases, also lost folders."""

import os
import random
import signal
import subprocess
import sys

import pytest
from run_bench import in_the_middle, processes_of_session, same_as_undisturbed, wait_for, wait_until_gone

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
