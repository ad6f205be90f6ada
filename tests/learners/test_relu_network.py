"""The fast network against scikit-learn's, and the contract."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from probcal.learners.relu_network import ReluNetwork

X, Y = load_breast_cancer(return_X_y=True)
X = scale(X)
KNOWN = {"check_classifier_not_supporting_multiclass": "three classes are refused in words of our own"}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([ReluNetwork(max_iter=30)], expected_failed_checks=lambda one: KNOWN)
def test_it_is_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("as_table", [np.asarray, pd.DataFrame, np.asfortranarray])
@pytest.mark.parametrize("settings", [{"n_iter_no_change": 2}, {"max_iter": 20}])
@pytest.mark.parametrize("n_rows", [50, 400, 450])
def test_it_is_the_network_of_scikit_learn(as_table, settings, n_rows):
    rows, labels = as_table(X[:n_rows, :8]), Y[:n_rows]
    ours = ReluNetwork(random_state=1, **settings).fit(rows, labels)
    theirs = MLPClassifier(random_state=1, **settings).fit(rows, labels)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_allclose(ours.loss_curve_, theirs.loss_curve_, rtol=1e-12)
    np.testing.assert_allclose(
        ours.predict_proba(as_table(X[:, :8])), theirs.predict_proba(as_table(X[:, :8])), atol=1e-10
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_generator_is_left_where_scikit_learn_leaves_it():
    ours, theirs = np.random.RandomState(0), np.random.RandomState(0)
    ReluNetwork(max_iter=3, random_state=ours).fit(X, Y)
    MLPClassifier(max_iter=3, random_state=theirs).fit(X, Y)
    assert ours.randint(10**9) == theirs.randint(10**9)


def test_too_few_epochs_are_warned_of():
    with pytest.warns(ConvergenceWarning, match="after 3 epochs; set max_iter higher"):
        ReluNetwork(max_iter=3, random_state=0).fit(X, Y)


@pytest.mark.parametrize("name", ["n_iter_no_change", "max_iter"])
def test_a_number_of_epochs_is_a_count(name):
    with pytest.raises(ValueError, match=name):
        ReluNetwork(**{name: 0}).fit(X, Y)
