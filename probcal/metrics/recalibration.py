"""Calibration slope and intercept: the logistic regression of the labels on the log-odds of the predictions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from probcal.metrics.checked_rows import Rows, checked_two_classes

_MOST_STEPS = 200
# Relative length of the last step of Newton's method.
_STEP = 1e-13
_SURE_STEP = 1e-3
_MANY_ROWS = 20_000


def calibration_slope(y: Any, p: Any, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None) -> float:
    """Return the calibration slope: b of the logistic regression logit P(y = 1) = a + b logit p.

    It is 1 if the predictions are calibrated. Below 1, the predictions are too extreme. Above 1, they are not extreme
    enough. See Cox (1958), Two further applications of a model for binary regression. The regression is fitted by
    maximum likelihood. The slope is infinite if no negative row has a higher prediction than a positive row. It is
    minus infinite if no positive row has a higher prediction than a negative row.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels of two classes.
    p : array-like of shape (n_rows,) or (n_rows, 2)
        Predicted P(y = 1), or predicted probabilities of both classes. Two columns keep a small P(y = 0) exact.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    float
        Slope, which may be infinite.

    Raises
    ------
    ValueError
        If a prediction is 0 or 1, because it has no finite log-odds. Also if ``y`` holds one class only, all
        predictions are equal, or an argument is invalid (see ``probcal.metrics``).
    """
    rows = _with_log_odds(y, p, sample_weight, pos_label, labels)
    found = slope_of(rows)
    if math.isnan(found):
        raise ValueError("a calibration slope needs at least two distinct predictions, and all are equal")
    return found


def calibration_intercept(
    y: Any, p: Any, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None
) -> float:
    """Return the calibration intercept: a of the logistic regression logit P(y = 1) = a + logit p.

    It measures calibration in the large. It is 0 if the mean prediction is right on the scale of log-odds. Above 0, the
    predictions are too low. The slope is fixed at 1 (Cox 1958; Steyerberg 2019, Clinical Prediction Models, section
    15.3), so the intercept does not depend on ``calibration_slope``.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels of two classes.
    p : array-like of shape (n_rows,) or (n_rows, 2)
        Predicted P(y = 1), or predicted probabilities of both classes.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    float
        Intercept in units of log-odds with the natural logarithm.

    Raises
    ------
    ValueError
        If a prediction is 0 or 1, ``y`` holds one class only, or an argument is invalid (see ``probcal.metrics``).
    """
    return intercept_of(_with_log_odds(y, p, sample_weight, pos_label, labels))


def slope_of(rows: Rows) -> float:
    """Return the slope, or NaN where it is not defined: several classes, one class, equal predictions, 0 or 1."""
    x = _log_odds(rows)
    if x is None or not _has_both(rows) or x.min() == x.max():
        return math.nan
    negative, positive = x[rows.y == 0], x[rows.y == 1]
    if negative.max() <= positive.min():
        return math.inf
    if positive.max() <= negative.min():
        return -math.inf
    middle, scale = x.mean(), x.std()
    return float(_logistic_fit((x - middle) / scale, rows.y, rows.weight / rows.weight.sum()) / scale)


def intercept_of(rows: Rows) -> float:
    """Return the intercept with slope 1, or NaN where it is not defined: Newton's method within a bracket."""
    from scipy.special import expit, logit

    x = _log_odds(rows)
    if x is None or not _has_both(rows):
        return math.nan
    rate = rows.mean(rows.y)
    # at these ends no fitted probability is above the base rate, and none is below it
    low, high = logit(rate) - x.max(), logit(rate) - x.min()
    now = float(logit(rate) - x.mean())
    for _ in range(_MOST_STEPS):
        fitted = expit(x + now)
        miss = rows.mean(fitted) - rate
        low, high = (low, now) if miss > 0 else (now, high)
        slope = rows.mean(fitted * (1 - fitted))
        after = now - miss / slope if slope > 0 else math.nan
        if not low <= after <= high:
            after = (low + high) / 2
        step, now = abs(after - now), after
        if step <= _STEP * (1 + abs(now)):
            break
    return float(now)


def _logistic_fit(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """Return the slope of the maximum likelihood. ``x`` has mean 0 and variance 1. Classes are not separated."""
    start = np.zeros(2)
    if len(x) > _MANY_ROWS:  # the solution of pooled rows is a step or two away from theirs
        numbers = np.floor((x - x.min()) * 64).astype(np.intp)  # no more than 64 sqrt(n) bins: x has variance 1
        pooled = np.bincount(numbers, weight)
        filled = pooled > 0
        x_means, y_means = (np.bincount(numbers, weight * one)[filled] / pooled[filled] for one in (x, y))
        start = _newton(x_means, y_means, pooled[filled], start)
    return float(_newton(x, y, weight, start)[1])


def _newton(x: np.ndarray, y: np.ndarray, weight: np.ndarray, now: np.ndarray) -> np.ndarray:
    """Return intercept and slope, (2,), by Newton's method. ``y`` may be a frequency between 0 and 1."""
    from scipy.special import expit

    def loss(one: np.ndarray) -> float:
        odds = one[0] + one[1] * x
        return float(weight @ (np.logaddexp(0, odds) - y * odds))

    for _ in range(_MOST_STEPS):
        fitted = expit(now[0] + now[1] * x)
        residual, variance = weight * (fitted - y), weight * fitted * (1 - fitted)
        cross = variance @ x
        curvature = np.array([[variance.sum(), cross], [cross, (variance * x) @ x]])
        # least squares, because the curvature can vanish where almost all fitted probabilities are 0 or 1
        step = np.linalg.lstsq(curvature, np.array([residual.sum(), residual @ x]), rcond=None)[0]
        if np.abs(step).max() > _SURE_STEP:  # a shorter step cannot overshoot, and needs no test by the loss
            value = loss(now)
            while loss(now - step) > value and np.abs(step).max() > _SURE_STEP:
                step /= 2
        now = now - step
        if np.abs(step).max() <= _STEP * (1 + np.abs(now).max()):
            break
    return now


def _with_log_odds(y: Any, p: Any, sample_weight: Any, pos_label: Any, labels: Any) -> Rows:
    rows = checked_two_classes(y, p, sample_weight, pos_label, labels)
    if _log_odds(rows) is None:
        certain = int(((rows.p == 0) | (_negative(rows) == 0)).sum())
        raise ValueError(
            f"{certain} of {len(rows.p)} predictions are 0 or 1 and have no log-odds: clip them, for instance with "
            "np.clip(p, 1e-6, 1 - 1e-6), or use integrated_calibration_index"
        )
    if not _has_both(rows):
        raise ValueError("calibration slope and intercept need both classes, y holds only one")
    return rows


def _has_both(rows: Rows) -> bool:
    return bool((rows.y == 0).any() and (rows.y == 1).any())


def _negative(rows: Rows) -> np.ndarray:
    return 1 - rows.p if rows.negative is None else rows.negative


def _log_odds(rows: Rows) -> np.ndarray | None:
    """Return the log-odds, (n,), or None for several classes and where one is infinite."""
    if rows.p.ndim != 1:
        return None
    negative = _negative(rows)
    if not (rows.p.all() and negative.all()):
        return None
    return np.asarray(np.log(rows.p) - np.log(negative))
