"""How far a run is: a bar on a terminal, plain lines elsewhere."""

import io
import os
import pty
import re
import termios
import time

import pytest

from probcal.run.progress import Progress, duration
from probcal.store import CellResult


def ended(repetition, status="done", **more):
    return CellResult("adult", repetition, "tree", "direct", status, "run", 1.0, **more)


def expected(*seconds):
    return {ended(repetition).id: one for repetition, one in enumerate(seconds)}


def test_elsewhere_than_on_a_terminal_lines_are_plain_and_few(bench):
    said = bench.run().said
    assert said.splitlines() == [
        "8 cells: 8 to run",
        "8/8 cells, 0 s left, last wine-first/1/tree/probing",
        "all cells are done; probcal table results/small",
    ]


def test_a_failure_is_told_at_once_in_one_line():
    stream = io.StringIO()
    Progress(expected(None, None), stream).finished(ended(0, "failed", error_type="ValueError", message="no\nmore"))
    assert stream.getvalue() == "adult/0/tree/direct: failed: ValueError: no\n"


def test_the_time_left_goes_by_what_the_cells_took_before(monkeypatch):
    stream, now = io.StringIO(), [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    progress = Progress(expected(1.0, 1.0, 98.0), stream)
    now[0] += 10
    progress.finished(ended(0))
    assert stream.getvalue() == "1/3 cells, 16 min 30 s left, last adult/0/tree/direct\n"


def test_without_times_every_cell_counts_the_same(monkeypatch):
    stream, now = io.StringIO(), [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    progress = Progress(expected(None, None, None, None), stream)
    now[0] += 10
    progress.finished(ended(0))
    assert "1/4 cells, 30 s left" in stream.getvalue()


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")]
)
def test_times_are_told_in_two_units(seconds, said):
    assert duration(seconds) == said


def test_on_a_terminal_there_is_a_bar_with_counts_and_time_left(bench):
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
    assert re.search(r"25%\|\S+ +\| 1/4 cells \[00:\d\d, \d+ s left, 1 failed, last wine-first/0/fails/direct\]", said)
    assert re.search(r"100%\|\S+\| 4/4 cells \[00:\d\d, 0 s left, 2 failed, last wine-first/1/tree/direct\]", said)
    assert re.search(r"\rwine-first/0/fails/direct: failed: ValueError: no *\r\n", said)


def test_a_terminal_that_does_not_know_its_width_has_a_bar_too():
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as stream:
        progress = Progress(expected(None, None), stream)
        progress.finished(ended(0))
        progress.close()
    assert "50%|" in read_all(ours)


def read_all(terminal):
    said = b""
    try:
        while more := os.read(terminal, 4096):
            said += more
    except OSError:  # the other end is closed
        pass
    return said.decode()
