"""Test the coupling of class pairs against slow oracles and consistent pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from probcal import WeightSweepClassifier
from probcal.methods._multiclass import class_pairs, couple_pairs
from tests.stubs import Stub

quick = settings(max_examples=60, deadline=None, derandomize=True)


def ratios(k):
    return arrays(float, (k * (k - 1) // 2,), elements=st.floats(0.025, 0.975))


def square_table(estimates, k):
    """Return r_ij of the paper, the predicted probability of i given i or j."""
    r = np.zeros((k, k))
    for (i, j), of_second in zip(combinations(range(k), 2), estimates, strict=True):
        r[j, i], r[i, j] = of_second, 1 - of_second
    return r


def by_descent(r):
    """Run Algorithm 2 of Wu, Lin & Weng (2004), as LIBSVM's multiclass_probability, until nothing changes."""
    k = len(r)
    Q = np.array([[sum(r[s, i] ** 2 for s in range(k) if s != i) if i == j else -r[j, i] * r[i, j]
                   for j in range(k)] for i in range(k)])  # fmt: skip
    p = np.full(k, 1 / k)
    for _ in range(20_000):
        before = p.copy()
        for t in range(k):
            rest = Q[t] @ p - Q[t, t] * p[t]
            p[t] = (p @ Q @ p - rest) / Q[t, t]
            p = p / p.sum()
        if np.abs(p - before).max() < 1e-15:
            break
    return p


@quick
@given(st.integers(3, 6).flatmap(ratios))
def test_coupled_probabilities_agree_with_the_algorithm_of_libsvm(estimates):
    k = round((1 + np.sqrt(1 + 8 * len(estimates))) / 2)
    (p,) = couple_pairs([np.array([one]) for one in estimates], k)
    assert p == pytest.approx(by_descent(square_table(estimates, k)), abs=1e-8)


def test_pairs_are_in_the_order_of_classes():
    pairs = class_pairs(np.array(["c", "a", "b", "a"]), np.array(["a", "b", "c"]))
    assert [(rows.tolist(), two.tolist()) for rows, two in pairs] == [
        ([1, 2, 3], ["a", "b"]), ([0, 1, 3], ["a", "c"]), ([0, 2], ["b", "c"]),
    ]  # fmt: skip


def test_pair_equals_the_sweep_of_its_two_classes():
    X, y = load_iris(return_X_y=True)
    pairs = WeightSweepClassifier(LogisticRegression(), multiclass="pairs").fit(X, y)
    alone = WeightSweepClassifier(LogisticRegression()).fit(X[y != 1], y[y != 1])
    assert np.array_equal(pairs.votes(X)[:, 1], alone.votes(X))
    assert pairs.votes(X).shape == (150, 3)
    assert len(pairs.monotonicity(X)) == 3


def test_two_classes_are_one_pair():
    X, y = load_iris(return_X_y=True)
    both = [
        WeightSweepClassifier(LogisticRegression(), multiclass=way).fit(X, y == 1).predict_proba(X)
        for way in ("rest", "pairs")
    ]
    assert np.array_equal(*both)


def test_classes_without_weight_are_rejected():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="class 0 has no row of positive weight"):
        WeightSweepClassifier(LogisticRegression(), multiclass="pairs").fit(X, y, (y == 2).astype(float))


class NoThird(Stub):
    """Raise an error for the third class."""

    def __init__(self, error=ValueError):
        self.error = error

    def fit(self, X, y, sample_weight=None):
        if "c" in y:
            raise self.error("that is too hard")
        return super().fit(X, y, sample_weight)

    def answer(self, x):
        return 1


def test_error_of_a_learner_names_the_pair():
    X, y = np.zeros((30, 1)), np.repeat(["a", "b", "c"], 10)
    with pytest.raises(ValueError, match=r"^in the pair of classes 'a' and 'c': that is too hard"):
        WeightSweepClassifier(NoThird(), multiclass="pairs").fit(X, y)
    with pytest.raises(RuntimeError, match=r"^that is too hard") as caught:
        WeightSweepClassifier(NoThird(RuntimeError), multiclass="pairs").fit(X, y)
    assert caught.value.__notes__ == ["in the pair of classes 'a' and 'c'"]


def test_error_outside_pairs_is_unchanged():
    with pytest.raises(ValueError, match=r"^that is too hard"):
        WeightSweepClassifier(NoThird()).fit(np.zeros((20, 1)), np.repeat(["a", "c"], 10))
