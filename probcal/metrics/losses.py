"""Losses of each row by itself, in the mean: squared error, cross entropy, distance from the truth."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from probcal.metrics.ranked import Ranked
from probcal.metrics.rows import Rows, checked, checked_pair, checked_two_classes, is_number


def rms_error(y: Any, p: Any, sample_weight: Any = None) -> float:
    """Root of the mean of (y - p)^2, in [0, 1] (Langford & Zadrozny 2005, Table 2).

    Of several classes: the root of ``brier_score``.
    """
    return math.sqrt(squared_error(checked(y, p, sample_weight)))


def brier_score(y: Any, p: Any, sample_weight: Any = None) -> float:
    """Mean of (y - p)^2, in [0, 1]; of several classes, of half the sum of (1[y = c] - p_c)^2 over the classes.

    Brier (1950) sums over the classes without the half, so that two classes count twice.
    """
    return squared_error(checked(y, p, sample_weight))


class MurphyDecomposition(NamedTuple):
    """The Brier score as reliability - resolution + uncertainty."""

    reliability: float
    resolution: float
    uncertainty: float


def murphy_decomposition(y: Any, p: Any, sample_weight: Any = None) -> MurphyDecomposition:
    """Why a Brier score of two classes is what it is, exactly, over the distinct estimates.

    With w the weight, p the estimate and o the rate of positive rows of each distinct estimate, and r the rate
    of all rows: ``reliability`` is the mean of (p - o)^2 (0 if calibrated), ``resolution`` the mean of (o - r)^2
    (0 if the estimates separate nothing), both weighted by w, and ``uncertainty`` is r (1 - r), which no
    estimate can change. Where no two rows have equal estimates, o is a single label and resolution is all of
    uncertainty. Murphy (1973), A new vector partition of the probability score, equation 7.
    """
    ranked = Ranked.of(checked_two_classes(y, p, sample_weight))
    weight = ranked.in_blocks(ranked.weight)
    share, observed = weight / ranked.total, ranked.in_blocks(ranked.weight * ranked.y) / weight
    rate = float(np.sum(share * observed))
    return MurphyDecomposition(
        reliability=float(np.sum(share * (ranked.p[ranked.ends] - observed) ** 2)),
        resolution=float(np.sum(share * (observed - rate) ** 2)),
        uncertainty=rate * (1 - rate),
    )


def cross_entropy(y: Any, p: Any, base: float = 2, sample_weight: Any = None) -> float:
    """Return the mean of -log P(observed label), in bits unless ``base`` says otherwise.

    It is infinite if at least one observed label had predicted probability 0. Give both columns of
    ``predict_proba``, (n, 2): from ``p`` of shape (n,) the probability of label 0 is computed as 1 - p, which is 0
    where p rounds to 1 although the classifier gave label 0 a small probability. Langford & Zadrozny's text gives the
    natural logarithm, but the numbers of their Table 1 are bits: COIL J48 has one leaf and .326, and
    the entropy of 238 positive rows in 4000 is .3255 bits or .2256 nats.

    Raises ValueError for a ``base`` that is no finite number above 1; for nats it is ``math.e``.
    """
    rows = checked(y, p, sample_weight)
    if not (is_number(base) and 1 < base < math.inf):
        raise ValueError(f"base, of the logarithm, must be a finite number above 1, such as 2 or math.e, not {base!r}")
    return entropy_of(rows, base)


def l1_error(true_p: Any, p: Any, sample_weight: Any = None) -> float:
    """Mean of |p - true_p|, in [0, 1], where the true P(y = 1) of each row is known: ``true_p`` (n,), ``p`` (n,).

    Gao, Parameswaran & Peng (2017), section 1; their Theorem 1 says that no sample of labels can bound it.
    """
    rows = checked_pair(true_p, p, sample_weight, ("true_p", "p"))
    return rows.mean(np.abs(rows.y - rows.p))


def n_errors(rows: Rows) -> float:
    """Rows whose likeliest class, the first of equal ones, is not the one that came; weighted ones in proportion."""
    if rows.p.ndim == 2:
        called = np.argmax(rows.p, axis=1)
    else:
        called = rows.p > (0.5 if rows.negative is None else rows.negative)
    return len(rows.y) * rows.mean(called != rows.y)


def squared_error(rows: Rows) -> float:
    if rows.p.ndim == 1:
        return rows.mean((rows.y - rows.p) ** 2)
    came = rows.y[:, np.newaxis] == np.arange(rows.p.shape[1])
    return rows.mean(((came - rows.p) ** 2).sum(axis=1) / 2)


def entropy_of(rows: Rows, base: float) -> float:
    given = rows.p_of_label
    if (given == 0).any():
        return float("inf")
    return float(-rows.mean(np.log(given)) / math.log(base)) + 0.0  # + 0.0: no negative zero
