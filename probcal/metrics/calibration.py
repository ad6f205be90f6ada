"""How far the estimates are from the rates of what they said: four readings of one running sum.

Of three classes or more each metric is taken of every class against the rest; of two, of the second alone.

The distribution of the range, largest less smallest value, of Brownian motion on [0, 1] that starts at 0.

How far the calibration error of a classifier can be from the one that was measured.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from probcal.metrics.checked_rows import checked, is_count, is_number
from probcal.metrics.ranking import Ranked

_NEVER_BELOW = 0.3
"""P(range <= .3) is 1.4e-22."""
_NEVER_ABOVE = 40.0
"""P(range > 40) is less than any float above 0."""
_FEW_TERMS = 1.5
"""Where the two series change over: at this point each needs five terms for all digits of a float."""


def range_exceeds(x: float) -> float:
    """P(range > x), for ``x`` of at least 0.

    Feller (1951), The asymptotic distribution of the range of sums of independent random variables, gives the
    density 8 sum (-1)^(k-1) k^2 phi(k x). Integrated it is the first series, which keeps its relative
    accuracy however large x is; the second is the same function by Poisson summation, good for small x.
    """
    if x < _NEVER_BELOW:
        return 1.0
    if x > _FEW_TERMS:
        return 8 * sum((-1) ** (k - 1) * k * _normal_exceeds(k * x) for k in range(1, 8))
    return 1 - sum(
        (8 / x**2 + 2 / a) * math.exp(-2 * a / x**2) for a in (((k - 0.5) * math.pi) ** 2 for k in range(1, 6))
    )


def range_quantile(delta: float) -> float:
    """The x with P(range > x) = ``delta``, strictly between 0 and 1, to the last digits of a float."""
    low, high = 0.0, _NEVER_ABOVE
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if range_exceeds(middle) > delta else (low, middle)
    return high


def _normal_exceeds(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2


_SHARE_ROUNDING = 1e-12
"""A share of the weight that only the rounding of a sum keeps from its target has reached it."""


def empirical_calibration_error(y: Any, p: Any, sample_weight: Any = None) -> float:
    """c_emp: the largest |sum of (y - p)| / n over the rows with p1 < p <= p2, for any p1 and p2.

    Gao, Parameswaran & Peng (2017), Definition 2; Kuiper's statistic, or the ECCE-R of Arrieta-Ibarra, Gujral,
    Tannen, Tygert & Xu (2022), with ties pooled. Equal to the range of the running sums of y - p in the order
    of p, the leading 0 included, read only at the end of each run of equal estimates, since no p1 and p2
    separate those. Weighted, n is the sum of the weights. Three classes or more: the mean over the classes.
    """
    return widest(_ranked(y, p, sample_weight))


def kolmogorov_smirnov_error(y: Any, p: Any, sample_weight: Any = None) -> float:
    """The largest |sum of (y - p)| / n over the rows with p <= p2, for any p2: at most c_emp, at least half of it.

    The KS error of Gupta et al. (2021), Calibration of neural networks using splines; the ECCE-MAD of
    Arrieta-Ibarra et al. (2022), with ties pooled as in ``empirical_calibration_error``. It reads from the
    low estimates up: 1 - y and 1 - p may give another number. Three classes or more: the mean over the classes.
    """
    return farthest(_ranked(y, p, sample_weight))


def expected_calibration_error(
    y: Any, p: Any, n_bins: int = 15, strategy: str = "uniform", sample_weight: Any = None
) -> float:
    """ECE: the sum over bins of share of the weight x |rate of y - mean of p|, in [0, 1].

    Naeini, Cooper & Hauskrecht (2015), of P(y = 1) rather than of the class with the largest estimate; Guo,
    Pleiss, Sun & Weinberger (2017), equation 3, for the edges. ``strategy="uniform"``: bin i of ``n_bins`` = m
    holds (i-1)/m < p <= i/m, and the first one 0 too. ``"quantile"``: the edge above bin i is the least
    estimate that at least i/m of the weight does not exceed, and belongs to the bin; bins between equal edges
    are empty, so equal estimates are never parted. Three classes or more: the mean over the classes.

    Raises ValueError for ``n_bins`` below 1 or another ``strategy``.
    """
    if not is_count(n_bins):
        raise ValueError(f"n_bins must be a whole number of at least 1, not {n_bins!r}")
    if strategy not in ("uniform", "quantile"):
        raise ValueError(f'strategy must be "uniform" or "quantile", not {strategy!r}')
    return binned(_ranked(y, p, sample_weight), int(n_bins), strategy)


def calibration_p_value(y: Any, p: Any, sample_weight: Any = None) -> float:
    """How probable a c_emp at least this large is if each y is 1 with probability p, independently.

    Weights only say how much a row counts: two rows in one, of weight two, are one draw of a label.

    c_emp is divided by its scale under that hypothesis, the root of sum w^2 p (1 - p) over sum w; the quotient
    is distributed as the range of Brownian motion on [0, 1] (Feller 1951; Arrieta-Ibarra, Gujral, Tannen,
    Tygert & Xu 2022, section 3) as the number of distinct estimates grows. With few of them, as of a small
    tree, the value is too large: the running sum is seen at few places.

    Where every estimate is 0 or 1 the scale is 0, and the value is 1 if every label came as said, else 0.
    Three classes or more: the smallest value of the classes times their number, at most 1 (Bonferroni).
    """
    return p_value(_ranked(y, p, sample_weight))


def widest(ranked: list[Ranked]) -> float:
    return float(np.mean([_range(one) / one.total for one in ranked]))


def farthest(ranked: list[Ranked]) -> float:
    return float(np.mean([np.abs(one.sums).max() / one.total for one in ranked]))


def binned(ranked: list[Ranked], n_bins: int = 15, strategy: str = "uniform") -> float:
    cut = _equal_widths if strategy == "uniform" else _equal_weights
    # share x |rate - mean| of a bin is |sum of weight (y - p) in it| / total: a step of the running sum
    return float(np.mean([np.abs(np.diff(one.sums[cut(one, n_bins)])).sum() / one.total for one in ranked]))


def p_value(ranked: list[Ranked]) -> float:
    return min(1.0, len(ranked) * min(_p_value(one) for one in ranked))


def _ranked(y: Any, p: Any, sample_weight: Any) -> list[Ranked]:
    return [Ranked.of(one) for one in checked(y, p, sample_weight).against_the_rest()]


def _range(ranked: Ranked) -> float:
    return float(ranked.sums.max() - ranked.sums.min())


def _equal_widths(ranked: Ranked, n_bins: int) -> np.ndarray:
    """How many blocks lie below the first bin, and at or below the upper edge of each."""
    edges = np.arange(1, n_bins) / n_bins  # each the number nearest to i/m, as a p written .2 is
    blocks = np.searchsorted(ranked.p[ranked.ends], edges, side="right")
    return np.concatenate([[0], blocks, [len(ranked.ends)]])


def _equal_weights(ranked: Ranked, n_bins: int) -> np.ndarray:
    reached = ranked.up_to(ranked.weight)[1:]
    targets = np.arange(1, n_bins) * reached[-1] / n_bins
    blocks = np.searchsorted(reached, targets * (1 - _SHARE_ROUNDING)) + 1
    return np.concatenate([[0], blocks, [len(ranked.ends)]])


def _p_value(ranked: Ranked) -> float:
    deviations = ranked.weight * np.sqrt(ranked.p * (1 - ranked.p))
    largest = float(deviations.max())
    if largest == 0:
        return float(_range(ranked) == 0)
    # the squares of the smallest estimates would be 0
    return range_exceeds(_range(ranked) / (largest * float(np.sqrt(np.sum((deviations / largest) ** 2)))))


def calibration_bound(n: int, delta: float) -> float:
    """With probability at least 1 - ``delta``, c is within this of c_emp on ``n`` rows; in [0, 1], for every ``n``.

    c is what ``empirical_calibration_error`` tends to with ever more rows, c(f) of Gao, Parameswaran & Peng (2017),
    Definition 2. The n rows are drawn independently from the same distribution as those to come, and the classifier
    of two classes is fixed before they are seen: neither fitted to them nor chosen by them. Nothing else is asked.

    The value is sqrt(8 ln(2 / delta) / n), or 1 if that is more. Gao et al. have sqrt(8 ln(8 / delta) / n) and twice
    the expected Rademacher complexity of intervals besides (Theorem 2 with one classifier). To do without both, set
    the positive rows at f and the negative ones at 2 + f on one line, and let D be the empirical less the true
    distribution function there. For each t the sum of y - f over p1 < f <= p2 counts the positive rows up to t and,
    less, the negative ones beyond t: its error is the mean over t in [0, 1] of four values of D, and |D| exceeds
    sqrt(ln(2 / delta) / (2 n)) anywhere with probability at most delta (Massart 1990, The tight constant in the
    Dvoretzky-Kiefer-Wolfowitz inequality).

    Raises ValueError for an ``n`` that is no whole number of at least 1, a ``delta`` not strictly between 0 and 1.
    """
    _check(n, delta)
    return min(1.0, math.sqrt(8 * (math.log(2) - math.log(delta)) / n))


def asymptotic_calibration_bound(n: int, delta: float, rms: float = 0.5) -> float:
    """As ``calibration_bound``, but only in the limit of many rows, and of an ``rms_error`` that is at most ``rms``.

    .5 is the error of an estimate of .5 for every row; the error on the n rows themselves may be given instead.

    The value is ``rms`` / sqrt(n) times the 1 - delta quantile of the range of Brownian motion on [0, 1]
    (Feller 1951), or 1 if that is more. sqrt(n) times the error of the running sums of y - f tends to a Gaussian
    process which, plus an independent normal multiple of the true running sum, is Brownian motion at time E (y - f)^2.
    So its range exceeds a number no more often than that of Brownian motion does (Anderson 1955), and exactly as
    often if f is calibrated and continuously distributed.

    Raises ValueError as ``calibration_bound`` does, and for an ``rms`` that is no number within [0, 1].
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
