"""Claims 3 and 5 of Gao, Parameswaran & Peng (2017): isotonic regression and the calibration error.

tests/methods/test_isotonic.py has the same of weighted rows, and the algorithm itself.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from probcal import IsotonicClassifier
from probcal.methods.calibrators.isotonic import fit_isotonic
from probcal.metrics import empirical_calibration_error, expected_cost
from tests.methods.calibrating import Given

ROUNDING = 1e-12
PARAMETERS = np.append(np.linspace(0, 1, 21), [1 / 3, 2 / 3])
few_or_many = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.75, 1.0]) | st.floats(0, 1)
rows = st.lists(st.tuples(few_or_many, st.booleans()), min_size=2, max_size=40).filter(
    lambda rows: len({y for _, y in rows}) == 2
)
quick = settings(max_examples=150, deadline=None, derandomize=True)


def calibrated(f0, y):
    """The estimates of the rows that it was fitted on, by the classifier."""
    X = np.column_stack([f0, 1 - f0, f0])
    method = IsotonicClassifier(Given(), scores="probability", calibration="train", clip=(0, 1))
    return method.fit(X, y).predict_proba(X)[:, 1]


@quick
@given(rows)
def test_claim_5_the_calibration_error_on_the_rows_of_the_fit_is_0(rows):
    f0, y = (np.array(column) for column in zip(*rows, strict=True))
    g = calibrated(f0, y)
    assert empirical_calibration_error(y, g) < ROUNDING
    # 0 exactly and not only nearly: of the rows of one estimate, that estimate is the share of positives
    assert all(abs(y[g == one].mean() - one) <= np.spacing(one) for one in np.unique(g))


@quick
@given(rows, st.floats(0, 1))
def test_claim_5_no_loss_parameter_has_a_larger_cost_after_than_before(rows, parameter):
    f0, y = (np.array(column) for column in zip(*rows, strict=True))
    g = calibrated(f0, y)
    for one in (parameter, *PARAMETERS, *f0, *g):
        assert expected_cost(y, g, one) <= expected_cost(y, f0, one) + ROUNDING


@quick
@given(rows)
def test_claim_5_nor_with_the_papers_rule_that_takes_an_estimate_of_p_for_a_negative(rows):
    f0, y = (np.array(column) for column in zip(*rows, strict=True))
    g = calibrated(f0, y)

    def loss(estimate, p):
        return np.mean((1 - p) * (y & (estimate <= p)) + p * (~y & (estimate > p)))

    for one in (*PARAMETERS, *f0, *g):
        assert loss(g, one) <= loss(f0, one) + ROUNDING


@pytest.mark.parametrize("learner", [GaussianNB(), LogisticRegression(max_iter=5000)], ids=["bayes", "logistic"])
def test_claim_5_on_a_real_table(learner):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, [1, 4, 8]]  # columns that leave doubt
    before = learner.fit(X, y).predict_proba(X)[:, 1]
    method = IsotonicClassifier(learner, scores="probability", calibration="train", clip=(0, 1))
    after = method.fit(X, y).predict_proba(X)[:, 1]
    assert empirical_calibration_error(y, after) < ROUNDING < 0.005 < empirical_calibration_error(y, before)
    costs = np.array([[expected_cost(y, p, one) for p in (before, after)] for one in np.linspace(0, 1, 201)])
    assert (costs[:, 1] <= costs[:, 0] + ROUNDING).all()
    assert costs[:, 1].sum() < 0.99 * costs[:, 0].sum()


def worst_sum(y, z):
    """The objective of Claim 3, word for word: max over a < b of |sum over a < i <= b of (y_i - z_i)|."""
    return max(abs(np.sum((y - z)[a:b])) for a, b in combinations(range(len(y) + 1), 2))


def least_worst_sum(y):
    """The least that any 0 <= z_1 <= ... <= z_n <= 1 can reach: min t where every sum is within [-t, t]."""
    n = len(y)
    pairs = list(combinations(range(n + 1), 2))
    sums = np.array([[a <= i < b for i in range(n)] for a, b in pairs], dtype=float)
    labels, minus_t = sums @ y, -np.ones((len(pairs), 1))
    rising = np.hstack([np.eye(n - 1, n) - np.eye(n - 1, n, k=1), np.zeros((n - 1, 1))])
    found = linprog(
        c=[0] * n + [1],
        A_ub=np.vstack([np.hstack([sums, minus_t]), np.hstack([-sums, minus_t]), rising]),
        b_ub=np.concatenate([labels, -labels, np.zeros(n - 1)]),
        bounds=[(0, 1)] * n + [(0, None)],
    )
    assert found.success
    return found.fun


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.booleans(), min_size=2, max_size=14))
def test_claim_3_no_nondecreasing_function_has_a_smaller_worst_sum(labels):
    y = np.array(labels, dtype=float)
    z = np.interp(np.arange(len(y)), *fit_isotonic(np.arange(len(y), dtype=float), y == 1))
    assert worst_sum(y, z) == pytest.approx(least_worst_sum(y), abs=1e-8)


def test_claim_3_of_labels_that_fall_is_worked_by_hand():
    # 1 1 0 0 and z rising: the first two are at least 2 - 2 z_2 off, the last two at least 2 z_3 >= 2 z_2, so that one
    # of them is at least 1 off; the isotonic 1/2 1/2 1/2 1/2 is no farther
    y = np.array([1.0, 1, 0, 0])
    assert worst_sum(y, np.full(4, 0.5)) == 1 == pytest.approx(least_worst_sum(y), abs=1e-9)
    assert worst_sum(y, np.zeros(4)) == 2


def test_claim_3_other_functions_can_be_as_good():
    # 1 0 1 1: the isotonic 1/2 1/2 1 1 has sums of at most 1/2, and .9 for its first 1 adds only sums of .1 and .4
    y = np.array([1.0, 0, 1, 1])
    assert worst_sum(y, np.array([0.5, 0.5, 1, 1])) == 0.5 == pytest.approx(least_worst_sum(y), abs=1e-9)
    assert worst_sum(y, np.array([0.5, 0.5, 0.9, 1])) == pytest.approx(0.5)
