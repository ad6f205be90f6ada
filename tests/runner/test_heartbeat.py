"""Test what ``probcal status`` reports of a live run, and that it never reports a dead run as live."""

import io
import json
import os
import signal
import socket
import subprocess
import time

import pytest
from planned import planned
from run_bench import wait_for

from probcal._lock import FileLock
from probcal.runner.progress import HeartbeatFile, RunProgress, RunState, heartbeat_lines, read_heartbeat
from probcal.runner.provenance import RunTimes

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
    """Start a run of which one cell of two repetitions has failed and two cells wait for the file "go on"."""
    bench.module("waits", WAITS)
    bench.config(learners={"fails": {"type": "waits.Fails"}, "waits": {"type": "waits.Waits"}}, methods=["direct"])
    process = bench.start("-j", "2", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: (heard := read_heartbeat(bench.results)) and heard.live.failed == len(heard.live.running) == 2)
    yield bench, process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_status_shows_counts_running_cells_and_last_error(waiting):
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
def test_finished_run_leaves_no_heartbeat_file(waiting):
    bench, process = waiting
    (bench.folder / "go on").touch()
    assert process.wait(60) == 1
    assert not list(bench.results.glob("running.json*"))
    assert "process" not in bench.probcal("status", "results/small").said


@pytest.mark.slow
def test_killed_run_is_not_running_and_next_run_cleans_up(waiting):
    bench, process = waiting
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert (bench.results / "running.json").exists()
    assert "process" not in bench.probcal("status", "results/small").said
    (bench.folder / "go on").touch()
    assert bench.run().code == 1
    assert not list(bench.results.glob("running.json*"))


@pytest.mark.slow
def test_run_accepts_a_folder_with_only_a_heartbeat_file(bench):
    bench.results.mkdir(parents=True)
    (bench.results / "running.json").write_text("{}")
    assert bench.run().code == 0


@pytest.mark.slow
def test_run_continues_when_the_heartbeat_cannot_be_written(bench):
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

    def test_heartbeat_names_this_process(self, written):
        assert read_heartbeat(written).pid == os.getpid()

    def test_reused_process_id_is_not_running(self, written):
        assert self.changed(written, born="another time") is None

    def test_remote_process_counts_while_its_heartbeat_is_recent(self, written):
        assert self.changed(written, host="far away", pid=1).host == "far away"
        assert self.changed(written, at=time.time() - 3600) is None

    @pytest.mark.parametrize("hours", [-30, 30])
    def test_process_that_holds_the_lock_runs_whatever_its_clock_shows(self, written, hours):
        lock = FileLock(written / ".lock")
        lock.acquire()
        at = time.time() + 3600 * hours
        live = {"since": at - 60, "workers": 1, "total": 3, "running": {"a": [at - 50, None]}}
        heartbeat = self.changed(written, born="another time", at=at, live=live)
        assert "has been running it for 1 min" in heartbeat_lines(heartbeat)[0]
        assert heartbeat.live.running_cells(heartbeat.now)[0].seconds == pytest.approx(50, abs=16)
        lock.release()
        assert read_heartbeat(written) is None

    def test_remote_process_without_the_lock_has_ended_although_its_news_are_recent(self, written):
        lock = FileLock(written / ".lock")
        lock.acquire()
        assert self.changed(written, host="far away") is None
        lock.release()
        assert read_heartbeat(written) is None

    def test_remote_news_from_the_future_count_for_nothing_without_locks(self, written):
        assert self.changed(written, host="far away", at=time.time() + 3600) is None

    @pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"live": 1}', "null", "[" * 100_000])
    def test_malformed_heartbeat_file_is_ignored(self, written, text):
        (written / "running.json").write_text(text)
        assert read_heartbeat(written) is None

    @pytest.mark.parametrize(
        "live",
        [{}, {"total": "3"}, {"running": {"a": 1}}, {"running": []}, {"since": None}, {"workers": "x"}, {"more": 1}],
    )
    def test_heartbeat_with_wrong_part_types_is_ignored(self, written, live):
        whole = json.loads((written / "running.json").read_text())["live"]
        assert self.changed(written, live={**whole, **live} if live else {}) is None


@pytest.mark.parametrize("hours", [-5, 5])
def test_clock_that_is_set_during_a_run_changes_no_duration(tmp_path, monkeypatch, hours):
    [entry], real_time = planned(None), time.time
    progress, times = RunProgress([entry], 1, tmp_path, io.StringIO()), RunTimes()
    progress.record_start(entry)
    monkeypatch.setattr(time, "time", lambda: real_time() + 3600 * hours)
    state = progress._run_state()
    assert time.time() - state.since == pytest.approx(0, abs=60)
    assert state.running_cells(time.time())[0].seconds == pytest.approx(0, abs=60)
    progress.close()
    assert 0 <= times.record()["seconds"] < 60
