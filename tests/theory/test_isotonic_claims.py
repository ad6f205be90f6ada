"""Test what papers claim: Gao et al. (2017) on isotonic regression, Nalbantov & Ivanov (2019) on surfaces."""

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
from sklearn.tree import DecisionTreeClassifier

from probcal import IsotonicClassifier, WeightSweepClassifier
from probcal.data.card import find_card, read_card
from probcal.data.dataset import generated
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
    """Return the classifier's predictions for the rows of its fit."""
    X = np.column_stack([f0, 1 - f0, f0])
    method = IsotonicClassifier(Given(), scores="probability", calibration="train", clip=(0, 1))
    return method.fit(X, y).predict_proba(X)[:, 1]


@quick
@given(rows)
def test_claim_5_calibration_error_on_fitted_rows_is_zero(rows):
    f0, y = (np.array(column) for column in zip(*rows, strict=True))
    g = calibrated(f0, y)
    assert empirical_calibration_error(y, g) < ROUNDING
    # The error is exactly 0: each prediction is the share of positives among its rows.
    assert all(abs(y[g == one].mean() - one) <= np.spacing(one) for one in np.unique(g))


@quick
@given(rows, st.floats(0, 1))
def test_claim_5_calibration_increases_no_expected_cost(rows, parameter):
    f0, y = (np.array(column) for column in zip(*rows, strict=True))
    g = calibrated(f0, y)
    for one in (parameter, *PARAMETERS, *f0, *g):
        assert expected_cost(y, g, one) <= expected_cost(y, f0, one) + ROUNDING


@quick
@given(rows)
def test_claim_5_holds_with_the_papers_decision_rule(rows):
    f0, y = (np.array(column) for column in zip(*rows, strict=True))
    g = calibrated(f0, y)

    def loss(estimate, p):
        return np.mean((1 - p) * (y & (estimate <= p)) + p * (~y & (estimate > p)))

    for one in (*PARAMETERS, *f0, *g):
        assert loss(g, one) <= loss(f0, one) + ROUNDING


@pytest.mark.parametrize("learner", [GaussianNB(), LogisticRegression(max_iter=5000)], ids=["bayes", "logistic"])
def test_claim_5_holds_on_breast_cancer_data(learner):
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, [1, 4, 8]]  # columns that do not separate the classes
    before = learner.fit(X, y).predict_proba(X)[:, 1]
    method = IsotonicClassifier(learner, scores="probability", calibration="train", clip=(0, 1))
    after = method.fit(X, y).predict_proba(X)[:, 1]
    assert empirical_calibration_error(y, after) < ROUNDING < 0.005 < empirical_calibration_error(y, before)
    costs = np.array([[expected_cost(y, p, one) for p in (before, after)] for one in np.linspace(0, 1, 201)])
    assert (costs[:, 1] <= costs[:, 0] + ROUNDING).all()
    assert costs[:, 1].sum() < 0.99 * costs[:, 0].sum()


def worst_sum(y, z):
    """Return the objective of Claim 3: the maximum over a < b of |sum over a < i <= b of (y_i - z_i)|."""
    return max(abs(np.sum((y - z)[a:b])) for a, b in combinations(range(len(y) + 1), 2))


def least_worst_sum(y):
    """Return the least objective of all 0 <= z_1 <= ... <= z_n <= 1: the min t with every sum within [-t, t]."""
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
    # Section 3.2.3: the objective is an upper bound on n c_emp for every rising g.
    for g in (z, np.sqrt(z), np.sort(y)):
        assert len(y) * empirical_calibration_error(y, g) <= worst_sum(y, g) + ROUNDING


def test_claim_3_matches_hand_calculation_for_falling_labels():
    # Labels 1 1 0 0 and rising z: the first two sum to at least 2 - 2 z_2, and the last two to at least
    # 2 z_3 >= 2 z_2. So one of these sums is at least 1. The isotonic 1/2 1/2 1/2 1/2 reaches 1.
    y = np.array([1.0, 1, 0, 0])
    assert worst_sum(y, np.full(4, 0.5)) == 1 == pytest.approx(least_worst_sum(y), abs=1e-9)
    assert worst_sum(y, np.zeros(4)) == 2


def test_claim_3_other_functions_can_be_as_good():
    # Labels 1 0 1 1: the isotonic 1/2 1/2 1 1 has sums of at most 1/2. With .9 for its first 1, the only new sums
    # are .1 and .4.
    y = np.array([1.0, 0, 1, 1])
    assert worst_sum(y, np.array([0.5, 0.5, 1, 1])) == 0.5 == pytest.approx(least_worst_sum(y), abs=1e-9)
    assert worst_sum(y, np.array([0.5, 0.5, 0.9, 1])) == pytest.approx(0.5)


def test_surfaces_of_a_tree_coincide_in_part():
    # Section 3 about Figure 4: the same splits occur again at other levels.
    draw = generated(read_card(find_card("gaussians-250")), 0)
    tree = DecisionTreeClassifier(ccp_alpha=0.0015, random_state=0)
    sweep = WeightSweepClassifier(tree, [0.25, 0.3, 0.35], random_state=0).fit(draw.X[:500], draw.y[:500])
    splits = [
        {(feature, round(at, 9)) for feature, at in zip(one.tree_.feature, one.tree_.threshold, strict=True)}
        - {(-2, -2.0)}
        for one in sweep.estimators_
    ]
    assert splits[0] & splits[1] and splits[1] & splits[2] and splits[0] != splits[1]


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_surface_follows_bayes_rule_not_the_printed_equation(level):
    # This is the true posterior along the surface of logistic regression. The printed equation 5 gives 1 - level.
    draw = generated(read_card(find_card("gaussians-4000")), 0)
    sweep = WeightSweepClassifier(LogisticRegression(C=1e8), [level], random_state=0).fit(draw.X[:8000], draw.y[:8000])
    [line] = sweep.curves(draw.X[8000:])["iso_probability"]
    x, y = (np.interp(np.linspace(0.3, 0.7, 5), [0, 1], line[k]) for k in "xy")
    assert 1 / (1 + np.exp(-(x + 2 * y))) == pytest.approx(np.full(5, level), abs=0.04)
