"""Calibrated predictions of a file: cross-fitted to judge a map, by all rows to use it, and how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probcal._io import data_text, write_atomic
from probcal.data.dataset import as_text
from probcal.errors import DataError, ProbcalError
from probcal.measure.maps import new_map
from probcal.measure.prediction_file import FilePredictions

FOLDS = 5

Floats = npt.NDArray[np.float64]


def cross_fit(name: str, predictions: FilePredictions, seed: int) -> Floats:
    """Return (n_rows, n_classes) probabilities, each from a map that was fitted without the row's own fold.

    ``FOLDS`` folds are stratified by class and drawn with ``seed``. Rows of weight 0 are in no fold and have NaN.
    Raises DataError where a class has fewer rows.
    """
    from sklearn.model_selection import StratifiedKFold  # takes half a second to import

    counted = np.flatnonzero(predictions.weight > 0)
    counts = np.bincount(predictions.y[counted], minlength=len(predictions.classes))
    if (n := int(counts.min())) < FOLDS:
        label = predictions.classes[int(counts.argmin())]
        raise DataError(
            f'--calibrate: {FOLDS} folds need at least {FOLDS} rows of each class, and there are {n} of "{label}"'
            "; give more rows, or measure without --calibrate"
        )
    calibrated = np.full((predictions.n_rows, len(predictions.classes)), np.nan)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(counted, predictions.y[counted]):
        rows = counted[test]
        calibrated[rows] = _fit_map(name, predictions, counted[train]).predict_proba(predictions.p[rows])
    return calibrated


def calibrate_all_rows(name: str, predictions: FilePredictions) -> Floats:
    """Return (n_rows, n_classes) probabilities from a map that was fitted on all rows."""
    rows = np.arange(predictions.n_rows)
    return np.asarray(_fit_map(name, predictions, rows).predict_proba(predictions.p), dtype=np.float64)


def _fit_map(name: str, predictions: FilePredictions, rows: npt.NDArray[np.intp]) -> Any:
    weight = predictions.weight[rows] if predictions.has_weights else None
    try:
        return new_map(name).fit(predictions.p[rows], predictions.y[rows], sample_weight=weight)
    except ValueError as error:
        raise DataError(f"--calibrate {name}: {error}") from None


def refuse_path(option: str, path: Path, force: bool) -> None:
    """Raise ProbcalError unless ``path`` can be written. ``option`` names it in messages."""
    if path.is_dir():
        raise ProbcalError(f"{option}: {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise ProbcalError(f"{option}: the folder {path.parent} does not exist; create it first, or choose another")
    if path.exists() and not path.is_file():
        raise ProbcalError(f"{option}: {path} is not a regular file; name another")
    if path.exists() and not force:
        raise ProbcalError(f"{option}: {path} already exists and is not overwritten; add --force or choose another")


def new_columns(predictions: FilePredictions, map: str) -> list[str]:
    """Return the names of the calibrated columns: ``p_beta`` for column ``p`` and the map ``beta``.

    Raises ProbcalError where the table has such a column already.
    """
    names = [f"{column}_{map}" for column in predictions.columns]
    headers = {str(name).strip() for name in predictions.table.frame.columns}
    if conflicts := [name for name in names if name in headers]:
        raise ProbcalError(
            f'-o: the table already has a column "{conflicts[0]}"; rename it, or leave it out of the table'
        )
    return names


def write_calibrated(path: Path, predictions: FilePredictions, map: str, calibrated: npt.NDArray[np.float64]) -> None:
    """Write every row and column of the table and the ``calibrated`` probabilities, (n_rows, n_classes), to ``path``.

    The separator and the decimal mark are those of the input. Raises ProbcalError where ``path`` cannot be written.
    """
    table, frame = predictions.table, predictions.table.frame
    columns = [_texts(table.word_columns.get(place, frame.iloc[:, place])) for place in range(frame.shape[1])]
    p = calibrated[:, -len(predictions.columns) :]
    columns += [[repr(float(value)).replace(".", predictions.mark) for value in column] for column in p.T]
    header = [*(str(name) for name in frame.columns), *new_columns(predictions, map)]
    write_file("-o", path, data_text([header, *zip(*columns, strict=True)], predictions.table.separator or ","))


def write_file(option: str, path: Path, text: str) -> None:
    """Write ``text`` to ``path`` in one step. Raise ProbcalError where that fails."""
    try:
        write_atomic(path, text)
    except OSError as error:
        raise ProbcalError(f"{option}: cannot write {path}: {error.strerror or error}; choose another place") from None


def _texts(column: pd.Series) -> list[str]:
    return ["" if value is None else as_text(value) for value in column.astype(object).where(column.notna(), None)]
