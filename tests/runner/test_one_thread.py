"""Test that linear algebra has one thread in workers and in the processes that methods start there."""

import json
import os

import pytest

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
