"""Test that the fast path of LinearSVC gives the labels of LinearSVC at a tight tolerance, or gives none."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from probcal.fast_paths.fast_path import make_fast_path, signed_rows
from probcal.fast_paths.linear_svm import LinearSVCFastPath, SquaredHinge
from tests.small_tables import class_weights, overlapping, real_and_drawn, table_of, tables

TIGHT = LinearSVC(tol=1e-10, max_iter=100_000)


def naive(estimator, X, labels, pair, row_weights=None):
    weights = np.where(labels == np.unique(labels)[1], pair[1], pair[0])
    if row_weights is not None:
        weights = weights * row_weights
    return clone(estimator).fit(X, labels, sample_weight=weights)


def assert_same_labels(X, labels, estimator=TIGHT, row_weights=None, pairs=None):
    """Check the labels of every probe that the fast path accepts, and return the share of these probes."""
    pairs = class_weights() if pairs is None else pairs
    fast_path = LinearSVCFastPath()
    vouched = 0
    for classifier, pair in zip(fast_path.fit(estimator, X, labels, pairs, row_weights), pairs, strict=True):
        if classifier is None:
            continue
        margins, error = fast_path.margins([classifier], fast_path.rows([classifier], X))
        if np.any(np.abs(margins) <= error):
            continue
        vouched += 1
        with warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            slow = naive(estimator, X, labels, pair, row_weights)
        np.testing.assert_array_equal(classifier.predict(X), slow.predict(X))
        np.testing.assert_array_equal(margins[:, 0] > 0, slow.predict(X) == slow.classes_[1])
    return vouched / len(pairs)


def test_columns_far_from_0_are_left_to_liblinear():
    cancer, kinds = load_breast_cancer(return_X_y=True)
    assert LinearSVCFastPath().fit(TIGHT, cancer, kinds, class_weights(), None) == [None] * 19


@pytest.mark.parametrize("name", sorted(real_and_drawn().keys() - {"cancer as it is"}))
def test_labels_equal_those_of_the_tight_loop(name):
    assert assert_same_labels(*real_and_drawn()[name]) > 0.8


@pytest.mark.parametrize(
    "parameters", [{"C": 0.01}, {"C": 20.0}, {"fit_intercept": False}, {"intercept_scaling": 5.0}, {"dual": False}]
)
def test_labels_are_the_same_under_other_parameters(parameters):
    assert assert_same_labels(*overlapping(), estimator=clone(TIGHT).set_params(**parameters)) > 0.9


def test_labels_are_the_same_with_zero_row_weights():
    X, labels = overlapping(400, 5)
    row_weights = np.random.default_rng(3).integers(0, 4, len(X)).astype(float)
    assert assert_same_labels(X, labels, row_weights=row_weights, pairs=class_weights(7)) > 0.8


@settings(derandomize=True, deadline=None, max_examples=40)
@given(tables, st.booleans(), st.booleans(), st.booleans())
def test_labels_are_the_same_on_small_tables(table, duplicated, collinear, separable):
    X, labels = table_of(table, duplicated, collinear, separable)
    assert_same_labels(X, labels, pairs=class_weights(5))


@pytest.mark.parametrize("seed", range(5))
def test_the_margin_error_covers_differences_from_liblinear(seed):
    X, labels = overlapping(n_rows=3000, seed=seed)
    pairs = class_weights(9)
    fast_path = LinearSVCFastPath()
    classifiers = fast_path.fit(TIGHT, X, labels, pairs, None)
    margins, _ = fast_path.margins(classifiers, X)
    for place, pair in enumerate(pairs):
        slow = naive(TIGHT, X, labels, pair)
        differ = (slow.decision_function(X) > 0) != (margins[:, place] > 0)
        assert not differ.any() or classifiers[place].margin_error_ >= np.abs(margins[differ, place]).max()


def test_a_row_on_the_boundary_is_within_the_error():
    X, labels = overlapping()
    X, labels = np.vstack([X, -X]), np.append(labels, 1 - labels)
    X, labels = np.vstack([X, np.zeros((2, X.shape[1]))]), np.append(labels, [0, 1])
    fast_path = LinearSVCFastPath()
    margins, error = fast_path.margins(fast_path.fit(TIGHT, X, labels, np.ones((1, 2)), None), X)
    assert np.all(np.abs(margins[-1]) <= error)


@pytest.mark.parametrize(
    "parameters",
    [
        {"tol": 1e-4},
        {"tol": 1e-7},
        {"tol": 0.0},
        {"loss": "hinge"},
        {"loss": "hinge", "dual": True, "max_iter": 10**9},
        {"tol": "small"},
        {"dual": 0},
        {"dual": "no"},
        {"penalty": "l1"},
        {"dual": True},
        {"multi_class": "crammer_singer"},
        {"class_weight": "balanced"},
        {"class_weight": {0: 1, 1: 2}},
        {"verbose": 1},
        {"max_iter": 1000},
        {"C": 0.0},
        {"intercept_scaling": 0.0},
    ],
    ids=str,
)
def test_the_shortcut_rejects_other_parameters(parameters):
    assert make_fast_path(TIGHT) is not None
    assert make_fast_path(clone(TIGHT).set_params(**parameters)) is None


def test_the_shortcut_rejects_defaults_and_subclasses():
    class Other(LinearSVC):
        pass

    assert make_fast_path(LinearSVC()) is None
    assert make_fast_path(Other(tol=1e-10)) is None
    assert make_fast_path(LinearSVC(tol=1e-8, max_iter=100_000, fit_intercept=False, intercept_scaling=0)) is not None


def test_sparse_wide_and_zero_weight_cases_are_left_to_liblinear():
    X, labels = overlapping()
    pairs = class_weights(3)
    assert LinearSVCFastPath().fit(TIGHT, csr_array(X), labels, pairs, None) == [None] * 3
    assert LinearSVCFastPath().fit(TIGHT, X[:6], np.arange(6) % 2, pairs, None) == [None] * 3
    assert LinearSVCFastPath().fit(TIGHT, X, labels, pairs, labels.astype(float)) == [None] * 3
    assert LinearSVCFastPath().fit(TIGHT, X, labels, np.array([[1.0, 0.0]]), None) == [None]


def test_nearly_separated_classes_are_left_to_liblinear():
    X, labels = overlapping()
    X[:, 0] = 100 * (2 * labels - 1)
    assert LinearSVCFastPath().fit(TIGHT, X, labels, class_weights(3), None) == [None] * 3


def test_a_hopeless_search_ends_at_once():
    # separable classes under a ratio of weights of 1e-20: every slope of the function is rounding
    X, labels = make_classification(1000, 20, class_sep=3, flip_y=0, random_state=0)
    problem = SquaredHinge(signed_rows(X, labels == 1, None, 1.0))
    products = []
    problem._slope = lambda *arguments: (products.append(1), SquaredHinge._slope(problem, *arguments))[1]
    assert problem.minimise(np.array([1.0, 1e20]), np.zeros(21)) is None
    assert len(products) < 300  # a search of 200 steps would need thousands


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_infinity_give_the_message_of_scikit_learn(value):
    X, labels = overlapping()
    X[3, 2] = value
    with pytest.raises(ValueError) as expected:
        clone(TIGHT).fit(X, labels)
    with pytest.raises(ValueError) as refused:
        LinearSVCFastPath().fit(TIGHT, X, labels, class_weights(2), None)
    assert str(refused.value) == str(expected.value)


def test_a_classifier_has_the_attributes_of_scikit_learn():
    X, labels = overlapping(n_rows=3000)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    (classifier,) = LinearSVCFastPath().fit(TIGHT, frame, labels, np.array([[1.0, 2.0]]), None)
    slow = naive(TIGHT, frame, labels, (1.0, 2.0))
    assert type(classifier) is LinearSVC and set(vars(slow)) < set(vars(classifier))
    for name in ("coef_", "intercept_", "classes_", "feature_names_in_"):
        assert getattr(classifier, name).shape == getattr(slow, name).shape
    np.testing.assert_allclose(classifier.coef_, slow.coef_, rtol=1e-4)
    np.testing.assert_array_equal(classifier.feature_names_in_, slow.feature_names_in_)
    assert len(pickle.dumps(classifier)) < 3000
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(classifier)).predict(frame), slow.predict(frame))


def test_memory_does_not_grow_with_the_number_of_probes():
    X, labels = overlapping(n_rows=20_000, n_columns=20)

    def peak(n_thresholds):
        tracemalloc.start()
        LinearSVCFastPath().fit(TIGHT, X, labels, class_weights(n_thresholds), None)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(20) < peak(2) + 0.2 * X.nbytes
    assert peak(20) < 3 * X.nbytes
