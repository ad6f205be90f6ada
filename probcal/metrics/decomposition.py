"""Decompositions of the Brier score and the log loss into miscalibration, discrimination and uncertainty."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from probcal.metrics.checked_rows import Rows, checked_base, checked_pair, checked_two_classes
from probcal.metrics.curves import blocks_of, isotonic_of
from probcal.metrics.losses import entropy_of, squared_error
from probcal.metrics.ranking import RankedRows


class ScoreDecomposition(NamedTuple):
    """Hold a mean loss as miscalibration - discrimination + uncertainty."""

    loss: float
    """The mean loss of the predictions."""
    miscalibration: float
    """What recalibration would save. It is 0 if the predictions are calibrated."""
    discrimination: float
    """What the recalibrated predictions save compared with the base rate."""
    uncertainty: float
    """The loss of the base rate as prediction."""

    @property
    def refinement(self) -> float:
        """Return uncertainty - discrimination: the loss that remains after recalibration."""
        return self.uncertainty - self.discrimination


def score_decomposition(
    y: Any,
    p: Any,
    sample_weight: Any = None,
    *,
    loss: str = "brier",
    recalibration: str = "isotonic",
    base: float | str = "bits",
    pos_label: Any = None,
) -> ScoreDecomposition:
    """Return the exact decomposition of the Brier score or the log loss of two classes.

    Each prediction is replaced by the observed frequency of its group of rows. The groups are those of isotonic
    regression (Dimitriadis, Gneiting & Jordan 2021, section 2: CORP), or all rows with equal predictions
    (Murphy 1973; Brocker 2009, Reliability, sufficiency, and the decomposition of proper scores). ``refinement`` is the
    loss after this replacement (DeGroot & Fienberg 1983).

    Parameters
    ----------
    y : labels, (n,), of two classes.
    p : predicted probabilities, (n,) of the positive class, or (n, 2).
    sample_weight : weights of the rows, (n,), or None.
    loss : ``"brier"`` or ``"log"``.
    recalibration : ``"isotonic"``, or ``"distinct"`` for the groups of equal predictions. If hardly two predictions are
        equal, ``"distinct"`` takes each label for its own frequency, and the discrimination is the uncertainty.
    base : unit of the log loss: ``"bits"``, ``"nats"``, or a base. The Brier score has none.
    pos_label : label of the positive class. None if ``y`` holds 0 and 1.

    Returns
    -------
    ScoreDecomposition
        Loss and miscalibration of the log loss are infinite if an observed label had predicted probability 0.

    Raises
    ------
    ValueError
        For another ``loss``, ``recalibration`` or ``base``, and invalid arguments (see ``probcal.metrics``).
    """
    if recalibration not in ("isotonic", "distinct"):
        raise ValueError(f'recalibration must be "isotonic" or "distinct", not {recalibration!r}')
    _check_loss(loss)
    rows = checked_two_classes(y, p, sample_weight, pos_label)
    return decomposition_of(rows, RankedRows.of(rows), loss, recalibration, checked_base(base))


def sharpness(p: Any, sample_weight: Any = None, *, loss: str = "brier", base: float | str = "bits") -> float:
    """Return how far the predictions of two classes lie from their mean. No label is needed.

    For the Brier score it is the variance of the predictions. For the log loss it is the entropy of their mean minus
    their mean entropy. Both are what calibrated predictions save compared with the base rate (Gneiting, Balabdaoui &
    Raftery 2007: maximise sharpness subject to calibration).

    Parameters
    ----------
    p : predicted probabilities, (n,) of the positive class, or (n, 2).
    sample_weight : weights of the rows, (n,), or None.
    loss : ``"brier"`` or ``"log"``.
    base : unit for the log loss: ``"bits"``, ``"nats"``, or a base.

    Returns
    -------
    float
        At least 0. At most 1/4 for the Brier score, and one bit for the log loss.

    Raises
    ------
    ValueError
        For another ``loss`` or ``base``, and invalid arguments (see ``probcal.metrics``).
    """
    _check_loss(loss)
    positive = np.asarray(p)
    if positive.ndim == 2:
        checked_two_classes(np.zeros(len(positive)), positive)
        positive = positive[:, 1]
    return sharpness_of(checked_pair(positive, positive, sample_weight, ("p", "p")), loss, checked_base(base))


def decomposition_of(
    rows: Rows, ranked: RankedRows, loss: str = "brier", recalibration: str = "isotonic", base: float = 2
) -> ScoreDecomposition:
    _, observed, weight = blocks_of(ranked)
    if recalibration == "isotonic":
        observed = isotonic_of(ranked).observed
    uncertainty = _lowest_loss(np.array([np.average(observed, weights=weight)]), loss, base)[0]
    refinement = np.average(_lowest_loss(observed, loss, base), weights=weight)
    found = squared_error(rows) if loss == "brier" else entropy_of(rows, base)
    # both parts are at least 0, and rounding must not make them less
    parts = found, max(0.0, found - refinement), max(0.0, uncertainty - refinement), uncertainty
    return ScoreDecomposition(*map(float, parts))


def sharpness_of(rows: Rows, loss: str = "brier", base: float = 2) -> float:
    mean = rows.mean(rows.p)
    if loss == "brier":
        return rows.mean((rows.p - mean) ** 2)
    return max(0.0, float(_lowest_loss(np.array([mean]), loss, base)[0]) - rows.mean(_lowest_loss(rows.p, loss, base)))


def _lowest_loss(p: np.ndarray, loss: str, base: float) -> np.ndarray:
    """Return the expected loss of each prediction if it is the true probability."""
    from scipy.special import entr

    return p * (1 - p) if loss == "brier" else np.asarray((entr(p) + entr(1 - p)) / math.log(base))


def _check_loss(loss: str) -> None:
    if loss not in ("brier", "log"):
        raise ValueError(f'loss must be "brier" or "log", not {loss!r}')
