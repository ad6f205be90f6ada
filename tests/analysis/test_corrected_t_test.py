"""Test the corrected resampled t-test against hand calculations and scikit-learn's example."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from probcal.analysis.hypothesis_tests import corrected_interval, corrected_t_test, variance_inflation

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
