"""Test that cells on a Dask cluster give the numbers of a serial run, whatever happens to the cluster."""

import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from dask_bench import DaskBench
from run_bench import DUMMY, TREE, in_the_middle, same_as_undisturbed, wait_for, wait_until_gone

from probcal.cli import main as cli
from probcal.errors import ProbcalError
from probcal.runner.dask import open_client
from probcal.runner.run_options import RunOptions
from probcal.store.folder import Store

pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

BAD = """
    import os
    import signal
    import time

    from sklearn.dummy import DummyClassifier


    class Fails(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            raise ValueError("no")


    class Crashes(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            os.kill(os.getpid(), signal.SIGSEGV)


    class Hangs(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            time.sleep(600)


    class TellsAndHangs(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            open(os.path.join(self.constant, f"{os.getpid()}.pid"), "w").close()
            time.sleep(600)


    class KillsItsWorker(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(600)
"""

CUT = """
import time
from distributed import Client

submit, calls = Client.submit, []


def cut_at_the_third(client, *arguments, **options):
    calls.append(client)
    if len(calls) == 3:
        connection = client.scheduler_comm
        client.loop.add_callback(connection.comm.abort)
        while client.scheduler_comm is connection or client.status != "running":
            time.sleep(0.001)
        client._send_to_scheduler_safe = lambda message: None  # lost, as by a connection that breaks a moment later
    return submit(client, *arguments, **options)


Client.submit = cut_at_the_third
"""
"""Cut the connection while a cell is sent. The client connects again, and the cell is lost."""


@pytest.fixture
def alone(tmp_path_factory):
    """Yield a scheduler without workers, for one test."""
    dask = DaskBench(tmp_path_factory.mktemp("dask"))
    yield dask
    dask.close()


@pytest.fixture
def slow(bench):
    return bench.gated(12)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Yield a scheduler and two workers, which serve several runs."""
    dask = DaskBench(tmp_path_factory.mktemp("pair"))
    dask.cache = tmp_path_factory.mktemp("cache of the workers")
    for _ in range(2):
        dask.start_worker(PROBCAL_CACHE_DIR=str(dask.cache))
    yield dask
    dask.close()


def ended_well(bench, process, cells=12):
    """Wait for the end of a run without errors, and return its messages."""
    said = process.communicate(timeout=600)[1]
    assert process.returncode == 0, said
    assert "Traceback" not in said
    assert sorted(row["repetition"] for row in bench.rows()) == list(range(cells)) and sum(bench.ran()) == cells
    return said


def endings(bench):
    """Return status, error type and message of each learner."""
    return {row["learner"]: (row["status"], row.get("error_type"), row.get("message")) for row in bench.rows()}


@pytest.mark.slow
def test_two_dask_workers_match_a_serial_run_exactly(bench, pair):
    card = bench.coins()
    bench.module("slow", TREE)
    learners = {"slow": {"type": "slow.Slow", "encoding": "numeric"}, "linear_svm": {}, "gaussian_nb": {}}
    bench.config(datasets=["wine-first", card], learners=learners, methods={"probing": {"params": {"n_probes": 3}}})
    done = bench.run("--scheduler", pair.address, "--data-dir", str(bench.folder))
    assert done.code == 0, done.said
    assert len(bench.rows()) == 12 and bench.ran() == [12]
    assert [path.name for path in pair.cache.glob("data/*")] == [
        path.name for path in (bench.folder / "cache").glob("data/*")
    ]
    assert bench.runs()[-1]["dask"] == {"scheduler": pair.address}
    assert same_as_undisturbed(bench)


@pytest.mark.slow
def test_edited_code_reaches_running_workers(bench, pair):
    bench.module("slow", TREE)
    bench.config(learners={"slow": {"type": "slow.Slow"}}, methods=["direct"], repeats=1)
    assert bench.run("--scheduler", pair.address).code == 0
    before = bench.numbers()
    fit = "fit = lambda self, X, y: DecisionTreeClassifier.fit(self.set_params(max_depth=1), X, y)"
    bench.module("slow", TREE.replace("pass", fit))
    assert "stale: 1 cell: your code changed: slow" in bench.run("--scheduler", pair.address).said
    assert before != bench.numbers() != {}


@pytest.mark.slow
def test_misbehaving_cells_are_recorded_and_others_finish(bench, pair):
    bench.module("bad", BAD)
    kinds = {kind.lower(): {"type": f"bad.{kind}"} for kind in ("Fails", "Crashes", "Hangs")}
    bench.config(learners={**kinds, "dummy": {"type": DUMMY}}, methods=["direct"], repeats=1)
    assert bench.run("--scheduler", pair.address, "--timeout", "30s").code == 1
    assert endings(bench) == {
        "fails": ("failed", "ValueError", "no"),
        "crashes": ("failed", "WorkerDied", "its process was ended by SIGSEGV"),
        "hangs": ("timeout", "TimeoutError", "took longer than 30 s"),
        "dummy": ("done", None, None),
    }
    bench.module("bad", BAD.replace('raise ValueError("no")', "return super().fit(X, y)"))
    assert bench.run("--scheduler", pair.address, "-l", "fails", "--retry-failed").code == 0
    assert endings(bench)["fails"] == ("done", None, None)
    bench.module("bad", BAD)
    bench.config(learners={"fails": {"type": "bad.Fails"}}, methods=["direct"], repeats=6)
    assert bench.run("--scheduler", pair.address, "--fail-fast", "-o", "fast").code == 1
    assert len(Store(bench.folder / "fast").results()) == 1


@pytest.mark.slow
def test_processes_of_cells_end_after_the_run(bench, alone):
    worker = alone.start_worker()
    bench.config(methods=["direct"], repeats=1)
    assert bench.run("--scheduler", alone.address).code == 0
    wait_for(lambda: not cell_processes(worker.pid), 60)


@pytest.mark.slow
def test_interruption_ends_cells_on_dask_workers(bench, pair):
    bench.module("bad", BAD)
    bench.config(
        learners={"tells": {"type": "bad.TellsAndHangs", "params": {"constant": str(bench.folder)}}}, methods=["direct"]
    )
    process = bench.start("--scheduler", pair.address, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: process.poll() is not None or len(list(bench.folder.glob("*.pid"))) == 2)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=600)[1]
    assert process.returncode == 130
    assert "interrupted; cells that ended are kept" in said and "Traceback" not in said
    wait_for(lambda: not any(alive(int(path.stem)) for path in bench.folder.glob("*.pid")))


@pytest.mark.slow
def test_cells_of_a_killed_worker_move_to_another(slow, alone):
    first = alone.start_worker()
    alone.start_worker()
    alone.wait_for_workers(2)
    process = in_the_middle(slow, 3, "--scheduler", alone.address, workers=2)
    first.kill()
    slow.gate.open()
    ended_well(slow, process)
    assert same_as_undisturbed(slow)


@pytest.mark.slow
def test_run_continues_after_its_scheduler_restarts(slow, alone):
    alone.start_worker()
    process = in_the_middle(slow, 3, "--scheduler", alone.address)
    alone.scheduler.kill()
    alone.scheduler.wait()
    alone.start_scheduler()
    alone.start_worker()
    slow.gate.open()
    said = ended_well(slow, process)
    assert f"the scheduler at {alone.address} is gone; waiting for it" in said
    assert same_as_undisturbed(slow)


@pytest.mark.slow
def test_scheduler_that_is_stopped_ends_the_run_and_keeps_finished_cells(slow, alone):
    (slow.folder / "sitecustomize.py").write_text(
        "import probcal.runner.dask as one\none.RECONNECT_SECONDS, one.ANSWER_SECONDS = 10.0, 1.0\n"
    )
    alone.start_worker()
    process = in_the_middle(slow, 3, "--scheduler", alone.address)
    alone.scheduler.send_signal(signal.SIGSTOP)
    said = process.communicate(timeout=100)[1]
    assert process.returncode == 2
    assert "Traceback" not in said, said
    assert f"the scheduler at {alone.address} does not answer; waiting for it" in said
    assert f"the scheduler at {alone.address} has not answered for 10 s; cells that ended are kept" in said
    assert len(slow.rows()) == 3


@pytest.mark.slow
def test_run_continues_when_a_stopped_scheduler_goes_on(slow, alone):
    (slow.folder / "sitecustomize.py").write_text("import probcal.runner.dask as one\none.ANSWER_SECONDS = 0.5\n")
    alone.start_worker()
    process = in_the_middle(slow, 3, "--scheduler", alone.address)
    alone.scheduler.send_signal(signal.SIGSTOP)
    said = next(line for line in process.stderr if "does not answer; waiting for it" in line)
    alone.scheduler.send_signal(signal.SIGCONT)
    slow.gate.open()
    assert "Traceback" not in said + ended_well(slow, process)
    assert same_as_undisturbed(slow)


@pytest.mark.slow
def test_stopped_worker_keeps_no_cell_from_others(slow, alone):
    (slow.folder / "sitecustomize.py").write_text("import probcal.runner.dask as one\none.CONNECT_SECONDS = 2.0\n")
    stopped = alone.start_worker()
    alone.wait_for_workers(1)
    stopped.send_signal(signal.SIGSTOP)
    alone.start_worker()
    alone.wait_for_workers(2)
    slow.gate.open()
    done = slow.run("--scheduler", alone.address)
    assert done.code == 0, done.said
    assert same_as_undisturbed(slow)


@pytest.mark.slow
def test_cells_sent_into_a_broken_connection_are_sent_again(slow, alone):
    (slow.folder / "sitecustomize.py").write_text(CUT)
    alone.start_worker()
    slow.gate.open()
    process = slow.start("--scheduler", alone.address, stderr=subprocess.PIPE, text=True)
    said = process.communicate(timeout=100)[1]
    assert process.returncode == 0 and "Traceback" not in said, said
    assert "is gone; waiting for it to come back" in said
    assert same_as_undisturbed(slow)


@pytest.fixture
def listener(alone):
    """Listen on the port of a scheduler that has ended."""
    alone.scheduler.kill()
    alone.scheduler.wait()
    with socket.create_server(("127.0.0.1", int(alone.address.rpartition(":")[2]))) as listener:
        yield listener


@pytest.mark.slow
def test_dropped_connection_is_tried_again_until_a_scheduler_answers(alone, listener):
    def drop_one_connection_then_restart():
        connection = listener.accept()[0]
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close with a reset
        connection.close()
        listener.close()
        alone.start_scheduler()

    restart = threading.Thread(target=drop_one_connection_then_restart)
    restart.start()
    with open_client(RunOptions(Path(), scheduler=alone.address), timeout=60) as client:
        assert client.status == "running"
    restart.join()


@pytest.mark.slow
def test_server_that_never_answers_gives_an_error(alone, listener):
    said = f"no Dask scheduler answers at {alone.address}: no answer in 0.5 s; give an address"
    cluster = open_client(RunOptions(Path(), scheduler=alone.address), timeout=0.5)
    with pytest.raises(ProbcalError, match=re.escape(said)), cluster:
        pass


@pytest.mark.slow
def test_lost_scheduler_ends_the_run_and_keeps_finished_cells(slow, alone):
    (slow.folder / "sitecustomize.py").write_text("import probcal.runner.dask as one\none.RECONNECT_SECONDS = 1.0\n")
    alone.start_worker()
    process = in_the_middle(slow, 3, "--scheduler", alone.address)
    alone.scheduler.kill()
    said = process.communicate(timeout=600)[1]
    assert process.returncode == 2
    assert "Traceback" not in said, said
    assert f"no Dask scheduler answers at {alone.address}" in said and "cells that ended are kept" in said
    kept = len(slow.rows())
    assert kept == 3
    assert f"{kept} done, {12 - kept} to run" in slow.run("--dry-run").said


@pytest.mark.slow
def test_worker_with_other_versions_or_code_is_rejected(slow, alone, tmp_path_factory):
    shim = tmp_path_factory.mktemp("shim")
    (shim / "scikit_learn-9.9.dist-info").mkdir()
    (shim / "scikit_learn-9.9.dist-info" / "METADATA").write_text("Name: scikit-learn\nVersion: 9.9\n")
    path = os.environ["PYTHONPATH"].split(os.pathsep)[-1]
    alone.start_worker(PYTHONPATH=f"{shim}{os.pathsep}{path}")
    done = slow.run("--scheduler", alone.address)
    assert done.code == 2
    assert "worker tcp://127.0.0.1:" in done.said and "is refused: scikit-learn is 9.9 there and " in done.said
    assert "no worker of the cluster can run the cells" in done.said
    other = tmp_path_factory.mktemp("other")
    (other / "slow.py").write_text((slow.folder / "slow.py").read_text().replace("sleep(0.01)", "sleep(0.02)"))
    alone.start_worker(PYTHONPATH=f"{other}{os.pathsep}{path}")
    alone.start_worker()
    alone.wait_for_workers(3)  # a suitable worker that joined first could end all cells before the others are checked
    slow.gate.open()
    process = slow.start("--scheduler", alone.address, stderr=subprocess.PIPE, text=True)
    said = ended_well(slow, process)
    assert "scikit-learn is 9.9 there" in said
    assert "has other code of slow" in said


@pytest.mark.slow
def test_worker_or_scheduler_without_probcal_ends_the_run(bench, alone, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hidden")
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['probcal'] = None\n")
    bench.config(methods=["direct"], repeats=1)
    alone.start_worker(PYTHONPATH=str(folder))
    done = bench.run("--scheduler", alone.address)
    assert done.code == 2
    assert "is refused: cannot run cells: " in done.said and "Traceback" not in done.said
    assert "ModuleNotFoundError" in done.said and "probcal" in done.said.partition("ModuleNotFoundError")[2]
    dask = DaskBench(tmp_path_factory.mktemp("dask"), PYTHONPATH=str(folder))
    dask.start_worker()
    done = bench.run("--scheduler", dask.address)
    dask.close()
    assert done.code == 2
    assert "the Dask cluster cannot run cells: " in done.said and "Traceback" not in done.said


@pytest.mark.slow
def test_worker_without_a_user_module_is_rejected(slow, alone, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    alone.start_worker()
    done = slow.probcal("run", str(slow.folder / "small.yaml"), "--scheduler", alone.address)
    assert done.code == 2
    assert "is refused: has other code of slow than the run was planned with" in done.said


@pytest.mark.slow
def test_worker_without_the_data_is_rejected(bench, alone, tmp_path_factory):
    card = bench.coins()
    bench.config(datasets=[card])
    alone.start_worker(PROBCAL_CACHE_DIR=str(tmp_path_factory.mktemp("empty")), PROBCAL_DATA_DIR="/")
    done = bench.run("--scheduler", alone.address, "--data-dir", str(bench.folder))
    assert done.code == 2
    assert "is refused: coins: has no data files here. Put these files in place: " in done.said


@pytest.mark.slow
def test_local_workers_match_a_serial_run_and_then_end(slow):
    process = in_the_middle(slow, 3, "--workers", "2", workers=2)
    slow.gate.open()
    ended_well(slow, process)
    wait_until_gone(process.pid)
    assert slow.runs()[-1]["dask"] == {"workers": 2}
    assert same_as_undisturbed(slow)


@pytest.fixture
def deadly(bench):
    """Plan a cell that kills its worker, and one that comes after it."""
    bench.module("bad", BAD)
    learners = {"kills": {"type": "bad.KillsItsWorker"}, "dummy": {"type": DUMMY}}
    bench.config(learners=learners, methods=["direct"], repeats=1)
    return bench


def given_up_after(workers):
    """Return the expected endings after this number of dead workers."""
    why = f"Dask workers that died or left while they had the cell wine-first/0/kills/direct: {workers}"
    return {"kills": ("failed", "WorkerDied", why), "dummy": ("done", None, None)}


@pytest.mark.slow
def test_cell_that_kills_restarted_workers_fails(deadly, alone):
    alone.start_worker("--nanny")
    assert deadly.run("--scheduler", alone.address).code == 1
    assert endings(deadly) == given_up_after(4)


@pytest.mark.slow
def test_cell_that_exceeds_allowed_worker_deaths_fails(deadly, tmp_path_factory):
    dask = DaskBench(tmp_path_factory.mktemp("dask"), DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    for _ in range(2):
        dask.start_worker()
    assert deadly.run("--scheduler", dask.address).code == 1
    assert endings(deadly) == given_up_after(1)
    dask.close()


@pytest.mark.slow
def test_retired_worker_does_not_count_as_dead(slow, tmp_path_factory):
    dask = DaskBench(tmp_path_factory.mktemp("dask"), DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    dask.start_worker("--no-nanny", "--name", "first")
    process = in_the_middle(slow, 3, "--scheduler", dask.address)
    dask.start_worker()
    dask.retire_worker("first")
    slow.gate.open()
    ended_well(slow, process)
    dask.close()


@pytest.mark.slow
@pytest.mark.parametrize("error", [OSError, TimeoutError])
def test_a_result_that_fails_to_arrive_is_fetched_again(bench, monkeypatch, error):
    from distributed import Client

    fetch, failed = Client._gather, []

    async def fails_once_a_cell(client, futures, *args, **kwargs):
        if futures[0].key not in failed:
            failed.append(futures[0].key)
            raise error("in <TCP>: Stream is closed")
        return await fetch(client, futures, *args, **kwargs)

    monkeypatch.setattr(Client, "_gather", fails_once_a_cell)
    bench.config(methods=["direct"], repeats=1)
    done = bench.run("--workers", "1")
    assert done.code == 0, done.said
    assert len(failed) == len(bench.rows()) > 0 and bench.ran() == [len(failed)]
    assert {row["status"] for row in bench.rows()} == {"done"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-j", "1", "--workers", "2"], "-j and --workers are different ways to compute; give one of them"),
        (["--scheduler", "tcp://a:1", "--workers", "2"], "--workers and --scheduler are different ways"),
    ],
)
def test_invalid_dask_options_are_rejected(bench, words, said):
    done = bench.run(*words)
    assert done.code == 2 and said in done.said and "Traceback" not in done.said


@pytest.mark.parametrize(
    ("address", "environment", "said"),
    [
        ("tcp://host", {}, "missing port number in address 'host'; give an address such as tcp://host:8786"),
        ("tls://127.0.0.1:1", {}, "with certificates in Dask's configuration"),
        ("ucx://127.0.0.1:1", {}, "UCX"),
        ("http://x:1", {}, "unknown address scheme 'http'"),
        ("inproc://127.0.0.1:1", {}, "give an address such as tcp://host:8786"),
        ("tcp://127.0.0.1:1", {"COMM__REQUIRE_ENCRYPTION": "True"}, "encryption required by Dask configuration"),
        (
            "tls://127.0.0.1:1",
            {"COMM__TLS__CA_FILE": "absent", "COMM__TLS__CLIENT__CERT": "absent"},
            "No such file or directory",
        ),
    ],
)
@pytest.mark.slow
def test_unreachable_scheduler_address_gives_one_error_line(bench, monkeypatch, address, environment, said):
    for name, value in environment.items():
        monkeypatch.setenv(f"DASK_DISTRIBUTED__{name}", value)
    process = bench.start("--scheduler", address, stderr=subprocess.PIPE, text=True)
    told = process.communicate(timeout=600)[1]
    line = told.splitlines()[-1]
    assert process.returncode == 2 and "Traceback" not in told
    assert line.startswith(f"error: no Dask scheduler answers at {address}: ") and said in line, line


def test_missing_dask_message_names_the_install_command(bench, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = bench.run("--workers", "2")
    assert done.code == 2 and 'pip install "dask>=2024.8" "distributed>=2024.8"' in done.said


@pytest.mark.slow
def test_serial_run_does_not_import_dask(bench):
    code = f"import sys; from {cli.__name__} import main; main(['run', 'small.yaml'], standalone_mode=False)"
    said = subprocess.run(
        [sys.executable, "-c", f"try:\n  {code}\nexcept SystemExit: pass\nprint('distributed' in sys.modules)"],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert said.stdout.strip().endswith("False"), said.stderr


def cell_processes(worker: int) -> list[str]:
    """Return the command lines of the processes in which a worker ran cells."""
    children = [child for path in Path(f"/proc/{worker}/task").glob("*/children") for child in path.read_text().split()]
    lines = [Path(f"/proc/{child}/cmdline").read_text() for child in children if Path(f"/proc/{child}").exists()]
    return [line for line in lines if "spawn_main" in line]


def alive(process: int) -> bool:
    """Return whether the process exists."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
