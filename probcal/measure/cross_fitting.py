"""Calibrated probabilities of a file: by cross-fitting to judge a map, and by the map of all rows to use it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold

from probcal.errors import DataError
from probcal.measure.maps import new_map
from probcal.measure.predictions import Predictions

FOLDS = 5

Floats = npt.NDArray[np.float64]


def cross_fitted(name: str, predictions: Predictions, seed: int) -> Floats:
    """Return (n_rows, n_classes) probabilities, each from a map that was fitted without the row's own fold.

    ``FOLDS`` folds are stratified by class and drawn with ``seed``. Raises DataError where a class has fewer rows.
    """
    counts = np.bincount(predictions.y[predictions.weight > 0], minlength=len(predictions.classes))
    if (least := int(counts.min())) < FOLDS:
        label = predictions.classes[int(counts.argmin())]
        raise DataError(
            f'--calibrate: {FOLDS} folds need at least {FOLDS} rows of each class, and there are {least} of "{label}"'
            "; give more rows, or measure without --calibrate"
        )
    calibrated = np.empty((predictions.n_rows, len(predictions.classes)))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(predictions.p, predictions.y):
        calibrated[test] = _fitted(name, predictions, train).predict_proba(predictions.p[test])
    return calibrated


def calibrated_by_all_rows(name: str, predictions: Predictions) -> Floats:
    """Return (n_rows, n_classes) probabilities from a map that was fitted on all rows."""
    every = np.arange(predictions.n_rows)
    return np.asarray(_fitted(name, predictions, every).predict_proba(predictions.p), dtype=np.float64)


def _fitted(name: str, predictions: Predictions, rows: npt.NDArray[np.intp]) -> Any:
    weight = predictions.weight[rows] if predictions.weighted else None
    try:
        return new_map(name).fit(predictions.p[rows], predictions.y[rows], sample_weight=weight)
    except ValueError as error:
        raise DataError(f"--calibrate {name}: {error}") from None
