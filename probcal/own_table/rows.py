"""Which rows of a large table are taken, and with which seed every split has something of every class."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from probcal.data.card import Card
from probcal.data.splits import split_rows, stream_seed

MOST_ROWS = 10_000
MOST_NUMBERS = 4_000_000
"""Rows times the columns that learners see: of a wide table fewer rows are taken."""
_FEWEST = 1_000
"""Rows that are taken of the widest table."""
_SEEDS_TRIED = 200
_FEWEST_TRAINING = 4


def how_many(n_rows: int, n_columns: int, asked: int | None) -> int:
    """So many rows of a table are taken; ``n_columns``: as learners see it, each level a column."""
    if asked is not None:
        return min(n_rows, asked)
    return min(n_rows, MOST_ROWS, max(_FEWEST, MOST_NUMBERS // max(1, n_columns)))


def sample(labels: npt.NDArray[Any], size: int, seed: int) -> npt.NDArray[np.intp]:
    """(size,) numbers of rows, sorted, each label as often as its share of ``labels`` says, to one row."""
    n = len(labels)
    if size >= n:
        return np.arange(n)
    _, codes = np.unique(labels.astype(str), return_inverse=True)
    shuffled = np.random.default_rng(stream_seed(seed, "sample", n, size)).permutation(n)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    places = np.floor((np.arange(size) + 0.5) * n / size).astype(np.intp)
    return np.sort(by_class[places])


def balanced_seed(card: Card, y: npt.NDArray[Any], repeats: int, first: int) -> tuple[int, bool]:
    """(the first seed from ``first`` whose splits all have rows of every class on both sides, whether there is one).

    Splits are not stratified. That hardly matters where every class has hundreds of rows, and a class of ten would be
    missing from some test part. ``y``: (n_rows,), as of the ``Dataset``. At least half of what a class can expect,
    at least one row and four to learn from, are asked for; nothing but the labels decides, so no number is favoured.
    """
    counts = np.bincount(y)
    test = len(y) - card.split.n_train(len(y))
    fewest_test = np.maximum(1, counts * test // len(y) // 2)
    fewest_training = np.maximum(_FEWEST_TRAINING, (counts - counts * test // len(y)) // 2)
    for seed in range(first, first + _SEEDS_TRIED):
        tests = (split_rows(card, len(y), one, seed)[1] for one in range(repeats))
        found = (np.bincount(y[rows], minlength=len(counts)) for rows in tests)
        if all((tested >= fewest_test).all() and (counts - tested >= fewest_training).all() for tested in found):
            return seed, True
    return first, False
