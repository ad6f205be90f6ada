"""Test Platt's sigmoid against scikit-learn and hand calculations, also on extreme scores."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, _SigmoidCalibration
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from probcal import SigmoidClassifier
from probcal.methods.calibrators.sigmoid import fit_sigmoid
from tests.methods.calibrating import Given, OnlyProbabilities, blobs, noisy, platt_targets

pytestmark = pytest.mark.filterwarnings("error")


def sigmoid_of(scores, y, new=None):
    slope, intercept = fit_sigmoid(np.asarray(scores, dtype=float), np.asarray(y, dtype=bool))
    return expit(-(slope * np.asarray(scores if new is None else new, dtype=float) + intercept))


@pytest.mark.parametrize("n", [3, 10, 100, 3000])
@pytest.mark.parametrize("spread", [1e-3, 1, 50, 1e4])
@pytest.mark.parametrize("steepness", [-2, 0, 1, 8])
def test_sigmoid_agrees_with_scikit_learn(n, spread, steepness):
    scores, y = noisy(n, seed=n, steepness=steepness)
    y[:2] = [False, True]
    scores = spread * scores + spread / 3
    expected = _SigmoidCalibration().fit(scores, y.astype(int)).predict(scores)
    np.testing.assert_allclose(sigmoid_of(scores, y), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("constant", [0.0, 3.0, -1e9, 1e300])
def test_constant_scores_get_the_mean_target(constant):
    # 2 of 5 positive: targets 3/4 and 1/5, mean (2 * 3/4 + 3 * 1/5) / 5 = .42
    assert fit_sigmoid(np.full(5, constant), np.array([1, 0, 0, 1, 0], dtype=bool))[0] == 0
    assert sigmoid_of([constant] * 5, [1, 0, 0, 1, 0]) == pytest.approx([0.42] * 5, abs=1e-12)


scaled = st.tuples(st.integers(4, 60), st.integers(0, 10_000))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(scaled, st.floats(-5, 5))
def test_gradient_of_the_loss_is_zero(problem, steepness):
    scores, y = noisy(*problem, steepness=steepness)
    y[:2] = [False, True]
    residual = platt_targets(y) - sigmoid_of(scores, y)
    # the loss is convex, so it is smallest where the gradient is 0
    assert abs(residual.mean()) < 1e-9
    assert abs((residual * scores).mean()) < 1e-9


@pytest.mark.parametrize("outlier", [1e2, 1e4, 1e6])
def test_outlying_score_does_not_prevent_convergence(outlier):
    # the lowest of 30 scores and the outlier are positive
    scores = np.append(np.arange(30.0), outlier)
    y = np.isin(scores, [0, outlier])
    residual = platt_targets(y) - sigmoid_of(scores, y)
    assert abs(residual.mean()) < 1e-9
    assert abs((residual * scores).mean()) < 1e-9 * outlier


def test_auto_uses_the_decision_function_if_available():
    scores, y = noisy()
    X = np.column_stack([scores, 1 - expit(scores**3), expit(scores**3)])
    found = SigmoidClassifier(Given(), calibration="train").fit(X, y).predict_proba(X)[:, 1]
    np.testing.assert_array_max_ulp(found, sigmoid_of(scores, y), maxulp=2)  # the exp of SciPy and of NumPy


def test_auto_uses_bounded_log_odds_without_a_decision_function():
    scores, y = noisy()
    p = expit(3 * scores)
    p[:2] = [0, 1]
    X = np.column_stack([np.zeros(400), 1 - p, p])
    assert not hasattr(OnlyProbabilities(), "decision_function")
    found = SigmoidClassifier(OnlyProbabilities(), calibration="train").fit(X, y).predict_proba(X)[:, 1]
    bounded = logit(np.clip(p, 1 / 800, 1 - 1 / 800))
    np.testing.assert_allclose(found, sigmoid_of(bounded, y), atol=1e-9)


@pytest.mark.parametrize("learner", [RandomForestClassifier(30, random_state=0), KNeighborsClassifier(15)], ids=str)
def test_certain_wrong_predictions_do_not_reduce_the_accuracy(learner):
    # the unbounded log-odds of one such error would outweigh all other rows
    X, y = make_classification(1000, flip_y=0.2, random_state=0)
    sigmoid = SigmoidClassifier(learner, random_state=0).fit(X[:700], y[:700])
    alone = clone(learner).fit(X[:700], y[:700])
    assert sigmoid.score(X[700:], y[700:]) > alone.score(X[700:], y[700:]) - 0.03


def test_each_kind_of_score_can_be_chosen():
    scores, y = noisy()
    p = expit(scores**3)
    X = np.column_stack([scores, 1 - p, p])
    asked = {"decision_function": scores, "log_odds": scores**3, "probability": p}
    for kind, expected in asked.items():
        found = SigmoidClassifier(Given(), scores=kind, calibration="train", clip=(0, 1)).fit(X, y)
        np.testing.assert_allclose(found.predict_proba(X)[:, 1], sigmoid_of(expected, y), atol=1e-9)


@pytest.mark.parametrize("sign", [-1, 1])
def test_log_odds_near_0_and_1_lose_no_digits(sign):
    # one column holds e^-600, and the other holds its complement, rounded to 1
    log_odds = sign * np.array([-600.0, -400, -200, 0, 200, 400, 600, 100])
    X = np.column_stack([np.zeros(8), expit(-log_odds), expit(log_odds)])
    y = np.array([0, 0, 1, 0, 1, 0, 1, 1])
    method = SigmoidClassifier(OnlyProbabilities(), scores="log_odds", calibration="train")
    found = method.fit(X, y).predict_proba(X)[:, 1]
    np.testing.assert_allclose(found, sigmoid_of(log_odds, y), atol=1e-9)


def test_probabilities_0_and_1_have_log_odds_of_708():
    p = np.array([0, 0, 0, 1, 1, 0.5])
    X, y = np.column_stack([np.zeros(6), 1 - p, p]), np.array([0, 0, 1, 1, 1, 0])
    method = SigmoidClassifier(OnlyProbabilities(), scores="log_odds", calibration="train")
    found = method.fit(X, y).predict_proba(X)[:, 1]
    edge = -math.log(np.finfo(float).tiny)
    assert edge == pytest.approx(708.4, abs=0.01)
    np.testing.assert_allclose(found, sigmoid_of([-edge] * 3 + [edge] * 2 + [0], y), atol=1e-9)


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_cross_validated_sigmoids_agree_with_calibrated_classifier_cv(n_classes, ensemble):
    X, y = blobs(300, n_classes)
    cv = StratifiedKFold(4, shuffle=True, random_state=1)
    learner = LinearSVC(random_state=0)
    ours = SigmoidClassifier(learner, cv=cv, ensemble=ensemble, clip=(0, 1)).fit(X, y)
    peer = CalibratedClassifierCV(learner, method="sigmoid", cv=cv, ensemble=ensemble).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=0, atol=1e-6)


def test_several_classes_have_one_slope_and_intercept_each():
    X, y = blobs(300, 3)
    fitted = SigmoidClassifier(LinearSVC(), calibration="train", clip=(0, 1)).fit(X, y)
    scores = fitted.estimator_.decision_function(X)
    pairs = [fit_sigmoid(scores[:, k], y == k) for k in range(3)]
    assert list(zip(fitted.slope_, fitted.intercept_, strict=True)) == pairs
    raw = np.column_stack([expit(-(a * scores[:, k] + b)) for k, (a, b) in enumerate(pairs)])
    np.testing.assert_allclose(fitted.predict_proba(X), raw / raw.sum(axis=1, keepdims=True), atol=1e-14)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_default_predictions_are_bounded_by_one_over_2n(n_classes):
    X, y = blobs(300, n_classes)
    fitted = SigmoidClassifier(LinearSVC(random_state=0), random_state=0).fit(X, y)
    p = fitted.predict_proba(np.vstack([1e6 * X, -1e6 * X, X]))
    least = 1 / 600
    assert p.min() >= least / (n_classes - 1 + least) - 1e-12
    assert p.max() <= 1 - p.min() + 1e-12
