"""Test how a run shows its progress: a bar on a terminal, plain lines elsewhere."""

import io
import os
import pty
import re
import termios

import pytest
from planned import planned

from probcal.runner import progress as module
from probcal.runner.progress import RunProgress
from probcal.runner.time_left import duration
from probcal.store.cell_result import CellResult


def ended(one, status="done", **more):
    """Return the result of a planned cell."""
    cell = one.cell
    names = cell.dataset, cell.repetition, cell.column.learner.name, cell.column.method.name
    return CellResult(*names, status, "run", 1.0, **more)


@pytest.fixture
def told(monkeypatch):
    """Return a function that makes a RunProgress on ``told.stream``. The test's end closes it."""
    made = []

    def make(plan, workers=1):
        made.append(RunProgress(plan, workers, stream=make.stream))
        return made[-1]

    make.stream = io.StringIO()
    yield make
    for one in made:
        one.close()


@pytest.mark.slow
def test_output_without_a_terminal_is_plain_lines(bench):
    first, *lines, last, advice = bench.run().said.splitlines()
    assert (first, last) == ("8 cells: 8 to run", "8/8 cells: 8 done")
    assert advice == "all cells are done; probcal table results/small"
    assert all(re.fullmatch(r"\d/8 cells: .* (to run|running)(; .* left)?(; now .*)?", line) for line in lines)


def test_failure_is_printed_at_once_in_one_line(told):
    plan = planned(None, None)
    told(plan).record_end(ended(plan[0], "failed", error_type="ValueError", message="no \x1b[31m\nmore"))
    assert told.stream.getvalue() == "wine-first/0/tree/direct: failed: ValueError: no \\x1b[31m\n"


def test_progress_line_counts_cells_and_states_time_left(told, monkeypatch, no_time_goes_by):
    monkeypatch.setattr(module, "_QUIET_SECONDS", 0.0)
    plan = planned(10.0, 10.0, 50.0, 20.0, 30.0)
    progress = told(plan, workers=2)
    for one in plan[:4]:
        progress.record_start(one)
    progress.record_end(ended(plan[0], "failed"))
    progress.record_end(ended(plan[1]))
    line = told.stream.getvalue().splitlines()[-1]
    assert line.startswith("2/5 cells: 1 done, 1 failed, 2 running, 1 to run; ")
    assert re.search(r"; (\d+ s|1 min \d+ s) left; now wine-first/2/tree/direct under 1 s, wine-first/3/tree", line)


def test_log_reports_a_long_running_cell(told, monkeypatch, no_time_goes_by):
    monkeypatch.setattr(module, "_LOG_SECONDS", 0.0)
    plan = planned(None)
    progress = told(plan)
    progress.record_start(plan[0])
    progress._update()
    assert told.stream.getvalue().endswith("0/1 cells: 1 running; now wine-first/0/tree/direct under 1 s\n")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "under 1 s"), (42.4, "42 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")],
)
def test_durations_have_at_most_two_units(seconds, said):
    assert duration(seconds) == said


@pytest.mark.slow
def test_terminal_shows_a_bar_with_counts_and_failures(bench):
    bench.module(
        "half",
        """
        import time
        from sklearn.dummy import DummyClassifier

        class Fails(DummyClassifier):
            def fit(self, X, y, sample_weight=None):
                time.sleep(0.2)
                raise ValueError("no")
        """,
    )
    bench.config(learners={"fails": {"type": "half.Fails"}, "tree": {}}, methods=["direct"])
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 120))
    process = bench.start(stdout=theirs, stderr=theirs, stdin=theirs)
    os.close(theirs)
    said = read_all(ours)
    assert process.wait() == 1
    assert re.search(r"100%\|\S+\| 4/4 cells, 2 failed", said)
    assert re.search(r"\rwine-first/0/fails/direct: failed: ValueError: no *\r\n", said)


class StoppedClock:
    """Give the same time always, as if nothing took any time."""

    time = monotonic = staticmethod(lambda: 1_000_000.0)


@pytest.fixture
def no_time_goes_by(monkeypatch):
    """Replace the clock by one that stands still."""
    monkeypatch.setattr(module, "time", StoppedClock)


def last_drawn(columns, plan, running):
    """Return the bar after one cell has failed and ``running`` others have begun, two at a time."""
    ours, theirs = pty.openpty()
    if columns:
        termios.tcsetwinsize(theirs, (24, columns))
    with os.fdopen(theirs, "w") as stream:
        progress = RunProgress(plan, 2, stream=stream)
        for one in plan[: running + 1]:
            progress.record_start(one)
        progress.record_end(ended(plan[0], "failed"))
        progress._update()
        print(end="END", file=stream, flush=True)
        drawn = read_until("END", ours)
        progress.close()
    os.close(ours)
    return drawn.rpartition("\r")[2]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (120, r" 25%\|\S+ +\| 1/4 cells, 5\d s left, 1 failed, wine-first/1/tree/direct under 1 s and 1 more$"),
        (80, r" 25%\|\S+ +\| 1/4 cells, 5\d s left, 1 failed, wine-first/1/tree/direct under 1 s$"),
        (70, r" 25%\|\S+ +\| 1/4 cells, 5\d s left, 1 failed, wine-first/1/tree/direct$"),
        (40, r" 25%\|\S+ *\| 1/4 cells, 5\d s left$"),
        (22, r" 25%\|\S+ *\| 1/4 cells$"),
        (None, r" 25%\|\S+ +\| 1/4 cells, 5\d s left, 1 failed, wine-first/1/tree/direct under 1 s$"),
    ],
)
def test_narrow_bar_drops_details_to_fit_the_width(columns, said, no_time_goes_by):
    bar = last_drawn(columns, planned(1.0, 10.0, 50.0, 20.0), running=2)
    assert re.search(said, bar), bar
    assert len(bar) <= (columns or 80)


def read_until(end, terminal):
    """Return what comes before ``end``. The system may pass on the text in several pieces."""
    said = b""
    while end.encode() not in said:
        said += os.read(terminal, 4096)
    return said.decode().partition(end)[0]


def read_all(terminal):
    """Return all output until the other end is closed."""
    said = b""
    try:
        while more := os.read(terminal, 4096):
            said += more
    except OSError:  # the other end is closed
        pass
    return said.decode()
