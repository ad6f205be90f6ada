"""Test which losses the gate of the default parameters rejects and how it compares methods."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "defaults.py"))


def judged(method, loss, **others):
    rows = [("a", "tree", name, value, 10) for name, value in {method: loss, **others}.items()]
    found = SCRIPT["judge"](pd.DataFrame(rows, columns=["dataset", "learner", "method", "loss", "splits"]))
    return found.set_index("method").loc[method]


@pytest.mark.parametrize(
    ("method", "loss", "others", "failed"),
    [
        ("sigmoid", 0.509, {"direct": 0.50, "sk_sigmoid": 0.60}, False),
        ("sigmoid", 0.511, {"direct": 0.50, "sk_sigmoid": 0.60}, True),
        ("sigmoid", 0.511, {"direct": 0.60, "sk_sigmoid": 0.50}, True),
        ("isotonic", 0.511, {"direct": 0.60, "sk_sigmoid": 0.50}, False),
        ("beta", 0.511, {"direct": 0.60, "sk_sigmoid": 0.50}, False),
        ("beta", np.inf, {"direct": np.inf}, True),
        ("beta", 2.0, {"direct": np.inf}, False),
        ("bagging", 0.9, {}, False),
    ],
)
def test_a_loss_above_learner_and_scikit_learn_fails(method, loss, others, failed):
    assert judged(method, loss, **others)["failed"] == failed


def test_the_page_names_each_failure():
    rows = [("a", "tree", "direct", 0.5, 10), ("a", "tree", "beta", 0.6, 10), ("a", "tree", "spline", 0.5, 10)]
    losses = pd.DataFrame(rows, columns=["dataset", "learner", "method", "loss", "splits"])
    page = SCRIPT["report"]({"defaults": losses}, SCRIPT["judge"](losses))
    assert "2 combinations of 1 data sets, 1 learners and 2 methods: **1 failures**" in page
    assert "| a         | tree      | beta     | 0.6000 | 0.5000 | 0.1000       |" in page
