"""Test isotonic regression of old versions of scikit-learn."""

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from probcal.papers.kull_silva_filho_flach_2017.learners_of_2016 import legacy_isotonic

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("spline", [True, False])
def test_distinct_scores_agree_with_current_isotonic_regression(spline):
    p, y, asked = RANDOM.random(80), RANDOM.integers(0, 2, 80), RANDOM.random(50)
    expected = IsotonicRegression(out_of_bounds="clip").fit(p, y).predict(asked)
    np.testing.assert_allclose(legacy_isotonic(p, y, spline)(asked), expected, atol=1e-12)


def test_tied_rows_count_as_one_row():
    # the three rows of score 0.2 have mean 1, and violate the order with the row of score 0.8
    p, y = np.array([0.2, 0.2, 0.2, 0.8]), np.array([1, 1, 1, 0])
    assert legacy_isotonic(p, y, spline=False)(np.array([0.5])).tolist() == [0.5]


def test_scores_that_differ_in_the_last_bit_are_distinct():
    p = np.array([0.5, np.nextafter(0.5, 1)])
    assert legacy_isotonic(p, np.array([0, 1]), spline=False)(p).tolist() == [0, 1]


def test_spline_is_one_half_between_denormal_scores():
    p = np.array([0.0, 5e-324, 0.5])
    assert legacy_isotonic(p, np.array([0, 1, 1]), spline=True)(p).tolist() == [0.5, 1, 1]
    assert legacy_isotonic(p, np.array([0, 1, 1]), spline=False)(p).tolist() == [0, 1, 1]


@pytest.mark.parametrize("spline", [True, False])
def test_one_score_gives_the_base_rate(spline):
    p = np.full(4, 0.3)
    assert legacy_isotonic(p, np.array([0, 1, 1, 1]), spline)(np.array([0.1, 0.9])).tolist() == [0.75, 0.75]
