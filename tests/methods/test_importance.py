"""Test importance weights and rejection sampling against their formulas and frequencies."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from probcal.methods.probing import importance_weights, rejection_sample

pytestmark = pytest.mark.filterwarnings("error")
DRAWS = 4000


def test_weights_agree_with_the_printed_formula():
    # p = 1/5: (1 - p) / p = 4 for positive rows
    assert importance_weights(np.array([True, False, True]), 0.2).tolist() == [4, 1, 4]
    assert importance_weights(np.array([True, False, True]), 0.75) == pytest.approx([1 / 3, 1, 1 / 3])


def test_total_weight_n_scales_the_sum_to_n_rows():
    # 4 1 4 has the sum 9, so each weight is divided by 3
    found = importance_weights(np.array([True, False, True]), 0.2, total_weight="n")
    assert found == pytest.approx([4 / 3, 1 / 3, 4 / 3])


counts = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(any), min_size=1, max_size=4)


@pytest.mark.parametrize("total_weight", [None, "n"])
@settings(max_examples=150, deadline=None, derandomize=True)
@given(counts, st.floats(0.01, 0.99))
def test_best_weighted_classifier_predicts_whether_probability_exceeds_p(total_weight, counts, p):
    # counts: positive and negative rows at each of up to four x; the classifiers are all functions of x
    rates = [ones / (ones + zeros) for ones, zeros in counts]
    assume(all(abs(rate - p) > 1e-6 for rate in rates))  # at p itself both predictions are best
    x = np.repeat(np.arange(len(counts)), [sum(one) for one in counts])
    positive = np.concatenate([[True] * ones + [False] * zeros for ones, zeros in counts])
    weights = importance_weights(positive, p, total_weight)

    def loss(says_one):
        return weights[np.array(says_one)[x] != positive].sum()

    best = min(itertools.product([False, True], repeat=len(counts)), key=loss)
    assert best == tuple(rate > p for rate in rates)


def acceptance(weights):
    """Return how often each row is in a rejection sample."""
    random = np.random.default_rng(0)
    return np.bincount(
        np.concatenate([rejection_sample(weights, random) for _ in range(DRAWS)]), minlength=len(weights)
    ) / DRAWS  # fmt: skip


def test_acceptance_probability_is_weight_over_largest_weight():
    weights = np.array([4.0, 1.0, 2.0, 0.4])
    chance = weights / 4
    deviation = np.sqrt(chance * (1 - chance) / DRAWS)
    assert np.all(np.abs(acceptance(weights) - chance) <= 4.5 * deviation)


def test_row_without_weight_is_never_accepted():
    assert acceptance(np.array([0.0, 1.0])).tolist() == [0, 1]


def test_sample_has_distinct_rows_in_their_order():
    rows = rejection_sample(np.linspace(0.1, 1, 500), np.random.default_rng(0))
    assert np.all(np.diff(rows) > 0)
    assert 0 < len(rows) < 500
