"""Losses, which are means over the rows: squared error, cross entropy, distance from the truth and expected cost."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from probcal.metrics.checked_rows import Rows, checked, checked_base, checked_pair, checked_two_classes, is_number
from probcal.metrics.ranking import RankedRows


def rms_error(y: Any, p: Any, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None) -> float:
    """Return the root mean squared (RMS) error.

    It is the root of the mean of (y - p)^2 (Langford & Zadrozny 2005, Table 2). With several classes, it is the root of
    ``brier_score``.

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
    return math.sqrt(squared_error(checked(y, p, sample_weight, pos_label, labels)))


def brier_score(y: Any, p: Any, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None) -> float:
    """Return the Brier score: the mean of (y - p)^2.

    With several classes, it is the mean of half the sum of (1[y = c] - p_c)^2 over the classes. Brier (1950) sums over
    the classes without the half, so the score of two classes is twice as large there.

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
    return squared_error(checked(y, p, sample_weight, pos_label, labels))


class MurphyDecomposition(NamedTuple):
    """Hold the Brier score as reliability - resolution + uncertainty.

    Attributes
    ----------
    reliability : float
        Mean squared distance of the predictions from the observed frequencies. It is 0 if the predictions are
        calibrated.
    resolution : float
        Mean squared distance of the observed frequencies from the base rate. It is 0 if the predictions separate
        nothing.
    uncertainty : float
        Brier score of the base rate as prediction. No prediction can change it.
    """

    reliability: float
    resolution: float
    uncertainty: float


def murphy_decomposition(
    y: Any, p: Any, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None
) -> MurphyDecomposition:
    """Return the exact decomposition of a Brier score of two classes over the distinct predictions.

    For each distinct prediction let w be its weight, p its value and o the observed frequency of positive rows. Let r
    be the base rate. ``reliability`` is the mean of (p - o)^2 weighted by w. ``resolution`` is the mean of (o - r)^2
    weighted by w. ``uncertainty`` is r (1 - r). If no two rows have equal predictions, o is a single label and the
    resolution equals the uncertainty. See Murphy (1973), A new vector partition of the probability score, equation 7.

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
    MurphyDecomposition
        Three parts of the Brier score.

    Raises
    ------
    ValueError
        If an argument is invalid (see ``probcal.metrics``).
    """
    ranked = RankedRows.of(checked_two_classes(y, p, sample_weight, pos_label, labels))
    weight = ranked.in_blocks(ranked.weight)
    share, observed = weight / ranked.total, ranked.in_blocks(ranked.weight * ranked.y) / weight
    rate = float(np.sum(share * observed))
    return MurphyDecomposition(
        reliability=float(np.sum(share * (ranked.p[ranked.ends] - observed) ** 2)),
        resolution=float(np.sum(share * (observed - rate) ** 2)),
        uncertainty=rate * (1 - rate),
    )


def cross_entropy(
    y: Any, p: Any, base: float | str = 2, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None
) -> float:
    """Return the log loss: the mean of -log P(observed label), in bits by default.

    It is infinite if at least one observed label had predicted probability 0. With two classes, give both columns of
    ``predict_proba``, of shape (n_rows, 2). From ``p`` of shape (n_rows,), the probability of label 0 is computed as
    1 - p. This is 0 where p rounds to 1, although the classifier gave label 0 a small probability.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels.
    p : array-like of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1), or predicted probabilities of all classes.
    base : float or {"bits", "nats"}, default=2
        Base of the logarithm. ``"bits"`` means 2, and ``"nats"`` means ``math.e``.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    float
        Log loss of at least 0, in bits for ``base=2``.

    Raises
    ------
    ValueError
        If ``base`` is no unit and no finite number above 1, or another argument is invalid (see ``probcal.metrics``).
    """
    rows = checked(y, p, sample_weight, pos_label, labels)
    return entropy_of(rows, checked_base(base))


def l1_error(true_p: Any, p: Any, sample_weight: Any = None) -> float:
    """Return the mean distance of the predictions from the true probabilities.

    It is the mean of ``|p - true_p|``. The true P(y = 1) of each row must be known. See Gao, Parameswaran & Peng
    (2017), section 1. Their Theorem 1 says that no sample of labels can bound this error.

    Parameters
    ----------
    true_p : array-like of shape (n_rows,)
        True P(y = 1).
    p : array-like of shape (n_rows,)
        Predicted P(y = 1).
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.

    Returns
    -------
    float
        Value in [0, 1].

    Raises
    ------
    ValueError
        If an argument is invalid (see ``probcal.metrics``).
    """
    rows = checked_pair(true_p, p, sample_weight, ("true_p", "p"))
    return rows.mean(np.abs(rows.y - rows.p))


def n_errors(rows: Rows) -> float:
    """Return the number of rows whose most probable class is wrong, in proportion to the weights.

    The first of equal classes counts as the most probable.
    """
    if rows.p.ndim == 2:
        predicted = np.argmax(rows.p, axis=1)
    else:
        predicted = rows.p > (0.5 if rows.negative is None else rows.negative)
    return len(rows.y) * rows.mean(predicted != rows.y)


def accuracy_of(rows: Rows) -> float:
    """Return the share of rows whose predicted class is observed, in proportion to the weights.

    Of two classes the second is predicted from a probability of 1/2 up, of several the most probable one.
    """
    predicted = np.argmax(rows.p, axis=1) if rows.p.ndim == 2 else rows.p >= 0.5
    return rows.mean(predicted == rows.y)


def clipped_log_loss(rows: Rows, least: float = 1e-16) -> float:
    """Return the mean of -ln P(observed label) in nats, with probabilities in [``least``, 1 - ``least``].

    Of two classes P(y = 1) is clipped, and P(y = 0) is 1 minus it, as Kull, Silva Filho & Flach (2017) do. So a certain
    and wrong prediction costs 36.8 nats, or 36.7 for P(y = 1) = 1.
    """
    if rows.p.ndim == 2:
        return float(-rows.mean(np.log(np.clip(rows.p_of_label, least, 1 - least))))
    p = np.clip(rows.p, least, 1 - least)
    return float(-rows.mean(np.log(np.where(rows.y == 1, p, 1 - p))))


def squared_error(rows: Rows) -> float:
    # of two classes, the errors are the only array that it needs, so parts would save nothing
    return rows.mean(squared_errors(rows)) if rows.p.ndim == 1 else rows.mean_of(squared_errors)


def squared_errors(rows: Rows) -> np.ndarray:
    """Return the squared error of each row, (n_rows,). The Brier score is their mean."""
    if rows.p.ndim == 1:
        errors = rows.y - rows.p
        return np.asarray(np.square(errors, out=errors))
    observed = rows.y[:, np.newaxis] == np.arange(rows.p.shape[1])
    return np.asarray(((observed - rows.p) ** 2).sum(axis=1) / 2)


def entropy_of(rows: Rows, base: float) -> float:
    with np.errstate(divide="ignore"):  # a probability of 0 makes it infinite
        mean = rows.mean_of(lambda some: np.log(some.p_of_label))
    return float(-mean / math.log(base)) + 0.0  # + 0.0: no negative zero


def expected_cost(
    y: Any, p: Any, loss_parameter: float, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None
) -> float:
    """Return the mean cost of predicting the positive class if and only if p >= ``loss_parameter``.

    A false negative costs 1 - ``loss_parameter``, and a false positive costs ``loss_parameter``. The rule has the least
    expected cost if p is the true probability. See Gao, Parameswaran & Peng (2017), section 4.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels of two classes.
    p : array-like of shape (n_rows,) or (n_rows, 2)
        Predicted P(y = 1), or predicted probabilities of both classes.
    loss_parameter : float
        Cost of a false positive, within [0, 1]. It is also the threshold.
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
        If ``loss_parameter`` is no number within [0, 1], or another argument is invalid (see ``probcal.metrics``).
    """
    return cost(checked_two_classes(y, p, sample_weight, pos_label, labels), _checked_parameter(loss_parameter))


def loss_ratio(
    y: Any,
    before: Any,
    after: Any,
    loss_parameter: float,
    sample_weight: Any = None,
    *,
    pos_label: Any = None,
    labels: Any = None,
) -> float:
    """Return the ``expected_cost`` after calibration divided by the cost before.

    Below 1, calibration has lowered the cost. See Gao, Parameswaran & Peng (2017), section 4 and Figure 3. The ratio is
    1 if both costs are 0, and infinite if only the cost before is 0.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels of two classes.
    before, after : array-like of shape (n_rows,) or (n_rows, 2)
        Predicted P(y = 1), or predicted probabilities of both classes, before and after calibration.
    loss_parameter : float
        Cost of a false positive, within [0, 1]. It is also the threshold.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    float
        Ratio of at least 0.

    Raises
    ------
    ValueError
        If ``loss_parameter`` is no number within [0, 1], or another argument is invalid (see ``probcal.metrics``).
    """
    parameter = _checked_parameter(loss_parameter)
    cost_before = cost(checked_two_classes(y, before, sample_weight, pos_label, labels), parameter)
    cost_after = cost(checked_two_classes(y, after, sample_weight, pos_label, labels), parameter)
    return ratio_of(cost_before, cost_after)


def ratio_of(before: float, after: float) -> float:
    """Return the loss ratio of two costs: 1 if both are 0, and infinite if only the one before is 0."""
    if before == 0:
        return 1.0 if after == 0 else math.inf
    return after / before


def cost(rows: Rows, parameter: float) -> float:
    predicted = rows.p >= parameter
    return rows.mean(np.where(predicted, (rows.y == 0) * parameter, (rows.y == 1) * (1 - parameter)))


def _checked_parameter(loss_parameter: float) -> float:
    if not (is_number(loss_parameter) and 0 <= loss_parameter <= 1):
        raise ValueError(f"loss_parameter must be one number within [0, 1], not {loss_parameter!r}")
    return float(loss_parameter)
