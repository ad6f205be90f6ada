"""Test SIGINT, SIGTERM and SIGHUP in any number. reliability/signals.py tests more cases and the times."""

import os
import signal
import subprocess
import sys
import time

import pytest
from run_bench import SLOW, processes_of_session, wait_for

from probcal.cli import main as cli

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

CLEAN = "interrupted; finished cells are kept, the same command goes on from there"
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


@pytest.fixture
def slow(bench):
    """Plan sixteen cells of a quarter of a second each."""
    bench.module("slow", SLOW.format(seconds=0.25))
    bench.config(learners={"slow": {"type": "slow.Slow"}}, methods=["direct"], repeats=16)
    return bench


@pytest.fixture
def deaf(bench):
    """Return a function that starts ``validate`` with a module that ignores signals, and waits for its import."""

    def started(how):
        bench.module("deaf", DEAF.format(deaf=how))
        bench.config(learners={"deaf": {"type": "deaf.Deaf"}}, methods=["direct"])
        words = ["validate", "small.yaml", "--trust", "deaf"]
        process = probcal(bench, *words)
        wait_for(lambda: process.poll() is not None or (bench.folder / "begun").exists())
        return process

    return started


def probcal(bench, *words, **options):
    """Start ``probcal`` with these words in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "probcal", *words],
        cwd=bench.folder,
        start_new_session=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **{"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **options},
    )


def in_the_middle(bench, *words, **options):
    """Start a run. Return when two cells have ended."""
    process = bench.start(*words, **{"stderr": subprocess.PIPE, "text": True, **options})
    wait_for(lambda: process.poll() is not None or bench.ended() >= 2, 300)
    assert process.poll() is None
    return process


def send_until_it_ends(process, *numbers):
    """Send one signal every ten milliseconds, to the process and to its group in turn."""
    end = time.monotonic() + 60
    for turn in range(100_000):
        if process.poll() is not None:
            return
        assert time.monotonic() < end, "it does not end"
        (os.kill, os.killpg)[turn % 2](process.pid, numbers[turn % len(numbers)])
        time.sleep(0.01)


def is_gone(process):
    """Wait until no process of the session lives."""
    wait_for(lambda: not processes_of_session(process.pid), 60)
    return True


ON_DASK = pytest.param(("--workers", "2"), marks=pytest.mark.slow, id="Dask")


@pytest.mark.parametrize("words", [pytest.param(("-j", "2"), id="processes"), ON_DASK])
@pytest.mark.slow
def test_repeated_signals_do_not_prevent_a_clean_end(slow, words):
    process = in_the_middle(slow, *words)
    done = slow.ended()
    send_until_it_ends(process, signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and CLEAN in said and "Traceback" not in said
    assert is_gone(process)
    assert len(slow.rows()) >= done and {row["status"] for row in slow.rows()} == {"done"}


@pytest.mark.slow
def test_first_signal_decides_how_a_run_ends(slow):
    process = in_the_middle(slow, "-j", "2")
    send_until_it_ends(process, signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and said.count(CLEAN) == 1 and "Traceback" not in said
    assert is_gone(process)


@pytest.mark.slow
def test_run_ended_by_timeout_command_leaves_no_process(slow):
    process = in_the_middle(slow, "-j", "2", before=["timeout", "600"])
    process.send_signal(signal.SIGTERM)  # timeout passes the signal on to its child and to the group
    said = process.communicate(timeout=60)[1]
    assert CLEAN in said and "Traceback" not in said
    assert is_gone(process)


@pytest.mark.slow
def test_lost_terminal_ends_by_sighup_and_removes_heartbeat(slow):
    process = in_the_middle(slow, "-j", "2")
    wait_for(lambda: (slow.results / "running.json").exists())
    os.killpg(process.pid, signal.SIGHUP)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGHUP and is_gone(process)
    assert not (slow.results / "running.json").exists()


@pytest.mark.slow
def test_run_under_nohup_survives_a_lost_terminal(slow):
    slow.config(learners={"slow": {"type": "slow.Slow"}}, methods=["direct"], repeats=4)
    process = in_the_middle(slow, "-j", "2", before=["nohup"], stdout=subprocess.DEVNULL)
    os.killpg(process.pid, signal.SIGHUP)
    process.communicate(timeout=120)
    assert process.returncode == 0 and [row["status"] for row in slow.rows()] == ["done"] * 4


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
    assert process.returncode == -signal.SIGKILL and is_gone(process)


def test_signal_during_import_is_an_interruption(bench):
    bench.module("sitecustomize", STUCK_IMPORT)
    process = probcal(bench, "list")
    wait_for(lambda: process.poll() is not None or (bench.folder / "begun").exists())
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and said == "\ninterrupted\n"


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


def test_calling_main_keeps_the_signal_handlers():
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with pytest.raises(SystemExit):
        cli.main(["--help"], prog_name="probcal")
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before
