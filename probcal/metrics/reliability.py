"""What the displays of predictions draw: reliability curves with their bands, and histograms of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from probcal.metrics.checked_rows import Rows, checked_two_classes, is_count, is_number
from probcal.metrics.curves import BinnedCurve, Curve, bin_numbers, binned_of, isotonic_of, wilson
from probcal.metrics.ranking import RankedRows

Array = npt.NDArray[np.float64]

HISTOGRAM_BINS = 20
LEAST_SHOWN = 1e-6
"""Least probability on an axis of log-odds. The largest is 1 less this."""
# Most bins of equal weight that the curves of resamples are fitted to.
_MOST_BLOCKS = 2000
# Most predictions at which a band is given.
_MOST_PLACES = 400


@dataclass(frozen=True)
class Band:
    """Hold the limits of a curve at some predictions.

    Attributes
    ----------
    p : ndarray of shape (n_points,)
        Predictions.
    low : ndarray of shape (n_points,)
        Lower limits.
    high : ndarray of shape (n_points,)
        Upper limits.
    """

    p: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class ReliabilityCurve:
    """Hold what a reliability diagram shows.

    ``probcal.ReliabilityDisplay`` draws it.

    Attributes
    ----------
    bins : BinnedCurve
        Mean prediction and observed frequency in bins.
    isotonic : Curve or None
        CORP reliability curve. None without ``isotonic``.
    bars : Band or None
        Limits of the observed frequency of each bin. None without ``bands``.
    band : Band or None
        Limits of the isotonic curve at no more than 400 predictions. None without ``isotonic`` or ``bands``.
    edges : ndarray of shape (21,)
        Edges of the 20 bins of the histogram of the predictions. They are of equal width, or equally wide in log-odds.
    counts : ndarray of shape (20,)
        Number of rows in each bin of the histogram. With ``sample_weight``, their weight in units of the mean weight.
    """

    bins: BinnedCurve
    isotonic: Curve | None
    bars: Band | None
    band: Band | None
    edges: Array
    counts: Array


def reliability_curve(
    y: Any,
    p: Any,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    isotonic: bool = True,
    bands: str | None = "consistency",
    level: float = 0.95,
    n_resamples: int = 200,
    random_state: Any = 0,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    scale: str = "linear",
) -> ReliabilityCurve:
    """Return the curves, limits and histogram of a reliability diagram.

    ``bands="consistency"`` asks: where would the points lie if the predictions were calibrated? New labels are drawn,
    each 1 with its predicted probability, and the curve is computed from them (Brocker & Smith 2007, Increasing the
    reliability of reliability diagrams; Dimitriadis, Gneiting & Jordan 2021). A point outside its bar speaks against
    calibration. ``bands="confidence"`` asks: how certain is the curve? The bars are Wilson's intervals. The band comes
    from a bootstrap of the rows. The band is only approximate, and too narrow where the curve is 0 or 1.

    Limits hold at each prediction on its own, not for the whole curve. If there are more than 2000 distinct
    predictions, the curves of the resamples are fitted to 2000 bins of equal weight.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels of two classes.
    p : array-like of shape (n_rows,) or (n_rows, 2)
        Predicted P(y = 1), or predicted probabilities of both classes.
    n_bins : int, default=10
        Largest number of bins.
    strategy : {"quantile", "uniform"}, default="quantile"
        How rows are put in bins (see ``binned_curve``).
    isotonic : bool, default=True
        Whether to compute the isotonic curve and its band.
    bands : {"consistency", "confidence"} or None, default="consistency"
        Kind of the limits. None means no limits.
    level : float, default=0.95
        Coverage of the limits at each prediction, strictly between 0 and 1.
    n_resamples : int, default=200
        Number of resamples.
    random_state : int, numpy.random.Generator or None, default=0
        Seed of the resamples. None means other resamples in each call.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.
    scale : {"linear", "logit"}, default="linear"
        ``"linear"`` makes bins of the histogram of equal width. ``"logit"`` makes them equally wide in log-odds.
        Predictions below 1e-6 or above 1 - 1e-6 then count as these.

    Returns
    -------
    ReliabilityCurve
        Curves, limits and histogram.

    Raises
    ------
    ValueError
        If ``strategy``, ``bands`` or ``scale`` is unknown, or ``level`` is outside (0, 1). Also if ``n_bins`` or
        ``n_resamples`` is no whole number of at least 1, or another argument is invalid (see ``probcal.metrics``).
    """
    if bands not in ("consistency", "confidence", None):
        raise ValueError(f'bands must be "consistency", "confidence" or None, not {bands!r}')
    if scale not in ("linear", "logit"):
        raise ValueError(f'scale must be "linear" or "logit", not {scale!r}')
    if not (is_number(level) and 0 < level < 1):
        raise ValueError(f"level must be a number between 0 and 1, not {level!r}")
    if not is_count(n_resamples):
        raise ValueError(f"n_resamples must be a whole number of at least 1, not {n_resamples!r}")
    rows = checked_two_classes(y, p, sample_weight, pos_label, labels)
    bins = binned_of(rows, n_bins, strategy)
    ranked = RankedRows.of(rows)
    bars = band = None
    if bands == "confidence":
        bars = Band(bins.mean, *wilson(bins.observed, _effective_rows(rows, n_bins, strategy), level))
    if bands and (isotonic or bands == "consistency"):
        tails = (1 - level) / 2, (1 + level) / 2
        in_bins, curves, places = _resampled(ranked, n_bins, strategy, bands, int(n_resamples), random_state, isotonic)
        bars = bars or Band(bins.mean, *np.nanquantile(in_bins, tails, axis=0))
        band = Band(places, *np.quantile(curves, tails, axis=0)) if isotonic else None
    weight = rows.weight / rows.weight.mean()
    if scale == "linear":
        counts, edges = np.histogram(rows.p, HISTOGRAM_BINS, (0, 1), weights=weight)
    else:
        counts, edges = _log_odds_histogram(rows.p, weight)
    return ReliabilityCurve(bins, isotonic_of(ranked) if isotonic else None, bars, band, edges, counts)


def _log_odds_histogram(p: Array, weight: Array) -> tuple[Array, Array]:
    """Return the weights and the edges of bins that are equally wide in log-odds. The edges are probabilities."""
    shown = np.clip(p, LEAST_SHOWN, 1 - LEAST_SHOWN)
    counts, edges = np.histogram(np.log(shown / (1 - shown)), HISTOGRAM_BINS, weights=weight)
    return counts, 1 / (1 + np.exp(-edges))


def _effective_rows(rows: Rows, n_bins: int, strategy: str) -> Array:
    """Return how many rows of equal weight would be as informative as the rows of each bin (Kish 1965), (n_bins,)."""
    places = np.unique(bin_numbers(rows.p, rows.weight, n_bins, strategy), return_inverse=True)[1]
    return np.asarray(np.bincount(places, rows.weight) ** 2 / np.bincount(places, rows.weight**2))


def _resampled(
    ranked: RankedRows, n_bins: int, strategy: str, bands: str, n_resamples: int, random_state: Any, isotonic: bool
) -> tuple[Array, Array, Array]:
    """Return the frequencies in the bins, (n_resamples, n_bins), the curves, (n_resamples, n_places), and the places.

    Without ``isotonic`` there are no curves and no places.
    """
    from scipy.optimize import isotonic_regression

    rng = np.random.default_rng(random_state)
    n = len(ranked.p)
    in_bin = np.unique(bin_numbers(ranked.p, ranked.weight, n_bins, strategy), return_inverse=True)[1]
    block = np.unique(ranked.p, return_inverse=True)[1]
    if block[-1] >= _MOST_BLOCKS:
        block = np.unique(bin_numbers(ranked.p, ranked.weight, _MOST_BLOCKS), return_inverse=True)[1]
    in_block = np.bincount(block, ranked.weight)
    middles: Array = np.bincount(block, ranked.weight * ranked.p) / in_block
    places = middles[np.unique(np.linspace(0, len(middles) - 1, _MOST_PLACES).round().astype(int))]
    weight, y = ranked.weight, ranked.y
    frequencies, curves = [], []
    for _ in range(n_resamples):
        if bands == "consistency":
            y = (rng.random(n) < ranked.p).astype(float)
        else:
            weight = ranked.weight * np.bincount(rng.integers(n, size=n), minlength=n)
        positive = weight * y
        with np.errstate(invalid="ignore"):  # a bin that is not in this resample has no frequency
            frequencies.append(np.bincount(in_bin, positive) / np.bincount(in_bin, weight))
        if isotonic:
            total = np.bincount(block, weight)
            drawn = total > 0
            observed = np.bincount(block, positive)[drawn] / total[drawn]
            fitted = isotonic_regression(observed, weights=total[drawn]).x
            curves.append(np.interp(places, middles[drawn], np.clip(fitted, 0, 1)))
    return np.array(frequencies), np.array(curves), places if isotonic else np.empty(0)


def top_label(y: npt.NDArray[Any], p: Array) -> tuple[Array, Array]:
    """Return whether the likeliest class of each row is right, 0 or 1, and its probability, (n_rows,) each.

    ``y`` are column numbers of ``p``, (n_rows, n_classes). The first of several likeliest classes counts.
    """
    top = p.argmax(axis=1)
    return (y == top).astype(np.float64), p[np.arange(len(y)), top]


class ScoreHistogram(NamedTuple):
    """Hold how often each prediction occurs in each class.

    ``probcal.ScoreHistogramDisplay`` draws it.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Edges of the bins.
    negative : ndarray of shape (n_bins,)
        Number of negative rows in each bin. With ``sample_weight``, their weight in units of the mean weight.
    positive : ndarray of shape (n_bins,)
        Number of positive rows in each bin. With ``sample_weight``, their weight in units of the mean weight.
    """

    edges: Array
    negative: Array
    positive: Array


def score_histogram(
    y: Any, p: Any, n_bins: int = 20, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None
) -> ScoreHistogram:
    """Return how many negative and positive rows have their prediction in each bin of equal width.

    Bin i holds (i-1)/m <= p < i/m, and the last bin also holds 1.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels of two classes.
    p : array-like of shape (n_rows,) or (n_rows, 2)
        Predicted P(y = 1), or predicted probabilities of both classes.
    n_bins : int, default=20
        Number of bins, m.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    ScoreHistogram
        Edges of the bins, and the number of rows of each class in each bin.

    Raises
    ------
    ValueError
        If ``n_bins`` is no whole number of at least 1, or another argument is invalid (see ``probcal.metrics``).
    """
    if not is_count(n_bins):
        raise ValueError(f"n_bins must be a whole number of at least 1, not {n_bins!r}")
    rows = checked_two_classes(y, p, sample_weight, pos_label, labels)
    edges = np.linspace(0, 1, n_bins + 1)
    weight = rows.weight / rows.weight.mean()
    negative, positive = (np.histogram(rows.p[of], edges, weights=weight[of])[0] for of in (rows.y == 0, rows.y == 1))
    return ScoreHistogram(edges, negative, positive)
