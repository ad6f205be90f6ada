"""Test what all maps share: bounds, shapes of scores, labels, weights, copies and messages."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_info, threadpool_limits

import probcal
from probcal import (
    BetaCalibrator,
    PriorCalibrator,
    SigmoidCalibrator,
    SplineCalibrator,
    VennAbersCalibrator,
)
from probcal.methods.registry import FAMILIES
from tests.methods.calibrating import noisy

pytestmark = pytest.mark.filterwarnings("error")
MAPS = [getattr(probcal, path.rpartition(".")[2]) for path, family in FAMILIES.items() if family == "maps"]
LEARNED = [one for one in MAPS if one is not PriorCalibrator]
every_map = pytest.mark.parametrize("calibrator", MAPS)


def problem(n, n_classes, seed, decimals=16, steepness=1.0):
    """Return (P, y): rounded probabilities (n, n_classes), and labels with at least one row of each class."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, n_classes))
    y = (rng.random(n)[:, None] > softmax(z, axis=1).cumsum(axis=1)).sum(axis=1)
    y[:n_classes] = np.arange(n_classes)
    P = np.round(softmax(steepness * z, axis=1), decimals)
    P[:, -1] = 1 - P[:, :-1].sum(axis=1)
    return P.clip(0, 1), y


@pytest.mark.parametrize("calibrator", LEARNED)
@pytest.mark.parametrize("n_classes", [2, 3])
@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    st.integers(4, 60), st.integers(0, 10_000), st.sampled_from([0, 1, 16]), st.sampled_from([0.0, 1.0, 30.0, 1000.0])
)
def test_default_predictions_lie_strictly_between_0_and_1(calibrator, n_classes, n, seed, decimals, steepness):
    P, y = problem(n, n_classes, seed, decimals, steepness)
    p = calibrator().fit(P, y).predict_proba(P)
    assert ((p > 0) & (p < 1)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)


@every_map
def test_probabilities_of_two_classes_accept_one_or_two_columns(calibrator):
    P, y = problem(200, 2, 0)
    p = P[:, 1]
    expected = calibrator().fit(p, y).predict_proba(p)
    for form in (p[:, None], P, p.tolist(), pd.Series(p), pd.DataFrame(P, columns=["no", "yes"])):
        np.testing.assert_allclose(calibrator().fit(form, y).predict_proba(form), expected, rtol=0, atol=1e-7)


@every_map
def test_scores_of_two_classes_accept_one_or_two_columns(calibrator):
    scores, y = noisy(200)
    expected = calibrator(input="score").fit(scores, y).predict_proba(scores)
    for form in (scores[:, None], np.column_stack([np.ones(200), 1 + scores])):
        found = calibrator(input="score").fit(form, y).predict_proba(form)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)


@every_map
@pytest.mark.parametrize("n_classes", [2, 3])
def test_row_of_frequency_weight_2_counts_as_two_rows(calibrator, n_classes):
    P, y = problem(150, n_classes, 2, steepness=8)  # some probabilities are outside the bounds
    weights = np.arange(150) % 3
    weights[:n_classes] = 1
    times = np.repeat(np.arange(150), weights)
    weighted = calibrator().fit(P, y, weights, frequency_weights=True).predict_proba(P)
    repeated = calibrator().fit(P[times], y[times]).predict_proba(P)
    np.testing.assert_allclose(weighted, repeated, rtol=0, atol=1e-6)


@every_map
@pytest.mark.parametrize("names", [["no", "yes"], [1, 2], [False, True], [2.0, 7.0]], ids=str)
def test_labels_of_any_kind_give_the_same_probabilities(calibrator, names):
    P, y = problem(100, 2, 4)
    names = np.array(names)
    named, plain = calibrator().fit(P, names[y]), calibrator().fit(P, y)
    assert named.classes_.tolist() == names.tolist()
    assert named.predict_proba(P).tolist() == plain.predict_proba(P).tolist()
    assert named.predict(P).tolist() == names[plain.predict(P)].tolist()


@every_map
def test_copies_predict_the_same(calibrator):
    P, y = problem(100, 3, 5)
    fitted = calibrator().fit(P, y)
    expected = fitted.predict_proba(P).tolist()
    assert pickle.loads(pickle.dumps(fitted)).predict_proba(P).tolist() == expected
    assert clone(fitted).fit(P, y).predict_proba(P).tolist() == expected


@every_map
def test_map_changes_neither_scores_nor_labels(calibrator):
    P, y = problem(60, 2, 6)
    before = P.copy(), y.copy()
    P.setflags(write=False)
    calibrator().fit(P, y).predict_proba(P)
    np.testing.assert_array_equal(P, before[0])
    np.testing.assert_array_equal(y, before[1])


@every_map
def test_rows_are_calibrated_independently_of_each_other(calibrator):
    P, y = problem(80, 3, 7)
    fitted = calibrator().fit(P, y)
    batched, alone = fitted.predict_proba(P), np.concatenate([fitted.predict_proba(row[None]) for row in P])
    np.testing.assert_allclose(alone, batched, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("scores", "y", "message"),
    [
        ([0.2, 0.7, np.nan], [0, 1, 1], "missing or infinite values; a map needs finite scores"),
        ([0.2, 0.7, np.inf], [0, 1, 1], "missing or infinite values"),
        ([0.2, 0.7, 1.5], [0, 1, 1], "reach from 0.2 to 1.5.*use input='score'"),
        ([-3.0, 0.7, 1.5], [0, 1, 1], "reach from -3 to 1.5"),
        ([[0.2, 0.7], [0.5, 0.5]], [0, 1], r"row 0 \(counted from 0\) have the sum 0.9, not 1"),
        ([[0.2, 0.3, 0.5]] * 2, [0, 1], "3 columns, and y has 2 classes; give 1 or 2 columns"),
        ([0.2] * 3, [0, 1, 2], "scores have 1 column, and y has 3 classes; give 3 columns"),
        ([[0.2, 0.8]] * 3, [0, 1, 2], "2 columns, and y has 3 classes; give 3 columns"),
        ([0.2, 0.7, 0.1], [0, 1], "inconsistent numbers of samples"),
        ([0.2, 0.7], [1, 1], "one class only"),
        ([0.2, 0.7, 0.3], ["a", "b", None], "1 of 3 labels are missing"),
        ([0.2, 0.7], [0.5, 0.25], "(?i)continuous"),
        ([[[0.2]], [[0.7]]], [0, 1], r"shape \(n_rows,\) or \(n_rows, n_classes\)"),
        (scipy.sparse.csr_array([[0.2, 0.8], [0.7, 0.3]]), [0, 1], "(?i)sparse"),
        (["low", "high"], [0, 1], "could not convert string to float"),
    ],
)
@pytest.mark.parametrize("calibrator", [SigmoidCalibrator, SplineCalibrator])
def test_invalid_scores_and_labels_are_rejected_with_the_reason(calibrator, scores, y, message):
    with pytest.raises((ValueError, TypeError), match=message):
        calibrator().fit(scores, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, -1], "must not be negative"),
        ([1, 1], "a weight for each of 3 rows"),
        ([1, 1, np.nan], "missing or infinite"),
        ([0, 0, 0], "zero for all rows"),
        ([1, 0, 0], "class 1 has no row of positive weight; give more rows of it"),
    ],
)
def test_invalid_weights_are_rejected_with_the_reason(weights, message):
    with pytest.raises(ValueError, match=message):
        BetaCalibrator().fit([0.2, 0.7, 0.9], [0, 1, 1], weights)


@every_map
@pytest.mark.parametrize("classes", [["a", "b", "c"], [7, 8, 9], [False, True], [1.0, 2.0]])
def test_frame_columns_in_another_order_are_rejected(calibrator, classes):
    P, y = problem(60, len(classes), 4)
    frame, labels = pd.DataFrame(P, columns=classes), np.array(classes)[y]
    turned = frame.iloc[:, ::-1]
    fitted = calibrator().fit(frame, labels)
    assert np.array_equal(fitted.predict_proba(frame), calibrator().fit(P, labels).predict_proba(P))
    for refused in (lambda: fitted.predict_proba(turned), lambda: calibrator().fit(turned, labels)):
        with pytest.raises(ValueError, match=r"same order|put them in the order of the classes"):
            refused()


def test_column_named_after_the_first_of_two_classes_is_rejected():
    y = np.array(["n", "y", "n", "y"])
    with pytest.raises(ValueError, match="the column of scores is 'n'; give that of the second class, 'y'"):
        SigmoidCalibrator().fit(pd.DataFrame({"n": [0.9, 0.2, 0.6, 0.5]}), y)
    for frame in (pd.DataFrame({"y": [0.1, 0.8, 0.4, 0.5]}), pd.DataFrame([0.1, 0.8, 0.4, 0.5])):
        assert SigmoidCalibrator().fit(frame, y).predict(frame).tolist()[:2] == ["n", "y"]


@every_map
def test_unknown_input_is_rejected(calibrator):
    with pytest.raises(ValueError, match="input must be"):
        calibrator(input="logit").fit([0.2, 0.7], [0, 1])


def test_maps_are_fitted_and_applied_by_one_blas_thread(monkeypatch):
    seen = []

    def spied(name):
        real = getattr(SigmoidCalibrator, name)

        def spy(self, *given):
            seen.append({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
            return real(self, *given)

        monkeypatch.setattr(SigmoidCalibrator, name, spy)

    spied("_fit_maps")
    spied("_calibrated")
    scores = np.linspace(-2, 2, 40)
    with threadpool_limits(2, user_api="blas"):
        SigmoidCalibrator(input="score").fit(scores, np.arange(40) % 3 > 0).predict_proba(scores)
    assert seen == [{1}, {1}]


@every_map
@pytest.mark.parametrize("method", ["predict", "predict_proba", "score", "predict_interval", "intervals"])
def test_every_method_of_an_unfitted_map_says_so(calibrator, method):
    if hasattr(calibrator, method):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            getattr(calibrator(), method)(*([[0.2, 0.7], [0, 1]] if method == "score" else [[0.2, 0.7]]))


def test_intervals_are_only_of_the_columns_of_the_fit():
    P, y = problem(200, 2, 0)
    fitted = VennAbersCalibrator().fit(P[:, 1], y)
    for method in (fitted.predict_interval, fitted.intervals, fitted.predict_proba):
        with pytest.raises(ValueError, match="scores have 2 columns, and the map was fitted on 1"):
            method(P)
    frame = pd.DataFrame(P, columns=["0", "1"])
    fitted = VennAbersCalibrator().fit(frame, y)
    np.testing.assert_array_equal(fitted.predict_interval(frame), np.column_stack(fitted.intervals(frame)[0]))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict_interval(frame[["1", "0"]])
