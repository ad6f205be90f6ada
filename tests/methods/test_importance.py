"""Test importance weights and rejection sampling against their formulas and frequencies."""

import numpy as np
import pytest

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
