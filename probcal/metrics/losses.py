"""Losses of each row by itself, in the mean: squared error, cross entropy, distance from the truth.

What decisions by the estimates cost when the two mistakes cost different amounts.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from probcal.metrics.checked_rows import Rows, checked, checked_pair, checked_two_classes, is_number
from probcal.metrics.ranking import Ranked


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


def expected_cost(y: Any, p: Any, loss_parameter: float, sample_weight: Any = None) -> float:
    """Mean cost of calling a row positive if and only if p >= ``loss_parameter``, in [0, 1].

    A false negative costs 1 - loss_parameter, a false positive loss_parameter: for these costs the rule is the
    best one if p is the truth. Gao, Parameswaran & Peng (2017), section 4.

    Raises ValueError for a ``loss_parameter`` that is no number within [0, 1].
    """
    return cost(checked_two_classes(y, p, sample_weight), _checked_parameter(loss_parameter))


def loss_ratio(y: Any, before: Any, after: Any, loss_parameter: float, sample_weight: Any = None) -> float:
    """``expected_cost`` of the estimates ``after`` calibration over that ``before``: below 1 it has paid.

    Gao, Parameswaran & Peng (2017), section 4 and Figure 3. 1 where neither costs anything, infinite where
    only the estimates after do.
    """
    parameter = _checked_parameter(loss_parameter)
    cost_before = cost(checked_two_classes(y, before, sample_weight), parameter)
    cost_after = cost(checked_two_classes(y, after, sample_weight), parameter)
    return ratio_of(cost_before, cost_after)


def ratio_of(before: float, after: float) -> float:
    """The loss ratio of two costs: 1 where neither costs anything, infinite where only the one after does."""
    if before == 0:
        return 1.0 if after == 0 else math.inf
    return after / before


def cost(rows: Rows, parameter: float) -> float:
    called = rows.p >= parameter
    return rows.mean(np.where(called, (rows.y == 0) * parameter, (rows.y == 1) * (1 - parameter)))


def _checked_parameter(loss_parameter: float) -> float:
    if not (is_number(loss_parameter) and 0 <= loss_parameter <= 1):
        raise ValueError(f"loss_parameter must be one number within [0, 1], not {loss_parameter!r}")
    return float(loss_parameter)
