"""Test failed cells: they are stored, counted and reported, other cells continue, and what runs them again."""

import json
import os
import time

import pytest
from run_bench import DUMMY, wait_for, wait_until_gone

from probcal.runner import pool, worker
from probcal.store.folder import Store

BAD = """
    import os
    import pathlib
    import signal
    import subprocess
    import sys
    import warnings

    from sklearn.dummy import DummyClassifier


    class Fails(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            warnings.warn("hm", RuntimeWarning)
            raise ValueError("the matrix is\\nsingular")


    class Leaves(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            sys.exit("I leave")


    class Exits(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            os._exit(7)


    class Crashes(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            os.kill(os.getpid(), signal.SIGSEGV)


    class Hangs(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            with subprocess.Popen(["sleep", "600"]) as program:
                pathlib.Path("sleeper").write_text(str(program.pid))
                program.wait()
"""


def learners(*kinds):
    return {kind.lower(): {"type": DUMMY if kind == "Dummy" else f"bad.{kind}"} for kind in kinds}


@pytest.fixture
def bad(bench):
    bench.module("bad", BAD)
    bench.config(learners=learners("Fails", "Dummy"), methods=["direct"])
    return bench


def outcomes(bench):
    return {(row["learner"], row["repetition"]): (row["status"], row.get("error_type")) for row in bench.rows()}


def test_failed_cell_is_recorded_and_the_run_continues(bad):
    done = bad.run()
    assert done.code == 1
    assert "wine-first/0/fails/direct: failed: ValueError: the matrix is\n" in done.said
    assert "2 cells failed (--retry-failed runs them again)" in done.said
    row = bad.rows()[0]
    assert row["status"] == "failed"
    assert row["error_type"] == "ValueError"
    assert row["message"] == "the matrix is\nsingular"
    assert row["traceback"].startswith("Traceback") and "bad.py" in row["traceback"]
    assert row["warnings"] == {"RuntimeWarning": 1}
    assert row["seconds"] > 0
    assert "metrics" not in row and "predictions" not in row
    assert outcomes(bad)["dummy", 1] == ("done", None)
    for command in ("status", "table"):
        said = bad.probcal(command, "results/small").said
        assert "probcal run small.yaml --retry-failed runs failed cells again; " in said
        assert "; probcal report results/small shows their full tracebacks\n" in said
    bad.run("-o", "a copy", "--seed", "3")
    assert "probcal run small.yaml -o 'a copy' --seed 3 --retry-failed runs" in bad.probcal("status", "a copy").said


def test_fail_fast_stops_at_the_first_failure(bad):
    done = bad.run("--fail-fast")
    assert (done.code, len(bad.rows())) == (1, 1)
    assert "1 cell failed" in done.said and "3 cells not run" in done.said


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.slow), "2"])
def test_dead_process_gives_one_failed_row(bad, jobs):
    bad.config(learners=learners("Exits", "Crashes", "Leaves", "Dummy"), methods=["direct"])
    assert bad.run("-j", jobs).code == 1
    assert len(bad.rows()) == 8 and bad.ran() == [8]
    for repetition in (0, 1):
        assert outcomes(bad)["exits", repetition] == ("failed", "WorkerDied")
        assert outcomes(bad)["crashes", repetition] == ("failed", "WorkerDied")
        assert outcomes(bad)["leaves", repetition] == ("failed", "SystemExit")
        assert outcomes(bad)["dummy", repetition] == ("done", None)
    assert {row["message"] for row in bad.rows() if row["learner"] in ("exits", "crashes")} == {
        "its process ended by itself with exit code 7",
        "its process was ended by SIGSEGV",
    }


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_timeout_ends_a_cell_and_its_child_processes(bad, jobs, monkeypatch):
    bad.config(learners=learners("Hangs", "Dummy"), methods=["direct"], repeats=1)
    sleeper = bad.folder / "sleeper"

    class Clock:
        """Add an hour once the cell has started its program and a second worker has ended the other cell."""

        @staticmethod
        def monotonic():
            hangs = sleeper.exists() and sleeper.read_text() and bad.ended() >= int(jobs) - 1
            return time.monotonic() + (3600 if hangs else 0)

    monkeypatch.setattr(worker, "time", Clock)
    monkeypatch.setattr(pool, "_seconds_to_timeout", lambda *_: 0.05)  # the run looks at the clock this often
    assert bad.run("-j", jobs, "--timeout", "1h").code == 1
    assert outcomes(bad) == {("hangs", 0): ("timeout", "TimeoutError"), ("dummy", 0): ("done", None)}
    row = next(row for row in bad.rows() if row["status"] == "timeout")
    assert row["message"] == "took longer than 3600 s" and row["seconds"] >= 3600
    wait_for(lambda: not alive(int(sleeper.read_text())))


FRAIL = """
    import pathlib

    from sklearn.tree import DecisionTreeClassifier


    class Frail(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            if pathlib.Path("broken").exists():
                raise ValueError("it is broken")
            return super().fit(X, y, sample_weight)
"""


@pytest.fixture
def frail(bench):
    """Plan two cells that fail while the file ``bench.broken`` is there."""
    bench.broken = bench.folder / "broken"
    bench.module("frail", FRAIL)
    bench.config(learners={"own": {"type": "frail.Frail"}}, methods=["direct"], metrics=["rms"])
    return bench


def status(bench):
    return bench.probcal("status", str(bench.results)).said


@pytest.mark.slow
def test_failed_cell_runs_again_only_if_asked_or_stale(frail):
    frail.broken.touch()
    frail.run()
    again = frail.run()
    assert (again.code, len(frail.rows()), frail.ran()) == (1, 2, [2])
    assert "failed: 2 cells: ValueError: it is broken\n" in again.said
    assert "failed, and run again as --refit asks" in frail.run("--refit", "--dry-run").said
    frail.broken.unlink()
    assert frail.run("--retry-failed", "-o", "copy").code == 0
    frail.module("frail", FRAIL.replace("exists()", "is_file()"))
    assert "stale: 2 cells: your code changed: frail" in frail.run().said
    assert set(outcomes(frail).values()) == {("done", None)}
    assert frail.numbers() == frail.numbers(frail.folder / "copy")


def test_selected_cells_are_refitted_to_the_same_numbers(frail):
    frail.run()
    before, [first_run] = frail.numbers(), {row["run"] for row in frail.rows()}
    planned = frail.run("--refit", "--dry-run").said
    assert "2 cells: 2 stale" in planned and "done, and run again as --refit asks" in planned
    assert frail.run("-l", "own", "--refit").code == 0
    assert frail.ran() == [2, 2] and frail.numbers() == before
    assert first_run not in {row["run"] for row in frail.rows()}
    assert "2 done" in frail.run().said and frail.ran() == [2, 2]


def test_a_failed_refit_keeps_the_finished_results_and_can_be_repeated(frail):
    frail.run()
    before = frail.numbers()
    frail.broken.touch()
    failed = frail.run("--refit")
    assert failed.code == 1 and "2 cells failed (--retry-failed runs them again)" in failed.said
    assert frail.numbers() == before and len(frail.rows()) == 4
    assert "failed when run again; the last done result is kept" in status(frail)
    frail.config(learners={"own": {"type": "frail.Frail"}}, methods=["direct"], metrics=["rms", "cost(0.5)"])
    assert "2 cells need no fit" in frail.run().said
    assert "failed when run again; the last done result is kept" in status(frail), "no cell was fitted since"
    before = frail.numbers()
    frail.broken.unlink()
    assert "failed before and runs again" in frail.run("--retry-failed").said
    assert frail.numbers() == before and frail.ran() == [2, 2, 2, 2]
    assert "failed when" not in status(frail)


@pytest.mark.slow
def test_failed_rerun_of_stale_results_is_told_everywhere(frail):
    frail.run()
    before = frail.numbers()
    frail.module("frail", FRAIL.replace("exists()", "is_file()"))
    frail.broken.touch()
    assert frail.run().code == 1
    assert frail.numbers() == before
    said = status(frail)
    assert "2 cells: 2 failed" in said
    assert "ValueError: it is broken; its last done result, which is stale, is kept" in said
    said = frail.probcal("table", str(frail.results)).said
    assert "failed when run again: 2 of 2 cells. Their last done results are shown" in said
    assert "ValueError: it is broken" in said and "stale: 2 of 2 cells" in said
    checked = frail.probcal("check", str(frail.results))
    assert (checked.code, "failed when run again: 2 of 2 cells" in checked.said) == (1, True)
    told = frail.probcal("check", str(frail.results), "-f", "json").said.partition("note: ")[0]
    assert "wine-first/0/own/direct" in json.dumps(json.loads(told))
    assert "2 cells: 2 failed" in frail.run("--dry-run").said
    assert "2 cells: 2 stale" in frail.run("--dry-run", "--retry-failed").said
    frail.module("frail", FRAIL)
    assert "2 cells: 2 done" in frail.run().said, "the code of the done results is back"
    frail.module("frail", FRAIL.replace("exists()", "is_symlink()"))
    mended = frail.run()
    assert (mended.code, "2 cells: 2 stale" in mended.said) == (0, True)
    assert "failed" not in frail.probcal("table", str(frail.results)).said


@pytest.mark.slow
def test_full_disk_loses_no_finished_result(bench):
    bench.config(repeats=40, learners={"dummy": {"type": DUMMY}})
    small = ["sh", "-c", 'ulimit -f 16; exec "$@"', "sh"]
    process = bench.start(before=small, stderr=-1, text=True)
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 2
    assert "any more: File too large; what was stored before is kept" in said and "Traceback" not in said
    assert 0 < len(Store(bench.results).results()) < 80
    wait_until_gone(process.pid)
    assert bench.run().code == 0
    assert len(bench.rows()) == 80


def alive(process: int) -> bool:
    """Return whether the process exists and is no zombie."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{process}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def test_a_failed_cell_is_not_stale_when_a_metric_is_added(bad):
    assert bad.run().code == 1
    bad.config(learners=learners("Fails", "Dummy"), methods=["direct"], metrics=["cxe", "accuracy"])
    assert bad.run().code == 1
    assert "stale" not in bad.probcal("table", "results/small").said
