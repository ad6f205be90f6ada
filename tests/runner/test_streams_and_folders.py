"""Test runs with unusual streams and folders. reliability/environments.py tests more cases."""

import os
import shutil
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


@pytest.mark.slow
def test_workers_run_with_a_long_temporary_path(typed, tmp_path):
    folder = tmp_path / ("long-" + 90 * "x")
    folder.mkdir()
    done = typed('"$@"', "run", "small.yaml", "-j", "2", TMPDIR=str(folder))
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert list(folder.iterdir()) == []


OTHERS = [pytest.param(one, marks=pytest.mark.slow) for one in (">&-", "<&-", "<&- >&- 2>&-")]


@pytest.mark.parametrize("closed", ["2>&-", *OTHERS])
@pytest.mark.slow
def test_run_works_with_closed_streams(typed, bench, closed):
    done = typed(f'"$@" {closed}', "run", "small.yaml")
    assert done.returncode == 0 and "Error" not in done.stderr
    assert [row["status"] for row in bench.rows()] == ["done"]


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


@pytest.mark.slow
def test_full_stderr_does_not_end_a_run(typed, bench):
    done = typed('"$@" 2>/dev/full', "run", "small.yaml")
    assert done.returncode == 0 and [row["status"] for row in bench.rows()] == ["done"]


@pytest.mark.slow
def test_unread_stderr_does_not_end_a_run(typed, bench):
    done = typed('"$@" 2> >(true)', "run", "small.yaml")
    assert done.returncode == 0 and [row["status"] for row in bench.rows()] == ["done"]


@pytest.mark.slow
def test_unwritable_temporary_folder_gives_one_error_line(typed):
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("needs the right to mount")
    shut = "for one in /tmp /var/tmp; do mount --bind $one $one && mount -o remount,ro,bind $one; done"
    line = f'unshare -m bash -c \'mount -t tmpfs none /mnt; {shut}; cd "$PWD"; "$@"\' bash "$@"'
    done = typed(line, "run", "small.yaml", "-o", "/mnt/results", PROBCAL_CACHE_DIR="/mnt/cache")
    assert done.returncode == 2, done.stderr
    said = "error: no temporary folder is writable; set TMPDIR to a folder that is"
    assert done.stderr.splitlines()[-1] == said and "Traceback" not in done.stderr
