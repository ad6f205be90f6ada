"""Test that the fast path of LogisticRegression gives the labels of the learner, or gives none."""

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
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.linear_model import LogisticRegression

from probcal.fast_paths.fast_path import make_fast_path
from probcal.fast_paths.logistic import LogisticFastPath

LEARNER = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-8)
NEXT_TO_NO_PENALTY = LogisticRegression(C=1e8, solver="newton-cholesky", tol=1e-8)
THRESHOLDS = np.array([0.5, 0.2, 0.8, 0.07, 0.35, 0.65, 0.93, 0.028, 0.13, 0.27, 0.42, 0.58, 0.73, 0.002, 0.998])


def class_weights(thresholds, y=None):
    """Return (k, 2): 1 and (1-p)/p; with ``y``, the total weight of the rows is n."""
    pairs = np.column_stack([np.ones(len(thresholds)), (1 - thresholds) / thresholds])
    if y is None:
        return pairs
    return pairs * (len(y) / (pairs @ np.bincount(y)))[:, None]


def slow(estimator, X, y, pair, row_weights=None):
    weights = pair[(y == np.unique(y)[1]).astype(int)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).fit(X, y, sample_weight=weights if row_weights is None else weights * row_weights)


def in_rounds(estimator, X, y, pairs, row_weights=None, sizes=(1, 2, 4, 8, 100)):
    fast_path, fitted = LogisticFastPath(), []
    for size in sizes:
        if now := pairs[len(fitted) : len(fitted) + size].tolist():
            fitted += fast_path.fit(estimator, X, y, np.array(now), row_weights)
    return fast_path, fitted


def assert_same_labels(estimator, X, y, pairs, row_weights=None, *, at_least):
    """Check labels and margins of all accepted probes against the learner; ``at_least`` so many are accepted."""
    fast_path, fitted = in_rounds(estimator, X, y, pairs, row_weights)
    kept = [(one, pair) for one, pair in zip(fitted, pairs, strict=True) if one is not None]
    assert len(kept) >= at_least
    if not kept:
        return
    classifiers = [one for one, _ in kept]
    margins, error = fast_path.margins(classifiers, fast_path.rows(classifiers, X))
    for (one, pair), scores, doubt in zip(kept, margins.T, np.broadcast_to(error, margins.shape).T, strict=True):
        expected = slow(estimator, X, y, pair, row_weights).predict(X)
        np.testing.assert_array_equal(one.predict(X), expected)
        sure = np.abs(scores) > doubt
        np.testing.assert_array_equal((scores > 0)[sure], (expected == one.classes_[1])[sure])


@pytest.fixture(scope="module")
def table():
    return make_classification(4000, 12, n_informative=6, flip_y=0.1, weights=[0.7], random_state=0)


@pytest.mark.parametrize("estimator", [LEARNER, NEXT_TO_NO_PENALTY])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("scaled", [True, False])
def test_labels_equal_those_of_the_learner(table, estimator, intercept, scaled):
    X, y = table
    estimator = clone(estimator).set_params(fit_intercept=intercept)
    assert_same_labels(estimator, X, y, class_weights(THRESHOLDS, y if scaled else None), at_least=13)


def test_labels_are_the_same_with_columns_of_different_scale():
    X, y = load_breast_cancer(return_X_y=True)
    assert_same_labels(LEARNER, X, y, class_weights(THRESHOLDS), at_least=10)


def test_labels_are_the_same_with_row_weights(table):
    X, y = table
    row_weights = np.random.default_rng(0).gamma(1.0, size=len(y)) + 0.01
    assert_same_labels(LEARNER, X, y, class_weights(THRESHOLDS), row_weights, at_least=13)


def test_text_labels_equal_those_of_the_learner(table):
    X, y = table
    words = np.array(["no", "yes"])[y]
    assert_same_labels(LEARNER, X, words, class_weights(THRESHOLDS), at_least=13)


def test_labels_are_the_same_with_collinear_columns():
    random = np.random.default_rng(0)
    kinds = random.integers(0, 8, size=(3000, 3))
    X = np.column_stack([kinds[:, [j]] == np.arange(8) for j in range(3)]).astype(float)
    y = (random.random(3000) < 1 / (1 + np.exp(1 - X @ random.normal(size=24)))).astype(int)
    # Equal rows have equal scores. Some thresholds are therefore uncertain for all rows with equal values.
    assert_same_labels(NEXT_TO_NO_PENALTY, X, y, class_weights(THRESHOLDS, y), at_least=12)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(8, 40),
    st.integers(1, 4),
    st.booleans(),
    st.sampled_from(["as drawn", "rows twice", "a column twice"]),
    st.sampled_from([0.1, 1.0, 100.0, 1e8]),
)
def test_labels_of_small_tables_equal_those_of_the_learner(seed, n_rows, n_columns, intercept, kind, C):
    random = np.random.default_rng(seed)
    X = random.integers(-3, 4, size=(n_rows, n_columns)).astype(float)
    y = random.permutation(np.arange(n_rows) % 2)
    X, y = (np.vstack([X, X]), np.concatenate([y, y])) if kind == "rows twice" else (X, y)
    X = np.column_stack([X, X[:, 0]]) if kind == "a column twice" else X
    estimator = clone(LEARNER).set_params(C=C, fit_intercept=intercept)
    assert_same_labels(estimator, X, y, class_weights(THRESHOLDS[:6]), at_least=0)


def test_rounds_do_not_change_labels(table):
    X, y = table
    pairs = class_weights(THRESHOLDS)
    by_rounds = [in_rounds(LEARNER, X, y, pairs, sizes=sizes)[1] for sizes in [(100,), (1,) * 15, (2, 3, 10)]]
    backwards = in_rounds(LEARNER, X, y, pairs[::-1])[1][::-1]
    for alike in zip(*by_rounds, backwards, strict=True):
        assert len({one is None for one in alike}) == 1
        if alike[0] is not None:
            assert all((one.predict(X) == alike[0].predict(X)).all() for one in alike)


@pytest.mark.parametrize("frame", [True, False])
def test_a_classifier_has_the_attributes_of_a_fitted_one(table, frame):
    X, y = table
    X = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)]) if frame else X
    (one,) = LogisticFastPath().fit(LEARNER, X, y, np.array([[1.0, 2.0]]), None)
    other = slow(LEARNER, X, y, np.array([1.0, 2.0]))
    assert type(one) is LogisticRegression
    assert vars(one).keys() == vars(other).keys()
    assert one.get_params() == other.get_params()
    for name in ("coef_", "intercept_", "classes_", "n_iter_"):
        assert getattr(one, name).shape == getattr(other, name).shape
        assert getattr(one, name).dtype == getattr(other, name).dtype
    np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-5)
    assert len(pickle.dumps(one)) < 3000


def test_labels_are_the_same_with_whole_numbers():
    random = np.random.default_rng(1)
    X = random.integers(-5, 6, size=(2000, 5))
    y = (random.random(2000) < 1 / (1 + np.exp(-X @ np.array([0.3, -0.2, 0.1, 0, 0.4])))).astype(int)
    assert_same_labels(LEARNER, X, y, class_weights(THRESHOLDS), at_least=10)
    assert_same_labels(LEARNER, pd.DataFrame(X), y, class_weights(THRESHOLDS), at_least=10)


def spoiled(X, value):
    X = X.copy()
    X[3, 2] = value
    return X


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.astype(np.float32),
        csr_array,
        lambda X: spoiled(X, np.nan),
        lambda X: spoiled(X, np.inf),
        lambda X: X[:-1],
        lambda X: np.full(X.shape, "a"),
    ],
    ids=["float32", "sparse", "nan", "inf", "a row short", "words"],
)
def test_unsupported_rows_are_left_to_the_learner(table, change):
    X, y = table
    assert LogisticFastPath().fit(LEARNER, change(X), y, class_weights(THRESHOLDS), None) == [None] * len(THRESHOLDS)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_weights_not_above_0_are_left_to_the_learner(table, value):
    X, y = table
    row_weights = np.ones(len(y))
    row_weights[5] = value
    assert LogisticFastPath().fit(LEARNER, X, y, np.ones((2, 2)), row_weights) == [None, None]
    declined, fitted = LogisticFastPath().fit(LEARNER, X, y, np.array([[1.0, value], [1.0, 1.0]]), None)
    assert declined is None
    assert fitted is not None


def test_separable_classes_without_a_penalty_are_left_to_the_learner():
    X, y = load_iris(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    unpenalised = clone(LEARNER).set_params(C=np.inf)
    assert LogisticFastPath().fit(unpenalised, X, y, class_weights(THRESHOLDS), None) == [None] * len(THRESHOLDS)


def test_a_singular_hessian_is_left_to_the_learner(table):
    X, y = table
    unpenalised = clone(LEARNER).set_params(C=np.inf)
    assert LogisticFastPath().fit(unpenalised, np.hstack([X, X]), y, np.ones((1, 2)), None) == [None]


def test_a_row_on_the_boundary_is_left_to_the_learner():
    X = np.array([[-1.0], [1.0], [-1.0], [1.0], [0.0], [0.0]])
    y = np.array([0, 1, 0, 1, 0, 1])
    assert LogisticFastPath().fit(LEARNER, X, y, np.ones((1, 2)), None) == [None]


@pytest.mark.parametrize(
    "parameters",
    [
        {"solver": "lbfgs"},
        {"solver": "newton-cg"},
        {"tol": 1e-4},
        {"tol": 0.0},
        {"tol": "small"},
        {"C": -1.0},
        {"C": "1"},
        {"l1_ratio": 0.5},
        {"class_weight": "balanced"},
        {"class_weight": {0: 1.0, 1: 2.0}},
        {"dual": True},
        {"warm_start": True},
        {"max_iter": 20},
        {"verbose": 1},
        {"penalty": "l1"},
    ],
)
def test_the_shortcut_rejects_other_parameters(parameters):
    estimator = clone(LEARNER).set_params(**parameters)
    assert make_fast_path(estimator) is None


def test_the_shortcut_rejects_a_subclass():
    class Mine(LogisticRegression):
        pass

    assert make_fast_path(Mine(solver="newton-cholesky", tol=1e-8)) is None
    assert make_fast_path(LEARNER) is not None
    assert make_fast_path(clone(LEARNER).set_params(C=np.inf, fit_intercept=False, tol=1e-10)) is not None


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_class_weights():
    X, y = make_classification(50_000, 20, flip_y=0.2, random_state=0)
    X = np.ascontiguousarray(X)
    fast_path = LogisticFastPath()
    tracemalloc.start()
    fast_path.fit(LEARNER, X, y, class_weights(np.linspace(0.1, 0.9, 40)), None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # X is 8 MB; 40 columns of scores would be 16 MB
    assert peak < 7e6
