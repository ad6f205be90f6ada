"""Test temperature, vector, matrix and Dirichlet scaling against another minimiser of the published losses."""

import numpy as np
import pytest
import sklearn.calibration
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

from probcal import (
    DirichletCalibrator,
    MatrixScalingCalibrator,
    TemperatureCalibrator,
    VectorScalingCalibrator,
)
from probcal.methods.calibrators import _regression

pytestmark = pytest.mark.filterwarnings("error")


def wrong_probabilities(n=400, n_classes=3, seed=0):
    """Return (P, y): probabilities (n, n_classes) that are too certain and shifted, with none below 1 / 2n."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, n_classes)).clip(-1.2, 1.2)
    y = (rng.random(n)[:, None] > softmax(z, axis=1).cumsum(axis=1)).sum(axis=1)
    return softmax(1.5 * z + 0.3 * np.arange(n_classes), axis=1), y


def smoothed(y):
    """Return the targets (n, n_classes) that the docstring of ``class_targets`` describes, row by row."""
    counts = np.bincount(y)
    rows = []
    for label in y:
        own = (counts[label] + 1) / (counts[label] + 2)
        rows.append([own if k == label else (1 - own) / (len(counts) - 1) for k in range(len(counts))])
    return np.array(rows)


def rows_of_each_label(P, y):
    """Return each row once with each label, and the weights: a regression on them has the smoothed targets."""
    n, k = P.shape
    return np.repeat(P, k, axis=0), np.tile(np.arange(k), n), smoothed(y).ravel()


def cross_entropy(P, y, logits):
    return -(smoothed(y) * log_softmax(logits, axis=1)).sum(axis=1).mean()


def least(loss, n_parameters):
    """Return the parameters that SciPy's BFGS finds with numerical slopes, from two starts."""
    found = minimize(loss, np.zeros(n_parameters), method="BFGS", options={"gtol": 1e-9})
    return minimize(loss, found.x, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-15, "maxiter": 4000}).x


def cooled(logits, y, log_t):
    return -log_softmax(logits / np.exp(log_t), axis=1)[np.arange(len(y)), y].mean()


def at_least(p, bound):
    p = np.maximum(p, bound)
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_temperature_minimises_the_log_loss(n_classes):
    P, y = wrong_probabilities(n_classes=n_classes)
    (log_t,) = least(lambda x: cooled(np.log(P), y, x[0]), 1)
    fitted = TemperatureCalibrator().fit(P, y)
    assert fitted.temperature_ == pytest.approx(np.exp(log_t), abs=1e-6)
    expected = at_least(softmax(np.log(P) / np.exp(log_t), axis=1), 1 / (2 * len(y)))
    np.testing.assert_allclose(fitted.predict_proba(P), expected, rtol=0, atol=1e-6)


@pytest.mark.skipif(not hasattr(sklearn.calibration, "_TemperatureScaling"), reason="needs scikit-learn 1.8")
def test_temperature_agrees_with_scikit_learn():
    P, y = wrong_probabilities()
    peer = sklearn.calibration._TemperatureScaling().fit(P, y)
    expected = at_least(peer.predict(P), 1 / (2 * len(y)))
    np.testing.assert_allclose(TemperatureCalibrator().fit(P, y).predict_proba(P), expected, rtol=0, atol=1e-6)


def test_bound_for_probability_0_depends_on_certain_errors():
    n = 200
    rare = np.repeat([[1.0, 0.0], [0.0, 1.0], [0.6, 0.4], [0.4, 0.6]], n // 4, axis=0)
    y = np.repeat([0, 1, 0, 1, 0, 1], [n // 4, n // 4, 30, 20, 20, 30])
    wrong = y.copy()
    wrong[: n // 10] = 1  # many certain predictions are wrong
    assert TemperatureCalibrator().fit(rare, y).bound_ < 1 / (2 * n)
    assert TemperatureCalibrator().fit(rare, wrong).bound_ == pytest.approx(1 / (2 * n))


@given(st.integers(0, 10**6))
def test_temperature_scaling_predicts_no_probability_of_0(seed):
    random = np.random.default_rng(seed)
    p = random.choice([0, 1e-300, 0.1, 0.5, 0.9, 1], 30)
    y = np.append([0, 1], random.integers(0, 2, 28))
    found = TemperatureCalibrator().fit(p, y).predict_proba([0, 0.5, 1])
    assert found.min() >= 1 / 60 / (1 + 1 / 60) - 1e-12


@pytest.mark.parametrize("calibrator", [MatrixScalingCalibrator, DirichletCalibrator])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_unpenalised_scaling_equals_logistic_regression_on_log_probabilities(calibrator, n_classes):
    P, y = wrong_probabilities(n_classes=n_classes)
    rows, labels, weights = rows_of_each_label(np.log(P), y)
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(rows, labels, weights)
    found = calibrator(penalty="none").fit(P, y).predict_proba(P)
    np.testing.assert_allclose(found, peer.predict_proba(np.log(P)), rtol=0, atol=1e-6)


@pytest.mark.parametrize("calibrator", [VectorScalingCalibrator, MatrixScalingCalibrator, DirichletCalibrator])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_penalised_map_minimises_its_loss(calibrator, n_classes):
    P, y = wrong_probabilities(150, n_classes)
    k, n = n_classes, 150
    fitted = calibrator().fit(P, y)
    (log_t,) = least(lambda x: cross_entropy(P, y, np.log(P) / np.exp(x[0])), 1)
    logits = np.log(P) / (1 if calibrator is DirichletCalibrator else np.exp(log_t))
    off = ~np.eye(k, dtype=bool)

    def parts(x):
        if calibrator is VectorScalingCalibrator:
            return np.diag(1 + x[:k]), x[k:]
        return np.eye(k) + x[: k * k].reshape(k, k), x[k * k :]

    def loss(x):
        W, b = parts(x)
        penalty = k * b @ b + k * (k - 1) * (W[off] ** 2).sum()
        if calibrator is not DirichletCalibrator:  # the Dirichlet map has a free diagonal
            penalty += k * ((np.diag(W) - 1) ** 2).sum()
        return cross_entropy(P, y, logits @ W.T + b) + penalty / n

    W, b = parts(least(loss, 2 * k if calibrator is VectorScalingCalibrator else k * k + k))
    np.testing.assert_allclose(fitted.predict_proba(P), softmax(logits @ W.T + b, axis=1), rtol=0, atol=1e-6)


@pytest.mark.parametrize("penalty", ["structured", "none"])
@pytest.mark.parametrize("calibrator", [VectorScalingCalibrator, MatrixScalingCalibrator, DirichletCalibrator])
def test_separated_classes_give_a_finite_map(calibrator, penalty):
    y = np.arange(60) % 3
    fitted = calibrator(penalty=penalty).fit(np.eye(3)[y], y)
    p = fitted.predict_proba(np.eye(3))
    assert np.isfinite(fitted.matrix_).all()
    assert ((p > 0) & (p < 1)).all()
    assert p.argmax(axis=1).tolist() == [0, 1, 2]


@pytest.mark.parametrize("calibrator", [VectorScalingCalibrator, MatrixScalingCalibrator, DirichletCalibrator])
def test_constant_predictions_change_the_intercept_only(calibrator):
    fitted = calibrator().fit(np.full(1000, 0.2), [0] * 300 + [1] * 700)
    assert fitted.matrix_.tolist() == [[1, 0], [0, 1]]
    assert fitted.predict_proba([0.2])[0, 1] == pytest.approx(0.7, abs=0.01)


def test_temperature_of_separated_and_reversed_rows_is_bounded():
    p, y = np.array([0.1, 0.2, 0.8, 0.9]), np.array([0, 0, 1, 1])
    assert 1e-3 <= TemperatureCalibrator().fit(p, y).temperature_ < 0.1
    assert TemperatureCalibrator().fit(p, 1 - y).temperature_ == pytest.approx(1000, rel=1e-6)


@pytest.mark.parametrize("form", ["vector", "matrix", "dirichlet"])
@pytest.mark.parametrize("penalty", ["structured", "none"])
def test_newtons_method_and_l_bfgs_find_the_same_optimum(form, penalty, monkeypatch):
    P, y = wrong_probabilities(2000)
    weights = np.random.default_rng(1).exponential(size=2000)
    targets = _regression.class_targets(y, 3, weights)
    found = []
    for most in (100, 0):
        monkeypatch.setattr(_regression, "_MOST_PARAMETERS", most)
        matrix, intercept = _regression.fit_affine(np.log(P.T), y, targets, weights, form, penalty)
        found.append(softmax(np.log(P) @ matrix.T + intercept, axis=1))
    np.testing.assert_allclose(*found, rtol=0, atol=1e-6)
