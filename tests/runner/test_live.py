"""``probcal status`` beside a run: what it does now, and never that it runs when it does not."""

import json
import os
import signal
import socket
import subprocess
import time

import pytest
from run_bench import wait_for

from probcal.runner.heartbeat import HeartbeatFile, RunState, read_heartbeat

WAITS = """
    import pathlib, time
    from sklearn.dummy import DummyClassifier

    class Waits(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            while not pathlib.Path("go on").exists():
                time.sleep(0.02)
            return super().fit(X, y, sample_weight)

    class Fails(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            raise ValueError("no way")
"""


@pytest.fixture
def waiting(bench):
    """A run of which one cell has failed and two wait for the file "go on"."""
    bench.module("waits", WAITS)
    bench.config(learners={"fails": {"type": "waits.Fails"}, "waits": {"type": "waits.Waits"}}, methods=["direct"])
    process = bench.start("-j", "2", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: (heard := read_heartbeat(bench.results)) and heard.live.failed == len(heard.live.running) == 2)
    yield bench, process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_another_terminal_sees_counts_current_cells_and_the_last_error(waiting):
    bench, process = waiting
    lines = bench.probcal("status", "results/small").said.splitlines()
    assert lines[0] == "small in results/small"
    assert lines[1].startswith(f"process {process.pid} on {socket.gethostname()} has been running it for ")
    assert lines[2] == "  2/4 cells: 2 failed, 2 running; time left is not known yet"
    assert [line.rpartition("direct")[0] for line in lines[3:5]] in (
        ["  now: wine-first/0/waits/", "  now: wine-first/1/waits/"],
        ["  now: wine-first/1/waits/", "  now: wine-first/0/waits/"],
    )
    assert lines[5].endswith("fails/direct: failed: ValueError: no way") and lines[5].startswith("  last error: ")
    assert lines[6] == "4 cells: 2 failed, 2 to run"


@pytest.mark.slow
def test_afterwards_nothing_of_it_is_left(waiting):
    bench, process = waiting
    (bench.folder / "go on").touch()
    assert process.wait(60) == 1
    assert not list(bench.results.glob("running.json*"))
    assert "process" not in bench.probcal("status", "results/small").said


@pytest.mark.slow
def test_a_run_that_was_killed_is_not_said_to_run_and_the_next_one_clears_up(waiting):
    bench, process = waiting
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert (bench.results / "running.json").exists()
    assert "process" not in bench.probcal("status", "results/small").said
    (bench.folder / "go on").touch()
    assert bench.run().code == 1
    assert not list(bench.results.glob("running.json*"))


@pytest.mark.slow
def test_a_folder_that_holds_only_what_a_killed_run_left_is_a_results_folder(bench):
    bench.results.mkdir(parents=True)
    (bench.results / "running.json").write_text("{}")
    assert bench.run().code == 0


@pytest.mark.slow
def test_a_run_goes_on_where_the_file_cannot_be_written(bench):
    for name in ("running.json", "running.json.new"):
        (bench.results / name).mkdir(parents=True)
    assert bench.run().code == 0
    assert len(bench.rows()) == 8


class TestWhoRuns:
    @pytest.fixture
    def written(self, tmp_path):
        HeartbeatFile(tmp_path).write(RunState(since=time.time(), workers=1, total=3))
        return tmp_path

    def changed(self, folder, **parts):
        path = folder / "running.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | parts))
        return read_heartbeat(folder)

    def test_this_process_does(self, written):
        assert read_heartbeat(written).pid == os.getpid()

    def test_another_process_of_the_same_number_does_not(self, written):
        assert self.changed(written, born="another time") is None

    def test_one_on_another_machine_does_as_long_as_it_writes(self, written):
        assert self.changed(written, host="far away", pid=1).host == "far away"
        assert self.changed(written, at=time.time() - 3600) is None

    @pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"live": 1}', "null", "[" * 100_000])
    def test_a_file_that_makes_no_sense_is_none(self, written, text):
        (written / "running.json").write_text(text)
        assert read_heartbeat(written) is None

    @pytest.mark.parametrize(
        "live",
        [{}, {"total": "3"}, {"running": {"a": 1}}, {"running": []}, {"since": None}, {"workers": "x"}, {"more": 1}],
    )
    def test_nor_is_one_whose_parts_are_of_another_kind(self, written, live):
        whole = json.loads((written / "running.json").read_text())["live"]
        assert self.changed(written, live={**whole, **live} if live else {}) is None
