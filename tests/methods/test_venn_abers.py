"""Test Venn-Abers predictors against isotonic regressions with the predicted row and the package venn-abers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from probcal import VennAbersCalibrator, VennAbersClassifier
from probcal.methods.calibrators import venn_abers
from probcal.methods.calibrators.venn_abers import _compiled, _sweep
from tests.methods.calibrating import blobs, noisy

pytestmark = pytest.mark.filterwarnings("error")


def by_brute_force(scores, y, asked, weights=None):
    """Return p0 and p1 (n, 2) from two isotonic regressions for every predicted row, whose weight is 1."""
    weights = np.ones(len(scores)) if weights is None else weights

    def regression(one, label):
        fitted = IsotonicRegression().fit([*scores, one], [*y, label], sample_weight=[*weights, 1])
        return fitted.predict([one])[0]

    return np.array([[regression(one, label) for label in (0.0, 1.0)] for one in asked])


def predictor(scores, y, weights=None):
    return VennAbersCalibrator("score").fit(scores, np.asarray(y, dtype=int), weights)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(4, 40), st.integers(0, 10_000), st.sampled_from([0, 1, 16]), st.booleans())
def test_interval_agrees_with_brute_force(n, seed, decimals, weighted):
    scores, y = noisy(n, seed)
    scores, y[:2] = np.round(scores, decimals), [False, True]
    asked = np.concatenate([scores, np.linspace(-4, 4, 15)])
    weights = np.random.default_rng(seed).exponential(size=n) + 0.01
    weights = weights / weights.mean() if weighted else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(venn_abers, "_compiled", lambda: _sweep)  # another test holds that the compiled sweep is equal
        found = predictor(scores, y, weights).predict_interval(asked)
    np.testing.assert_allclose(found, by_brute_force(scores, y, asked, weights), rtol=0, atol=1e-9)


def test_interval_agrees_with_hand_calculation():
    # scores 1 2 3, labels 0 1 1, new row at 2.5. Label 0 gives 0 1 0 1, and the middle two are pooled to 1/2. Label 1
    # gives 0 1 1 1, and the value is 1. The probability is 1 / (1 - 1/2 + 1) = 2/3
    fitted = predictor([1, 2, 3], [0, 1, 1])
    assert fitted.predict_interval([2.5]).tolist() == [[0.5, 1]]
    assert fitted.predict_proba([2.5])[0] == pytest.approx([1 / 3, 2 / 3])


@pytest.mark.parametrize("n_folds", [2, 3])
def test_folds_are_merged_by_geometric_means(n_folds):
    X, y = blobs(120, 2)
    asked, _ = blobs(40, 2, seed=1)
    cv = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    fitted = VennAbersClassifier(LogisticRegression(), cv=cv, ensemble=True).fit(X, y)
    p0, p1 = np.ones(40), np.ones(40)
    for learn, calibrate in cv.split(X, y):
        learner = LogisticRegression().fit(X[learn], y[learn])
        scores = learner.decision_function(X[calibrate])
        lower, upper = by_brute_force(scores, y[calibrate], learner.decision_function(asked)).T
        p0, p1 = p0 * (1 - lower) ** (1 / n_folds), p1 * upper ** (1 / n_folds)
    np.testing.assert_allclose(fitted.predict_proba(asked)[:, 1], p1 / (p0 + p1), atol=1e-9)
    ends = np.sort(np.column_stack([1 - p0, p1]), axis=1)
    np.testing.assert_allclose(fitted.predict_interval(asked), ends, atol=1e-9)
    p = fitted.predict_proba(asked)[:, 1]
    assert ((ends[:, 0] - 1e-12 <= p) & (p <= ends[:, 1] + 1e-12)).all()
    assert len(fitted.estimators_) == n_folds


@pytest.mark.filterwarnings("default")
def test_predictor_agrees_with_the_package_venn_abers():
    from venn_abers import VennAbers

    scores, y = noisy(300)
    p, asked = expit(scores), expit(np.linspace(-4, 4, 200))
    peer = VennAbers()
    peer.fit(np.column_stack([1 - p, p]), y.astype(int))
    expected, interval = peer.predict_proba(np.column_stack([1 - asked, asked]))
    ours = VennAbersCalibrator().fit(p, y)
    np.testing.assert_allclose(ours.predict_proba(asked), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.predict_interval(asked), interval, rtol=0, atol=1e-9)


@pytest.mark.parametrize("n", [2, 50, 3000])
@pytest.mark.parametrize("decimals", [0, 1, 16])
def test_compiled_and_plain_sweep_agree(n, decimals):
    scores, y = noisy(n, n)
    y[:2] = [False, True]
    width, rise = np.ones(n), y[np.argsort(np.round(scores, decimals), kind="stable")].astype(float)
    assert _compiled()(width, rise).tolist() == _sweep(width, rise).tolist()


def test_scores_that_agree_to_ten_digits_are_equal():
    fitted = VennAbersCalibrator("score").fit([0.0, 1 - 3e-10, 1 - 3e-11, 1.0], [0, 0, 1, 1])
    assert len(fitted.maps_[0].scores) == 3


def test_rows_are_predicted_independently():
    # the last digits of a matrix product depend on the number of rows
    X, y = blobs(400, 2)
    X = np.column_stack([X, np.random.default_rng(0).normal(size=(400, 30))])
    fitted = VennAbersClassifier(LogisticRegression(), random_state=0).fit(X, y)
    batched = fitted.predict_proba(X)
    alone = np.concatenate([fitted.predict_proba(X[[row]]) for row in range(400)])
    np.testing.assert_allclose(alone, batched, atol=1e-12)


def test_class_predictors_are_divided_by_their_sum():
    X, y = blobs(90, 3)
    learner = FrozenEstimator(LogisticRegression().fit(X, y))
    fitted = VennAbersClassifier(learner).fit(X, y)
    scores = learner.decision_function(X)
    raw = []
    for k in range(3):
        p0, p1 = by_brute_force(scores[:, k], y == k, scores[:, k]).T
        raw.append(p1 / (1 - p0 + p1))
    expected = np.transpose(raw) / np.sum(raw, axis=0)[:, None]
    np.testing.assert_allclose(fitted.predict_proba(X), expected, atol=1e-9)
    with pytest.raises(ValueError, match="for two classes only, and y had 3"):
        fitted.predict_interval(X)


def test_calibration_rows_without_weight_are_rejected():
    X, y = blobs(60, 2)
    cv = [(np.arange(0, 60, 2), np.arange(1, 60, 2))]
    with pytest.raises(ValueError, match="fold 1 of 1 has no rows of positive weight to calibrate on"):
        VennAbersClassifier(GaussianNB(), cv=cv).fit(X, y, (np.arange(60) + 1) % 2)


def test_huge_scores_get_the_outermost_probability():
    scores, y = np.linspace(-1e-10, 1e-10, 40), np.arange(40) % 3 > 0
    fitted = VennAbersCalibrator(input="score").fit(scores, y)
    huge, large = (fitted.predict_proba([-size, size]) for size in (1e300, 1.0))
    assert huge.tolist() == large.tolist()
