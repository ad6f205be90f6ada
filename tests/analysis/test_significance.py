"""Test Wilcoxon's signed-rank test, Holm's correction and the corrected t-test against hand calculations."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from probcal.analysis.hypothesis_tests import (
    corrected_interval,
    corrected_t_test,
    holm,
    variance_inflation,
    wilcoxon_tests,
)
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


NUMBERS = st.lists(st.floats(-10, 10, allow_nan=False).map(lambda one: round(one, 3)), min_size=2, max_size=40)
SHARES = st.sampled_from([0.1, 0.25, 0.34, 0.5])


def by_the_printed_formula(values, n_train, n_test):
    """Compute t and p in plain Python: Nadeau & Bengio's variance, t with n - 1 degrees of freedom."""
    n = len(values)
    mean = sum(values) / n
    variance = sum((value - mean) ** 2 for value in values) / (n - 1)
    t = mean / math.sqrt((1 / n + n_test / n_train) * variance)
    return t, 2 * stats.t.sf(abs(t), n - 1)


def test_the_variance_equals_a_hand_calculation():
    """Check the values 1, 2, 3, 4, 5 with two thirds of training rows, so that n_test/n_train = 1/2.

    The mean is 3 and the variance 2.5. So t = 3 / sqrt((1/5 + 1/2) 2.5) = 2.268, with p = .0859 for 4 degrees of
    freedom. The 95 % interval uses t = 2.776.
    """
    found = corrected_t_test([1, 2, 3, 4, 5], test_share=1 / 3)
    assert found.error == pytest.approx(math.sqrt(0.7 * 2.5))
    assert found.p == pytest.approx(0.0859, abs=5e-5)
    assert corrected_interval([1, 2, 3, 4, 5], 1 / 3) == pytest.approx(
        (3 - 2.776 * 1.3229, 3 + 2.776 * 1.3229), abs=1e-3
    )


def test_the_test_share_is_relative_to_all_rows():
    assert variance_inflation(10, test_share=0.25) == pytest.approx(1 / 10 + 1 / 3)


def test_the_test_equals_the_example_of_scikit_learn():
    """Check the example "Statistical comparison of models using grid search" of scikit-learn.

    It compares a linear SVC with RBF, ten times tenfold, on 100 points of two moons. Its page prints t = .750 and
    a one-sided p = .227.
    """
    from sklearn.datasets import make_moons
    from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
    from sklearn.svm import SVC

    x, y = make_moons(noise=0.352, random_state=1, n_samples=100)
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=10, random_state=0)
    scores = [
        cross_val_score(SVC(random_state=0, **kernel), x, y, scoring="roc_auc", cv=folds)
        for kernel in ({"kernel": "rbf"}, {"kernel": "linear"})
    ]
    found = corrected_t_test(scores[0] - scores[1], test_share=0.1)
    assert found.mean / found.error == pytest.approx(0.750, abs=5e-4)
    assert found.p / 2 == pytest.approx(0.227, abs=5e-4)


@settings(derandomize=True, deadline=None)
@given(NUMBERS, st.sampled_from([(90, 10), (66, 34), (50, 50)]))
def test_the_test_equals_the_published_formula(values, sizes):
    n_train, n_test = sizes
    if np.std(values) < 1e-6:
        return
    found = corrected_t_test(values, n_test / (n_train + n_test))
    t, p = by_the_printed_formula(values, n_train, n_test)
    assert found.mean / found.error == pytest.approx(t, abs=1e-9)
    assert found.p == pytest.approx(p, abs=1e-12)


@settings(derandomize=True, deadline=None)
@given(NUMBERS, SHARES)
def test_interval_contains_zero_exactly_when_test_does_not_reject(values, share):
    found = corrected_t_test(values, share)
    low, high = corrected_interval(values, share)
    if abs(found.p - 0.05) > 1e-9:
        assert (low <= 0 <= high) == (found.p > 0.05)


@settings(derandomize=True, deadline=None)
@given(NUMBERS, SHARES)
def test_the_sign_of_differences_does_not_change_p(values, share):
    one, other = corrected_t_test(values, share), corrected_t_test([-value for value in values], share)
    assert (one.p, one.low) == pytest.approx((other.p, -other.high))


@settings(derandomize=True, deadline=None)
@given(NUMBERS)
def test_independent_draws_give_students_interval(values):
    if np.std(values) < 1e-6:
        return
    known = stats.ttest_1samp(values, 0.0)
    assert corrected_interval(values, 0.0) == pytest.approx(tuple(known.confidence_interval()), abs=1e-9)
    assert corrected_t_test(values, 0.0).p == pytest.approx(known.pvalue, abs=1e-9)


def test_zero_differences_have_p_1_and_constant_ones_p_0():
    assert corrected_t_test([0.0, 0.0, 0.0], 0.3).p == 1.0
    assert corrected_t_test([0.1, 0.1, 0.1], 0.3).p == 0.0


@pytest.mark.parametrize("values", [[0.1], [], [0.1, math.inf], [0.1, math.nan]])
def test_one_or_non_finite_differences_are_rejected(values):
    with pytest.raises(ValueError):
        corrected_t_test(values, 0.3)
