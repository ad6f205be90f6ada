"""The rows of a large table that a trial uses: a stratified sample that keeps the rows of rare classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from probcal.data.splits import stream_seed

MOST_ROWS = 10_000
MOST_NUMBERS = 4_000_000
"""Largest number of rows times columns as learners get them. Wide tables use fewer rows."""
_FEWEST = 1_000
"""Smallest sample for the widest table."""
RARE = 0.05
"""A class with a smaller share of the rows keeps as many of them as the sample has room for."""
_ROOM = 0.25
"""Largest share of a sample that all rare classes together get."""


def sample_size(n_rows: int, n_columns: int, requested: int | None) -> int:
    """Return how many rows of a table are used. ``n_columns`` counts one column for each level."""
    if requested is not None:
        return min(n_rows, requested)
    return min(n_rows, MOST_ROWS, max(_FEWEST, MOST_NUMBERS // max(1, n_columns)))


def stratified_sample(labels: npt.NDArray[Any], size: int, seed: int) -> npt.NDArray[np.intp]:
    """Return (size,) sorted row numbers of a stratified sample. Each class count is exact to one row."""
    n = len(labels)
    if size >= n:
        return np.arange(n)
    _, codes = np.unique(labels.astype(str), return_inverse=True)
    shuffled = np.random.default_rng(stream_seed(seed, "sample", n, size)).permutation(n)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    places = np.floor((np.arange(size) + 0.5) * n / size).astype(np.intp)
    return np.sort(by_class[places])


@dataclass(frozen=True)
class Sample:
    """Hold the numbers of the used rows, sorted, and the classes of which it keeps more rows than their share."""

    rows: npt.NDArray[np.intp]
    enriched: Mapping[str, int]
    """Class -> number of its rows in the sample."""


def draw_sample(classes: npt.NDArray[Any], labels: npt.NDArray[Any], size: int, seed: int) -> Sample:
    """Return a sample of ``size`` rows. A class of less than 5 % of the rows keeps all of them, if there is room.

    The other rows are a stratified sample by label.

    Parameters
    ----------
    classes : the class of each row, (n_rows,).
    labels : the label of each row, (n_rows,). Several labels can be one class.
    size : number of rows.
    seed : seed of the draw.
    """
    n, classes = len(labels), classes.astype(str)
    names, counts = np.unique(classes, return_counts=True)
    rare = {str(name): int(rows) for name, rows in zip(names, counts, strict=True) if rows < RARE * n}
    if size >= n or not rare:
        return Sample(stratified_sample(labels, size, seed), {})
    room = int(_ROOM * size / len(rare))
    kept = []
    for name, rows in rare.items():
        of_class = np.flatnonzero(classes == name)
        take = min(rows, max(room, round(size * rows / n)))
        draw = np.random.default_rng(stream_seed(seed, "rare", name, n, size))
        kept.append(of_class if take == rows else np.sort(draw.choice(of_class, take, replace=False)))
        rare[name] = take
    others = np.flatnonzero(~np.isin(classes, list(rare)))
    usual = others[stratified_sample(labels[others], size - sum(map(len, kept)), seed)]
    return Sample(np.sort(np.concatenate([*kept, usual])), rare)
