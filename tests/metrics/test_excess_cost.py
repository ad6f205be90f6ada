"""Test the bound on the excess cost of decisions: its lemma by exact enumeration, and its confidence by simulation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probcal.metrics import empirical_calibration_error, excess_cost_bound

LEVELS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(1, 9)), min_size=1, max_size=6)


def cost(mass, truth, positive, a, b):
    return float(np.sum(mass * np.where(positive, a * (1 - truth), b * truth)))


def limit_of_c(p, mass, truth):
    """Return c(f): the largest absolute sum of mass (truth - p) over neighbouring levels."""
    sums = np.append(0, np.cumsum(mass * (truth - p)))
    return sums.max() - sums.min()


@given(LEVELS, st.floats(0.05, 20), st.floats(0.05, 20))
def test_excess_over_any_rule_is_within_the_lemma(levels, a, b):
    levels = sorted({p: (p, truth, weight) for p, truth, weight in levels}.values())
    p, truth, weight = np.array(levels).T
    mass = weight / weight.sum()
    own = p >= a / (a + b)
    c = limit_of_c(p, mass, truth)
    for other in product([False, True], repeat=len(p)):
        differs = own != np.array(other)
        # decisions change between two intervals, and at the threshold: the sign of the difference changes there
        signs = np.where(differs, np.where(own, 1, -1), 0)
        n_intervals = np.count_nonzero((signs != 0) & (signs != np.append(0, signs[:-1])))
        excess = cost(mass, truth, own, a, b) - cost(mass, truth, np.array(other), a, b)
        assert excess <= n_intervals * (a + b) * c + 1e-9


def test_lemma_is_tight():
    # all rows are predicted just above t, and all are negative: the excess is nearly (a + b) c
    a, b = 1.0, 9.0
    p, mass, truth = np.array([0.1]), np.array([1.0]), np.array([0.0])
    excess = cost(mass, truth, np.array([True]), a, b) - cost(mass, truth, np.array([False]), a, b)
    assert excess == pytest.approx((a + b) * limit_of_c(p, mass, truth))


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("true", [lambda p: p, lambda p: p**2, lambda p: 0.3 * p])
def test_bound_fails_less_often_than_delta(finite, true):
    rng = np.random.default_rng(0)
    a, b, fails = 1.0, 4.0, 0
    grid = (np.arange(100_000) + 0.5) / 100_000
    costs = [np.where(grid >= s, a * (1 - true(grid)), b * true(grid)).mean() for s in np.linspace(0, 1, 101)]
    excess = costs[20] - min(costs)  # t = .2
    for _ in range(300):
        p = rng.random(400)
        fails += excess_cost_bound(rng.random(400) < true(p), p, a, b, delta=0.2, finite=finite) < excess
    assert fails <= 77  # 60 expected at most; more has a probability below .01


def test_bound_is_the_sum_of_both_parts():
    p = np.array([0.2, 0.7, 0.9, 0.4] * 100)
    y = np.array([0, 1, 1, 0] * 100)
    expected = 5 * (empirical_calibration_error(y, p) + np.sqrt(8 * np.log(2 / 0.05) / 400))
    assert excess_cost_bound(y, p, 1, 4, finite=True) == pytest.approx(expected)
    assert excess_cost_bound(y, p, 1, 4, n_intervals=2) == pytest.approx(2 * excess_cost_bound(y, p, 1, 4))
    assert excess_cost_bound(y[:2], p[:2], 1, 4) == 4  # no decision can cost more


def test_few_positive_rows_use_the_bound_for_any_number_of_rows():
    p, y = np.full(200, 0.001), np.arange(200) < 1
    expected = 201 * (empirical_calibration_error(y, p) + np.sqrt(8 * np.log(2 / 0.05) / 200))
    assert excess_cost_bound(y, p, 1, 200) == pytest.approx(min(expected, 200))


@pytest.mark.parametrize(("costs", "word"), [((0, 1), "false_positive"), ((1, np.inf), "false_negative")])
def test_costs_must_be_positive(costs, word):
    with pytest.raises(ValueError, match=f"{word} must be a finite number above 0"):
        excess_cost_bound([0, 1], [0.1, 0.9], *costs)
    with pytest.raises(ValueError, match="n_intervals must be a whole number from 1, not 0"):
        excess_cost_bound([0, 1], [0.1, 0.9], 1, 1, n_intervals=0)
