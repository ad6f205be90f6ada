"""Splits into training and test rows, which depend only on data set, repetition and seed."""

from __future__ import annotations

import hashlib

import numpy as np

from probcal.data.card import Card


def stream_seed(*parts: object) -> int:
    """Return a 64-bit seed for this combination of ``parts``, the same on every machine."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:8], "little")


def repetitions_of(card: Card, repeats: int, fixed_too: bool = False) -> int:
    """Return how often a data set is split or drawn.

    That is ``repeats`` times for a random split or a generated set, and once for a fixed split of fixed rows.
    With ``fixed_too`` it is ``repeats`` times for a fixed split as well.
    """
    return repeats if card.split.kind == "holdout" or card.generator or fixed_too else 1


def split_rows(card: Card, n_rows: int, repetition: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
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
