"""Test that finished results are stored and no process goes on, whatever ends a run."""

import os
import signal
import socket
import subprocess
import sys

import pytest
from run_bench import wait_for, wait_until_gone

from probcal.store.folder import Store

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@pytest.fixture
def slow(bench):
    """Plan sixteen cells that wait at ``bench.gate``."""
    bench.gate = bench.gated()
    bench.config(learners={"slow": {"type": "slow.Slow"}}, methods=["direct"], repeats=16)
    return bench


def in_the_middle(bench, *words):
    """Start a run. Return when three cells have ended and the next ones wait."""
    bench.gate.let(3)
    process = bench.start(*words, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: process.poll() is not None or (bench.ended() == 3 and bench.gate.begun() > 3))
    assert process.poll() is None
    return process


@pytest.mark.parametrize("sent", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_interruption_ends_a_run_cleanly(slow, sent):
    process = in_the_middle(slow, "-j", "2")
    os.killpg(process.pid, sent)
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 130
    assert "interrupted; finished cells are kept, the same command goes on from there" in said
    assert "Traceback" not in said and "failed" not in said
    wait_until_gone(process.pid)
    rows = slow.rows()
    assert [row["status"] for row in rows] == ["done"] * 3


@pytest.mark.slow
def test_killed_run_resumes_to_the_same_numbers(slow):
    process = in_the_middle(slow, "-j", "2")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=300)
    wait_until_gone(process.pid)
    slow.gate.open()
    finished = [row["repetition"] for row in slow.rows()]
    assert slow.run("-j", "2").code == 0
    rows = [row["repetition"] for row in slow.rows()]
    assert rows[: len(finished)] == finished and sorted(rows) == list(range(16))
    assert slow.ran() == [16 - len(finished)]
    slow.run("-o", "undisturbed")
    resumed, undisturbed = Store(slow.results), Store(slow.folder / "undisturbed")
    assert slow.numbers() == slow.numbers(undisturbed.folder)
    for cell, result in undisturbed.results().items():
        for ours, theirs in zip(
            resumed.predictions(resumed.results()[cell]), undisturbed.predictions(result), strict=True
        ):
            assert ours.tobytes() == theirs.tobytes()


@pytest.mark.slow
def test_workers_end_when_only_the_run_itself_is_killed(slow):
    process = in_the_middle(slow)
    process.kill()
    process.communicate(timeout=300)
    wait_until_gone(process.pid)


@pytest.mark.slow
def test_second_run_on_the_same_folder_is_rejected(slow):
    process = in_the_middle(slow)
    second = slow.run()
    assert second.code == 2
    writer = f"process {process.pid} on {socket.gethostname()} since "
    assert f"another probcal run is writing to results/small ({writer}" in second.said
    assert "; wait for it, or choose -o" in second.said
    assert "stale" not in slow.probcal("status", "results/small").said
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=300)
    assert slow.run("--dry-run").code == 0
