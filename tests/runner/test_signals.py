"""Test SIGINT, SIGTERM and SIGHUP in any number. reliability/signals.py tests more cases and the times."""

import os
import signal
import subprocess
import sys
import time

import pytest
from run_bench import in_the_middle, wait_for, wait_until_gone

from probcal.cli import main as cli

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

CLEAN = "interrupted; cells that ended are kept, the same command goes on from there"
DEAF = """
    import itertools
    import pathlib
    import time

    from sklearn.dummy import DummyClassifier


    class Deaf(DummyClassifier):
        pass


    def sleep_whatever_comes():
        while True:
            try:
                time.sleep(600)
            except BaseException:
                pass


    pathlib.Path("begun").touch()
    {deaf}
"""
STUCK_IMPORT = """
    import pathlib
    import sys
    import time


    class Stuck:
        def find_spec(self, name, *_):
            if name == "click":
                pathlib.Path("begun").touch()
                time.sleep(600)


    sys.meta_path.insert(0, Stuck())
"""


@pytest.fixture
def slow(bench):
    return bench.gated(16)


def begun(bench, *words):
    """Start ``probcal`` with these words in a session of its own, and wait until it has begun."""
    process = subprocess.Popen(
        [sys.executable, "-m", "probcal", *words],
        cwd=bench.folder,
        start_new_session=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    wait_for(lambda: process.poll() is not None or (bench.folder / "begun").exists())
    return process


@pytest.fixture
def deaf(bench):
    """Return a function that starts ``validate`` with a module that ignores signals, and waits for its import."""

    def started(how):
        bench.module("deaf", DEAF.format(deaf=how))
        bench.config(learners={"deaf": {"type": "deaf.Deaf"}}, methods=["direct"])
        return begun(bench, "validate", "small.yaml", "--trust", "deaf")

    return started


def send_until_it_ends(process, *numbers):
    """Send one signal every ten milliseconds, to the process and to its group in turn."""
    end = time.monotonic() + 60
    for turn in range(100_000):
        if process.poll() is not None:
            return
        assert time.monotonic() < end, "it does not end"
        (os.kill, os.killpg)[turn % 2](process.pid, numbers[turn % len(numbers)])
        time.sleep(0.01)


def ended_cleanly(bench, process, cells=3):
    """Check that an interrupted run said so once, left no process and has the results of ``cells`` done cells."""
    said = process.communicate(timeout=300)[1]
    assert said.count(CLEAN) == 1 and "Traceback" not in said and "failed" not in said, said
    wait_until_gone(process.pid)
    assert [row["status"] for row in bench.rows()] == ["done"] * cells
    return process.returncode


def test_interruption_ends_a_run_cleanly(slow):
    process = in_the_middle(slow, 3, "-j", "2")
    os.killpg(process.pid, signal.SIGINT)
    assert ended_cleanly(slow, process) == 130


REPEATED = [(signal.SIGTERM,), (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)]


@pytest.mark.slow
@pytest.mark.parametrize("numbers", REPEATED, ids=["SIGTERM", "the first decides"])
@pytest.mark.parametrize("words", [("-j", "2"), ("--workers", "2")], ids=["processes", "Dask"])
def test_repeated_signals_do_not_prevent_a_clean_end(slow, words, numbers):
    process = in_the_middle(slow, 3, *words)
    send_until_it_ends(process, *numbers)
    assert ended_cleanly(slow, process) == 130


@pytest.mark.slow
def test_run_ended_by_timeout_command_leaves_no_process(slow):
    process = in_the_middle(slow, 3, "-j", "2", before=["timeout", "600"])
    process.send_signal(signal.SIGTERM)  # timeout passes the signal on to its child and to the group
    ended_cleanly(slow, process)


@pytest.mark.slow
def test_lost_terminal_ends_by_sighup_and_the_run_resumes(slow):
    process = in_the_middle(slow, 3, "-j", "2")
    wait_for((slow.results / "running.json").exists)
    os.killpg(process.pid, signal.SIGHUP)
    assert ended_cleanly(slow, process) == -signal.SIGHUP
    assert not (slow.results / "running.json").exists()
    slow.gate.open()
    assert slow.run().code == 0
    assert (len(slow.rows()), slow.ran()[-1]) == (16, 13)


@pytest.mark.slow
def test_run_under_nohup_survives_a_lost_terminal(slow):
    process = in_the_middle(slow, 3, "-j", "2", before=["nohup"], stdout=subprocess.DEVNULL)
    os.killpg(process.pid, signal.SIGHUP)
    slow.gate.open()
    process.communicate(timeout=120)
    assert process.returncode == 0 and [row["status"] for row in slow.rows()] == ["done"] * 16


@pytest.mark.slow
def test_swallowed_interruption_still_ends_the_command(deaf):
    process = deaf("sleep_whatever_comes()")
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and said == "\ninterrupted\n"


@pytest.mark.slow
def test_blocking_native_code_is_killed(deaf):
    process = deaf("any(itertools.repeat(False))")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    wait_until_gone(process.pid)


def test_signal_during_import_is_an_interruption(bench):
    bench.module("sitecustomize", STUCK_IMPORT)
    process = begun(bench, "list")
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and said == "\ninterrupted\n"


def test_calling_main_keeps_the_signal_handlers():
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with pytest.raises(SystemExit):
        cli.main(["--help"], prog_name="probcal")
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before
