"""All rows of a repetition whose folds follow one another in one random stream, for a method that needs them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from probcal.methods._fitting import _ACTIVE, SharedFits


@dataclass(frozen=True, eq=False)
class Repetition:
    """Hold the rows of a data set in their order, and which of its repetitions this is.

    ``X`` is (n_rows, n_columns), ``y`` and ``labels`` are (n_rows,): two classes, and those that the outer folds
    stratify. Repetitions with the same ``key`` and ``number`` have the same rows.
    """

    key: Hashable
    X: np.ndarray
    y: np.ndarray
    labels: np.ndarray
    folds: int
    number: int
    draw_folds: Callable[[np.ndarray, int, np.random.RandomState], np.ndarray]
    """Function that draws the fold of each row from labels, a number of folds and a stream."""


class RepetitionFits(SharedFits):
    """Keep the fits of one fold, and tell the method that is fitted of its ``repetition``."""

    def __init__(self, repetition: Repetition, fold: int) -> None:
        super().__init__()
        self.repetition = repetition
        self.fold = fold


def present_fold() -> tuple[Repetition, int] | None:
    """Return the repetition and the fold that the runner fits at present, or None where there is none."""
    active = _ACTIVE.get()
    return (active.repetition, active.fold) if isinstance(active, RepetitionFits) else None
