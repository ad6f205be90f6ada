"""Which rows train and which test: by (data set, repetition, seed) and by nothing else."""

from __future__ import annotations

import hashlib

import numpy as np

from probcal.data.card import Card


def stream_seed(*parts: object) -> int:
    """A 64-bit seed of its own for every combination of ``parts``, the same on every machine."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:8], "little")


def repetitions_of(card: Card, repeats: int, fixed_too: bool = False) -> int:
    """How often a data set is split or drawn: ``repeats`` times, but a fixed split of fixed rows once.

    ``fixed_too``: that as well ``repeats`` times.
    """
    return repeats if card.split.kind == "holdout" or card.generator or fixed_too else 1


def split_rows(card: Card, n_rows: int, repetition: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(training rows, test rows), row numbers that together are all rows exactly once; of a ``same`` split all, twice.

    A standard or chronological split cuts the rows in their order; a holdout shuffles them first
    (section 5 of Langford & Zadrozny 2005: 66 % train, the others test).
    """
    size = card.split.n_train(n_rows)
    if card.split.kind == "holdout":
        rows = np.random.default_rng(stream_seed(seed, "split", card.name, repetition)).permutation(n_rows)
    else:
        rows = np.arange(n_rows)
    return rows[:size], rows if card.split.kind == "same" else rows[size:]
