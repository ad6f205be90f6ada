"""Decompositions of the Brier score and the log loss into miscalibration, discrimination and uncertainty."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from probcal.metrics.checked_rows import Rows, checked, checked_base, checked_two_classes
from probcal.metrics.curves import blocks_of, isotonic_of
from probcal.metrics.losses import entropy_of, squared_error
from probcal.metrics.ranking import RankedRows, rank_each_class


class ScoreDecomposition(NamedTuple):
    """Hold a mean loss as miscalibration - discrimination + uncertainty.

    Attributes
    ----------
    loss : float
        Mean loss of the predictions.
    miscalibration : float
        Loss that recalibration would save. It is 0 if the predictions are calibrated.
    discrimination : float
        Loss that the recalibrated predictions save compared with the base rate.
    uncertainty : float
        Loss of the base rate as prediction.
    refinement : float
        Loss that remains after recalibration: uncertainty - discrimination.
    """

    loss: float
    miscalibration: float
    discrimination: float
    uncertainty: float

    @property
    def refinement(self) -> float:
        """Return the loss that remains after recalibration: uncertainty - discrimination."""
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
    labels: Any = None,
) -> ScoreDecomposition:
    """Return the exact decomposition of the Brier score, or of the log loss of two classes.

    Each prediction is replaced by the observed frequency of its group of rows. The groups are those of isotonic
    regression (Dimitriadis, Gneiting & Jordan 2021, section 2: CORP), or all rows with equal predictions
    (Murphy 1973; Brocker 2009, Reliability, sufficiency, and the decomposition of proper scores). ``refinement`` is the
    loss after this replacement (DeGroot & Fienberg 1983).

    With three or more classes, each part is half the sum over the classes, each against the rest. The loss is half such
    a sum too (see ``brier_score``).

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels.
    p : array-like of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1), or predicted probabilities of all classes.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    loss : {"brier", "log"}, default="brier"
        Brier score or log loss. The log loss is for two classes only.
    recalibration : {"isotonic", "distinct"}, default="isotonic"
        Groups of isotonic regression, or of equal predictions. If hardly two predictions are equal, ``"distinct"``
        takes each label for its own frequency, and the discrimination is the uncertainty.
    base : {"bits", "nats"} or float, default="bits"
        Unit of the log loss, or the base of its logarithm. The Brier score has no unit.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    ScoreDecomposition
        Loss and its parts. For the log loss, ``loss`` and ``miscalibration`` are infinite if an observed label had
        predicted probability 0.

    Raises
    ------
    ValueError
        If ``loss`` or ``recalibration`` is unknown, or ``base`` is no unit and no finite number above 1. Also for the
        log loss of three or more classes, or if another argument is invalid (see ``probcal.metrics``).
    """
    if recalibration not in ("isotonic", "distinct"):
        raise ValueError(f'recalibration must be "isotonic" or "distinct", not {recalibration!r}')
    _check_loss(loss)
    rows = (checked if loss == "brier" else checked_two_classes)(y, p, sample_weight, pos_label, labels)
    return decomposition_of(rows, rank_each_class(rows), loss, recalibration, checked_base(base))


def sharpness(p: Any, sample_weight: Any = None, *, loss: str = "brier", base: float | str = "bits") -> float:
    """Return the sharpness: how far the predictions lie from their mean.

    For the Brier score, it is the variance of the predictions, or half the sum of the variances of three or more
    classes. For the log loss, it is the entropy of the mean prediction minus the mean entropy of the predictions. Both
    are the loss that calibrated predictions save compared with the base rate (Gneiting, Balabdaoui & Raftery 2007:
    maximise sharpness subject to calibration). No label is needed.

    Parameters
    ----------
    p : array-like of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1), or predicted probabilities of all classes.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    loss : {"brier", "log"}, default="brier"
        Brier score or log loss.
    base : {"bits", "nats"} or float, default="bits"
        Unit of the log loss, or the base of its logarithm. The Brier score has no unit.

    Returns
    -------
    float
        Value of at least 0. With two classes, it is at most 1/4 for the Brier score and one bit for the log loss.

    Raises
    ------
    ValueError
        If ``loss`` is unknown, ``base`` is no unit and no finite number above 1, or another argument is invalid (see
        ``probcal.metrics``).
    """
    _check_loss(loss)
    return sharpness_of(checked(np.zeros(np.shape(p)[:1]), p, sample_weight), loss, checked_base(base))


def decomposition_of(
    rows: Rows, ranked: list[RankedRows], loss: str = "brier", recalibration: str = "isotonic", base: float = 2
) -> ScoreDecomposition:
    """Return the decomposition. ``ranked`` holds ``rows``, each class against the rest."""
    refinement = uncertainty = 0.0
    for one_against_rest in ranked:
        _, observed, weight = blocks_of(one_against_rest)
        if recalibration == "isotonic":
            observed = isotonic_of(one_against_rest).observed
        # The Brier score of several classes is half the sum over the classes, and so are its parts.
        share = 1.0 if len(ranked) == 1 else 0.5
        uncertainty += share * float(_lowest_loss(np.array([np.average(observed, weights=weight)]), loss, base)[0])
        refinement += share * float(np.average(_lowest_loss(observed, loss, base), weights=weight))
    mean_loss = squared_error(rows) if loss == "brier" else entropy_of(rows, base)
    # both parts are at least 0, and rounding must not make them less
    parts = mean_loss, max(0.0, mean_loss - refinement), max(0.0, uncertainty - refinement), uncertainty
    return ScoreDecomposition(*map(float, parts))


def sharpness_of(rows: Rows, loss: str = "brier", base: float = 2) -> float:
    p = rows.p
    if p.ndim == 1:
        p = np.column_stack([1 - p if rows.negative is None else rows.negative, p])
    mean = np.average(p, axis=0, weights=rows.weight)
    if loss == "brier":
        return rows.mean(((p - mean) ** 2).sum(axis=1) / 2)
    return max(0.0, float(_entropy(mean, base)) - rows.mean(_entropy(p, base)))


def _entropy(p: np.ndarray, base: float) -> np.ndarray:
    from scipy.special import entr

    return np.asarray(entr(p).sum(axis=-1) / math.log(base))


def _lowest_loss(p: np.ndarray, loss: str, base: float) -> np.ndarray:
    """Return the expected loss of each prediction if it is the true probability."""
    from scipy.special import entr

    return p * (1 - p) if loss == "brier" else np.asarray((entr(p) + entr(1 - p)) / math.log(base))


def _check_loss(loss: str) -> None:
    if loss not in ("brier", "log"):
        raise ValueError(f'loss must be "brier" or "log", not {loss!r}')
