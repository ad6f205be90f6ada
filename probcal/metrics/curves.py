"""Calibration curves: the observed frequency as a function of the predicted probability.

Three estimates of one curve. Bins are the plainest. The isotonic curve (CORP) has no parameter and never falls. Loess
is smooth, and its distance from the diagonal is the calibration index of Austin & Steyerberg (2019).
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from probcal.metrics.checked_rows import Rows, checked_two_classes, is_count
from probcal.metrics.ranking import SHARE_ROUNDING, RankedRows

Array = npt.NDArray[np.float64]

LOESS_SPAN = 0.75
"""Share of the weight around a point that decides the curve there: the default of R's ``loess``."""
LOESS_POINTS = 1000
"""Most points that loess is fitted to. More distinct predictions are pooled in so many bins of equal weight."""
COARSE = 300
"""Most points where loess is fitted many times."""


class BinnedCurve(NamedTuple):
    """Hold a reliability curve in bins, by rising prediction.

    Empty bins are left out.

    Attributes
    ----------
    mean : ndarray of shape (n_bins,)
        Mean prediction of each bin.
    observed : ndarray of shape (n_bins,)
        Observed frequency of the positive class in each bin.
    weight : ndarray of shape (n_bins,)
        Number of rows in each bin. With ``sample_weight``, their weight in units of the mean weight.
    """

    mean: Array
    observed: Array
    weight: Array


class Curve(NamedTuple):
    """Hold a calibration curve.

    Attributes
    ----------
    p : ndarray of shape (n_points,)
        Distinct predictions, rising.
    observed : ndarray of shape (n_points,)
        Estimated probability of the positive class at each prediction.
    """

    p: Array
    observed: Array


def binned_curve(
    y: Any,
    p: Any,
    n_bins: int = 10,
    strategy: str = "quantile",
    sample_weight: Any = None,
    *,
    pos_label: Any = None,
    labels: Any = None,
) -> BinnedCurve:
    """Return the mean prediction and the observed frequency of each bin.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels of two classes.
    p : array-like of shape (n_rows,) or (n_rows, 2)
        Predicted P(y = 1), or predicted probabilities of both classes.
    n_bins : int, default=10
        Largest number of bins, m.
    strategy : {"quantile", "uniform"}, default="quantile"
        With ``"quantile"``, the bins have nearly equal weight. Rows with equal predictions are all in the bin of their
        middle row. With ``"uniform"``, bin i holds (i-1)/m < p <= i/m, and the first bin also holds 0.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    BinnedCurve
        Mean prediction, observed frequency and weight of each bin that holds rows.

    Raises
    ------
    ValueError
        If ``n_bins`` is no whole number of at least 1, ``strategy`` is unknown, or another argument is invalid (see
        ``probcal.metrics``).
    """
    return binned_of(checked_two_classes(y, p, sample_weight, pos_label, labels), n_bins, strategy)


def binned_of(rows: Rows, n_bins: int, strategy: str) -> BinnedCurve:
    places = np.unique(bin_numbers(rows.p, rows.weight, n_bins, strategy), return_inverse=True)[1]
    weight, positive, sums = (np.bincount(places, rows.weight * one) for one in (np.ones(len(rows.p)), rows.y, rows.p))
    return BinnedCurve(sums / weight, positive / weight, weight / rows.weight.mean())


def bin_numbers(p: Array, weight: Array, n_bins: int, strategy: str = "quantile") -> npt.NDArray[np.intp]:
    """Return the number, from 0, of the bin of each row, (n,), as ``binned_curve`` describes the bins."""
    if not is_count(n_bins):
        raise ValueError(f"n_bins must be a whole number of at least 1, not {n_bins!r}")
    if strategy == "uniform":
        return np.searchsorted(np.arange(1, n_bins) / n_bins, p)
    if strategy != "quantile":
        raise ValueError(f'strategy must be "uniform" or "quantile", not {strategy!r}')
    places = np.unique(p, return_inverse=True)[1]
    in_block = np.bincount(places, weight)
    reached = np.cumsum(in_block)
    middles = (2 * reached - in_block) * n_bins
    # a middle at an edge stays in the bin above it, also where rounding of the weights' sums moves it below
    numbers = np.minimum(middles * (1 + SHARE_ROUNDING) // (2 * reached[-1]), n_bins - 1)
    return np.asarray(numbers, np.intp)[places]


def wilson(share: Array, n: Array, level: float = 0.95) -> tuple[Array, Array]:
    """Return (low, high) of the score interval of Wilson (1927) of ``share`` in ``n`` rows, which may be fractional."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return np.clip(middle - half, 0, 1), np.clip(middle + half, 0, 1)


def isotonic_curve(y: Any, p: Any, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None) -> Curve:
    """Return the CORP reliability curve: the isotonic regression of the labels on the predictions.

    It is the rising curve with the least sum of squared distances from the labels. See Dimitriadis, Gneiting & Jordan
    (2021), Stable reliability diagrams for probabilistic classifiers. The curve has no parameter. It follows noise, so
    its distance from the diagonal is too large on few rows.

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
    Curve
        Estimate at each distinct prediction.

    Raises
    ------
    ValueError
        If an argument is invalid (see ``probcal.metrics``).
    """
    return isotonic_of(RankedRows.of(checked_two_classes(y, p, sample_weight, pos_label, labels)))


def loess_curve(y: Any, p: Any, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None) -> Curve:
    """Return the curve of local quadratic regressions of the labels on the predictions, within [0, 1].

    See Cleveland & Devlin (1988), Locally weighted regression. Each regression uses the nearest three quarters of the
    weight with tricube weights. These are the defaults of R's ``loess``, which Austin & Steyerberg (2019) use. The
    curve is computed directly at each distinct prediction, without R's interpolation. More than 1000 distinct
    predictions are first pooled in 1000 bins of equal weight.

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
    Curve
        Estimate at each distinct prediction, or at 1000 pooled predictions.

    Raises
    ------
    ValueError
        If an argument is invalid (see ``probcal.metrics``).
    """
    return loess_of(RankedRows.of(checked_two_classes(y, p, sample_weight, pos_label, labels)))


def blocks_of(ranked: RankedRows) -> tuple[Array, Array, Array]:
    """Return the distinct predictions, their observed frequencies and their weights, (n_blocks,) each."""
    weight = ranked.in_blocks(ranked.weight)
    return ranked.p[ranked.ends], ranked.in_blocks(ranked.weight * ranked.y) / weight, weight


def isotonic_of(ranked: RankedRows) -> Curve:
    from scipy.optimize import isotonic_regression  # in C++, a quarter of the time of scikit-learn's

    p, observed, weight = blocks_of(ranked)
    # the mean of a pool of equal frequencies can leave [0, 1] by a rounding
    return Curve(p, np.clip(isotonic_regression(observed, weights=weight).x, 0, 1))


def loess_of(ranked: RankedRows, most_points: int = LOESS_POINTS) -> Curve:
    p, observed, weight = blocks_of(ranked)
    if len(p) > most_points:
        places = np.unique(bin_numbers(p, weight, most_points), return_inverse=True)[1]
        pooled = np.asarray(np.bincount(places, weight), np.float64)
        p, observed = (np.asarray(np.bincount(places, weight * one) / pooled) for one in (p, observed))
        weight = pooled
    return Curve(p, np.clip(_local_quadratics(p, observed, weight), 0, 1))


def loess_kernels(x: Array, weight: Array) -> tuple[Array, Array]:
    """Return the tricube kernel around each ``x`` and the offsets of its neighbours, (n, n) each, a row for each ``x``.

    A kernel reaches as far as ``LOESS_SPAN`` of the weight. Offsets are in units of this reach, and 0 beyond it.
    """
    distance = np.abs(x - x[:, np.newaxis])
    order: npt.NDArray[np.intp] = np.argsort(distance, axis=1)
    reached = np.cumsum(weight[order], axis=1)
    last = (reached < LOESS_SPAN * weight.sum() * (1 - SHARE_ROUNDING)).sum(axis=1)
    radius = distance[np.arange(len(x)), order[np.arange(len(x)), last]][:, np.newaxis]
    radius[radius == 0] = np.finfo(float).tiny  # a prediction that most rows share: its observed frequency alone
    kernel = np.clip(1 - np.minimum(distance / radius, 1) ** 3, 0, 1) ** 3
    return kernel, np.where(kernel > 0, (x - x[:, np.newaxis]) / radius, 0)


def _local_quadratics(x: Array, y: Array, weight: Array) -> Array:
    """Return the value at each ``x`` of the quadratic that is fitted around it."""
    kernel, offset = loess_kernels(x, weight)
    kernel = weight * kernel
    powers = [kernel * offset**degree for degree in range(5)]
    sums = [one.sum(axis=1) for one in powers]
    normal = np.array([[sums[row + column] for column in range(3)] for row in range(3)]).transpose(2, 0, 1)
    products = np.array([powers[degree] @ y for degree in range(3)]).T
    # the pseudo-inverse: with fewer than three points in reach the curve goes through the one in the middle
    return np.asarray((np.linalg.pinv(normal, rcond=1e-12, hermitian=True)[:, 0] * products).sum(axis=1))
