"""Test cells that misbehave. reliability/cells.py tests all of them."""

import multiprocessing
import os
import sys
from pathlib import Path

import pytest

from probcal.runner.worker import Output
from probcal.store.folder import Store

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="takes signals, limits and forks as Linux has them")

SOURCE = (Path(__file__).parents[2] / "reliability" / "bad_cells.py").read_text(encoding="utf-8")
CAME_OF = {
    "raises KeyboardInterrupt": ("failed", "KeyboardInterrupt", ""),
    "raises a message that raises": ("failed", "RuntimeError", "no message"),
    "raises what cannot be pickled": ("failed", "NotToBePickled", None),
    "raises surrogates and NUL": ("failed", "ValueError", "a??\0b"),
    "raises a hostile message": ("failed", "RuntimeError", "no length"),
    "raises an end of file": ("failed", "EOFError", "as if the run were gone"),
    "sys.exit(0)": ("failed", "SystemExit", "0"),
    "os._exit(0)": ("failed", "WorkerDied", "its process ended by itself with exit code 0"),
    "SIGKILL, as for want of memory": ("failed", "WorkerDied", "killed: out of memory?"),
    "a signal for real time": ("failed", "WorkerDied", "its process was ended by signal 37"),
    "all memory, under a limit": ("failed", "MemoryError", None),
    "closes all files": ("failed", "WorkerDied", None),
    "prints 4 MB": ("done", None, None),
    "forks, and both come back": ("done", None, None),
    "changes the folder": ("done", None, None),
    "changes the environment": ("done", None, None),
    "numpy raises from now on": ("done", None, None),
    "seeds the global generators": ("done", None, None),
    "sets scikit-learn's output to pandas": ("done", None, None),
    "writes into X": ("done", None, None),
    "closes stdout and stderr": ("done", None, None),
    "threads that do not end": ("done", None, None),
    "a thread that goes on drawing numbers": ("done", None, None),
    "a process that it forks and ends": ("done", None, None),
    "1,000 open files": ("done", None, None),
    "lowers its limit of files for good": ("done", None, None),
    "signal handlers, mask and an alarm": ("done", None, None),
    "one NaN": (
        "failed",
        "ValueError",
        "p must lie within [0, 1], with no missing values (row 3, column 0, counted from 0: nan)",
    ),
    "None": ("failed", "ValueError", None),
    "raises a message of 10 MB": ("failed", "ValueError", None),
    "prints 1 MB and raises": ("failed", "ValueError", None),
}


@pytest.fixture
def bad(bench):
    bench.module("bad_cells", SOURCE)
    return bench


def tried(bench, faults, *words):
    """Return the only row of each fault, after a run in which each has a neighbour before and after it."""
    good = {"type": "bad_cells.Good", "params": {"max_depth": 2, "max_features": 2}}
    learners = {"good": good}
    for number, fault in enumerate(faults):
        learners[f"bad{number}"] = {"type": "bad_cells.Bad", "params": {"how": fault}}
        learners[f"good{number}"] = good
    bench.config(learners=learners, methods=["direct"], repeats=1)
    done = bench.run(*words)
    rows = [row for row in bench.rows() if row["learner"].startswith("bad")]
    assert "Traceback" not in done.said
    assert [row["learner"] for row in rows] == [f"bad{number}" for number in range(len(faults))]
    return dict(zip(faults, rows, strict=True))


def neighbours_are_as_without(bench):
    """Check that the other cells have the same results as in a run without the faults."""
    disturbed = Store(bench.results)
    good = [name for name in (row["learner"] for row in bench.rows()) if name.startswith("good")]
    assert bench.run("-o", "without", *(word for name in good for word in ("-l", name))).code == 0
    without = Store(bench.folder / "without")
    for cell, result in without.results().items():
        kept = disturbed.results()[cell]
        assert (cell, kept.metrics) == (cell, result.metrics)
        assert disturbed.predictions(kept)[1].tobytes() == without.predictions(result)[1].tobytes()
    return len(without.results()) == len(good)


@pytest.mark.slow
def test_each_fault_gives_one_row_and_spares_other_cells(bad):
    rows = tried(bad, list(CAME_OF))
    for fault, (status, error, message) in CAME_OF.items():
        row = rows[fault]
        assert (fault, row["status"], row.get("error_type")) == (fault, status, error)
        assert message is None or row["message"] == message
    long = rows["raises a message of 10 MB"]
    assert len(long["message"]) < 2_100 and "[9,998,000 characters left out]" in long["message"]
    assert len(long["traceback"]) < 20_100
    printed = rows["prints 1 MB and raises"]["traceback"]
    assert printed.endswith("the last words\n") and len(printed) < 6_000
    assert "the last words" not in bad.run("--dry-run").said
    assert neighbours_are_as_without(bad)


@pytest.mark.slow
def test_hanging_or_stopped_cells_end_at_the_timeout(bad):
    faults = ["hangs in native code with the interpreter lock", "stops itself with SIGSTOP"]
    rows = tried(bad, faults, "--timeout", "15s")
    assert {row["status"] for row in rows.values()} == {"timeout"}
    assert neighbours_are_as_without(bad)


CALLERS = "".join(f"  File {'long/' * 20}, line {line} in caller\n" for line in range(100))


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        (f"words\nFatal Python error: Aborted\n\n  in the_place\n{CALLERS}", "error: Aborted\n\n  in the_place\n"),
        ("words\n" * 1000 + "the last words\n", "words\nthe last words\n"),
    ],
)
def test_of_long_output_the_place_of_a_crash_or_the_end_is_kept(printed, kept):
    output = Output(multiprocessing)
    os.write(output.write_end.fileno(), printed.encode())
    assert kept in output.last_text() and len(output.last_text()) == 4000
    output.write_end.close()
    output.close()


def test_message_and_traceback_locate_a_crash(bad):
    row = tried(bad, ["a segmentation fault"])["a segmentation fault"]
    assert row["message"] == "its process was ended by SIGSEGV"
    assert "Segmentation fault" in row["traceback"] and "bad_cells.py" in row["traceback"]
