"""Test boosted stumps and the search for their splits against scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from probcal.papers.kull_silva_filho_flach_2017 import stump_search
from probcal.papers.kull_silva_filho_flach_2017.learners_of_2016 import LogisticSVC
from probcal.papers.kull_silva_filho_flach_2017.stump_boosting import StumpBoosting
from probcal.papers.kull_silva_filho_flach_2017.stump_search import StumpSearch, sweep_by_column

X, Y = load_breast_cancer(return_X_y=True)
KNOWN = {
    "StumpBoosting": {"check_classifier_not_supporting_multiclass": "three classes are refused in words of our own"},
    "LogisticSVC": {
        f"check_sample_weight_equivalence_on_{kind}_data": "nor is scikit-learn's SVC, within its tolerance"
        for kind in ("dense", "sparse")
    },
}
TRAIN, TEST = np.arange(0, len(Y), 2), np.arange(1, len(Y), 2)


@pytest.mark.slow
@parametrize_with_checks(
    [StumpBoosting("real", n_estimators=4), StumpBoosting("discrete", n_estimators=4), LogisticSVC(tol=1e-7)],
    expected_failed_checks=lambda one: KNOWN[type(one).__name__],
)
def test_learners_pass_the_estimator_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_discrete_boosting_equals_scikit_learn():
    ours = StumpBoosting("discrete", n_estimators=30, random_state=0).fit(X[TRAIN], Y[TRAIN])
    theirs = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X[TRAIN], Y[TRAIN])
    scale = theirs.estimator_weights_.sum() / 2  # scikit-learn divides by the sum of weights and adds two classes
    np.testing.assert_allclose(ours.decision_function(X[TEST]), theirs.decision_function(X[TEST]) * scale, atol=1e-10)


def test_real_boosting_follows_the_formulas_of_samme_r():
    # SAMME.R of Zhu, Zou, Rosset & Hastie (2009), Algorithm 4, for two classes
    ours = StumpBoosting("real", n_estimators=8, random_state=3).fit(X[TRAIN], Y[TRAIN])
    weights = np.full(len(TRAIN), 1 / len(TRAIN))
    code = np.where(Y[TRAIN, None] == [0, 1], 1.0, -1.0)
    total = np.zeros((len(TEST), 2))
    random = np.random.RandomState(3)
    for _ in ours.stumps_:
        again = DecisionTreeClassifier(max_depth=1, random_state=random.randint(2**31 - 1))
        again.fit(X[TRAIN], Y[TRAIN], sample_weight=weights)
        log_p = np.log(np.maximum(again.predict_proba(X[TRAIN]), np.finfo(float).eps))
        weights = weights * np.exp(-0.5 * (code * log_p).sum(axis=1))
        weights /= weights.sum()
        log_p = np.log(np.maximum(again.predict_proba(X[TEST]), np.finfo(float).eps))
        total += log_p - log_p.mean(axis=1, keepdims=True)
    p = np.exp(total / len(ours.stumps_))
    np.testing.assert_allclose(ours.predict_proba(X[TEST]), p / p.sum(axis=1, keepdims=True), rtol=1e-9)


def test_discrete_boosting_stops_at_a_stump_without_error():
    rows, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    fitted = StumpBoosting("discrete").fit(rows, labels)
    assert fitted.weights_.tolist() == [2.0]
    assert fitted.decision_function(rows).tolist() == [-2.0, -2.0, 2.0, 2.0]


def test_a_stump_no_better_than_chance_adds_nothing():
    rows, labels = np.zeros((4, 1)), np.array([0, 0, 1, 1])
    assert StumpBoosting("discrete").fit(rows, labels).predict_proba(rows)[:, 1].tolist() == [0.5] * 4


@pytest.mark.parametrize("algorithm", ["discrete", "real"])
def test_a_row_of_weight_two_equals_two_rows(algorithm):
    weights = np.random.default_rng(0).integers(1, 3, len(TRAIN))
    twice = np.repeat(TRAIN, weights)
    weighted = StumpBoosting(algorithm, n_estimators=5, random_state=0).fit(X[TRAIN], Y[TRAIN], weights)
    repeated = StumpBoosting(algorithm, n_estimators=5, random_state=0).fit(X[twice], Y[twice])
    np.testing.assert_allclose(weighted.predict_proba(X[TEST]), repeated.predict_proba(X[TEST]), atol=1e-8)


def table(seed, n_rows=90, n_columns=7, n_values=9):
    """Return rows, classes and weights; the rows have many equal values, a constant column and a copied column."""
    random = np.random.default_rng(seed)
    rows = random.integers(0, n_values, (n_rows, n_columns)).astype(np.float32)
    rows[:, 2], rows[:, 4] = 1.0, rows[:, 0]
    return rows, random.random(n_rows) < 0.2 + 0.06 * rows[:, 1], random.exponential(size=n_rows)


def purity(rows, second, weights, column, limit):
    """Return the sum over both sides of the squared class weights, divided by the weight of the side."""
    found = 0.0
    for side in (rows[:, column] <= limit, rows[:, column] > limit):
        a, b = weights[side & ~second].sum(), weights[side & second].sum()
        found += (a**2 + b**2) / (a + b)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_the_best_split_equals_that_of_a_tree(seed):
    rows, second, weights = table(seed)
    tree = DecisionTreeClassifier(max_depth=1, random_state=seed).fit(rows, second, weights).tree_
    found = StumpSearch(rows, second).best(weights, seed)
    assert found.limit == tree.threshold[0]
    best = purity(rows, second, weights, tree.feature[0], tree.threshold[0])
    assert purity(rows, second, weights, *found) == pytest.approx(best, rel=1e-13)


@pytest.mark.parametrize("seed", range(12))
def test_ties_between_columns_are_drawn_as_in_scikit_learn(seed):
    # equal weights have exact sums, so that equal columns have exactly equal purity
    rows = np.tile(np.arange(8, dtype=np.float32)[:, None], (1, 6))
    rows[:, 1] = 3.0
    second = np.arange(8) > 2
    tree = DecisionTreeClassifier(max_depth=1, random_state=seed).fit(rows, second).tree_
    assert StumpSearch(rows, second).best(np.ones(8), seed) == (tree.feature[0], tree.threshold[0])


def test_rows_of_weight_zero_do_not_move_the_limit():
    rows, second, weights = table(0, n_values=1000)
    weights[::3] = 0.0
    search = StumpSearch(rows, second)
    search.best(np.ones(len(rows)), 0)
    tree = DecisionTreeClassifier(max_depth=1, random_state=1).fit(rows, second, weights).tree_
    assert search.best(weights, 1).limit == tree.threshold[0]


def test_stumps_are_the_same_without_numba(monkeypatch):
    tables = [table(seed) for seed in range(20)]
    before = [StumpSearch(*one[:2]).best(one[2], 0) for one in tables]
    monkeypatch.setattr(stump_search, "_sweep", lambda: sweep_by_column)
    assert [StumpSearch(*one[:2]).best(one[2], 0) for one in tables] == before


def test_constant_columns_and_one_class_have_no_split():
    rows = np.ones((4, 2), dtype=np.float32)
    assert StumpSearch(rows, np.array([True, False, True, False])).best(np.ones(4), 0) is None
    assert StumpSearch(rows.cumsum(axis=0), np.ones(4, bool)).best(np.ones(4), 0) is None
