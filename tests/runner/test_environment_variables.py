"""Test that workers see the environment of the run that started them, not that of an earlier run."""

import pytest
from run_bench import DUMMY

LEARNER = """
    import os

    from sklearn.dummy import DummyClassifier


    class Sees(DummyClassifier):
        def fit(self, X, y, sample_weight=None):
            raise ValueError(f"sees {os.environ.get('OF_AN_EARLIER_RUN')} and {os.environ.get('OF_THIS_RUN')}")
"""


@pytest.mark.slow
def test_workers_see_the_current_environment_variables(bench, monkeypatch):
    bench.module("sees", LEARNER)
    bench.config(learners={"dummy": {"type": DUMMY}}, methods=["direct"])
    monkeypatch.setenv("OF_AN_EARLIER_RUN", "old")
    assert bench.run().code == 0
    monkeypatch.delenv("OF_AN_EARLIER_RUN")
    monkeypatch.setenv("OF_THIS_RUN", "new")
    bench.config(learners={"sees": {"type": "sees.Sees"}}, methods=["direct"])
    assert "sees None and new" in bench.run("-o", "results/another").said
