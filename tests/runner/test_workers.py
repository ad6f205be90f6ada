"""Test workers: which cell each gets, what they are sent, how many there are, and their threads and environment."""

import json
import multiprocessing
import operator
import os
from collections import deque

import pytest
from planned import planned as timed_cells
from run_bench import DUMMY, wait_for

from probcal.config.experiment import read_experiment
from probcal.runner import run as module
from probcal.runner.cell import PlannedCell, list_cells
from probcal.runner.identity import Identities
from probcal.runner.pool import take_next
from probcal.runner.worker import Worker, WorkerDied
from tests.stored_rows import write_rows


def planned(bench, shared, **more):
    methods = {name: {"shared_seed": shared} for name in ("direct", "sigmoid", "beta")}
    bench.config(learners=["tree", "gaussian_nb", "logistic"], methods=methods, repeats=2, **more)
    return [PlannedCell(cell, {}, "to run") for cell in list_cells(read_experiment(bench.folder / "small.yaml"))]


def taken_in_turn(cells, workers):
    """Return the cells of each worker, where the workers take turns."""
    waiting, last, took = deque(cells), [None] * workers, [[] for _ in range(workers)]
    while waiting:
        for one in range(workers):
            if waiting:
                last[one] = take_next(waiting, last[one], last[:one] + last[one + 1 :])
                took[one].append(last[one].cell)
    return took


def test_worker_gets_cells_that_share_its_fits(bench):
    first, second = taken_in_turn(planned(bench, shared=True), 2)
    for cells in (first, second):
        fits = [(cell.repetition, cell.column.learner.name) for cell in cells]
        assert [fits.count(one) for one in dict.fromkeys(fits)] == [3, 3, 3]


def test_the_folds_of_a_random_stream_stay_with_one_worker(bench):
    split = {"kind": "legacy_stratified_k_fold", "folds": 4}
    took = taken_in_turn(planned(bench, shared=False, split=split), 2)
    streams = [[(cell.repetition // 4, cell.column.learner.name) for cell in cells] for cells in took]
    assert not set(streams[0]) & set(streams[1])
    for of_worker, cells in zip(streams, took, strict=True):
        for stream in dict.fromkeys(of_worker):
            folds = [cell.repetition for cell, one in zip(cells, of_worker, strict=True) if one == stream]
            assert folds == sorted(folds) and len(folds) == 12


def test_shared_identities_give_the_keys_of_single_cells():
    cells = [one.cell for one in timed_cells(1, 2, 3)]
    together = Identities()
    keys = [together.key(cell) for cell in cells]
    assert keys == [Identities().key(cell) for cell in cells]
    assert len({key["split"] for key in keys}) == len(cells)


class Unreadable:
    def __init__(self, run):
        pass

    def __reduce__(self):
        return int, ("no number",)


def test_an_error_of_a_task_is_not_taken_for_one_of_the_pipe():
    worker = Worker("run", operator.call, multiprocessing.get_context("spawn"))
    try:
        wait_for(worker.has_news)
        assert worker.receive() == (None, True)
        for task, reason in (
            (Unreadable, "its answer cannot be read: ValueError: invalid literal for int"),
            (os.stat, "its process ended by itself with exit code 1"),
        ):
            worker.give(None, task)
            wait_for(worker.has_news)
            with pytest.raises(WorkerDied, match=reason):
                worker.receive()
        assert "FileNotFoundError" in worker.last_output()
    finally:
        worker.end()


SEES = """
    import json, os, pathlib, time
    import numpy as np
    from sklearn.tree import DecisionTreeClassifier
    from threadpoolctl import threadpool_info

    class Sees(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            np.ones((8, 8)) @ np.ones((8, 8))
            threads = [pool["num_threads"] for pool in threadpool_info()]
            with pathlib.Path("seen").open("a") as file:
                file.write(json.dumps([os.getpid(), threads]) + "\\n")
            while {others} and len({{json.loads(line)[0] for line in open("seen")}}) < 2:
                time.sleep(0.01)  # which of two processes gets a fit is otherwise up to the machine
            return super().fit(X, y, sample_weight)
"""


@pytest.fixture
def seen(bench, monkeypatch):
    """Return a function that runs these methods and gives the numbers of threads of each process."""
    for name in [name for name in os.environ if name.endswith("_NUM_THREADS")]:
        monkeypatch.delenv(name)

    def run(methods, *words, others=False):
        bench.module("sees", SEES.format(others=others))
        bench.config(learners={"sees": {"type": "sees.Sees"}}, methods=methods)
        assert bench.run(*words).code == 0
        found = {}
        for line in (bench.folder / "seen").read_text().splitlines():
            process, threads = json.loads(line)
            found.setdefault(process, set()).update(threads)
        return found

    return run


def test_each_worker_has_one_thread(seen):
    found = seen(["direct"], "-j", "2")
    assert found and os.getpid() not in found
    assert set().union(*found.values()) == {1}


@pytest.mark.slow
def test_probe_processes_have_one_thread(seen):
    found = seen({"probing": {"params": {"n_probes": 6, "n_jobs": 2}}}, others=True)
    assert len(found) > 1
    assert set().union(*found.values()) == {1}


OLD_AND_NEW = """
    import os

    from sklearn.dummy import DummyClassifier


    class Sees(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            raise ValueError(f"sees {os.environ.get('OF_AN_EARLIER_RUN')} and {os.environ.get('OF_THIS_RUN')}")
"""


@pytest.mark.slow
def test_workers_see_the_current_environment_variables(bench, monkeypatch):
    bench.module("sees", OLD_AND_NEW)
    bench.config(learners={"dummy": {"type": DUMMY}}, methods=["direct"])
    monkeypatch.setenv("OF_AN_EARLIER_RUN", "old")
    assert bench.run().code == 0
    monkeypatch.delenv("OF_AN_EARLIER_RUN")
    monkeypatch.setenv("OF_THIS_RUN", "new")
    bench.config(learners={"sees": {"type": "sees.Sees"}}, methods=["direct"])
    assert "sees None and new" in bench.run("-o", "results/another").said


@pytest.fixture
def workers(monkeypatch):
    """Return a list that gets the number of workers of each run."""
    seen, run_cells = [], module.run_cells

    def counting(planned, run_id, jobs, **more):
        seen.append(jobs)
        return run_cells(planned, run_id, jobs, **more)

    monkeypatch.setattr(module, "run_cells", counting)
    return seen


@pytest.mark.slow
def test_quick_cells_get_one_worker_and_the_same_numbers(bench, workers):
    bench.run("-j", "2")
    two = bench.numbers()
    write_rows(bench.results, [row | {"seconds": 0.01} for row in bench.rows()])  # as on an idle machine
    bench.config(seed=2)
    bench.run("-j", "2")
    one = bench.numbers()
    assert workers == [2, 1]
    bench.run("-j", "2", "-o", "elsewhere")
    assert workers == [2, 1, 2]
    assert bench.numbers(bench.folder / "elsewhere") == one != two
