"""Test the bins of equal mass of reliability diagrams, their intervals and their numbers of distinct rows."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.reporting.prediction_curves import appearances, reliability
from probcal.store.folder import CellResult
from probcal.store.stored_experiment import Row
from tests.reporting.small_estimates import estimates

many = settings(derandomize=True, deadline=None, max_examples=150)
TIED = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=1, max_size=60)


def slow_bins(y, p, bins):
    """Return [(mean, n, positive)], row by row. A row's place is the middle of all rows with its prediction."""
    found = {}
    for label, estimate in zip(y, p, strict=True):
        below, equal = sum(one < estimate for one in p), sum(one == estimate for one in p)
        number = math.floor((below + Fraction(equal, 2)) * bins / len(p))
        found.setdefault(number, []).append((label, estimate))
    return [
        (sum(p for _, p in rows) / len(rows), len(rows), sum(y for y, _ in rows)) for _, rows in sorted(found.items())
    ]


@many
@given(rows=TIED, bins=st.integers(1, 12))
def test_bins_match_a_slow_reference(rows, bins):
    y, p = [y for y, _ in rows], [p / 6 for _, p in rows]
    found = reliability(estimates(y, p), bins)
    assert [*zip(found.mean, found.counts, found.positive, strict=True)] == [
        (pytest.approx(mean), n, positive) for mean, n, positive in slow_bins(y, p, bins)
    ]


@many
@given(rows=TIED, bins=st.integers(1, 12))
def test_equal_predictions_are_never_in_two_bins(rows, bins):
    y, p = zip(*rows, strict=True)
    found = reliability(estimates(y, np.divide(p, 6)), bins)
    sizes = [p.count(value) for value in sorted(set(p))]
    ends = {sum(sizes[:number]) for number in range(len(sizes) + 1)}
    assert set(np.cumsum(found.counts).tolist()) <= ends
    assert sum(found.counts) == len(rows) and sum(found.positive) == sum(y)


@many
@given(n=st.integers(1, 200), bins=st.integers(1, 12))
def test_bin_sizes_without_ties_differ_by_at_most_one(n, bins):
    p = np.random.default_rng(n).permutation(n) / n
    counts = reliability(estimates(np.zeros(n), p), bins).counts
    assert max(counts) - min(counts) <= 1 and len(counts) == min(n, bins)


def test_half_of_the_rows_at_zero_are_one_bin():
    y, p = [0] * 4 + [1] + [0, 1, 1, 1, 1], [0.0] * 5 + [0.5, 0.6, 0.7, 0.8, 0.9]
    found = reliability(estimates(y, p), 5)
    # The middle of the five ties is row 2.5 of 10, which is in the second fifth. So the first fifth has no row.
    assert found.counts == (5, 1, 2, 2) and found.positive == (1, 0, 2, 2)
    assert found.mean == pytest.approx([0.0, 0.5, 0.65, 0.85])
    assert found.observed == pytest.approx([0.2, 0.0, 1.0, 1.0])


def test_rows_tested_four_times_count_as_a_quarter():
    y, p = [0, 1] * 50, [0.5] * 100
    once, four = reliability(estimates(y[:25], p[:25]), 1), reliability(estimates(y, p, appearances=4.0), 1)
    assert four.n == once.n == 25
    assert four.high - four.low == pytest.approx(once.high - once.low, abs=1e-3)
    assert four.counts == (100,)


def expected_appearances(n, share):
    """Return the mean of a binomial number that is not 0, term by term."""
    chances = [math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)]
    return sum(k * chance for k, chance in enumerate(chances)) / sum(chances[1:])


@pytest.mark.parametrize("n", [1, 2, 10, 30])
def test_appearances_equal_the_mean_of_a_positive_binomial(n):
    cell = CellResult("wine", 0, "nb", "direct", "done", "run1", 1.0, n_train=66, n_test=34)
    row = Row(name="wine", title="Wine", split="holdout")
    assert appearances(row, cell, n) == pytest.approx(expected_appearances(n, 0.34))
    assert appearances(row, cell, 1) == pytest.approx(1)


@pytest.mark.parametrize("n_splits", [1, 10, 30])
def test_95_percent_of_intervals_hold_the_mean_prediction(n_splits):
    rng, share, n = np.random.default_rng(0), 0.34, 600
    held = []
    for _ in range(100):
        truth = rng.beta(0.7, 1.2, n)
        y = rng.random(n) < truth
        rows = np.concatenate([rng.permutation(n)[: round(share * n)] for _ in range(n_splits)])
        found = reliability(estimates(y[rows], truth[rows], expected_appearances(n_splits, share)))
        held += ((found.low <= found.mean) & (found.mean <= found.high)).tolist()
    assert np.mean(held) == pytest.approx(0.95, abs=0.03)  # counting rows as often as tested gives .68 and .44


def test_appearances_depend_on_fixed_or_drawn_rows():
    cell = CellResult("wine", 0, "nb", "direct", "done", "run1", 1.0, n_train=66, n_test=34)
    assert appearances(Row(name="wine", title="Wine", split="standard"), cell, 5) == 5
    assert appearances(Row(name="wine", title="Wine", split="standard", drawn=True), cell, 5) == 1
