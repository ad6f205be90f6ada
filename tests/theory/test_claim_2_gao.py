"""Test Claim 2 of Gao, Parameswaran & Peng (2017): Theorem 2 bounds nothing for scores that can memorise.

F = {1 / (1 + exp(a w.x + b)): |w| <= B, a and b any}. For n < d linearly independent rows, R_D(H) = 1/2.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import expit

from probcal.metrics import empirical_calibration_error
from tests.theory.complexities import intervals, rademacher

B = 2.0


def independent_rows(n, d, seed=0):
    """Return n rows of norm 1 or less in d dimensions."""
    rows = np.random.default_rng(seed).normal(size=(n, d))
    return rows / np.linalg.norm(rows, axis=1).max()


def member_of_f(X, signs, scale):
    """Return the predictions of the f in F with exponent -``scale`` times the ``signs``, built as in the proof."""
    w, *_ = np.linalg.lstsq(X, signs, rcond=None)
    norm = np.linalg.norm(w)
    a, b = -scale * norm / B, 0.0
    return expit(-(a * (X @ (B * w / norm)) + b))


@pytest.mark.parametrize("n", [1, 2, 4, 7, 9])
def test_claim_2_fewer_rows_than_dimensions_have_complexity_one_half(n):
    X = independent_rows(n, n + 1)
    assert np.linalg.matrix_rank(X) == n
    patterns = []
    for signs in product((-1, 1), repeat=n):
        patterns.append(member_of_f(X, np.array(signs), scale=3) > 0.5)
        assert patterns[-1].tolist() == [one == 1 for one in signs]
    # No set of rows sums to more than the number of positive signs. Its mean is n/2, so 1/2 is the maximum.
    assert rademacher(patterns) == 0.5


@pytest.mark.parametrize("n", [2, 7, 40])
def test_claim_2_members_fit_the_labels_and_their_opposites(n):
    X = independent_rows(n, n + 1)
    y = np.random.default_rng(n).random(n) < 0.5
    y[0] = True
    signs = np.where(y, 1.0, -1.0)
    assert empirical_calibration_error(y, member_of_f(X, signs, scale=60)) < 1e-12
    # Rows predicted as 0 have label 1, so the sum over these rows is their number.
    contrary = empirical_calibration_error(y, member_of_f(X, -signs, scale=60))
    assert contrary == pytest.approx(max(y.mean(), 1 - y.mean()), abs=1e-12)


def test_complexity_in_one_dimension_falls_with_rows():
    # For d = 1, H holds only intervals. Two rows can be memorised. Of three rows, + - + cannot: the best sum is 1, not
    # 2. So the mean sum is (0 + 1 + 1 + 1 + 2 + 2 + 1 + 3) / 8 = 11/8, over 3 rows.
    found = [rademacher(intervals(expit(np.arange(n)))) for n in range(1, 11)]
    assert found[:3] == pytest.approx([1 / 2, 1 / 2, 11 / 24], rel=1e-12)
    assert (np.diff(found[1:]) < 0).all()
