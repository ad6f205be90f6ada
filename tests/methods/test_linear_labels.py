"""Test labels of linear classifiers by one product: they are those of each classifier's own ``predict``."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier
from probcal.methods import _probes
from probcal.methods._probes import has_plain_scores, linear_labels

X, Y = make_classification(300, 6, random_state=0)
FITTED = LogisticRegression().fit(X[:, :4], Y)


def labels(classifiers, rows):
    return np.concatenate(list(linear_labels(classifiers, rows)))


@pytest.mark.parametrize("learner", [LogisticRegression(), LinearSVC(), SGDClassifier(), Perceptron()])
@pytest.mark.parametrize("rows", [X, X.astype(np.float32), sparse.csr_matrix(X), pd.DataFrame(X), X[:1]])
def test_labels_are_those_of_predict(learner, rows):
    fitted = [type(learner)(**learner.get_params()).fit(X[::step], Y[::step]) for step in (1, 2, 3)]
    assert all(has_plain_scores(one, np.array([0, 1])) for one in fitted)
    assert (labels(fitted, rows) == np.column_stack([one.predict(rows) == 1 for one in fitted])).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from([-1.0, 0.0, 0.1, 0.2, 0.3, 1e-9, 1e300]), min_size=4, max_size=4), min_size=1))
def test_scores_next_to_zero_have_the_label_of_predict(rows):
    fitted = [deepcopy(FITTED) for _ in range(3)]
    for one, coefficients in zip(fitted, ([0.1, 0.2, -0.3, 0.0], [0.3, -0.1, -0.2, 1.0], [0, 0, 0, 0]), strict=True):
        one.coef_, one.intercept_ = np.array([coefficients], dtype=float), np.array([0.0])
    with np.errstate(over="ignore"):
        expected = np.column_stack([one.predict(rows) == 1 for one in fitted])
    assert (labels(fitted, np.array(rows)) == expected).all()


def test_only_plain_scores_are_multiplied():
    class Reversed(LogisticRegression):
        def predict(self, rows):
            return 1 - super().predict(rows)

    others = (RidgeClassifier(), DecisionTreeClassifier(), Reversed(), make_pipeline(StandardScaler(), LinearSVC()))
    assert not any(has_plain_scores(one.fit(X, Y), np.array([0, 1])) for one in others)
    assert not has_plain_scores(LogisticRegression().fit(X, Y), np.array([1, 0]))
    assert not has_plain_scores(LogisticRegression(), np.array([0, 1]))


def test_probing_predicts_the_same_with_and_without(monkeypatch):
    probing = ProbingClassifier(LogisticRegression(), n_probes=30, random_state=0).fit(X, Y)
    p, votes, crossings = probing.predict_proba(X), probing.votes(X), probing.measures(X)
    monkeypatch.setattr(_probes, "has_plain_scores", lambda classifier, classes: False)
    assert (probing.predict_proba(X) == p).all() and (probing.votes(X) == votes).all()
    assert probing.measures(X) == crossings
