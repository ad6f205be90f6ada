"""Calibration errors from smooth curves: distances from the loess curve, and the smooth ECE."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from probcal._parts import row_parts
from probcal.metrics.checked_rows import Rows, checked, is_number
from probcal.metrics.curves import LOESS_POINTS, blocks_of, isotonic_of, loess_of
from probcal.metrics.ranking import SHARE_ROUNDING, RankedRows, rank_each_class

Distances = list[tuple[np.ndarray, np.ndarray]]


def integrated_calibration_index(
    y: Any, p: Any, sample_weight: Any = None, *, curve: str = "loess", pos_label: Any = None, labels: Any = None
) -> float:
    """Return the integrated calibration index (ICI).

    It is the mean of ``|p - curve(p)|`` over the rows, where ``curve`` estimates P(y = 1) given p. See Austin &
    Steyerberg (2019), The Integrated Calibration Index (ICI) and related metrics, section 2. With three or more
    classes, the ICI is the mean over the classes, each against the rest.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels.
    p : array-like of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1), or predicted probabilities of all classes.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    curve : {"loess", "isotonic"}, default="loess"
        Estimate of P(y = 1) given p. ``"loess"`` is the curve of the paper (see ``loess_curve``). ``"isotonic"``
        follows noise more. For calibrated predictions, its ICI is 1.3 times as large on 300 rows, and 2.2 times as
        large on 5000 rows.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    float
        Value in [0, 1].

    Raises
    ------
    ValueError
        If ``curve`` is unknown, or another argument is invalid (see ``probcal.metrics``).
    """
    ranked = rank_each_class(checked(y, p, sample_weight, pos_label, labels))
    return mean_distance(curve_distances(ranked, curve))


def calibration_distance_quantile(
    y: Any,
    p: Any,
    q: float = 0.5,
    sample_weight: Any = None,
    *,
    curve: str = "loess",
    pos_label: Any = None,
    labels: Any = None,
) -> float:
    """Return a quantile of the distance of the predictions from the calibration curve.

    The distance is ``|p - curve(p)|``. The ``q`` quantile is E50 for .5, E90 for .9, and E_max for 1. It is the least
    distance that at least a share ``q`` of the weight does not exceed. With three or more classes, it is the mean over
    the classes, each against the rest. See ``integrated_calibration_index`` for the curve and the source.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels.
    p : array-like of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1), or predicted probabilities of all classes.
    q : float, default=0.5
        Share of the weight, above 0 and at most 1.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    curve : {"loess", "isotonic"}, default="loess"
        Estimate of P(y = 1) given p.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    float
        Value in [0, 1].

    Raises
    ------
    ValueError
        If ``q`` is outside (0, 1], ``curve`` is unknown, or another argument is invalid (see ``probcal.metrics``).
    """
    if not (is_number(q) and 0 < q <= 1):
        raise ValueError(f"q must be a number above 0 and at most 1, such as .5 or .9, not {q!r}")
    ranked = rank_each_class(checked(y, p, sample_weight, pos_label, labels))
    return distance_quantile(curve_distances(ranked, curve), float(q))


def mean_distance(distances: Distances) -> float:
    return float(np.mean([np.average(distance, weights=weight) for distance, weight in distances]))


def distance_quantile(distances: Distances, q: float) -> float:
    return float(np.mean([_quantile(distance, weight, q) for distance, weight in distances]))


def curve_distances(ranked: list[RankedRows], curve: str = "loess", most_points: int = LOESS_POINTS) -> Distances:
    """Return |p - curve(p)| and the weight of each distinct prediction, for each class."""
    if curve not in ("loess", "isotonic"):
        raise ValueError(f'curve must be "loess" or "isotonic", not {curve!r}')
    distances = []
    for rows in ranked:
        p, _, weight = blocks_of(rows)
        estimate = loess_of(rows, most_points) if curve == "loess" else isotonic_of(rows)
        distances.append((np.abs(p - np.interp(p, *estimate)), weight))
    return distances


def _quantile(values: np.ndarray, weight: np.ndarray, q: float) -> float:
    order = np.argsort(values)
    reached = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(reached, q * reached[-1] * (1 - SHARE_ROUNDING))]])


# Cells of the grid on [0, 1]. The split of a row between its two neighbours changes the value by less than 1e-6.
_CELLS = 2**15
# A wide kernel needs a coarse grid only. The integral changes by less than a millionth of its value.
_CELLS_PER_WIDTH = 200


def smooth_expected_calibration_error(
    y: Any, p: Any, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None
) -> float:
    """Return the smooth expected calibration error (smECE).

    It is the ECE of the residuals y - p after smoothing with a Gaussian kernel of the right width. See Blasiok &
    Nakkiran (2023), Smooth ECE: principled reliability diagrams via kernel smoothing, section 3. For a width s, let
    r(t) be the mean of K(t, p) (y - p) over the rows. K is the Gaussian kernel, reflected at 0 and 1. Then smECE(s) is
    the integral of ``|r(t)|`` over [0, 1]. It never rises with s. The returned value is the one s with smECE(s) = s.

    The value changes continuously with the predictions, unlike the ECE of bins. Up to a constant factor, it is the
    distance to the nearest calibrated predictions. With three or more classes, it is the mean over the classes, each
    against the rest.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels.
    p : array-like of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1), or predicted probabilities of all classes.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    float
        Value in [0, 1].

    Raises
    ------
    ValueError
        If an argument is invalid (see ``probcal.metrics``).
    """
    return smooth_error(checked(y, p, sample_weight, pos_label, labels))


def smooth_error(rows: Rows) -> float:
    return float(np.mean([_fixed_point(_cosines(one)) for one in rows.against_the_rest()]))


def _cosines(rows: Rows) -> np.ndarray:
    """Return the coefficients of the residuals' cosine series, (_CELLS + 1,).

    The reflected kernel is that of heat on [0, 1] without loss at the ends. It multiplies the coefficient of cos(k pi
    t) by exp(-(k pi s)^2 / 2), so each width costs one transform.
    """
    from scipy.fft import dct

    mass = np.zeros(_CELLS + 1)
    for part in row_parts(len(rows.p)):
        position = rows.p[part] * _CELLS
        # a prediction of 1 lies at the end of the last cell
        left = np.minimum(position.astype(np.intp), _CELLS - 1)
        position -= left
        residual = rows.weight[part] * (rows.y[part] - rows.p[part])
        right = residual * position
        mass[:-1] += np.bincount(left, residual - right, _CELLS)
        mass[1:] += np.bincount(left, right, _CELLS)
    mass /= rows.weight.sum()
    mass[[0, -1]] *= 2  # DCT-I counts both ends half
    return np.asarray(dct(mass, type=1))


def _at_width(cosines: np.ndarray, width: float) -> float:
    """Return smECE at one width: the integral of the smoothed residuals' absolute value, by the trapezoidal rule."""
    from scipy.fft import dct

    cells = min(_CELLS, 2 ** math.ceil(math.log2(_CELLS_PER_WIDTH / max(width, 1e-6))))
    damped = cosines[: cells + 1] * np.exp(-((np.arange(cells + 1) * np.pi * width) ** 2) / 2)
    smoothed = np.abs(dct(damped, type=1)) / 2
    return float((smoothed.sum() - (smoothed[0] + smoothed[-1]) / 2) / cells)


def _fixed_point(cosines: np.ndarray) -> float:
    from scipy.optimize import brentq

    if _at_width(cosines, 1) >= 1 - 1e-12:  # every prediction is as wrong as can be
        return 1.0
    return float(brentq(lambda width: _at_width(cosines, width) - width, 0, 1, xtol=1e-13))
