"""Test options, stages and votes of ProbingClassifier."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier
from probcal.methods._probes import ProbePredictor, _LogOdds
from probcal.methods.probing import MajorityVote
from probcal.methods.refinement import ThresholdLoss
from tests.methods.calibrating import noisy_rows
from tests.stubs import Constant, Perfect, Unweighted

X = np.repeat([[0.05], [0.3], [0.9]], 20, axis=0)
Y = np.tile([0, 1], 30)


def test_gains_of_both_rules_agree_with_hand_calculation():
    # [0, 1/2]: printed gain 1/2; the prediction 1/4 for a truth of 0 or 1/2 costs (1/4)^2 = 1/16 too much
    assert ThresholdLoss("squared_error").interval(0, 0.5).gain == 0.5
    assert ThresholdLoss("squared_error", "true_drop").interval(0, 0.5).gain == 1 / 16


def test_true_drop_prefers_wide_and_printed_rule_crowded_intervals():
    # After the split at 1/2, nine rows lie in [0, 1/2] and three in [1/2, 1]. Splitting [0, 1/2] puts the nine
    # in [1/4, 1/2]: next printed 9/4 against 3/2, true drop 9/64 against 3/16.
    x = np.array([[0.4]] * 9 + [[0.9]] * 3)
    y = np.array([0, 1] * 6)
    third = {
        rule: ProbingClassifier(Perfect(), 3, loss="squared_error", refinement=rule, weighting="weight")
        .fit(x, y)
        .thresholds_.tolist()
        for rule in ("printed", "true_drop")
    }
    assert third == {"printed": [0.25, 0.375, 0.5], "true_drop": [0.25, 0.5, 0.75]}


def test_transductive_probing_splits_intervals_of_the_test_rows():
    test = np.full((50, 1), 0.9)
    fitted = ProbingClassifier(Perfect(), 6, discretisation="transductive", weighting="weight").fit(X, Y, X_test=test)
    assert (fitted.thresholds_ >= 0.5).all()
    assert fitted.predict_proba(test)[0, 1] == pytest.approx(0.9, abs=0.03)


def test_transductive_probing_on_training_rows_is_the_printed_algorithm():
    X, y = noisy_rows(200)
    tree = DecisionTreeClassifier(max_depth=3)
    train = ProbingClassifier(tree, 15, random_state=0, weighting="weight").fit(X, y)
    transductive = ProbingClassifier(tree, 15, discretisation="transductive", random_state=0, weighting="weight").fit(
        X, y, X_test=X
    )
    assert np.array_equal(train.thresholds_, transductive.thresholds_)
    assert np.array_equal(train.votes(X), transductive.votes(X))


class CountingTree(DecisionTreeClassifier):
    """Count the calls of ``predict``."""

    predictions = 0

    def predict(self, X, check_input=True):
        CountingTree.predictions += 1
        return super().predict(X, check_input)


def test_rows_that_chose_the_thresholds_are_predicted_once():
    rows, labels = noisy_rows()
    probing = ProbingClassifier(CountingTree(max_depth=3), 9, weighting="weight", random_state=0).fit(rows, labels)
    before = CountingTree.predictions
    votes = probing.votes(rows.copy())
    assert CountingTree.predictions == before
    assert votes.dtype == np.int64 and np.array_equal(votes, sum(one.predict(rows) for one in probing.estimators_))
    votes[:] = 0
    assert probing.votes(rows).any()


def test_changed_rows_are_predicted_again():
    rows, labels = noisy_rows()
    probing = ProbingClassifier(DecisionTreeClassifier(max_depth=3), 9, weighting="weight", random_state=0)
    probing.fit(rows, labels)
    rows *= -1
    for changed in (rows, rows.astype(np.float32), rows[:5], rows[::-1]):
        expected = sum(one.predict(changed) for one in probing.estimators_)
        assert np.array_equal(probing.votes(changed), expected)


@pytest.mark.parametrize(("discretisation", "given"), [("transductive", None), ("train", X), ("uniform", X)])
def test_test_rows_are_for_transductive_probing_only(discretisation, given):
    with pytest.raises(ValueError, match=r"X_test with discretisation=.transductive"):
        ProbingClassifier(Perfect(), 3, discretisation=discretisation, weighting="weight").fit(X, Y, X_test=given)


def test_costing_with_one_sample_equals_rejection_sampling():
    X, y = noisy_rows(200)
    tree = DecisionTreeClassifier(max_depth=4)
    rejection = ProbingClassifier(tree, 10, weighting="rejection", random_state=1).fit(X, y)
    costing = ProbingClassifier(tree, 10, weighting="costing", n_samples=1, random_state=1).fit(X, y)
    assert np.array_equal(rejection.votes(X), costing.votes(X))


def test_costing_draws_different_rows_for_each_sample():
    rows = np.arange(60.0)[:, None]
    fitted = ProbingClassifier(Unweighted(), 3, weighting="costing", n_samples=4, discretisation="uniform").fit(rows, Y)
    samples = [tuple(one.X_[:, 0]) for one in fitted.estimators_[0].classifiers]
    assert len(set(samples)) == 4


@pytest.mark.parametrize(("votes", "expected"), [((1, 1, 0), "yes"), ((1, 0, 0), "no"), ((1, 0), "no"), ((1,), "yes")])
def test_only_a_majority_predicts_the_positive_class(votes, expected):
    members = [Constant(vote).fit(X, np.where(Y, "yes", "no")) for vote in votes]
    assert MajorityVote(members, np.array(["no", "yes"])).predict(X[:1]).tolist() == [expected]


CANCER, KINDS = load_breast_cancer(return_X_y=True)
TRAIN, TEST = slice(0, 300), slice(300, None)


class Counting(DecisionTreeClassifier):
    """Count how often any copy of the tree predicts."""

    calls = 0

    def predict(self, X, check_input=True):
        Counting.calls += 1
        return super().predict(X, check_input)


def fitted(estimator, n_probes, **parameters):
    method = ProbingClassifier(estimator, n_probes, **{"weighting": "rejection", "random_state": 5, **parameters})
    return method.fit(CANCER[TRAIN], KINDS[TRAIN])


@pytest.mark.parametrize("loss", ["log_loss", "squared_error"])
@pytest.mark.parametrize(
    ("estimator", "weighting"),
    [
        pytest.param(DecisionTreeClassifier(min_samples_leaf=2), "rejection", id="tree", marks=pytest.mark.slow),
        pytest.param(GaussianNB(), "weight", id="nb"),
    ],
)
def test_stage_t_equals_probing_with_t_probes(estimator, weighting, loss):
    stages = list(fitted(estimator, 30, weighting=weighting, loss=loss).staged_predict_proba(CANCER[TEST]))
    assert len(stages) == 30
    for t, stage in enumerate(stages, 1):
        smaller = fitted(estimator, t, weighting=weighting, loss=loss)
        assert np.array_equal(stage, smaller.predict_proba(CANCER[TEST])), t


def test_all_stages_use_every_probe_once():
    method = fitted(Counting(random_state=0), 20, weighting="weight")
    Counting.calls = 0
    assert len(list(method.staged_predict_proba(CANCER[TEST]))) == 20
    assert Counting.calls == 20


def test_uniform_thresholds_have_no_stages():
    method = fitted(DecisionTreeClassifier(), 4, discretisation="uniform")
    assert not hasattr(method, "staged_predict_proba")
    with pytest.raises(AttributeError) as caught:
        method.staged_predict_proba(CANCER)
    assert str(caught.value.__cause__) == (
        "a grid has other thresholds for each number of probes, so there are no stages"
    )
    assert method.order_.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("point", "certain"), [(-1.0, True), (-0.05, False), (0.05, False), (0.5, True), (0.95, False), (2.0, True)]
)
def test_points_within_the_error_of_a_value_are_uncertain(point, certain):
    for error in (0.1, np.array([0.1, 0.1])):
        assert _LogOdds(np.array([0.0, 1.0]), error).all_on_one_side(point) is certain


def test_missing_log_odds_are_never_certain():
    assert not _LogOdds(np.array([0.0, np.nan]), 0.1).all_on_one_side(0.5)


class FixedMargins:
    def margins(self, classifiers, X):
        return np.array([[0.0, 1.0, -1.0], [2.0, 0.0, 1e-300]]), 0.0


def test_margin_of_exactly_zero_is_no_vote():
    votes = ProbePredictor(FixedMargins(), deduplicate_rows=False).votes
    assert votes([None] * 3, np.ones(3, dtype=bool), np.array([0, 1]), np.zeros((2, 1))).tolist() == [1, 2]
