"""Test learners and isotonic regression with the rounding of old versions of scikit-learn."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from probcal.papers.kull_silva_filho_flach_2017.learners_of_2016 import (
    LegacyForestClassifier,
    LegacyGaussianNB,
    LegacyLogisticRegression,
    legacy_isotonic,
)

X, Y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)


def test_naive_bayes_differs_only_by_rounding():
    old, new = LegacyGaussianNB().fit(X, Y).predict_proba(X), GaussianNB().fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(old, new, atol=1e-12)
    assert (old != new).any()


def test_a_likelihood_below_rounding_is_lost():
    fitted = LegacyGaussianNB().fit(np.array([[0.0], [1], [9], [10]]), [0, 0, 1, 1])
    assert fitted.predict_proba([[0.0]])[0, 0] == 1


def test_equal_rows_have_equal_scores_at_every_position():
    fitted = LegacyLogisticRegression(solver="liblinear").fit(X, Y)
    expected = LogisticRegression(solver="liblinear").fit(X, Y).predict_proba(X)
    np.testing.assert_allclose(fitted.predict_proba(X), expected, atol=1e-12)
    assert len(np.unique(fitted.predict_proba(np.tile(X[:1], (101, 1)))[:, 1])) == 1


def test_forest_thresholds_have_single_precision():
    # the sum of 3 and 1 + 2^-23 needs one bit more than single precision has
    rows, labels = np.array([[3.0], [1 + 2.0**-23]]), [1, 0]
    trees = {"n_estimators": 1, "bootstrap": False, "random_state": 0}
    new = RandomForestClassifier(**trees).fit(rows, labels).estimators_[0].tree_.threshold[0]
    old = LegacyForestClassifier(**trees).fit(rows, labels).estimators_[0].tree_.threshold[0]
    assert new == 2 + 2.0**-24 and old == 2
    assert old == float(np.float32(2 * new)) / 2


def test_unfitted_learner_says_so():
    with pytest.raises(NotFittedError):
        LegacyLogisticRegression().predict_proba(X)


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
