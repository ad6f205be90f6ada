"""Tests of whether predictions of some rows, such as a segment or a rating grade, are calibrated."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from probcal._validation import group_array
from probcal.metrics.checked_rows import Rows, checked_two_classes, effective_rows
from probcal.metrics.closed_forms import design_effect
from probcal.metrics.row_support import FEWEST_ROWS

Array = npt.NDArray[np.float64]

# Rows that are added one by one. Their sums have only positive terms, so even tiny p-values keep all digits.
_LEAF_ROWS = 256
# Least variance of the number of positive rows for the normal limit of Spiegelhalter's statistic.
_LEAST_VARIANCE = 5.0
_LEVEL = 0.95


class CalibrationTests(NamedTuple):
    """Hold the frequency of the positive label in some rows, and p-values for their predictions.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    n_positive : int
        Number of rows of the positive label.
    mean : float
        Mean predicted probability.
    observed : float
        Observed frequency of the positive label.
    low : float
        Lower end of Jeffreys' 95 % interval of the frequency. It is 0 only if no row is positive.
    high : float
        Upper end. It is 1 only if all rows are positive.
    exact_p : float
        Two-sided p-value of the number of positive rows.
    spiegelhalter_z : float
        Spiegelhalter's statistic, standard normal if the predictions are calibrated. NaN where the number of positive
        rows has a variance below 5, because the normal limit is then too far away.
    spiegelhalter_p : float
        Its two-sided p-value.
    binomial_p : float
        One-sided p-value of the binomial test. It is small if the mean prediction is too low.
    jeffreys_p : float
        One-sided p-value of the Jeffreys test. It is small if the mean prediction is too low.
    robust_p : float
        Two-sided p-value of the mean prediction, for rows in groups. NaN without ``groups``.
    """

    n_rows: int
    n_positive: int
    mean: float
    observed: float
    low: float
    high: float
    exact_p: float
    spiegelhalter_z: float
    spiegelhalter_p: float
    binomial_p: float
    jeffreys_p: float
    robust_p: float = math.nan


def calibration_tests(
    y: Any, p: Any, *, pos_label: Any = None, labels: Any = None, groups: Any = None
) -> CalibrationTests:
    """Test whether the predictions of some rows are calibrated.

    ``exact_p`` is of calibration in the large. If the predictions are right, the number of positive rows k has a
    Poisson binomial distribution, whatever the single predictions are. The p-value is min(1, 2 P(K <= k), 2 P(K >= k)).
    It is exact, and falls below a level with at most this probability.

    ``spiegelhalter_p`` also sees predictions that are too extreme or not extreme enough. The statistic is
    sum (y - p)(1 - 2p) / sqrt(sum (1 - 2p)^2 p (1 - p)) (Spiegelhalter 1986, Probabilistic prediction in patient
    management and clinical trials).

    The last two tests are those of rating grades. They compare k of n rows with the mean prediction m, and are
    one-sided against a prediction that is too low. The binomial test takes P(K >= k) for n draws of probability m
    (Basel Committee 2005, Working Paper 14, Studies on the validation of internal rating systems). If the predictions
    of a grade differ, K has a smaller variance, and the test keeps its level (Hoeffding 1956). The Jeffreys test takes
    the distribution function of Beta(k + 1/2, n - k + 1/2) at m (European Central Bank 2019, Instructions for
    reporting the validation results of internal models, section 2.5.3.1). It is approximate: its level is right on
    average over m. The interval has the quantiles of this distribution (Brown, Cai & DasGupta 2001, section 4).

    The rows must be chosen without their labels. They must be independent, or belong to ``groups`` that are. Then the
    sum of y - p has the variance sum p (1 - p) of independent rows, times the design effect: sum over groups of (sum y
    - p)^2, over sum over rows of (y - p)^2, or 1 if that is larger. ``robust_p`` is the p-value of its normal limit.
    Spiegelhalter's statistic and the interval have a design effect in the same way. So m equal rows of each group give
    what one row of each gives. The exact, the binomial and the Jeffreys test have no form for groups, and are NaN.
    Fewer than 20 groups, as Kish counts unequal ones, have no p-values, nor have groups that each with one row would
    have a variance below 5.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels of two classes.
    p : array-like of shape (n_rows,) or (n_rows, 2)
        Predicted P(y = 1), or predicted probabilities of both classes.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.
    groups : array-like of shape (n_rows,), default=None
        What each row belongs to, such as its patient. Rows of one group need not be independent.

    Returns
    -------
    CalibrationTests
        The frequency with its interval, and the p-values.

    Raises
    ------
    ValueError
        If an argument is invalid (see ``probcal.metrics``).

    Examples
    --------
    >>> from probcal.metrics import calibration_tests
    >>> tests = calibration_tests([1, 1, 0, 0, 0, 0], [0.0367] * 6)  # two of six defaulted in a grade of PD 3.67 %
    >>> round(tests.binomial_p, 4), round(tests.jeffreys_p, 4)
    (0.0183, 0.0044)
    """
    from scipy.special import bdtrc, betainc, ndtr

    rows = checked_two_classes(y, p, None, pos_label, labels)
    n, k, mean = len(rows.p), int(rows.y.sum()), float(rows.p.mean())
    if groups is not None:
        return _clustered_tests(rows, np.unique(group_array(groups, n), return_inverse=True)[1])
    low, high = _jeffreys_interval(k, n)
    z = _spiegelhalter(rows.y, rows.p)
    binomial = float(bdtrc(k - 1, n, mean)) if k > 0 else 1.0
    spiegelhalter_p = float(2 * ndtr(-abs(z)))
    return CalibrationTests(
        n, k, mean, k / n, low, high, _exact_p(k, rows.p), z, spiegelhalter_p, binomial,
        float(betainc(k + 0.5, n - k + 0.5, mean)),
    )  # fmt: skip


def _jeffreys_interval(k: float, n: float) -> tuple[float, float]:
    from scipy.special import betaincinv

    a, b, tail = k + 0.5, n - k + 0.5, (1 - _LEVEL) / 2
    return float(betaincinv(a, b, tail)) if k > 0 else 0.0, float(betaincinv(a, b, 1 - tail)) if k < n else 1.0


def _clustered_tests(rows: Rows, cluster: npt.NDArray[np.intp]) -> CalibrationTests:
    from scipy.special import ndtr

    rows = replace(rows, cluster=cluster)
    n, k, mean = len(rows.p), int(rows.y.sum()), float(rows.p.mean())
    effect = design_effect(rows.y - k / n, rows)
    low, high = _jeffreys_interval(k / effect, n / effect)
    size = np.bincount(cluster).astype(np.float64)
    n_clusters = effective_rows(size, size**2)
    z = robust_z = math.nan
    if n_clusters >= FEWEST_ROWS:
        residual, variance = rows.y - rows.p, float((rows.p * (1 - rows.p)).sum())
        effect = design_effect(residual, rows)
        # each cluster counts as one row here, whatever the labels are: a limit that saw them would choose small effects
        least = _LEAST_VARIANCE * n / n_clusters
        robust_z = float(residual.sum()) / math.sqrt(variance * effect) if variance >= least else math.nan
        z = _spiegelhalter(rows.y, rows.p, least) / math.sqrt(design_effect(residual * (1 - 2 * rows.p), rows))
    p_values = [float(2 * ndtr(-abs(one))) for one in (z, robust_z)]
    nan = math.nan
    return CalibrationTests(n, k, mean, k / n, low, high, nan, z, p_values[0], nan, nan, p_values[1])


def _spiegelhalter(y: Array, p: Array, least_variance: float = _LEAST_VARIANCE) -> float:
    variance = p * (1 - p)
    if variance.sum() < least_variance or not (scale := float((1 - 2 * p) ** 2 @ variance)):
        return math.nan
    return float((y - p) @ (1 - 2 * p)) / math.sqrt(scale)


def _exact_p(k: int, p: Array) -> float:
    mass = _poisson_binomial(p)
    return min(1.0, 2 * float(mass[: k + 1].sum()), 2 * float(mass[k:].sum()))


def _poisson_binomial(p: Array) -> Array:
    """Return the distribution of the sum of independent labels with probabilities ``p``, (n_rows + 1,).

    The distributions of blocks of rows are convolved two by two, by Fourier transforms that take n log(n)^2 steps.
    Beyond ``_LEAF_ROWS`` rows the error of a probability is about 1e-15.
    """
    n = len(p)
    n_leaves = 1 << max(0, math.ceil(math.log2(n / _LEAF_ROWS)))
    size = -(-n // n_leaves)
    # a row of probability 0 changes no sum
    blocks = np.concatenate([p, np.zeros(n_leaves * size - n)]).reshape(n_leaves, size)
    mass = np.zeros((n_leaves, size + 1))
    mass[:, 0] = 1
    for place in range(size):
        one = blocks[:, place, None]
        mass[:, 1 : place + 2] = mass[:, 1 : place + 2] * (1 - one) + mass[:, : place + 1] * one
        mass[:, :1] *= 1 - one
    while len(mass) > 1:
        length = 2 * mass.shape[1] - 1
        transformed = np.fft.rfft(mass, length)
        mass = np.fft.irfft(transformed[::2] * transformed[1::2], length).clip(0)
    return np.asarray(mass[0, : n + 1])
