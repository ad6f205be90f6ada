"""Test that one fit of naive Bayes gives the votes of separate fits for all class weights."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_loop import assert_no_vote_changes
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.naive_bayes import GaussianNB

from probcal import ProbingClassifier, WeightSweepClassifier
from probcal.fast_paths.fast_path import make_fast_path
from probcal.fast_paths.prior_shift import PriorShift
from probcal.learners import KernelNaiveBayes


class Twin(GaussianNB):
    """Stand for a subclass, which may change anything, so that no fast path is allowed for it."""


def data(name):
    if name == "breast cancer":
        return load_breast_cancer(return_X_y=True)
    if name == "text labels":
        X, y = make_classification(600, random_state=3, flip_y=0.2)
        return X, np.array(["no", "yes"])[y]
    return make_classification(2000, 6, n_informative=2, weights=[0.95], flip_y=0.1, random_state=5)


KERNEL = pytest.param(KernelNaiveBayes(weights="shares"), id="kernel", marks=pytest.mark.slow)


@pytest.mark.parametrize("learner", [pytest.param(GaussianNB(), id="gaussian"), KERNEL])
@pytest.mark.parametrize("name", ["breast cancer", "text labels", "one in twenty"])
@pytest.mark.parametrize("total_weight", [None, "n"])
def test_prior_shift_does_not_change_votes(learner, name, total_weight):
    X, y = data(name)
    fitted = assert_no_vote_changes(learner, X[::2], y[::2], X[1::2], total_weight=total_weight)
    assert fitted.threshold_models_[0].batched.all()


class Turned(ClassifierMixin, BaseEstimator):
    """Have the classes in reverse order, and a fast path whose log-odds are those of the learner's own second class."""

    def fit(self, X, y, sample_weight=None):
        self.inner_ = GaussianNB().fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.inner_.classes_[::-1]
        return self

    def decision_function(self, X):
        return -np.subtract(*self.inner_.predict_joint_log_proba(X).T[::-1])

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    @staticmethod
    def class_weight_shortcut():
        return PriorShift(
            lambda fitted, X: (fitted.decision_function(X), 1e-9), lambda first, second: math.log(second / first)
        )


def test_shortcut_of_a_learner_with_classes_in_reverse_order_changes_no_votes():
    X, y = data("text labels")
    fast, slow = (
        ProbingClassifier(Turned(), 20, weighting="weight", shortcuts=one, random_state=0).fit(X, y).votes(X).tolist()
        for one in (True, False)
    )
    assert fast == slow


@pytest.mark.parametrize("learner", [GaussianNB(), KernelNaiveBayes()], ids=str)
@pytest.mark.parametrize("method", [ProbingClassifier(None, 25, weighting="weight"), WeightSweepClassifier(None)])
def test_weighted_rows_and_several_classes_give_equal_probabilities(method, learner):
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).exponential(size=len(y)) * (np.arange(len(y)) % 5 > 0)
    method.set_params(estimator=learner)
    fast, slow = (
        method.set_params(shortcuts=on, random_state=1).fit(X, y, weights).predict_proba(X) for on in (True, False)
    )
    assert (fast == slow).all()


cells = st.sampled_from([0.0, 0.5, 1.0])


@pytest.mark.slow
@given(st.lists(st.tuples(cells, cells, st.integers(0, 1)), min_size=4, max_size=24))
@settings(max_examples=60, derandomize=True, deadline=None)
def test_rows_on_a_threshold_have_the_votes_of_the_learner(rows):
    # few values and mirrored rows give log-odds exactly at a threshold
    rows = [(0.0, 1.0, 0), (1.0, 0.0, 0), (0.0, 1.0, 1), (1.0, 0.0, 1), (0.5, 0.0, 0), (0.5, 1.0, 1), *rows]
    X, y = np.array([row[:2] for row in rows]), np.array([row[2] for row in rows])
    assert_no_vote_changes(GaussianNB(), X, y, n_probes=15)


@pytest.mark.parametrize("learner", [GaussianNB(), KernelNaiveBayes(), KernelNaiveBayes(weights="shares")], ids=str)
def test_a_tie_at_one_half_is_left_to_the_learner(learner):
    X, y = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0, 0, 1, 1])
    fitted = assert_no_vote_changes(learner, X, y, n_probes=2)
    assert fitted.thresholds_[fitted.order_].tolist()[0] == 0.5
    assert fitted.threshold_models_[0].batched[fitted.order_].tolist() == [False, True]


@pytest.mark.parametrize(
    "learner",
    [Twin(), GaussianNB(priors=[0.3, 0.7])],
    ids=["a subclass", "priors that weights leave alone"],
)
def test_subclasses_and_fixed_priors_have_no_shortcut(learner):
    assert make_fast_path(learner) is None


@pytest.mark.parametrize(
    ("change", "weight"),
    [
        (lambda X: X.astype(np.float32) + 100, 1.0),
        (lambda X: X + 1e9, 1.0),
        (lambda X: X + 1e12, 1.0),
        (lambda X: X, 1e-9),
        (lambda X: X * 1e6, 1.0),
    ],
    ids=["float32", "far from 0", "further still", "weights next to 0", "large"],
)
def test_coarse_rounding_does_not_change_votes(change, weight):
    X, y = data("one in twenty")
    parameters = {"n_probes": 60, "random_state": 0}
    fast, slow = (
        ProbingClassifier(GaussianNB(), shortcuts=on, **parameters).fit(change(X), y, np.full(len(y), weight))
        for on in (True, False)
    )
    assert fast.thresholds_.tolist() == slow.thresholds_.tolist()
    assert (fast.votes(change(X)) == slow.votes(change(X))).all()


def test_tiny_class_weights_are_left_to_the_learner():
    random = np.random.default_rng(0)
    X, y = np.vstack([random.normal(-4, size=(500, 3)), random.normal(4, size=(500, 3))]), np.arange(1000) // 500
    assert not assert_no_vote_changes(GaussianNB(), X, y, n_probes=100).threshold_models_[0].batched.all()
