"""The rows of a cell: which rows of its data set train and which test, encoded, and shared by the cells of a split.

In a nested split, groups stay whole, or time goes forward, also inside the training rows.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from probcal._validation import is_count, take_rows
from probcal.components.classes import import_class
from probcal.data import splits
from probcal.data.card import Card
from probcal.data.dataset import Dataset, generated
from probcal.data.encode import ENCODERS
from probcal.data.load import load
from probcal.data.splits import draw_legacy_folds, fold_rows, stream_seed
from probcal.errors import DataError
from probcal.methods._shared_fits import Repetition, RepetitionFits, SharedFits, SharedScores
from probcal.methods.calibration_splits import GroupHoldout, Rows, TimeBlocks, nearest_starts, starts_of_times
from probcal.methods.calibrators._calibration_rows import folds

if TYPE_CHECKING:
    from probcal.config.entries import Component
    from probcal.data.splits import Split
    from probcal.runner.cell import Cell


class SplitRows(NamedTuple):
    """Hold a split: inputs with n_train and n_test rows, int8 labels, and the classes.

    With several labels, ``y_train``, ``y_test`` and ``truth`` have a column for each.
    """

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    seen: np.ndarray
    """The classes that the training rows have, sorted."""
    n_classes: int
    """Number of classes of the data set. A random split may have no training row of a rare class."""
    fits: SharedFits
    """Fits of the training rows, shared by all cells."""
    truth: np.ndarray | None = None
    """The true estimates of the test rows, where they are known."""
    train_keys: np.ndarray | None = None
    """The group or the time of each training row, in a nested split."""
    train_weight: np.ndarray | None = None
    """The weight of each training row, where the data set has weights."""
    test_weight: np.ndarray | None = None
    """The weight of each test row."""

    def each_label(self) -> Iterator[SplitRows]:
        """Yield the same rows once for each label, with two classes."""
        for y_train, y_test in zip(self.y_train.T, self.y_test.T, strict=True):
            yield self._replace(y_train=y_train, y_test=y_test, seen=np.unique(y_train))


def load_rows(cell: Cell) -> SplitRows:
    """Return the rows of the cell's split, which it shares with other cells.

    An encoding is learned only from the training rows. Raises DataError as ``probcal.data.splits.fold_rows`` does, and
    for an encoding of sparse numbers.
    """
    cell = cell.as_seeded()
    return _rows(cell.card, cell.split, cell.repetition, cell.seed, cell.max_rows, cell.column.learner.encoding)


@lru_cache(maxsize=2)  # cells come split by split, and the learners of one split may use two encodings
def _rows(
    card: Card, experiment_split: Split | None, number: int, seed: int, max_rows: int | None, encoding: str
) -> SplitRows:
    split = experiment_split or card.split
    truth = train_keys = None
    if experiment_split or split.folds or split.nested:
        dataset = load(card)
        X: Any = dataset.X
        if split.nested or split.folds:
            labels = dataset.y if dataset.strata is None else dataset.strata
            train, test = split_rows(split, card.name, X, labels, number, seed)
        else:
            train, test = splits.split_rows(card.model_copy(update={"split": split}), len(dataset.y), number, seed)
        if max_rows is not None:
            train, test = _limit_rows(split, card, (train, test), number, seed, max_rows)
        if split.nested:
            train_keys = split_keys(split, card.name, X)[train]
        if split.column is not None:
            # The groups or times of the rows are no input of a learner.
            X = X.drop(columns=split.column)
        fits = _shared_fits(split, card, dataset, X, number, is_whole=encoding == "native" and max_rows is None)
    else:
        drawn_seed = stream_seed(seed, "draw", card.name, number)
        dataset = generated(card, drawn_seed) if card.generator is not None else load(card)
        X, fits = dataset.X, SharedFits()
        train, test = (rows[:max_rows] for rows in splits.split_rows(card, len(dataset.y), number, seed))
        truth = None if dataset.truth is None else dataset.truth[test]
    X_train, X_test = take_rows(X, train), take_rows(X, test)
    train_weight, test_weight = (None if dataset.weight is None else dataset.weight[part] for part in (train, test))
    if encoding in ENCODERS:
        if issparse(X_train):
            raise DataError(f'{card.name}: is sparse numbers already; write "encoding: native" for the learner')
        encoder = ENCODERS[encoding]().fit(X_train, sample_weight=train_weight)
        X_train, X_test = encoder.transform(X_train), encoder.transform(X_test)
    y_train, y_test = dataset.y[train], dataset.y[test]
    n_classes = int(dataset.y.max()) + 1
    rows = SplitRows(
        X_train, y_train, X_test, y_test, np.unique(y_train), n_classes, fits, truth, train_keys, train_weight,
        test_weight,
    )  # fmt: skip
    for part in rows:
        if isinstance(part, np.ndarray):
            part.flags.writeable = False  # cells share the arrays, so no cell may change them
    return rows


def _limit_rows(split: Split, card: Card, parts: Rows, number: int, seed: int, limit: int) -> Rows:
    """Return at most ``limit`` rows of each part: the nearest in time, or random ones, in their order."""
    train, test = parts
    if split.kind in ("time_ordered", "chronological"):
        return train[-limit:], test[:limit]
    # Drawn, because the rows of one class may lie together.
    random = np.random.default_rng(stream_seed(seed, "some", card.name, number))
    train, test = (np.sort(random.permutation(len(part))[:limit]) for part in parts)
    return parts[0][train], parts[1][test]


def _shared_fits(split: Split, card: Card, dataset: Dataset, X: Any, number: int, is_whole: bool) -> SharedFits:
    """Return an empty store of fits. ``is_whole`` says that all rows train, as they were read."""
    if split.kind == "legacy_stratified_k_fold" and is_whole and _has_only_numbers(X):
        # the authors drew from one random stream, so a fold needs the fits of the folds before it
        n_folds, labels = split.folds or 1, dataset.y if dataset.strata is None else dataset.strata
        whole = Repetition(
            card, X.to_numpy(np.float64), dataset.y, labels, n_folds, number // n_folds, draw_legacy_folds
        )
        return RepetitionFits(whole, number % n_folds)
    return SharedScores()


def _has_only_numbers(X: Any) -> bool:
    """Return whether a frame has numbers only, none of them missing."""
    return all(kind == np.float64 for kind in X.dtypes) and not X.isna().to_numpy().any()


def copy_view(X: Any) -> Any:
    """Return ``X`` as every cell of the split gets it. A copy of a frame shares its values until one is written."""
    if issparse(X):
        return X.copy()
    return X if isinstance(X, np.ndarray) else X.copy(deep=False)


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
    times = split_keys(split, name, X)
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


def split_keys(split: Split, name: str, X: pd.DataFrame) -> np.ndarray:
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
