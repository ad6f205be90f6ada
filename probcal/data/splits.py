"""Which rows train and which test: a split depends only on the data set, the repetition and the seed."""

from __future__ import annotations

import hashlib
import warnings
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from probcal.data.card import Card
from probcal.data.card_split import Split
from probcal.errors import DataError

Rows = tuple[np.ndarray, np.ndarray]
"""Row numbers: (to train on, to test on)."""


def stream_seed(*parts: object) -> int:
    """Return a 64-bit seed for this combination of ``parts``, the same on every machine."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:8], "little")


def repetitions_of(card: Card, repeats: int, fixed_too: bool = False) -> int:
    """Return how often a data set is split or drawn.

    That is ``repeats`` times for a random split or a generated set, and once for a fixed split of fixed rows.
    With ``fixed_too`` it is ``repeats`` times for a fixed split as well.
    """
    return repeats if card.split.kind == "holdout" or card.generator or fixed_too else 1


def split_rows(card: Card, n_rows: int, repetition: int, seed: int) -> Rows:
    """Return the row numbers for training and those for testing.

    The two parts contain every row exactly once, except that both parts of a ``same`` split are all rows. A standard
    or chronological split cuts the rows in their order. So does a split by row numbers, whose data set has the training
    rows first (see ``assemble``) and not the rows that are in neither part. A holdout shuffles them first (Langford &
    Zadrozny 2005, section 5: 66 % of the rows train, the others test).
    """
    size = card.split.n_train(n_rows)
    if card.split.kind == "holdout":
        rows = np.random.default_rng(stream_seed(seed, "split", card.name, repetition)).permutation(n_rows)
    else:
        rows = np.arange(n_rows)
    return rows[:size], rows if card.split.kind == "same" else rows[size:]


def fold_rows(split: Split, name: str, X: pd.DataFrame, labels: np.ndarray, number: int, seed: int) -> Rows:
    """Return the row numbers for training and those for testing of one split, each in rising order.

    Split ``number`` is fold ``number % folds`` of repetition ``number // folds``. The folds of one repetition are
    disjoint, and together they are all rows, except that the first part of a time-ordered split never tests. Folds
    depend on the rows' order, the labels or groups, the data set's ``name``, the repetition and the seed. Those of
    ``legacy_stratified_k_fold`` depend on the labels and the repetition alone.

    ``X`` is (n_rows, n_columns), with the column of groups or of time. ``labels``, (n_rows,), are the classes whose
    shares stratified folds keep.

    Raises DataError if the column of groups or of time does not exist or lacks a value, and for fewer groups, or fewer
    rows of every class, than folds.
    """
    # scikit-learn is imported only here: most commands split nothing
    from sklearn.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold

    folds = split.folds or 1
    repetition, fold = divmod(number, folds)
    if split.kind == "time_ordered":
        return _in_time(split, name, X, fold)
    if split.kind == "legacy_stratified_k_fold":
        return _of_fold(legacy_stratified_folds(labels, folds, repetition), fold)
    groups = None
    splitters: Any = {"k_fold": KFold, "stratified_k_fold": StratifiedKFold, "group_k_fold": StratifiedGroupKFold}
    if split.group is not None:
        groups = _numbers(X, split.group, name)
        if (n_groups := len(np.unique(groups))) < folds:
            raise DataError(f"{name}: column {split.group!r} has {n_groups} groups, too few for {folds} folds")
    # scikit-learn takes seeds below 2**32 only.
    random_state = stream_seed(seed, "folds", name, repetition) % 2**32
    splitter = splitters[split.kind](folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class with fewer rows than folds is in some of them only
        try:
            train, test = next(islice(splitter.split(np.zeros(len(labels)), labels, groups), fold, None))
        except ValueError as error:
            raise DataError(f"{name}: cannot be split into {folds} folds: {error}") from None
    return train, test


def legacy_stratified_folds(labels: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Return the fold of each row, (n_rows,), as ``StratifiedKFold`` of scikit-learn before 0.20 drew it.

    That is ``sklearn.cross_validation.StratifiedKFold(labels, folds, shuffle=True)`` after ``numpy.random.seed(seed)``:
    for each class in order, one shuffle of 0, ..., max(count, folds) - 1 is cut into ``folds`` blocks. Block f holds
    the places of fold f among the rows of the class. The present class of the same name draws other folds.
    """
    return draw_legacy_folds(labels, folds, np.random.RandomState(seed))


def draw_legacy_folds(labels: np.ndarray, folds: int, random: np.random.RandomState) -> np.ndarray:
    """Return what ``legacy_stratified_folds`` returns, drawn from ``random``, whose stream goes on afterwards."""
    fold_of_row = np.zeros(len(labels), dtype=int)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        order = np.arange(max(len(rows), folds))
        random.shuffle(order)
        for fold, block in enumerate(np.array_split(order, folds)):
            fold_of_row[rows[block[block < len(rows)]]] = fold
    return fold_of_row


def _of_fold(folds: np.ndarray, fold: int) -> Rows:
    return np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)


def _in_time(split: Split, name: str, X: pd.DataFrame, part: int) -> Rows:
    n_rows, n_test = len(X), split.n_test_in_time(len(X))
    order = np.arange(n_rows) if split.order is None else np.argsort(_numbers(X, split.order, name), kind="stable")
    start = n_rows - ((split.folds or 1) - part) * n_test
    return order[:start], order[start : start + n_test]


def _numbers(X: pd.DataFrame, column: str, name: str) -> np.ndarray:
    """Return numbers that are equal and ordered as the values of a column, (n_rows,)."""
    if column not in X:
        raise DataError(f"{name}: there is no column {column!r}, which the split reads")
    values = X[column]
    missing = values.isna().to_numpy()
    if missing.any():
        row = int(missing.argmax())
        raise DataError(f"{name}: row {row + 1} lacks a value in column {column!r}, which the split reads")
    return np.asarray(values.cat.codes if isinstance(values.dtype, pd.CategoricalDtype) else values)
