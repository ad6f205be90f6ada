"""How far the estimates are from the rates of what they said: four readings of one running sum.

Of three classes or more each metric is taken of every class against the rest; of two, of the second alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from probcal.metrics.brownian import range_exceeds
from probcal.metrics.ranked import Ranked
from probcal.metrics.rows import checked, is_count

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
