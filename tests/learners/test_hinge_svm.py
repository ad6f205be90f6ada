"""Test that HingeSVM reaches the minimum of the hinge loss, against scikit-learn's SVC, Weka's SMO and the dual."""

from __future__ import annotations

import pickle
import warnings
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from probcal.learners import HingeSVM, WekaClassifier
from tests.small_tables import duality_gap, overlapping, real_and_drawn, table_of, tables

pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")


def value(fitted, X, labels, weights):
    margins = np.where(labels == fitted.classes_[1], 1, -1) * fitted.decision_function(X)
    return float(fitted.coef_[0] @ fitted.coef_[0] / 2 + weights @ np.maximum(1 - margins, 0))


@pytest.mark.parametrize("name", sorted(real_and_drawn().keys() - {"cancer as it is"}))
def test_minimum_equals_that_of_scikit_learns_svc(name):
    X, labels = real_and_drawn()[name]
    ours, theirs = HingeSVM().fit(X, labels), SVC(kernel="linear", tol=1e-10).fit(X, labels)
    theirs_value = value(theirs, X, labels, np.ones(len(X)))
    assert theirs_value * (1 - 1e-6) <= value(ours, X, labels, np.ones(len(X))) <= theirs_value * (1 + 1e-12)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)  # LIBSVM is not more exact
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("threshold", [0.02, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875])
@pytest.mark.parametrize("name", real_and_drawn())
def test_primal_value_equals_dual_value(name, threshold):
    X, labels = real_and_drawn()[name]
    signs = np.where(labels == np.unique(labels)[1], 1.0, -1.0)
    limits = np.where(signs > 0, (1 - threshold) / threshold, 1.0)
    fitted = HingeSVM().fit(X, labels, limits)
    gaps = 1 - signs * fitted.decision_function(X)
    np.testing.assert_allclose(gaps[np.abs(gaps) < 1e-7], 0, atol=2e-11)
    gap, imbalance = duality_gap(fitted, X, labels, limits)
    assert gap < 1e-8 and imbalance < 1e-9


@settings(derandomize=True, deadline=None, max_examples=100)
@given(tables, st.booleans(), st.booleans(), st.booleans(), st.floats(-3, 3))
def test_svc_is_not_lower_and_intercept_is_the_midpoint(table, duplicated, collinear, separable, log_c):
    X, labels = table_of(table, duplicated, collinear, separable)
    fitted = HingeSVM(C=10**log_c).fit(X, labels)
    weights = np.full(len(X), 10**log_c)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # SVC's value is still an upper bound
        theirs = SVC(kernel="linear", tol=1e-7, C=10**log_c, max_iter=20_000).fit(X, labels)
    assert value(fitted, X, labels, weights) <= value(theirs, X, labels, weights) * (1 + 1e-9)
    low, high = bounds_of_the_intercept(X, labels, fitted.coef_[0])
    assert fitted.intercept_[0] == pytest.approx((low + high) / 2, abs=1e-7)


def bounds_of_the_intercept(X, labels, w):
    """Return the bounds of b at the minimum of the sum of max(0, 1 - y (x'w + b)), by all b where a margin is 1."""
    signs = np.where(labels == 1, 1, -1)
    at = signs - X @ w
    losses = np.maximum(1 - signs * (X @ w + at[:, None]), 0).sum(axis=1)
    best = at[losses <= losses.min() + 1e-8 * len(X)]
    return best.min(), best.max()


@pytest.mark.java
def test_labels_equal_those_of_wekas_smo():
    if not find_spec("weka"):
        pytest.skip("needs the extra weka")
    X, labels = real_and_drawn()["wine"]
    frame = pd.DataFrame(MinMaxScaler().fit_transform(X))  # SMO scales in the same way
    names = np.array(["other", "second"])[labels.astype(int)]
    smo = WekaClassifier("functions.SMO").fit(frame, names)
    assert np.mean(HingeSVM().fit(frame, names).predict(frame) == smo.predict(frame)) == 1


def test_hinge_svm_passes_the_estimator_checks_of_scikit_learn():
    wording = {"check_classifier_not_supporting_multiclass": "three classes are refused in words of our own"}
    check_estimator(HingeSVM(), expected_failed_checks=wording, on_skip=None)


@pytest.mark.parametrize("c", [0, -1.0, np.inf, np.nan, "one", None])
def test_a_c_not_above_zero_is_rejected(c):
    with pytest.raises(ValueError, match="C must be a number above 0"):
        HingeSVM(C=c).fit(*overlapping(20))


def test_bad_rows_labels_and_weights_are_rejected():
    X, labels = overlapping(50)
    gap = X.copy()
    gap[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        HingeSVM().fit(gap, labels)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        HingeSVM().fit(csr_array(X), labels)
    with pytest.raises(ValueError, match="two classes are needed, y holds 3"):
        HingeSVM().fit(X, np.arange(50) % 3)
    with pytest.raises(ValueError, match="must not be negative"):
        HingeSVM().fit(X, labels, -np.ones(50))
    with pytest.raises(ValueError, match="zero for all rows of class 0, so y holds one class only"):
        HingeSVM().fit(X, labels, labels)


def test_a_minimum_that_is_not_reached_gives_a_warning(monkeypatch):
    monkeypatch.setattr("probcal.fast_paths.hinge_path._MAX_ROUNDS", 2)
    with pytest.warns(ConvergenceWarning, match="did not reach its minimum"):
        HingeSVM().fit(*overlapping())


def test_a_fitted_model_stores_column_names_and_no_rows():
    X, labels = overlapping(n_rows=3000)
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    fitted = HingeSVM().fit(frame, labels)
    assert list(fitted.feature_names_in_) == list("abcdefgh")
    assert len(pickle.dumps(fitted)) < 3000
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(frame), fitted.predict(frame))
