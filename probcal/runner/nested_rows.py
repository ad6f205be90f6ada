"""The rows of a nested split: also inside the training rows, groups stay whole, or time goes forward."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from probcal._validation import is_count
from probcal.components.classes import import_class
from probcal.data.splits import fold_rows, stream_seed
from probcal.errors import DataError
from probcal.methods.calibration_splits import GroupHoldout, Rows, TimeBlocks, nearest_starts, starts_of_times
from probcal.methods.calibrators._calibration_rows import folds

if TYPE_CHECKING:
    from probcal.config.entries import Component
    from probcal.data.splits import Split
    from probcal.runner.cell import Cell


def with_calibration_rows(cell: Cell, labels: np.ndarray, keys: np.ndarray) -> Cell:
    """Return the cell with the rows on which its method calibrates, as the parameter ``cv`` of the method.

    ``labels`` and ``keys`` are those of its training rows, see ``calibration_rows``. The cell stays as it is if its
    method does not set rows aside to calibrate on. Raises ValueError where there are too few groups or times.
    """
    cv = calibration_cv(cell.column.method, cell.used_split)
    if cv is None:
        return cell
    seed = calibration_seed(cell.seed, cell.card.name, cell.repetition)
    pairs = calibration_rows(labels, keys, cv, seed)
    method = replace(cell.column.method, params={**cell.column.method.params, **cv_params(cell.column.method, pairs)})
    return replace(cell, column=replace(cell.column, method=method))


def calibration_cv(method: Component, split: Split) -> Any:
    """Return the parameter ``cv`` with which ``method`` keeps to a nested ``split``: a number of folds or a splitter.

    None if the method does not set rows aside to calibrate on.

    Raises ValueError where the method has a ``cv`` that is no number of folds.
    """
    defaults = parameter_defaults(method)
    settings = {**defaults, **method.params}
    calibration = settings.get("calibration", "cross_val")
    if "cv" not in defaults:
        if calibration in ("cross_val", "holdout") and "calibration" in defaults:
            raise ValueError(f"{method.name} takes no cv, so it cannot calibrate on the rows of a nested split")
        return None
    in_time = split.group is None
    if calibration == "holdout":
        share = settings["holdout_size"]
        if is_count(share):
            raise ValueError(f"holdout_size={share} is a number of rows; a nested split needs a share, such as 0.25")
        return TimeBlocks(1, first_share=1 - share) if in_time else GroupHoldout(share)
    if calibration != "cross_val":
        return None
    n_folds = 5 if settings["cv"] is None else settings["cv"]
    if not is_count(n_folds):
        raise ValueError(f"cv={n_folds!r}: give a number of folds, because the split is nested and decides which rows")
    return TimeBlocks(int(n_folds)) if in_time else int(n_folds)


def cv_params(method: Component, cv: Any) -> dict[str, Any]:
    """Return the parameters that give ``method`` this ``cv``."""
    return {"cv": cv} | ({"calibration": "cross_val"} if "calibration" in parameter_defaults(method) else {})


def calibration_rows(labels: np.ndarray, keys: np.ndarray, cv: Any, seed: int) -> list[Rows]:
    """Return the rows to learn from and to calibrate on of each fold.

    ``labels`` and ``keys`` hold the class number and the group or time of each training row, (n_rows,). ``cv`` is as
    ``calibration_cv`` returns it. Raises ValueError where there are too few groups or times.
    """
    if isinstance(cv, GroupHoldout):
        cv = GroupHoldout(cv.share, seed)
    return folds(np.zeros(len(labels)), labels, cv, seed, keys)


def calibration_seed(seed: int, name: str, number: int) -> int:
    """Return the seed of ``calibration_rows`` in split ``number`` of the data set ``name``, for all methods."""
    return stream_seed(seed, "calibrate", name, number) % 2**32


def parameter_defaults(method: Component) -> dict[str, Any]:
    """Return parameter -> default of the class of ``method``, as scikit-learn sees them."""
    parameters = inspect.signature(import_class(method.path)).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.kind != parameter.VAR_KEYWORD}


def split_rows(split: Split, name: str, X: pd.DataFrame, labels: np.ndarray, number: int, seed: int) -> Rows:
    """Return the row numbers for training and for testing of split ``number``, as ``fold_rows`` does.

    In a nested split in order of time, rows of the same time are on one side.

    Raises DataError as ``fold_rows`` does, and for too few different times.
    """
    if not split.nested or split.kind == "group_k_fold":
        return fold_rows(split, name, X, labels, number, seed)
    times = keys_of(split, name, X)
    # Stable, so that rows of the same time keep the order of the file on every machine.
    order = np.argsort(times, kind="stable")
    n_rows, starts = len(times), starts_of_times(times[order])
    if split.kind == "chronological":
        start = split.n_train(n_rows)
        return order[:start], order[start:]
    n_parts, n_test = split.folds or 1, split.n_test_in_time(n_rows)
    if len(starts) < n_parts:
        raise DataError(f"{name}: the rows have {len(starts) + 1} different times, too few for {n_parts + 1} parts")
    cuts = [*nearest_starts(starts, [n_rows - (n_parts - part) * n_test for part in range(n_parts)]), n_rows]
    return order[: cuts[number]], order[cuts[number] : cuts[number + 1]]


def keys_of(split: Split, name: str, X: pd.DataFrame) -> np.ndarray:
    """Return the group or the time of each row, (n_rows,), as numbers.

    Raises DataError where the column does not exist or lacks a value.
    """
    if split.column is None:
        return np.arange(X.shape[0])
    if split.column not in X:
        raise DataError(f"{name}: there is no column {split.column!r}, which the split reads")
    values = X[split.column]
    if values.isna().any():
        row = int(values.isna().to_numpy().argmax())
        raise DataError(f"{name}: row {row + 1} lacks a value in column {split.column!r}, which the split reads")
    return np.asarray(values.cat.codes if isinstance(values.dtype, pd.CategoricalDtype) else values)
