"""HingeSVM is the minimum of the hinge: the SVC and the SMO of others, its own dual, and the same by its shortcut."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from probcal.learners import HingeSVM, WekaClassifier
from probcal.shortcuts.hinge import Hinge
from probcal.shortcuts.hinge_path import HingePath
from probcal.shortcuts.hinge_svm import HingeSVMShortcut
from probcal.shortcuts.signed_rows import signed_rows
from tests.shortcuts.naive_loop import assert_no_vote_changes

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")


def class_weights(n_thresholds=19):
    thresholds = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
    return np.column_stack([np.ones(n_thresholds), (1 - thresholds) / thresholds])


def overlapping(n_rows=600, n_columns=8, seed=0):
    random = np.random.default_rng(seed)
    labels = (random.random(n_rows) < 0.3).astype(int)
    return random.standard_normal((n_rows, n_columns)) + 0.4 * labels[:, None], labels


def sets():
    cancer, kinds = load_breast_cancer(return_X_y=True)
    wine, wines = load_wine(return_X_y=True)
    iris, irises = load_iris(return_X_y=True)
    return {
        "cancer": (StandardScaler().fit_transform(cancer), kinds),
        "cancer as it is": (cancer, kinds),
        "wine": (StandardScaler().fit_transform(wine), wines == 1),
        "iris": (iris, np.where(irises == 1, "versicolor", "other")),
        "overlapping": overlapping(),
        "few positives": make_classification(2000, 12, weights=[0.97], flip_y=0.02, random_state=1),
    }


def value(fitted, X, labels, weights):
    margins = np.where(labels == fitted.classes_[1], 1, -1) * fitted.decision_function(X)
    return float(fitted.coef_[0] @ fitted.coef_[0] / 2 + weights @ np.maximum(1 - margins, 0))


def solved(data, costs):
    nowhere = np.zeros(data.rows.shape[1]), np.empty(0, dtype=int), np.empty(0)
    return Hinge(data).minimise(costs, *nowhere, 0.1)


@pytest.mark.parametrize("name", sorted(sets().keys() - {"cancer as it is"}))
def test_it_is_where_sklearns_svc_goes(name):
    X, labels = sets()[name]
    ours, theirs = HingeSVM().fit(X, labels), SVC(kernel="linear", tol=1e-10).fit(X, labels)
    theirs_value = value(theirs, X, labels, np.ones(len(X)))
    assert theirs_value * (1 - 1e-6) <= value(ours, X, labels, np.ones(len(X))) <= theirs_value * (1 + 1e-12)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)  # LIBSVM's coordinate steps go no nearer
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", sets())
def test_its_value_is_that_of_the_dual_and_its_margins_are_exact(name):
    X, labels = sets()[name]
    data = signed_rows(X, labels == np.unique(labels)[1], None, 1.0)
    for pair in class_weights(7):
        found = solved(data, pair)
        gaps = 1 - data.rows @ found.w
        multipliers = np.where(gaps > 0, found.limits, 0)
        multipliers[found.free] = found.shares * found.limits[found.free]
        summed = multipliers @ data.rows
        primal = found.w[:-1] @ found.w[:-1] / 2 + found.limits @ np.maximum(gaps, 0)
        assert found.converged
        assert np.all((multipliers >= 0) & (multipliers <= found.limits))
        assert abs(summed[-1]) <= 1e-10 * multipliers.sum()
        assert primal - (multipliers.sum() - summed[:-1] @ summed[:-1] / 2) <= 1e-8 * primal
        np.testing.assert_allclose(gaps[found.free], 0, atol=2e-11)


tables = st.tuples(st.integers(0, 10**6), st.integers(4, 40), st.integers(1, 4), st.sampled_from([1, 3, 1000]))


def table_of(table, duplicated, collinear, separable):
    seed, n_rows, n_columns, n_values = table
    random = np.random.default_rng(seed)
    X = random.integers(-n_values, n_values + 1, (n_rows, n_columns)) / n_values
    labels = (X[:, 0] > 0).astype(int) if separable else random.integers(0, 2, n_rows)
    labels[:2] = 0, 1
    if duplicated:
        X, labels = np.repeat(X, 3, axis=0), np.repeat(labels, 3)
    return (np.column_stack([X, X[:, 0], 2 * X[:, -1]]) if collinear else X), labels


@settings(derandomize=True, deadline=None, max_examples=100)
@given(tables, st.booleans(), st.booleans(), st.booleans(), st.floats(-3, 3))
def test_nothing_is_lower_and_the_intercept_lies_halfway_between_its_bounds(
    table, duplicated, collinear, separable, log_c
):
    X, labels = table_of(table, duplicated, collinear, separable)
    fitted = HingeSVM(C=10**log_c).fit(X, labels)
    weights = np.full(len(X), 10**log_c)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it never goes above its own best value
        theirs = SVC(kernel="linear", tol=1e-7, C=10**log_c, max_iter=20_000).fit(X, labels)
    assert value(fitted, X, labels, weights) <= value(theirs, X, labels, weights) * (1 + 1e-9)
    low, high = bounds_of_the_intercept(X, labels, fitted.coef_[0])
    assert fitted.intercept_[0] == pytest.approx((low + high) / 2, abs=1e-7)


def bounds_of_the_intercept(X, labels, w):
    """Of the b of the least sum of max(0, 1 - y (x'w + b)): by trying every b where a margin is 1."""
    signs = np.where(labels == 1, 1, -1)
    at = signs - X @ w
    losses = np.maximum(1 - signs * (X @ w + at[:, None]), 0).sum(axis=1)
    best = at[losses <= losses.min() + 1e-8 * len(X)]
    return best.min(), best.max()


@settings(derandomize=True, deadline=None, max_examples=30)
@given(tables, st.booleans(), st.booleans(), st.booleans())
def test_labels_by_the_shortcut_are_those_of_fits_one_by_one_on_small_tables(table, duplicated, collinear, separable):
    X, labels = table_of(table, duplicated, collinear, separable)
    assert_no_vote_changes(HingeSVM(), X, labels, n_probes=9)


@pytest.mark.parametrize("name", sorted(sets().keys() - {"cancer as it is"}))
def test_labels_by_the_shortcut_are_those_of_fits_one_by_one(name):
    fast = assert_no_vote_changes(HingeSVM(), *sets()[name], n_probes=20)
    assert np.mean([probing.together.mean() for probing in fast.probings_]) > 0.5


def test_labels_by_the_shortcut_are_the_same_with_row_weights_some_of_them_zero():
    X, labels = overlapping(400, 5)
    row_weights = np.random.default_rng(3).integers(0, 4, len(X)).astype(float)
    shortcut, pairs = HingeSVMShortcut(), class_weights(7)
    for quick, pair in zip(shortcut.fit(HingeSVM(), X, labels, pairs, row_weights), pairs, strict=True):
        slow = HingeSVM().fit(X, labels, pair[labels] * row_weights)
        np.testing.assert_allclose(quick.coef_, slow.coef_, atol=1e-9)
        np.testing.assert_array_equal(quick.predict(X), slow.predict(X))


def test_labels_do_not_depend_on_rounds():
    X, labels = overlapping(n_rows=2000)
    pairs = class_weights(30)
    at_once = HingeSVMShortcut().fit(HingeSVM(), X, labels, pairs, None)
    shortcut, order = HingeSVMShortcut(), np.random.default_rng(0).permutation(30)
    for places in np.split(order, [1, 3, 6, 10, 17]):
        for place, one in zip(places, shortcut.fit(HingeSVM(), X, labels, pairs[places], None), strict=True):
            np.testing.assert_array_equal(one.predict(X), at_once[place].predict(X))
            np.testing.assert_allclose(one.coef_, at_once[place].coef_, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_a_fit_stays_within_the_errors_of_the_path_to_it(seed):
    X, labels = overlapping(n_rows=2000, seed=seed)
    data = signed_rows(X, labels == 1, None, 1.0)
    path = HingePath(data)
    for pair in class_weights(9):
        warm, cold = path.solve(pair), solved(data, pair)
        nearest = np.argsort(np.abs(cold.margins))[:500]
        errors = path.row_errors(warm, nearest)
        assert np.all(np.abs(warm.margins - cold.margins)[nearest] <= errors)
        assert errors.max() < 1e-7


def test_where_the_intercept_has_room_the_shortcut_vouches_for_nothing():
    X, labels = np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0, 0, 1, 1])
    assert HingeSVM().fit(X, labels).intercept_[0] == pytest.approx(0, abs=1e-9)
    assert HingeSVMShortcut().fit(HingeSVM(), X, labels, np.array([[1.0, 1.0], [1.0, 2.0]]), None)[0] is None


def test_where_too_many_rows_have_margin_1_every_label_is_in_doubt(monkeypatch):
    monkeypatch.setattr("probcal.shortcuts.hinge_path._MOST_NUMBERS", 10)
    X, labels = overlapping()
    shortcut = HingeSVMShortcut()
    _, error = shortcut.margins(shortcut.fit(HingeSVM(), X, labels, np.ones((1, 2)), None), X)
    assert error == np.inf


def test_a_row_on_the_boundary_is_within_the_error():
    X, labels = overlapping()
    X, labels = np.vstack([X, -X, np.zeros((2, 8))]), np.concatenate([labels, 1 - labels, [0, 1]])
    shortcut = HingeSVMShortcut()
    (found,) = shortcut.fit(HingeSVM(), X, labels, np.ones((1, 2)), None)
    if found is not None:
        margins, error = shortcut.margins([found], X)
        assert np.all(np.abs(margins[-1]) <= error)


def test_labels_are_those_of_wekas_smo():
    if not find_spec("weka"):
        pytest.skip("needs probcal[weka]")
    X, labels = sets()["wine"]
    frame = pd.DataFrame(MinMaxScaler().fit_transform(X))  # as SMO does itself
    names = np.array(["other", "second"])[labels.astype(int)]
    smo = WekaClassifier("functions.SMO").fit(frame, names)
    assert np.mean(HingeSVM().fit(frame, names).predict(frame) == smo.predict(frame)) == 1


def test_it_is_an_estimator_of_scikit_learn():
    wording = {"check_classifier_not_supporting_multiclass": "three classes are refused in words of our own"}
    check_estimator(HingeSVM(), expected_failed_checks=wording, on_skip=None)


@pytest.mark.parametrize("c", [0, -1.0, np.inf, np.nan, "one", None])
def test_a_c_that_is_not_above_zero_is_refused(c):
    with pytest.raises(ValueError, match="C must be a number above 0"):
        HingeSVM(C=c).fit(*overlapping(20))


def test_bad_rows_labels_and_weights_are_refused_with_the_reason():
    X, labels = overlapping(50)
    gap = X.copy()
    gap[3, 2] = np.nan
    for fitted in (HingeSVM().fit, lambda X, y: HingeSVMShortcut().fit(HingeSVM(), X, y, np.ones((1, 2)), None)):
        with pytest.raises(ValueError, match="NaN"):
            fitted(gap, labels)
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            fitted(csr_array(X), labels)
    with pytest.raises(ValueError, match="two classes are needed, y holds 3"):
        HingeSVM().fit(X, np.arange(50) % 3)
    with pytest.raises(ValueError, match="must not be negative"):
        HingeSVM().fit(X, labels, -np.ones(50))
    with pytest.raises(ValueError, match="zero for all rows of class 0, so y holds one class only"):
        HingeSVM().fit(X, labels, labels)


def test_a_minimum_out_of_reach_is_warned_of_and_the_shortcut_leaves_it_to_the_fit(monkeypatch):
    monkeypatch.setattr("probcal.shortcuts.hinge._MAX_ROUNDS", 2)
    X, labels = overlapping()
    with pytest.warns(ConvergenceWarning, match="did not reach its minimum"):
        HingeSVM().fit(X, labels)
    assert HingeSVMShortcut().fit(HingeSVM(), X, labels, np.ones((1, 2)), None) == [None]


def test_a_classifier_of_the_shortcut_is_a_fitted_one_keeps_names_and_holds_no_rows():
    X, labels = overlapping(n_rows=3000)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    (quick,) = HingeSVMShortcut().fit(HingeSVM(), frame, labels, np.array([[1.0, 2.0]]), None)
    slow = clone(HingeSVM()).fit(frame, labels, np.array([1.0, 2.0])[labels])
    assert type(quick) is HingeSVM and set(vars(slow)) < set(vars(quick))
    np.testing.assert_array_equal(quick.feature_names_in_, slow.feature_names_in_)
    assert len(pickle.dumps(quick)) < 3000
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(quick)).predict(frame), slow.predict(frame))


def test_many_probes_take_the_memory_of_few_copies_of_the_rows():
    X, labels = overlapping(n_rows=20_000, n_columns=20)

    def peak(n_thresholds):
        tracemalloc.start()
        HingeSVMShortcut().fit(HingeSVM(), X, labels, class_weights(n_thresholds), None)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(12) < 6 * X.nbytes
