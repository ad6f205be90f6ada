"""Wilcoxon's signed ranks and Holm's correction, by hand and against scipy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from probcal.analysis.hypothesis_tests import holm, wilcoxon
from tests.analysis.test_ranks import TABLE_6


def test_demsars_example():
    """Demsar (2006), section 3.1.3: C4.5 with and without m on the 14 sets of his Table 2 has T = 12, below the 21 that
    is critical at 5 %. Exactly, with his halved ranks of no difference, that is p = .009."""
    differences = np.round(TABLE_6[:, 1] - TABLE_6[:, 0], 3)
    ranks = stats.rankdata(np.abs(differences))
    assert ranks[differences < 0].sum() + ranks[differences == 0].sum() / 2 == 12
    assert wilcoxon(differences) == pytest.approx(0.009, abs=2e-3)


def test_by_hand():
    """Three differences of one sign: of 8 patterns the two extreme ones, p = 1/4. One of them, the smallest, against:
    patterns with a sum of at most 1 or at least 5 are 4 of 8."""
    assert wilcoxon([0.1, 0.2, 0.3]) == 0.25
    assert wilcoxon([-0.1, 0.2, 0.3]) == 0.5


@settings(derandomize=True, deadline=None)
@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=20, unique_by=abs).filter(lambda many: 0 not in many))
def test_it_is_scipys_exact_test_where_there_are_no_ties(differences):
    assert wilcoxon(differences) == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue)


@pytest.mark.parametrize("differences", [[1, 1, -1, 2, 2], [0, 1, 2, -3, 0], [1, -1, 2, -2], [0, 0, 3]])
def test_it_is_every_pattern_of_signs_where_there_are(differences):
    numbers = np.array(differences, float)
    ranks = stats.rankdata(np.abs(numbers))
    moving = ranks[numbers != 0]
    sums = [sum(rank for bit, rank in enumerate(moving) if pattern >> bit & 1) for pattern in range(2 ** len(moving))]
    there = ranks[numbers > 0].sum()
    fewer = min(sum(one <= there for one in sums), sum(one >= there for one in sums))
    assert wilcoxon(differences) == pytest.approx(min(1, 2 * fewer / len(sums)))


def test_infinity_is_the_largest_difference_and_no_difference_says_nothing():
    assert wilcoxon([-math.inf, 0.1, 0.2]) == wilcoxon([-3, 1, 2])
    assert wilcoxon([-math.inf, -math.inf, 0.2]) == wilcoxon([-2, -2, 1])
    assert wilcoxon([0.0, 0.0]) == 1.0


@settings(derandomize=True, deadline=None)
@given(st.lists(st.sampled_from([-math.inf, -2.0, -1.0, 0.0, 1.0, 2.0, math.inf]), min_size=1, max_size=12))
def test_the_other_sign_is_the_same_p(differences):
    assert wilcoxon(differences) == pytest.approx(wilcoxon([-one for one in differences]))


def test_holm_by_hand():
    """.005 x 4, .01 x 3, .03 x 2, and .04 which is not below the one before; statsmodels and R's p.adjust agree."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_what_has_no_test_is_not_of_the_family():
    assert holm([None, 0.02, None, 0.04]) == [None, 0.04, None, 0.04]
    assert holm([None]) == [None]
    assert holm([0.9, 0.8]) == [1.0, 1.0]


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_order_of_tests_changes_no_p_and_none_becomes_smaller(p, random):
    order = random.sample(range(len(p)), len(p))
    corrected = holm(p)
    assert holm([p[one] for one in order]) == pytest.approx([corrected[one] for one in order])
    assert all(after >= before for after, before in zip(corrected, p, strict=True))
