"""Test that the program forks its workers from itself where that is safe, and what becomes of them at its end."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from run_bench import SLOW, processes_of_session, same_as_undisturbed, wait_for, wait_until_gone

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc"), pytest.mark.slow]

FOREST = {"forest": {"type": "sklearn.ensemble.RandomForestClassifier", "params": {"n_estimators": 1_000_000}}}
SERVER = "multiprocessing.forkserver"


def command_lines(session: int) -> list[str]:
    """Return the command lines of the processes of a session. The forks of a program have its own."""
    return [
        path.read_bytes().replace(b"\0", b" ").decode()
        for path in (Path(f"/proc/{process}/cmdline") for process in processes_of_session(session))
        if path.exists()
    ]


def started(bench, has_begun, **config):
    """Start the program on ``config``, and wait until ``has_begun`` of its command lines."""
    bench.config(methods=["direct"], repeats=1, **config)
    process = bench.start(stderr=subprocess.PIPE, text=True)
    wait_for(lambda: process.poll() is not None or has_begun(command_lines(process.pid)))
    assert process.poll() is None, process.communicate()[1]
    return process


def has_forked_worker(lines):
    """Return whether the command, its watchdog, the server and the worker run, and no server of its own imports."""
    assert not any(SERVER in line for line in lines)
    return sum("-m probcal run" in line for line in lines) == 4


@pytest.mark.parametrize("config", [{}, {"processor": "x86-64-v3"}], ids=["any processor", "declared instructions"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_forked_workers_end_with_the_program(bench, config, number):
    process = started(bench, has_forked_worker, learners=FOREST, **config)
    environment = Path(f"/proc/{process.pid}/environ").read_bytes()
    assert (b"OPENBLAS_CORETYPE=Haswell" in environment) == bool(config)
    process.send_signal(number)
    assert process.wait(30) == (130 if number == signal.SIGINT else -number)
    wait_until_gone(process.pid)


def test_classes_of_the_user_are_imported_by_another_server(bench):
    bench.module("slow", SLOW.format(seconds=600))
    process = started(
        bench, lambda lines: any(SERVER in line for line in lines), learners={"slow": {"type": "slow.Slow"}}
    )
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    wait_until_gone(process.pid)


@pytest.mark.parametrize("config", [{}, {"processor": "x86-64-v3"}], ids=["any processor", "declared instructions"])
def test_forked_workers_give_the_same_numbers(bench, config):
    bench.config(**config)
    process = bench.start("-j", "2", stderr=subprocess.PIPE, text=True)
    said = process.communicate()[1]
    assert process.returncode == 0 and "8 done" in said, said
    wait_until_gone(process.pid)
    assert same_as_undisturbed(bench)


def test_config_from_a_pipe_is_read_once(bench):
    bench.config(processor="x86-64-v3")
    reader, writer = os.pipe()
    os.write(writer, (bench.folder / "small.yaml").read_bytes())
    os.close(writer)
    command = [sys.executable, "-m", "probcal", "run", f"/dev/fd/{reader}", "--allow-imports"]
    done = subprocess.run(command, cwd=bench.folder, pass_fds=[reader], capture_output=True, text=True)
    os.close(reader)
    assert done.returncode == 0 and "8 done" in done.stderr, done.stderr
