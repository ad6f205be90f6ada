"""Test Wilcoxon's signed-rank test and Holm's correction against hand calculations and scipy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from probcal.analysis.hypothesis_tests import holm, wilcoxon_tests
from tests.reporting.comparison.test_ranks import TABLE_6


def wilcoxon(differences):
    """Return the p-value of one row of differences."""
    return float(wilcoxon_tests(np.asarray(differences, dtype=np.float64)[None])[0])


def test_wilcoxon_equals_the_example_of_demsar():
    """Check Demsar (2006), section 3.1.3: C4.5 with and without m on the 14 data sets of his Table 2.

    T is 12, below the critical value 21 at 5 %. With his halved ranks of zero differences the exact p is .009.
    """
    differences = np.round(TABLE_6[:, 1] - TABLE_6[:, 0], 3)
    ranks = stats.rankdata(np.abs(differences))
    assert ranks[differences < 0].sum() + ranks[differences == 0].sum() / 2 == 12
    assert wilcoxon(differences) == pytest.approx(0.009, abs=2e-3)


def test_wilcoxon_equals_a_hand_calculation():
    """Check three differences by hand.

    With one sign, two extreme patterns of 8 count: p = 1/4. If the smallest difference has the other sign, the
    patterns with a sum of at most 1 or at least 5 count, which are 4 of 8.
    """
    assert wilcoxon([0.1, 0.2, 0.3]) == 0.25
    assert wilcoxon([-0.1, 0.2, 0.3]) == 0.5


@settings(derandomize=True, deadline=None)
@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=20, unique_by=abs).filter(lambda many: 0 not in many))
def test_without_ties_wilcoxon_equals_the_exact_test_of_scipy(differences):
    assert wilcoxon(differences) == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue)


@pytest.mark.parametrize("differences", [[1, 1, -1, 2, 2], [0, 1, 2, -3, 0], [1, -1, 2, -2], [0, 0, 3]])
def test_with_ties_wilcoxon_equals_all_patterns_of_signs(differences):
    numbers = np.array(differences, float)
    ranks = stats.rankdata(np.abs(numbers))
    moving = ranks[numbers != 0]
    sums = [sum(rank for bit, rank in enumerate(moving) if pattern >> bit & 1) for pattern in range(2 ** len(moving))]
    there = ranks[numbers > 0].sum()
    fewer = min(sum(one <= there for one in sums), sum(one >= there for one in sums))
    assert wilcoxon(differences) == pytest.approx(min(1, 2 * fewer / len(sums)))


def test_infinity_is_the_largest_difference():
    assert wilcoxon([-math.inf, 0.1, 0.2]) == wilcoxon([-3, 1, 2])
    assert wilcoxon([-math.inf, -math.inf, 0.2]) == wilcoxon([-2, -2, 1])
    assert wilcoxon([0.0, 0.0]) == 1.0


@settings(derandomize=True, deadline=None)
@given(st.lists(st.sampled_from([-math.inf, -2.0, -1.0, 0.0, 1.0, 2.0, math.inf]), min_size=1, max_size=12))
def test_the_opposite_sign_gives_the_same_p(differences):
    assert wilcoxon(differences) == pytest.approx(wilcoxon([-one for one in differences]))


def test_holm_equals_a_hand_calculation():
    """Check .005 x 4, .01 x 3, .03 x 2; .04 gets the value before it. statsmodels and R's p.adjust agree."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_missing_p_values_are_not_in_the_family():
    assert holm([None, 0.02, None, 0.04]) == [None, 0.04, None, 0.04]
    assert holm([None]) == [None]
    assert holm([0.9, 0.8]) == [1.0, 1.0]


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_holm_ignores_order_and_never_lowers_p(p, random):
    order = random.sample(range(len(p)), len(p))
    corrected = holm(p)
    assert holm([p[one] for one in order]) == pytest.approx([corrected[one] for one in order])
    assert all(after >= before for after, before in zip(corrected, p, strict=True))
