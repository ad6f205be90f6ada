"""Test the thresholds, votes and probabilities of ProbingClassifier against the slow oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from probcal import ProbingClassifier
from tests.oracles import probing_oracle as oracle
from tests.stubs import Adversarial, Constant, Inconsistent, Memorising, Perfect, Tree

STUBS = {
    "perfect": Perfect(),
    "adversarial": Adversarial(),
    "constant 0": Constant(0),
    "constant 1": Constant(1),
    "inconsistent": Inconsistent(),
    "memorising": Memorising(),
}
UNSEEN = [[0.0], [0.123], [0.5], [0.987], [1.0]]

levels = st.sampled_from([0.0, 0.05, 0.2, 0.25, 0.3, 1 / 3, 0.5, 0.7, 0.75, 0.8, 0.99, 1.0]) | st.floats(0, 1)
variants = st.fixed_dictionaries(
    {
        "n_probes": st.integers(1, 30),
        "loss": st.sampled_from(["log_loss", "squared_error"]),
        "total_weight": st.sampled_from([None, "n"]),
        "discretisation": st.sampled_from(["train", "train", "train", "uniform"]),
    }
)


@st.composite
def problems(draw):
    """Draw (X, y): 2 to 40 rows of one column with 1 to 5 distinct values and both classes."""
    few = draw(st.lists(levels, min_size=1, max_size=5, unique=True))
    rows = draw(st.lists(st.tuples(st.sampled_from(few), st.integers(0, 1)), min_size=0, max_size=38))
    rows += [(few[0], 0), (few[-1], 1)]
    return np.array([[x] for x, _ in rows]), np.array([y for _, y in rows])


def as_learner(stub):
    return lambda X, y, weights: clone(stub).fit(X, np.array(y), np.array(weights)).predict


def assert_same(stub, X, y, X_new, variant):
    expected = oracle.learn(as_learner(stub), X, y.tolist(), **variant)
    fitted = ProbingClassifier(stub, weighting="weight", **variant).fit(X, y)
    np.testing.assert_allclose(fitted.thresholds_, expected.thresholds, rtol=0, atol=1e-12)
    assert len(fitted.estimators_) == len(expected.thresholds)
    for rows in (X, np.asarray(X_new)):
        assert fitted.votes(rows).tolist() == expected.votes(rows)
        np.testing.assert_allclose(fitted.predict_proba(rows)[:, 1], expected.probabilities(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", STUBS)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(problem=problems(), variant=variants)
def test_thresholds_votes_and_probabilities_agree_with_the_oracle(name, problem, variant):
    assert_same(STUBS[name], *problem, UNSEEN, variant)


def test_three_probes_without_positive_votes_agree_with_hand_calculation():
    # All rows stay in the lowest interval. With H the entropy, p = 1 / (1 + exp(H(b) / b)):
    # [0, 1] -> 1/2, [0, 1/2] -> 1/5, and on [0, 1/5] H(.2) / .2 = ln 5 + 4 ln(5/4).
    by_hand = pytest.approx([1 / (1 + 5 * 1.25**4), 0.2, 0.5], abs=1e-15)
    fitted = ProbingClassifier(Constant(0), n_probes=3, weighting="weight").fit([[0.0], [1.0]], [0, 1])
    assert fitted.thresholds_.tolist() == by_hand
    assert oracle.learn(as_learner(Constant(0)), [[0.0], [1.0]], [0, 1], n_probes=3).thresholds == by_hand


@pytest.mark.parametrize("total_weight", [None, "n"])
@pytest.mark.parametrize("loss", ["log_loss", "squared_error"])
def test_weighted_decision_tree_agrees_with_the_oracle(loss, total_weight):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = (rng.random(150) < 1 / (1 + np.exp(-2 * X[:, 0] - X[:, 1]))).astype(int)
    variant = {"n_probes": 30, "loss": loss, "total_weight": total_weight}
    assert_same(Tree(), X[:100], y[:100], X[100:], variant)


@pytest.mark.parametrize("n_probes", [4, 30])
@pytest.mark.parametrize("low", [0.0, 0.25, 0.4])
@pytest.mark.parametrize("loss", ["log_loss", "squared_error"])
def test_equal_gains_choose_the_lowest_interval(loss, low, n_probes):
    # As many rows are below 1/2 as above, so two mirror images have equal gains at every second step.
    X, y = np.array([[low], [1 - low]] * 5), np.array([0, 1] * 5)
    assert_same(Perfect(), X, y, UNSEEN, {"n_probes": n_probes, "loss": loss})


@pytest.mark.parametrize("stub", [Perfect(), Memorising()], ids=["perfect", "memorising"])
@pytest.mark.parametrize("level", [0.25, 0.4, 0.9])
def test_narrow_intervals_are_split_as_by_the_oracle(stub, level):
    # There is one distinct row. After 24 probes the interval around its probability is narrower than 1e-6.
    X, y = np.full((20, 1), level), np.array([0] * 13 + [1] * 7)
    assert_same(stub, X, y, UNSEEN, {"n_probes": 24, "loss": "log_loss"})


@pytest.mark.parametrize("stub", STUBS.values(), ids=STUBS)
@pytest.mark.parametrize("loss", ["log_loss", "squared_error"])
def test_many_probes_have_distinct_thresholds(stub, loss):
    X, y = np.full((8, 1), 0.3), np.array([0, 1] * 4)
    fitted = ProbingClassifier(stub, n_probes=120, loss=loss, weighting="weight").fit(X, y)
    assert len(fitted.thresholds_) == 120
    assert np.all(np.diff([0, *fitted.thresholds_, 1]) > 0)


@pytest.mark.parametrize("discretisation", ["train", "uniform"])
@pytest.mark.parametrize("total_weight", [None, "n"])
def test_learners_get_the_importance_weights_of_their_threshold(total_weight, discretisation):
    X, y = np.array([[0.1], [0.4], [0.4], [0.8]] * 3), np.array([0, 0, 1, 1, 1, 0] * 2)
    variant = {"n_probes": 12, "total_weight": total_weight, "discretisation": discretisation}
    fitted = ProbingClassifier(Memorising(), weighting="weight", **variant).fit(X, y)
    for p, stub in zip(fitted.thresholds_, fitted.estimators_, strict=True):
        expected = oracle.importances(float(p), y.tolist(), total_weight)
        np.testing.assert_allclose(stub.weights_, expected, rtol=1e-12)
