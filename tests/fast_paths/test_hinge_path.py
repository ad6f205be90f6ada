"""Test that the path of HingeSVM over class costs has the minima of LIBSVM, of the dual and of separate fits."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.svm import SVC

from probcal.fast_paths import hinge_path
from probcal.fast_paths.hinge_path import best_intercept
from probcal.learners import HingeSVM
from probcal.learners.svm import HingeSVMShortcut
from tests.fast_paths.naive_loop import assert_no_vote_changes
from tests.small_tables import class_weights, duality_gap, overlapping, real_and_drawn, table_of, tables


def limits_of(labels, pair, row_weights=None):
    limits = np.where(labels == 1, pair[1], pair[0])
    return limits if row_weights is None else limits * row_weights


@pytest.mark.parametrize("name", ["cancer", "wine"])  # LIBSVM needs minutes for the other sets
def test_labels_equal_those_of_a_tight_libsvm(name):
    X, labels = real_and_drawn()[name]
    train, pairs = np.arange(len(X)) % 4 != 0, class_weights(7)
    fast_path = HingeSVMShortcut()
    for pair, fitted in zip(pairs, fast_path.fit(HingeSVM(), X[train], labels[train], pairs, None), strict=True):
        libsvm = SVC(kernel="linear", tol=1e-10).fit(X[train], labels[train], limits_of(labels[train], pair))
        np.testing.assert_array_equal(fitted.predict(X), libsvm.predict(X))


@pytest.mark.parametrize("name", ["cancer", "wine", "overlapping", "few positives"])
def test_every_probe_has_no_duality_gap(name):
    X, labels = real_and_drawn()[name]
    row_weights = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    for weights in (None, row_weights):
        for pair, fitted in zip(
            class_weights(), HingeSVMShortcut().fit(HingeSVM(), X, labels, class_weights(), weights), strict=True
        ):
            gap, imbalance = duality_gap(fitted, X, labels, limits_of(labels, pair, weights))
            assert gap < 1e-9 and imbalance < 1e-9


def test_separate_fits_are_within_the_margin_error():
    X, labels = overlapping(n_rows=3000)
    fast_path, pairs = HingeSVMShortcut(), class_weights()
    classifiers = fast_path.fit(HingeSVM(), X, labels, pairs, None)
    margins, errors = fast_path.margins(classifiers, fast_path.rows(classifiers, X))
    assert errors.max() < 1e-8
    for place, pair in enumerate(pairs):
        alone = HingeSVM().fit(X, labels, limits_of(labels, pair)).decision_function(X)
        assert np.abs(alone - margins[:, place]).max() <= errors[place]


@settings(derandomize=True, deadline=None, max_examples=30)
@given(tables, st.booleans(), st.booleans(), st.booleans(), st.floats(-2, 2))
def test_labels_of_small_tables_equal_separate_fits(table, duplicated, collinear, separable, log_c):
    X, labels = table_of(table, duplicated, collinear, separable)
    svm, fast_path, pairs = HingeSVM(C=10**log_c), HingeSVMShortcut(), class_weights(3)
    for pair, fitted in zip(pairs, fast_path.fit(svm, X, labels, pairs, None), strict=True):
        if fitted is None:
            continue
        margins, error = fast_path.margins([fitted], X)
        alone = clone(svm).fit(X, labels, limits_of(labels, pair))
        sure = np.abs(margins[:, 0]) > error
        np.testing.assert_array_equal(fitted.predict(X)[sure], alone.predict(X)[sure])
        gap, _ = duality_gap(fitted, X, labels, svm.C * limits_of(labels, pair))
        assert gap < 1e-7


def test_solutions_do_not_depend_on_the_order_of_probes():
    X, labels = overlapping(n_rows=2000)
    pairs = class_weights(30)
    at_once = HingeSVMShortcut().fit(HingeSVM(), X, labels, pairs, None)
    fast_path, order = HingeSVMShortcut(), np.random.default_rng(0).permutation(30)
    for places in np.split(order, [1, 3, 6, 10, 17]):
        for place, classifier in zip(places, fast_path.fit(HingeSVM(), X, labels, pairs[places], None), strict=True):
            np.testing.assert_allclose(classifier.coef_, at_once[place].coef_, rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(classifier.intercept_, at_once[place].intercept_, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("total_weight", [None, "n"])
@pytest.mark.parametrize("name", ["cancer", "few positives"])
def test_probing_gives_the_votes_of_separate_fits(name, total_weight):
    X, labels = real_and_drawn()[name]
    train = np.arange(len(X)) % 3 != 0
    fast = assert_no_vote_changes(
        HingeSVM(), X[train], labels[train], X[~train], n_probes=20, total_weight=total_weight
    )
    assert fast.threshold_models_[0].batched.all()


def test_a_failed_search_is_repeated_over_all_rows(monkeypatch):
    X, labels = overlapping()
    expected = HingeSVM().fit(X, labels)
    monkeypatch.setattr(hinge_path, "_MAX_JUMPS", 0)
    fitted = HingeSVM().fit(X, labels)
    np.testing.assert_allclose(fitted.coef_, expected.coef_, atol=1e-11)
    np.testing.assert_allclose(fitted.intercept_, expected.intercept_, atol=1e-11)


def test_a_row_on_the_boundary_is_within_the_error():
    X, labels = overlapping()
    X, labels = np.vstack([X, -X]), np.append(labels, 1 - labels)
    X, labels = np.vstack([X, np.zeros((2, X.shape[1]))]), np.append(labels, [0, 1])
    fast_path = HingeSVMShortcut()
    margins, error = fast_path.margins(fast_path.fit(HingeSVM(), X, labels, np.ones((1, 2)), None), X)
    assert np.all(np.abs(margins[-1]) <= error)


def test_zero_and_infinite_costs_are_left_to_the_learner():
    X, labels = overlapping()
    pairs = np.array([[1.0, 0.0], [1.0, np.inf], [1.0, 1.0]])
    first, second, third = HingeSVMShortcut().fit(HingeSVM(), X, labels, pairs, None)
    assert first is None and second is None and third is not None


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.integers(0, 10**6), st.integers(2, 12))
def test_the_intercept_is_the_midpoint_of_the_minima(seed, n):
    random = np.random.default_rng(seed)
    signs, margins = random.choice([-1.0, 1.0], n), random.integers(-3, 4, n) / 2
    signs[:2] = -1, 1
    limits = random.integers(1, 4, n).astype(float)
    tried = np.linspace(-5, 5, 401)  # holds every corner, in steps of 1/40
    losses = np.maximum(1 - margins - signs * tried[:, None], 0) @ limits
    best = tried[losses <= losses.min() + 1e-9]
    assert best_intercept(margins, signs, limits) == pytest.approx((best.min() + best.max()) / 2)


def test_an_intercept_without_free_multipliers_is_exact():
    X, labels = np.array([[1.0], [0.0], [1.0], [-1.0]]), np.array([0, 1, 1, 1])
    (fitted,) = HingeSVMShortcut().fit(HingeSVM(), X, labels, np.array([[1.0, 1 / 3]]), None)
    assert fitted.coef_[0, 0] == pytest.approx(-1, abs=1e-15)
    assert fitted.intercept_[0] == pytest.approx(0, abs=fitted.margin_error_)


def test_a_classifier_stores_column_names_and_no_rows():
    X, labels = overlapping(n_rows=3000)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    svm = HingeSVM()
    (fitted,) = HingeSVMShortcut().fit(svm, frame, labels, np.array([[1.0, 2.0]]), None)
    alone = HingeSVM().fit(frame, labels, limits_of(labels, (1.0, 2.0)))
    assert set(vars(fitted)) == {*vars(alone), "margin_error_"} and vars(svm) == vars(HingeSVM())
    np.testing.assert_array_equal(fitted.feature_names_in_, list("abcdefgh"))
    assert len(pickle.dumps(fitted)) < 3000


def test_a_solved_probe_needs_little_memory():
    X, labels = overlapping(n_rows=20_000, n_columns=20)
    fast_path = HingeSVMShortcut()
    tracemalloc.start()
    kept = []
    for pair in class_weights(6):
        fast_path.fit(HingeSVM(), X, labels, pair[None], None)
        kept.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert kept[-1] - kept[0] < 0.05 * X.nbytes
