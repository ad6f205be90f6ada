"""The rows of a cell: which rows of its data set train and which test, encoded, and shared by the cells of a split."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from probcal._validation import take_rows
from probcal.data.card import Card
from probcal.data.dataset import Dataset, generated
from probcal.data.encode import ENCODERS
from probcal.data.load import load
from probcal.data.splits import draw_legacy_folds, fold_rows, split_rows, stream_seed
from probcal.errors import DataError
from probcal.methods._shared_fits import Repetition, RepetitionFits, SharedFits, SharedScores
from probcal.runner import nested_rows

if TYPE_CHECKING:
    from probcal.data.splits import Split
    from probcal.runner.cell import Cell

Parts = tuple[np.ndarray, np.ndarray]
"""The row numbers for training and those for testing."""


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
        train, test = _parts(split, card, dataset, number, seed)
        if max_rows is not None:
            train, test = _limit_rows(split, card, (train, test), number, seed, max_rows)
        if split.nested:
            train_keys = nested_rows.keys_of(split, card.name, X)[train]
        if split.column is not None:
            # The groups or times of the rows are no input of a learner.
            X = X.drop(columns=split.column)
        fits = _shared_fits(split, card, dataset, X, number, is_whole=encoding == "native" and max_rows is None)
    else:
        drawn_seed = stream_seed(seed, "draw", card.name, number)
        dataset = generated(card, drawn_seed) if card.generator is not None else load(card)
        X, fits = dataset.X, SharedFits()
        train, test = (rows[:max_rows] for rows in split_rows(card, len(dataset.y), number, seed))
        truth = None if dataset.truth is None else dataset.truth[test]
    X_train, X_test = take_rows(X, train), take_rows(X, test)
    if encoding in ENCODERS:
        if issparse(X_train):
            raise DataError(f'{card.name}: is sparse numbers already; write "encoding: native" for the learner')
        encoder = ENCODERS[encoding]().fit(X_train)
        X_train, X_test = encoder.transform(X_train), encoder.transform(X_test)
    y_train, y_test = dataset.y[train], dataset.y[test]
    n_classes = int(dataset.y.max()) + 1
    rows = SplitRows(X_train, y_train, X_test, y_test, np.unique(y_train), n_classes, fits, truth, train_keys)
    for part in rows:
        if isinstance(part, np.ndarray):
            part.flags.writeable = False  # cells share the arrays, so no cell may change them
    return rows


def _parts(split: Split, card: Card, dataset: Dataset, number: int, seed: int) -> Parts:
    labels = dataset.y if dataset.strata is None else dataset.strata
    if split.nested:
        return nested_rows.split_rows(split, card.name, dataset.X, labels, number, seed)
    if split.folds:
        return fold_rows(split, card.name, dataset.X, labels, number, seed)
    return split_rows(card.model_copy(update={"split": split}), len(dataset.y), number, seed)


def _limit_rows(split: Split, card: Card, parts: Parts, number: int, seed: int, limit: int) -> Parts:
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
        folds, labels = split.folds or 1, dataset.y if dataset.strata is None else dataset.strata
        whole = Repetition(card, X.to_numpy(np.float64), dataset.y, labels, folds, number // folds, draw_legacy_folds)
        return RepetitionFits(whole, number % folds)
    return SharedScores()


def _has_only_numbers(X: Any) -> bool:
    """Return whether a frame has numbers only, none of them missing."""
    return all(kind == np.float64 for kind in X.dtypes) and not X.isna().to_numpy().any()


def copy_view(X: Any) -> Any:
    """Return ``X`` as every cell of the split gets it. A copy of a frame shares its values until one is written."""
    if issparse(X):
        return X.copy()
    return X if isinstance(X, np.ndarray) else X.copy(deep=False)
