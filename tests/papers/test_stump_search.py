"""Test the search for a stump against scikit-learn's trees of depth 1."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from probcal.papers.kull_silva_filho_flach_2017 import stump_search
from probcal.papers.kull_silva_filho_flach_2017.stump_search import StumpSearch, sweep_by_column


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


@pytest.mark.parametrize("seed", range(30))
def test_the_best_split_equals_that_of_a_tree(seed):
    rows, second, weights = table(seed)
    tree = DecisionTreeClassifier(max_depth=1, random_state=seed).fit(rows, second, weights).tree_
    found = StumpSearch(rows, second).best(weights, seed)
    assert found.limit == tree.threshold[0]
    best = purity(rows, second, weights, tree.feature[0], tree.threshold[0])
    assert purity(rows, second, weights, *found) == pytest.approx(best, rel=1e-13)


@pytest.mark.parametrize("seed", range(30))
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
