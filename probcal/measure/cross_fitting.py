"""Calibrated predictions of a file: cross-fitted to judge a map, and by all rows to use it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from probcal.errors import DataError
from probcal.measure.maps import new_map
from probcal.reading.prediction_file import FilePredictions

FOLDS = 5

Floats = npt.NDArray[np.float64]


def cross_fit(name: str, predictions: FilePredictions, seed: int, base_rates: Sequence[float] | None = None) -> Floats:
    """Return (n_rows, n_classes) probabilities, each from a map that was fitted without the row's own fold.

    ``FOLDS`` folds are stratified by class and drawn with ``seed``. Rows of weight 0 are in no fold and have NaN.
    Raises DataError where a class has fewer rows.
    """
    from sklearn.model_selection import StratifiedKFold  # takes half a second to import

    rows = np.flatnonzero(predictions.weight > 0)
    counts = np.bincount(predictions.y[rows], minlength=len(predictions.classes))
    if (n := int(counts.min())) < FOLDS:
        label = predictions.classes[int(counts.argmin())]
        raise DataError(
            f'--calibrate: {FOLDS} folds need at least {FOLDS} rows of each class, and there are {n} of "{label}"'
            "; give more rows, or measure without --calibrate"
        )
    calibrated = np.full((predictions.n_rows, len(predictions.classes)), np.nan)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(rows, predictions.y[rows]):
        calibrated[rows[test]] = _fit_map(name, predictions, rows[train], base_rates).predict_proba(
            predictions.p[rows[test]]
        )
    return calibrated


def fit_all_rows(name: str, predictions: FilePredictions, base_rates: Sequence[float] | None = None) -> Any:
    """Return a map that is fitted on all rows. ``base_rates`` of the classes are for the map ``prior`` alone."""
    return _fit_map(name, predictions, np.arange(predictions.n_rows), base_rates)


def _fit_map(
    name: str, predictions: FilePredictions, rows: npt.NDArray[np.intp], base_rates: Sequence[float] | None
) -> Any:
    weight = predictions.weight[rows] if predictions.has_weights else None
    try:
        return new_map(name, base_rates).fit(predictions.p[rows], predictions.y[rows], sample_weight=weight)
    except ValueError as error:
        raise DataError(f"--calibrate {name}: {error}") from None
