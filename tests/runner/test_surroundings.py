"""Streams, folders and limits as others have them; reliability/environments.py has the full measure."""

import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="closes streams with a shell")


@pytest.fixture
def typed(bench):
    """Runs a line of the shell in the folder, where ``"$@"`` is probcal with the words given."""
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
def test_a_temporary_folder_with_a_long_name_is_no_obstacle_to_workers(typed, tmp_path):
    folder = tmp_path / ("long-" + 90 * "x")
    folder.mkdir()
    done = typed('"$@"', "run", "small.yaml", "-j", "2", TMPDIR=str(folder))
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert list(folder.iterdir()) == []


OTHERS = [pytest.param(one, marks=pytest.mark.slow) for one in (">&-", "<&-", "<&- >&- 2>&-")]


@pytest.mark.parametrize("closed", ["2>&-", *OTHERS])
@pytest.mark.slow
def test_a_run_needs_none_of_its_streams(typed, bench, closed):
    done = typed(f'"$@" {closed}', "run", "small.yaml")
    assert done.returncode == 0 and "Error" not in done.stderr
    assert [row["status"] for row in bench.rows()] == ["done"]


@pytest.mark.parametrize("words", [("run", "small.yaml"), ("list",), ("table", "results/small")])
def test_a_current_folder_that_was_removed_is_told_in_one_line(typed, words):
    done = typed('mkdir gone; cd gone; rmdir ../gone; "$@"', *words)
    assert done.returncode == 2
    said = "error: the current folder was removed; cd to another folder and run the command again\n"
    assert done.stderr == said


@pytest.mark.parametrize("words", [("--help",), ("--version",), ("run", "--help"), ("list", "-h")])
def test_help_is_given_in_a_current_folder_that_was_removed(typed, words):
    done = typed('mkdir gone; cd gone; rmdir ../gone; "$@"', *words)
    assert (done.returncode, done.stderr) == (0, "") and "probcal" in done.stdout


def test_a_stdout_that_is_full_is_told_in_one_line(typed):
    done = typed('"$@" >/dev/full', "list", "metrics")
    assert done.returncode == 2 and done.stderr == "error: the system: No space left on device\n"


def test_a_reader_that_has_read_enough_gets_no_traceback(typed):
    done = typed('"$@" | true', "list", "metrics")
    assert done.stderr == ""


@pytest.mark.slow
def test_a_stderr_that_is_full_ends_no_run(typed, bench):
    done = typed('"$@" 2>/dev/full', "run", "small.yaml")
    assert done.returncode == 0 and [row["status"] for row in bench.rows()] == ["done"]


@pytest.mark.slow
def test_a_stderr_that_nobody_reads_ends_no_run(typed, bench):
    done = typed('"$@" 2> >(true)', "run", "small.yaml")
    assert done.returncode == 0 and [row["status"] for row in bench.rows()] == ["done"]


@pytest.mark.slow
def test_where_no_temporary_file_can_be_written_a_run_says_so_in_one_line(typed):
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        pytest.skip("needs the right to mount")
    shut = "for one in /tmp /var/tmp; do mount --bind $one $one && mount -o remount,ro,bind $one; done"
    line = f'unshare -m bash -c \'mount -t tmpfs none /mnt; {shut}; cd "$PWD"; "$@"\' bash "$@"'
    done = typed(line, "run", "small.yaml", "-o", "/mnt/results", PROBCAL_CACHE_DIR="/mnt/cache")
    assert done.returncode == 2, done.stderr
    said = "error: no temporary folder is writable; set TMPDIR to a folder that is"
    assert done.stderr.splitlines()[-1] == said and "Traceback" not in done.stderr
