"""Test the capital at the start of each block against the blocks one after the other."""

import numpy as np
import pytest

from probcal.protection.stream_state import _starts


@pytest.mark.parametrize("n_blocks", range(1, 12))
def test_block_starts_equal_sequential_products(n_blocks):
    random = np.random.default_rng(n_blocks)
    matrices, start = random.uniform(0.1, 1, (n_blocks, 3, 3)), np.array([0.2, 0.3, 0.5])
    expected, capital = [start], start
    for matrix in matrices[:-1]:
        capital = matrix @ capital
        expected.append(capital / capital.sum())
    np.testing.assert_allclose(_starts(start, matrices), np.array(expected).T, rtol=1e-12)
