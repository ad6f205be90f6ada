"""Calibration metrics: distances between predicted probabilities and observed frequencies, their p-value and bounds.

With three or more classes each class is compared with the rest. With two classes only the second is used. The p-value
and the asymptotic bound use the distribution of the range, largest minus smallest value, of Brownian motion on [0, 1]
from 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from probcal._parts import row_parts
from probcal.metrics.checked_rows import Rows, checked, is_count, is_number
from probcal.metrics.ranking import SHARE_ROUNDING, RankedRows, rank_each_class

# P(range <= .3) is 1.4e-22.
_NEVER_BELOW = 0.3
# P(range > 40) is less than any float above 0.
_NEVER_ABOVE = 40.0
# The point where the series are exchanged. There the first needs seven terms for all digits, and the second five.
_FEW_TERMS = 1.5

# Of a prediction times a number of bins, with room to spare.
_PRODUCT_ROUNDING = 1e-15


def range_exceeds(x: float) -> float:
    """Return P(range > x), for ``x`` of at least 0.

    Feller (1951), The asymptotic distribution of the range of sums of independent random variables, gives the density 8
    sum (-1)^(k-1) k^2 phi(k x). Its integral is the first series, which keeps its relative accuracy for any large x.
    The second is the same function by Poisson summation, accurate for small x.
    """
    if x < _NEVER_BELOW:
        return 1.0
    if x > _FEW_TERMS:
        # the upper tail of the normal distribution, by erfc to keep its relative accuracy
        return float(8 * sum((-1) ** (k - 1) * k * (math.erfc(k * x / math.sqrt(2)) / 2) for k in range(1, 8)))
    return 1 - sum(
        (8 / x**2 + 2 / a) * math.exp(-2 * a / x**2) for a in (((k - 0.5) * math.pi) ** 2 for k in range(1, 6))
    )


def range_quantile(delta: float) -> float:
    """Return the x with P(range > x) = ``delta``, strictly between 0 and 1, to the last digits of a float."""
    # Halving ends where no float lies between, so it needs no tolerance.
    low, high = 0.0, _NEVER_ABOVE
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if range_exceeds(middle) > delta else (low, middle)
    return high


def empirical_calibration_error(
    y: Any, p: Any, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None
) -> float:
    """Return the empirical calibration error c_emp.

    c_emp is the largest ``|sum of (y - p)| / n`` over the rows with p1 < p <= p2, for any p1 and p2. See Gao,
    Parameswaran & Peng (2017), Definition 2. It is Kuiper's statistic, or the ECCE-R of Arrieta-Ibarra, Gujral, Tannen,
    Tygert & Xu (2022), with ties pooled.

    It equals the range of the running sums of y - p in the order of p, including the leading 0. The sums are read only
    at the end of each run of equal predictions, because no p1 and p2 separate equal predictions. With weights, n is the
    sum of the weights. With three or more classes, c_emp is the mean over the classes.

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
    return range_error(rank_each_class(checked(y, p, sample_weight, pos_label, labels)))


def kolmogorov_smirnov_error(
    y: Any, p: Any, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None
) -> float:
    """Return the Kolmogorov-Smirnov calibration error.

    It is the largest ``|sum of (y - p)| / n`` over the rows with p <= p2, for any p2. It is at most c_emp and at least
    half of c_emp. It is the KS error of Gupta et al. (2021), Calibration of neural networks using splines. It is also
    the ECCE-MAD of Arrieta-Ibarra et al. (2022), with ties pooled as in ``empirical_calibration_error``.

    The sum starts at the low predictions, so 1 - y and 1 - p may give another number. With three or more classes, the
    error is the mean over the classes.

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
    return largest_sum_error(rank_each_class(checked(y, p, sample_weight, pos_label, labels)))


def expected_calibration_error(
    y: Any,
    p: Any,
    n_bins: int = 15,
    strategy: str = "uniform",
    sample_weight: Any = None,
    *,
    pos_label: Any = None,
    labels: Any = None,
) -> float:
    """Return the expected calibration error (ECE).

    It is the sum over the bins of the share of the weight times ``|observed frequency - mean of p|``. The
    probabilities are those of P(y = 1) (Naeini, Cooper & Hauskrecht 2015), not those of the most probable class. The
    edges follow Guo, Pleiss, Sun & Weinberger (2017), equation 3. With three or more classes, the ECE is the mean over
    the classes.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels.
    p : array-like of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1), or predicted probabilities of all classes.
    n_bins : int, default=15
        Number of bins, m.
    strategy : {"uniform", "quantile"}, default="uniform"
        With ``"uniform"``, bin i holds (i-1)/m < p <= i/m, and the first bin also holds 0. With ``"quantile"``, the
        upper edge of bin i is the least prediction that at least i/m of the weight does not exceed. The edge belongs to
        the bin. Bins between equal edges are empty, so equal predictions are never separated.
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
        If ``n_bins`` is no whole number of at least 1, ``strategy`` is unknown, or another argument is invalid (see
        ``probcal.metrics``).
    """
    if not is_count(n_bins):
        raise ValueError(f"n_bins must be a whole number of at least 1, not {n_bins!r}")
    if strategy not in ("uniform", "quantile"):
        raise ValueError(f'strategy must be "uniform" or "quantile", not {strategy!r}')
    rows = checked(y, p, sample_weight, pos_label, labels)
    return width_error(rows, int(n_bins)) if strategy == "uniform" else weight_error(rank_each_class(rows), int(n_bins))


def calibration_p_value(
    y: Any, p: Any, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None
) -> float:
    """Return the p-value of c_emp for the hypothesis that the predictions are calibrated.

    It is the probability of a c_emp at least this large if each y is 1 with probability p, independently. Weights only
    say how much a row counts. A row of weight two is one draw of a label, not two.

    c_emp is divided by its scale under the hypothesis, the root of sum w^2 p (1 - p) over sum w. As the number of
    distinct predictions grows, the quotient is distributed as the range of Brownian motion on [0, 1] (Feller 1951;
    Arrieta-Ibarra, Gujral, Tannen, Tygert & Xu 2022, section 3). With few distinct predictions, as for a small tree,
    the p-value is too large, because the running sum is read at few points.

    If every prediction is 0 or 1, the scale is 0. The p-value is then 1 if all predictions are right, and otherwise 0.
    With three or more classes, it is the smallest p-value of the classes times their number, at most 1 (Bonferroni).

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
    return p_value(rank_each_class(checked(y, p, sample_weight, pos_label, labels)))


def range_error(ranked: list[RankedRows]) -> float:
    return float(np.mean([_range(rows) / rows.total for rows in ranked]))


def largest_sum_error(ranked: list[RankedRows]) -> float:
    return float(np.mean([np.abs(rows.sums).max() / rows.total for rows in ranked]))


def width_error(rows: Rows, n_bins: int = 15) -> float:
    """Return the ECE of bins of equal width."""
    # share x |frequency - mean| of a bin is |sum of weight (y - p) in it| / total
    each = rows.against_the_rest()
    return float(np.mean([np.abs(_residuals_in_bins(one, n_bins)).sum() / one.weight.sum() for one in each]))


def weight_error(ranked: list[RankedRows], n_bins: int = 15) -> float:
    """Return the ECE of bins of equal weight."""
    # the sum in a bin is a step of the running sum
    return float(
        np.mean([np.abs(np.diff(rows.sums[_equal_weights(rows, n_bins)])).sum() / rows.total for rows in ranked])
    )


def p_value(ranked: list[RankedRows]) -> float:
    # Bonferroni: the smallest of several p-values is small by chance more often than one is.
    return min(1.0, len(ranked) * min(_p_value(rows) for rows in ranked))


def _range(ranked: RankedRows) -> float:
    return float(ranked.sums.max() - ranked.sums.min())


def _residuals_in_bins(rows: Rows, n_bins: int) -> np.ndarray:
    """Return the sum of weight (y - p) in each bin of equal width, (n_bins,)."""
    edges = np.arange(1, n_bins) / n_bins  # each is the float nearest to i/m, like a p written as .2
    sums = np.zeros(n_bins)
    for part in row_parts(len(rows.p)):
        p = rows.p[part]
        place = p * n_bins
        bins = place.astype(np.intp)
        # a product tells the bin of all predictions but those near an edge, which a search compares with it
        place -= bins
        place -= 0.5
        near = np.flatnonzero(np.abs(place, out=place) >= 0.5 - n_bins * _PRODUCT_ROUNDING)
        bins[near] = np.searchsorted(edges, p[near])
        residuals = rows.y[part] - p
        if not rows.has_equal_weights:
            residuals *= rows.weight[part]
        sums += np.bincount(bins, residuals, n_bins)
    return sums


def _equal_weights(ranked: RankedRows, n_bins: int) -> np.ndarray:
    reached = ranked.up_to(ranked.weight)[1:]
    targets = np.arange(1, n_bins) * reached[-1] / n_bins
    blocks = np.searchsorted(reached, targets * (1 - SHARE_ROUNDING)) + 1
    return np.concatenate([[0], blocks, [len(ranked.ends)]])


def _p_value(ranked: RankedRows) -> float:
    deviations = ranked.weight * np.sqrt(ranked.p * (1 - ranked.p))
    largest = float(deviations.max())
    if largest == 0:
        return float(_range(ranked) == 0)
    # the squares of the smallest predictions would be 0
    return range_exceeds(_range(ranked) / (largest * float(np.sqrt(np.sum((deviations / largest) ** 2)))))


def calibration_bound(n: int, delta: float) -> float:
    """Return a bound on the distance of c_emp from its limit c, for any number of rows.

    ``|c - c_emp|`` is at most the bound with probability at least 1 - ``delta``, for every ``n``. c is the limit of
    ``empirical_calibration_error`` as the number of rows grows: c(f) of Gao, Parameswaran & Peng (2017), Definition 2.
    The n rows are drawn independently from the distribution of future rows. The classifier of two classes is fixed
    before the rows are drawn. It is neither fitted to them nor chosen by them. Nothing else is assumed.

    The bound is sqrt(8 ln(2 / delta) / n), or 1 if that is more. Gao et al. have sqrt(8 ln(8 / delta) / n) plus twice
    the expected Rademacher complexity of intervals (Theorem 2 with one classifier). To avoid both, put the positive
    rows at f and the negative rows at 2 + f on one line. Let D be the difference of the empirical and the true
    distribution function on this line. For each t, the sum of y - f over p1 < f <= p2 counts the positive rows up to t
    and subtracts the negative rows beyond t. Its error is the mean over t in [0, 1] of four values of D. ``|D|``
    exceeds sqrt(ln(2 / delta) / (2 n)) anywhere with probability at most delta (Massart 1990, The tight constant in the
    Dvoretzky-Kiefer-Wolfowitz inequality).

    Parameters
    ----------
    n : int
        Number of rows.
    delta : float
        Probability that the bound fails, strictly between 0 and 1.

    Returns
    -------
    float
        Value in [0, 1].

    Raises
    ------
    ValueError
        If ``n`` is no whole number of at least 1, or ``delta`` is not strictly between 0 and 1.
    """
    _check(n, delta)
    return min(1.0, math.sqrt(8 * (math.log(2) - math.log(delta)) / n))


def asymptotic_calibration_bound(n: int, delta: float, rms: float = 0.5) -> float:
    """Return a bound like ``calibration_bound`` that holds in the limit of many rows, for a given RMS error.

    The bound is ``rms`` / sqrt(n) times the 1 - delta quantile of the range of Brownian motion on [0, 1] (Feller 1951),
    or 1 if that is more. sqrt(n) times the error of the running sums of y - f tends to a Gaussian process. Add an
    independent normal multiple of the true running sum, and the process becomes Brownian motion at time E (y - f)^2. So
    the range of the process exceeds a number at most as often as the range of Brownian motion does (Anderson 1955). It
    exceeds the number exactly as often if f is calibrated and continuously distributed.

    Parameters
    ----------
    n : int
        Number of rows.
    delta : float
        Probability that the bound fails, strictly between 0 and 1.
    rms : float, default=0.5
        Upper limit of the ``rms_error``, in [0, 1]. The error of predicting .5 for every row is .5. You may give the
        error on the n rows themselves.

    Returns
    -------
    float
        Value in [0, 1].

    Raises
    ------
    ValueError
        If ``n`` is no whole number of at least 1, ``delta`` is not strictly between 0 and 1, or ``rms`` is no number
        within [0, 1].
    """
    _check(n, delta)
    if not (is_number(rms) and 0 <= rms <= 1):
        raise ValueError(f"rms must be one number within [0, 1], such as rms_error gives, not {rms!r}")
    return min(1.0, float(rms) * range_quantile(delta) / math.sqrt(n))


def _check(n: int, delta: float) -> None:
    if not is_count(n):
        raise ValueError(f"n, the number of rows, must be a whole number of at least 1, not {n!r}")
    if not (is_number(delta) and 0 < delta < 1):
        raise ValueError(f"delta, the probability of a miss, must be a number between 0 and 1, not {delta!r}")
