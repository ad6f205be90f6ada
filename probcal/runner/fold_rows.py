"""The rows of a cell whose split has folds, or is that of the experiment.

This is code behind predictions, like ``probcal.runner.fit_predict``, but only of these cells. It is a module of its own
so that the results of other cells stay as they are.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from probcal._validation import take_rows
from probcal.data.card import Card
from probcal.data.encode import ENCODERS
from probcal.data.folds import draw_legacy_folds, fold_rows
from probcal.data.load import load
from probcal.data.splits import split_rows, stream_seed
from probcal.errors import DataError
from probcal.methods._shared_fits import Repetition, RepetitionFits, SharedFits, SharedScores
from probcal.runner.fit_predict import SplitRows

if TYPE_CHECKING:
    from probcal.data.card_split import Split
    from probcal.runner.cell import Cell


def load_fold(cell: Cell) -> SplitRows:
    """Return the rows of the cell's split. An encoding is learned only from the training rows.

    Raises DataError as ``fold_rows`` does, and for an encoding of sparse numbers.
    """
    return _rows(cell.card, cell.used_split, cell.repetition, cell.seed, cell.max_rows, cell.column.learner.encoding)


@lru_cache(maxsize=2)
def _rows(card: Card, split: Split, number: int, seed: int, max_rows: int | None, encoding: str) -> SplitRows:
    dataset = load(card)
    X: Any = dataset.X
    labels = dataset.y if dataset.strata is None else dataset.strata
    if split.folds:
        train, test = fold_rows(split, card.name, X, labels, number, seed)
    else:
        train, test = split_rows(card.model_copy(update={"split": split}), len(dataset.y), number, seed)
    if max_rows is not None:
        train, test = _some(split, card, (train, test), number, seed, max_rows)
    if split.column is not None:
        X = X.drop(columns=split.column)
    X_train, X_test = take_rows(X, train), take_rows(X, test)
    if encoding in ENCODERS:
        if issparse(X_train):
            raise DataError(f'{card.name}: is sparse numbers already; write "encoding: native" for the learner')
        encoder = ENCODERS[encoding]().fit(X_train)
        X_train, X_test = encoder.transform(X_train), encoder.transform(X_test)
    y_train, y_test = dataset.y[train], dataset.y[test]
    n_classes = int(dataset.y.max()) + 1
    fits: SharedFits = SharedScores()
    if split.kind == "legacy_stratified_k_fold" and encoding == "native" and max_rows is None and _is_numbers(X):
        folds = split.folds or 1
        whole = Repetition(card, X.to_numpy(np.float64), dataset.y, labels, folds, number // folds, draw_legacy_folds)
        fits = RepetitionFits(whole, number % folds)
    rows = SplitRows(X_train, y_train, X_test, y_test, np.unique(y_train), n_classes, fits)
    for part in rows:
        if isinstance(part, np.ndarray):
            part.flags.writeable = False  # cells share the arrays, so no cell may change them
    return rows


def _is_numbers(X: Any) -> bool:
    """Return whether a frame has numbers only, none of them missing."""
    return all(kind == np.float64 for kind in X.dtypes) and not X.isna().to_numpy().any()


def _some(
    split: Split, card: Card, parts: tuple[np.ndarray, np.ndarray], number: int, seed: int, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return at most ``most`` rows of each part: the last to train on and the first to test on in order of time.

    Otherwise they are drawn at random, because the rows of one class may lie together. They keep their order.
    """
    train, test = parts
    if split.kind == "time_ordered":
        return train[-most:], test[:most]
    random = np.random.default_rng(stream_seed(seed, "some", card.name, number))
    train, test = (np.sort(random.permutation(len(part))[:most]) for part in parts)
    return parts[0][train], parts[1][test]
