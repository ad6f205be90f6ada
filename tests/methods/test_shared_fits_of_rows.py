"""Test that a fit is shared only for the same rows, labels and parameters."""

import warnings

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from probcal.methods._base import fit_weighted
from probcal.methods._shared_fits import SharedFits, fit_or_shared

X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.arange(40) % 2


def test_equal_fits_are_shared():
    with SharedFits().of_rows(X, Y):
        assert fit_weighted(GaussianNB(), X, Y.copy(), None) is fit_weighted(GaussianNB(), X, Y, None)


@pytest.mark.parametrize(
    ("learner", "rows", "labels", "weights"),
    [
        (GaussianNB(var_smoothing=0.1), X, Y, None),
        (GaussianNB(), X.copy(), Y, None),
        (GaussianNB(), X, 1 - Y, None),
        (GaussianNB(), X, Y, np.ones(40)),
    ],
    ids=["other parameters", "other rows", "other labels", "weights"],
)
def test_different_fits_are_not_shared(learner, rows, labels, weights):
    with SharedFits().of_rows(X, Y):
        first = fit_weighted(GaussianNB(), X, Y, None)
        assert fit_weighted(learner, rows, labels, weights) is not first


@pytest.mark.parametrize(
    "learner",
    [DecisionTreeClassifier(), make_pipeline(FunctionTransformer(lambda X: X), GaussianNB())],
    ids=["a seed of its own", "a function without a name"],
)
def test_learners_with_random_or_unnamed_parts_are_never_shared(learner):
    with SharedFits().of_rows(X, Y):
        first = fit_weighted(learner, X, Y, None)
        assert fit_weighted(type(learner)(**learner.get_params(deep=False)), X, Y, None) is not first


def test_fits_on_the_same_part_of_the_rows_are_shared():
    first, other = np.arange(20), np.arange(20, 40)
    with SharedFits().of_rows(X, Y):
        fitted = fit_or_shared(GaussianNB(), X, Y, first)
        assert fit_or_shared(GaussianNB(), X, Y, first.copy()) is fitted
        assert fit_or_shared(GaussianNB(), X, Y, other) is not fitted
        assert fit_or_shared(GaussianNB(), X, Y) is not fitted
    np.testing.assert_array_equal(fitted.theta_, GaussianNB().fit(X[:20], Y[:20]).theta_)


def test_other_labels_of_the_same_rows_are_not_shared():
    shared = SharedFits()
    with shared.of_rows(X, Y):
        first = fit_weighted(GaussianNB(), X, Y, None)
    with shared.of_rows(X, 1 - Y):
        assert fit_weighted(GaussianNB(), X, 1 - Y, None) is not first
    with shared.of_rows(X, Y):
        assert fit_weighted(GaussianNB(), X, Y, None) is first


def test_shared_fit_repeats_its_warnings():
    class Warns(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            warnings.warn("hm", RuntimeWarning, stacklevel=1)
            return super().fit(X, y, sample_weight)

    with SharedFits().of_rows(X, Y):
        for _ in range(2):
            with pytest.warns(RuntimeWarning, match="hm"):
                fit_weighted(Warns(), X, Y, None)


def test_fits_outside_the_context_are_not_shared():
    assert fit_weighted(GaussianNB(), X, Y, None) is not fit_weighted(GaussianNB(), X, Y, None)
