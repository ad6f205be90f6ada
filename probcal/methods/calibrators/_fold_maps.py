"""Whether one map serves the scores of all folds, or each fold needs a map of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from probcal.methods.calibrators._calibrator import Calibrator


class FoldScores(NamedTuple):
    """Hold the scores of a fold, with n rows, by the classifier that was trained without it.

    The weights are above 0, and on the scale of ``fit_weights`` for the rows of all folds.
    """

    scores: np.ndarray
    labels: np.ndarray
    weights: np.ndarray | None


def prefers_fold_maps(make: Callable[[], Calibrator], folds: Sequence[FoldScores], seed: int) -> bool:
    """Return whether a map of each fold predicts its rows better than one map of all folds.

    A random half of each fold fits the maps, the other half judges them by log loss, and then the other way round. The
    classifiers of the folds may give scores on different scales, as naive Bayes does where a variance is close to 0.
    One map is then wrong for all of them. With few rows a map of one fold is worse. The answer is False if a class has
    fewer than two rows in a fold.
    """
    classes = np.unique(np.concatenate([one.labels for one in folds]))
    if min((one.labels == label).sum() for one in folds for label in classes) < 2:
        return False
    splitter = StratifiedKFold(2, shuffle=True, random_state=seed)
    halves = [[half for _, half in splitter.split(one.labels, one.labels)] for one in folds]
    own = shared = 0.0
    for fitting, judging in ((0, 1), (1, 0)):
        fits = [_rows(one, half[fitting]) for one, half in zip(folds, halves, strict=True)]
        judges = [_rows(one, half[judging]) for one, half in zip(folds, halves, strict=True)]
        one_map = fitted(make(), joined(fits))
        own += sum(_loss(fitted(make(), fit), judge) for fit, judge in zip(fits, judges, strict=True))
        shared += sum(_loss(one_map, judge) for judge in judges)
    return own < shared


def fitted(calibrator: Calibrator, part: FoldScores) -> Calibrator:
    """Fit a map on the rows of ``part``."""
    return calibrator._fit_scaled(part.scores, part.labels, part.weights)


def joined(folds: Sequence[FoldScores]) -> FoldScores:
    """Return the rows of all folds as one."""
    weights: Any = [one.weights for one in folds]
    return FoldScores(
        np.concatenate([one.scores for one in folds]),
        np.concatenate([one.labels for one in folds]),
        None if weights[0] is None else np.concatenate(weights),
    )


def _rows(fold: FoldScores, rows: np.ndarray) -> FoldScores:
    return FoldScores(fold.scores[rows], fold.labels[rows], None if fold.weights is None else fold.weights[rows])


def _loss(calibrator: Calibrator, part: FoldScores) -> float:
    """Return the log loss in nats, summed over the rows."""
    p = calibrator.predict_proba(part.scores)
    with np.errstate(divide="ignore"):  # a map with clip=(0, 1) may predict 0
        losses = -np.log(p[np.arange(len(p)), np.searchsorted(calibrator.classes_, part.labels)])
    return float(losses.sum() if part.weights is None else losses @ part.weights)
