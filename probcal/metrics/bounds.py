"""How far the calibration error of a classifier can be from the one that was measured."""

from __future__ import annotations

import math

from probcal.metrics.brownian import range_quantile
from probcal.metrics.rows import is_count, is_number


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
