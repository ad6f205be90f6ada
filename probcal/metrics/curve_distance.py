"""Distances between predictions and a calibration curve: ICI, E50 and E90 (Austin & Steyerberg 2019)."""

from __future__ import annotations

from typing import Any

import numpy as np

from probcal.metrics.checked_rows import checked, is_number
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
