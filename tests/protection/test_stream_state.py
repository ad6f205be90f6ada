"""Test the state of a stream: labels that arrive, saved numbers, and the capital at the start of each block."""

import math

import numpy as np
import pytest

from probcal.protection.stream_input import number
from probcal.protection.stream_state import Feedback, _starts


@pytest.mark.parametrize("n_blocks", range(1, 12))
def test_block_starts_equal_sequential_products(n_blocks):
    random = np.random.default_rng(n_blocks)
    matrices, start = random.uniform(0.1, 1, (n_blocks, 3, 3)), np.array([0.2, 0.3, 0.5])
    expected, capital = [start], start
    for matrix in matrices[:-1]:
        capital = matrix @ capital
        expected.append(capital / capital.sum())
    np.testing.assert_allclose(_starts(start, matrices), np.array(expected).T, rtol=1e-12)


@pytest.mark.parametrize("every", [1, 2, 3])
def test_every_k_th_row_gets_a_label_at_once(every):
    base = np.linspace(0.1, 0.7, 7)
    found = Feedback().arrivals(base[:, np.newaxis], base, 0, every)
    assert found.labelled.tolist() == [row % every == 0 for row in range(7)]
    assert found.base.tolist() == base[::every].tolist()


def test_likelihoods_rounded_above_1_can_be_restored():
    feedback = Feedback()
    feedback.arrivals(np.array([[0.5, 1.0 + 1e-12]]), np.array([1.0]), 3, 1)
    assert Feedback.from_state(feedback.state(), 2).state() == feedback.state()


def test_message_names_the_range_only_where_there_is_one():
    with pytest.raises(ValueError, match=r"^x must be a finite number, not nan$"):
        number(math.nan, "x", -math.inf, math.inf)
    with pytest.raises(ValueError, match=r"^x must be a finite number within \[0, 1\], not 2$"):
        number(2, "x", 0, 1)
