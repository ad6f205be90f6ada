"""Test that the staged predictions of Probing equal the predictions of Probing with fewer probes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier

X, Y = load_breast_cancer(return_X_y=True)
TRAIN, TEST = slice(0, 300), slice(300, None)


class Counting(DecisionTreeClassifier):
    """Count how often any copy of the tree predicts."""

    calls = 0

    def predict(self, X, check_input=True):
        Counting.calls += 1
        return super().predict(X, check_input)


def fitted(estimator, n_probes, **parameters):
    method = ProbingClassifier(estimator, n_probes, **{"weighting": "rejection", "random_state": 5, **parameters})
    return method.fit(X[TRAIN], Y[TRAIN])


@pytest.mark.parametrize("loss", ["log_loss", "squared_error"])
@pytest.mark.parametrize(
    ("estimator", "weighting"),
    [
        pytest.param(DecisionTreeClassifier(min_samples_leaf=2), "rejection", id="tree", marks=pytest.mark.slow),
        pytest.param(GaussianNB(), "weight", id="nb"),
    ],
)
def test_stage_t_equals_probing_with_t_probes(estimator, weighting, loss):
    stages = list(fitted(estimator, 30, weighting=weighting, loss=loss).staged_predict_proba(X[TEST]))
    assert len(stages) == 30
    for t, stage in enumerate(stages, 1):
        smaller = fitted(estimator, t, weighting=weighting, loss=loss)
        assert np.array_equal(stage, smaller.predict_proba(X[TEST])), t


def test_all_stages_use_every_probe_once():
    method = fitted(Counting(random_state=0), 20, weighting="weight")
    Counting.calls = 0
    assert len(list(method.staged_predict_proba(X[TEST]))) == 20
    assert Counting.calls == 20


def test_uniform_thresholds_have_no_stages():
    method = fitted(DecisionTreeClassifier(), 4, discretisation="uniform")
    assert not hasattr(method, "staged_predict_proba")
    with pytest.raises(AttributeError) as caught:
        method.staged_predict_proba(X)
    assert str(caught.value.__cause__) == (
        "a grid has other thresholds for each number of probes, so there are no stages"
    )
    assert method.order_.tolist() == [0, 1, 2, 3]
