"""Test runs with unusual streams and folders. reliability/environments.py tests more cases."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="closes streams with a shell")


@pytest.fixture
def typed(bench):
    """Return a function that runs a line of the shell in the folder. ``"$@"`` is probcal with the given words."""
    bench.config(learners={"tree": {"params": {"max_depth": 2}}}, methods=["direct"], repeats=1)

    def run(line, *words, **environment):
        command = ["bash", "-c", line, "bash", sys.executable, "-m", "probcal", *words]
        return subprocess.run(
            command,
            cwd=bench.folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=300,
            start_new_session=True,
        )

    return run


@pytest.mark.parametrize("words", [("run", "small.yaml"), ("list",), ("table", "results/small")])
def test_removed_current_folder_gives_one_error_line(typed, words):
    done = typed('mkdir gone; cd gone; rmdir ../gone; "$@"', *words)
    assert done.returncode == 2
    said = "error: the current folder was removed; cd to another folder and run the command again\n"
    assert done.stderr == said


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("run", "--help"), ("list", "-h")])
def test_help_works_in_a_removed_folder(typed, words):
    done = typed('mkdir gone; cd gone; rmdir ../gone; "$@"', *words)
    assert (done.returncode, done.stderr) == (0, "") and "probcal" in done.stdout


def test_full_stdout_gives_one_error_line(typed):
    done = typed('"$@" >/dev/full', "list", "metrics")
    assert done.returncode == 2 and done.stderr == "error: the system: No space left on device\n"


def test_closed_pipe_gives_no_traceback(typed):
    done = typed('"$@" | true', "list", "metrics")
    assert done.stderr == ""
