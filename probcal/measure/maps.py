"""Maps from predicted to calibrated probabilities: their short names, cross-fitting, and the map of all rows."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from probcal.errors import DataError, ProbcalError, did_you_mean
from probcal.methods.registry import FAMILIES, METHODS

if TYPE_CHECKING:
    from probcal.measure.predictions import Predictions

FOLDS = 5
_WITHOUT_PARAMETERS = "prior"
"""It changes nothing unless the true base rate is given."""

Floats = npt.NDArray[np.float64]


def map_paths() -> dict[str, str]:
    """Return short name -> import path of each map. A map has the name of the method that fits it around a learner.

    Both are in one module, and the names of their classes begin with the same word: BetaCalibrator and
    BetaCalibrationClassifier.
    """
    maps = [path for path, family in FAMILIES.items() if family == "maps"]
    found = {}
    for name, method in METHODS.items():
        for path in maps:
            if name != _WITHOUT_PARAMETERS and method.path.startswith(path.removesuffix("Calibrator")):
                found[name] = path
    return found


def new_map(name: str) -> Any:
    """Return an unfitted map with its default parameters. Raise ProbcalError for an unknown name."""
    paths = map_paths()
    if name not in paths:
        advice = (
            "; it needs the true base rate, so use PriorCalibrator in Python" if name == _WITHOUT_PARAMETERS else ""
        )
        near = advice or did_you_mean(name, paths)
        raise ProbcalError(f'--calibrate: there is no map "{name}"{near} (there are: {", ".join(sorted(paths))})')
    module, _, of_class = paths[name].rpartition(".")
    return getattr(import_module(module), of_class)()


def cross_fitted(name: str, predictions: Predictions, seed: int) -> Floats:
    """Return (n_rows, n_classes) probabilities, each from a map that was fitted without the row's own fold.

    ``FOLDS`` folds are stratified by class and drawn with ``seed``. Raises DataError where a class has fewer rows.
    """
    from sklearn.model_selection import StratifiedKFold

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
