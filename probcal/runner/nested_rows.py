"""The rows of a cell whose split is nested: also inside the training rows, groups stay whole, or time goes forward.

This is code behind predictions, like ``probcal.runner.fit_predict``, but only of these cells. It is a module of its own
so that the results of other cells stay as they are.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from probcal._validation import is_count, take_rows
from probcal.components.classes import import_class
from probcal.data.card import Card
from probcal.data.encode import ENCODERS
from probcal.data.folds import fold_rows
from probcal.data.load import load
from probcal.data.splits import stream_seed
from probcal.errors import DataError
from probcal.methods._shared_fits import SharedScores
from probcal.methods.calibration_splits import GroupHoldout, Rows, TimeBlocks, nearest_starts, starts_of_times
from probcal.methods.calibrators._calibration_rows import folds
from probcal.runner.fit_predict import SplitRows

if TYPE_CHECKING:
    from probcal.config.entries import Component
    from probcal.data.card_split import Split
    from probcal.runner.cell import Cell


def load_nested_split(cell: Cell) -> SplitRows:
    """Return the rows of the cell's split. An encoding is learned only from the training rows.

    Raises DataError as ``split_rows`` does, and for an encoding of sparse numbers.
    """
    return _nested_rows(cell).rows


def with_calibration_rows(cell: Cell) -> Cell:
    """Return the cell with the rows on which its method calibrates, as the parameter ``cv`` of the method.

    The cell stays as it is if its method does not set rows aside to calibrate on.

    Raises ValueError where the training rows have too few groups or times.
    """
    cv = calibration_cv(cell.column.method, cell.used_split)
    if cv is None:
        return cell
    rows = _nested_rows(cell)
    seed = calibration_seed(cell.seed, cell.card.name, cell.repetition)
    pairs = calibration_rows(rows.rows.y_train, rows.keys, cv, seed)
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

    Parameters
    ----------
    labels : class numbers of the training rows, (n_rows,).
    keys : their groups or times, (n_rows,).
    cv : as ``calibration_cv`` returns it.
    seed : seed of the draw of groups.

    Raises ValueError where there are too few groups or times.
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
    order = np.argsort(times, kind="stable")
    n_rows, starts = len(times), starts_of_times(times[order])
    if split.kind == "chronological":
        start = split.n_train(n_rows)
        return order[:start], order[start:]
    n_parts, n_test = split.folds or 1, split.n_test_in_time(n_rows)
    if len(starts) < n_parts:
        raise DataError(
            f"{name}: the rows have {len(starts) + 1} different times, too few for {n_parts + 1} parts"
        )
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


class _NestedRows(NamedTuple):
    rows: SplitRows
    keys: np.ndarray
    """Group or time of each training row."""


def _nested_rows(cell: Cell) -> _NestedRows:
    return _cached_rows(
        cell.card, cell.used_split, cell.repetition, cell.seed, cell.max_rows, cell.column.learner.encoding
    )


@lru_cache(maxsize=2)
def _cached_rows(
    card: Card, split: Split, number: int, seed: int, max_rows: int | None, encoding: str
) -> _NestedRows:
    dataset = load(card)
    X: Any = dataset.X
    labels = dataset.y if dataset.strata is None else dataset.strata
    train, test = split_rows(split, card.name, X, labels, number, seed)
    if max_rows is not None:
        train, test = _some_rows(split, card, (train, test), number, seed, max_rows)
    keys = keys_of(split, card.name, X)[train]
    if split.column is not None:
        X = X.drop(columns=split.column)
    X_train, X_test = take_rows(X, train), take_rows(X, test)
    if encoding in ENCODERS:
        if issparse(X_train):
            raise DataError(f'{card.name}: is sparse numbers already; write "encoding: native" for the learner')
        encoder = ENCODERS[encoding]().fit(X_train)
        X_train, X_test = encoder.transform(X_train), encoder.transform(X_test)
    y_train, y_test = dataset.y[train], dataset.y[test]
    rows = SplitRows(
        X_train, y_train, X_test, y_test, np.unique(y_train), int(dataset.y.max()) + 1, SharedScores()
    )
    for part in rows:
        if isinstance(part, np.ndarray):
            part.flags.writeable = False  # cells share the arrays, so no cell may change them
    return _NestedRows(rows, keys)


def _some_rows(split: Split, card: Card, parts: Rows, number: int, seed: int, most: int) -> Rows:
    """Return at most ``most`` rows of each part: the nearest in time, or rows drawn at random."""
    train, test = parts
    if split.group is None:
        return train[-most:], test[:most]
    random = np.random.default_rng(stream_seed(seed, "some", card.name, number))
    train, test = (np.sort(random.permutation(len(part))[:most]) for part in parts)
    return parts[0][train], parts[1][test]
