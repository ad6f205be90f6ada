"""Test runs with more than two classes: predictions, metrics, storage and failures."""

import numpy as np
import pytest
from run_bench import raise_metric

from probcal.metrics import all_metrics
from probcal.store.folder import Store

TREE = {"tree": {"params": {"max_depth": 2}}}

METHODS = """
    import numpy as np
    from sklearn.base import BaseEstimator


    class Base(BaseEstimator):
        def __init__(self, estimator):
            self.estimator = estimator

        def fit(self, X, y):
            self.estimator.fit(X, y)
            return self

        def predict_proba(self, X):
            return self.estimator.predict_proba(X)


    class Turned(Base):
        def fit(self, X, y):
            super().fit(X, y)
            self.classes_ = self.estimator.classes_[::-1]
            return self

        def predict_proba(self, X):
            return super().predict_proba(X)[:, ::-1]


    class OtherClasses(Turned):
        def fit(self, X, y):
            super().fit(X, y)
            self.classes_ = np.array(["a", "b", "c"])
            return self


    class OneColumn(Base):
        def predict_proba(self, X):
            return super().predict_proba(X)[:, 1]


    class OneRowLess(Base):
        def predict_proba(self, X):
            return super().predict_proba(X)[1:]


    class SeesTestRows(Base):
        needs_test_rows = True

        def fit(self, X, y, X_test):
            self.seen = X_test.tolist()
            return super().fit(X, y)

        def predict_proba(self, X):
            assert X.tolist() == self.seen
            return super().predict_proba(X)
"""

RARE = """
name: rare
title: The third class comes late
columns: {weight: numeric, kind: target}
task: multiclass
split: {kind: chronological, train: 6}
expect: {rows: 10, columns: 1}
no_openml: these are a test's own
files:
  - {format: delimited, header: true, files: [{name: rare.csv}]}
"""


@pytest.fixture
def several(bench):
    bench.module("several", METHODS)
    bench.config(datasets=["iris"], learners=TREE, methods=["direct"])
    return bench


def method(name):
    return {name.lower(): {"type": f"several.{name}"}}


def test_cell_stores_a_prediction_per_class_and_its_metrics(several):
    assert several.run().code == 0
    store = Store(several.results)
    for result in store.results().values():
        y, p = store.predictions(result)
        assert p.shape == (51, 3) and set(y.tolist()) == {0, 1, 2}
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert all_metrics(y, p) == result.metrics
        assert np.mean(p.argmax(axis=1) == y) > 0.8  # the columns have the order of the classes in y


@pytest.mark.slow
def test_changed_metrics_use_the_stored_predictions(several, monkeypatch):
    several.run()
    before = several.numbers()
    raise_metric(monkeypatch, "cxe")
    assert "2 cells need no fit" in several.run("--dry-run").said
    assert several.run().code == 0
    assert several.numbers() == before


@pytest.mark.parametrize(("labels", "absent"), [("abab" + "ab" + "abcc", 2), ("bcbc" + "bc" + "abca", 0)])
def test_class_without_training_rows_gets_probability_zero(several, labels, absent):
    (several.folder / "rare.yaml").write_text(RARE)
    (several.folder / "rare").mkdir()
    rows = [f"{number},{label}" for number, label in enumerate(labels)]
    (several.folder / "rare" / "rare.csv").write_text("\n".join(["weight,kind", *rows]) + "\n")
    several.config(datasets=["rare.yaml"], learners=TREE, methods=["direct"])
    assert several.run("--data-dir", ".").code == 0
    store = Store(several.results)
    [result] = store.results().values()
    _, p = store.predictions(result)
    assert p.shape == (4, 3)
    assert not p[:, absent].any()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert result.metrics["cxe"] == np.inf  # the class occurs in test rows and has probability 0


def test_predictions_are_put_in_the_order_of_the_classes_or_fail_their_cell(several):
    names = ("Turned", "OtherClasses", "OneColumn", "OneRowLess")
    methods = {"direct": {}, **{key: value for name in names for key, value in method(name).items()}}
    several.config(datasets=["iris"], learners=TREE, methods=methods, repeats=1)
    assert several.run().code == 1
    rows = {row["method"]: row for row in several.rows()}
    assert rows["turned"]["metrics"] == rows["direct"]["metrics"]
    for name, message in {
        "otherclasses": "OtherClasses knows the classes ['a', 'b', 'c'], and y holds",
        "onecolumn": "predict_proba gave an array of shape (51,), not (51, 3)",
        "onerowless": "predict_proba gave an array of shape (50, 3), not (51, 3)",
    }.items():
        assert (rows[name]["status"], rows[name]["error_type"]) == ("failed", "ValueError")
        assert rows[name]["message"].startswith(message)


@pytest.mark.slow
def test_two_class_learner_fails_only_on_more_classes(several):
    learners = {"nb": {"type": "kernel_nb"}, **TREE}
    several.config(datasets=["iris", "wine-first"], learners=learners, methods=["direct"], repeats=1)
    assert several.run().code == 1
    outcome = {(row["dataset"], row["learner"]): row for row in several.rows()}
    assert outcome["iris", "nb"]["message"] == "two classes are needed, y holds 3: [0, 1, 2]"
    assert [key for key, row in outcome.items() if row["status"] == "failed"] == [("iris", "nb")]


@pytest.mark.slow
def test_method_that_needs_test_rows_gets_their_inputs(several):
    probing = {"probing": {"params": {"n_probes": 3, "discretisation": "transductive"}}}
    methods = {**method("SeesTestRows"), **probing}
    several.config(datasets=["iris", "wine-first"], learners=TREE, methods=methods, repeats=1)
    assert several.run().code == 0
