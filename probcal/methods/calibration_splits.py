"""Splitters for the parameter ``cv`` of calibrating methods: blocks in order of time, and a held-out part of groups.

``fit`` hands its ``groups`` to them: ``SigmoidClassifier(learner, cv=TimeBlocks(3)).fit(X, y, groups=times)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold

from probcal._validation import group_array, label_array

Rows = tuple[np.ndarray, np.ndarray]
"""Row numbers: (to learn from, to calibrate on)."""


class TimeBlocks:
    """Split rows into blocks in order of time. Each block but the first calibrates once, and all rows before it learn.

    Rows of the same time are in one block. The first block grows until it has a row of each class, and it leaves a row
    of each class behind it. The other blocks are equally large, as far as equal times allow.

    Parameters
    ----------
    n_folds : int, default=3
        Number of folds, from 1. There is one block more.
    first_share : float or None, default=None
        Share of the rows in the first block, between 0 and 1. None makes all blocks equally large.
    """

    def __init__(self, n_folds: int = 3, first_share: float | None = None) -> None:
        self.n_folds = n_folds
        self.first_share = first_share

    def __repr__(self) -> str:
        return f"TimeBlocks({self.n_folds}{'' if self.first_share is None else f', first_share={self.first_share}'})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object, default=None
            Ignored.

        Returns
        -------
        int
            ``n_folds``.
        """
        return self.n_folds

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[Rows]:
        """Yield the rows of each fold, in order of time.

        Parameters
        ----------
        X : object
            Ignored.
        y : array-like of shape (n_rows,)
            Labels.
        groups : array-like of shape (n_rows,)
            Time of each row: numbers or dates, none of them missing.

        Yields
        ------
        tuple of ndarray
            Row numbers to learn from, and row numbers to calibrate on.

        Raises
        ------
        ValueError
            If a time is missing or no number or date, if there are too few times, or if no time has a row of each class
            before and after it.
        """
        labels, times = label_array(y), _keys(groups, len(y), "time")
        if times.dtype.kind not in "iufM":
            raise ValueError("groups must hold times as numbers or dates, because they are put in order")
        order = np.argsort(times, kind="stable")
        starts = self._first_starts(labels[order], starts_of_times(times[order]))
        sizes = np.linspace(starts[0], len(labels), self.n_folds + 1)[1:-1]
        cuts = [int(starts[0]), *nearest_starts(starts[1:], sizes), len(labels)]
        for start, end in pairwise(cuts):
            yield order[:start], order[start:end]

    def _first_starts(self, labels: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return the end of the first block, and the ``starts`` of times after it. ``labels`` are in order of time."""
        classes = np.unique(labels)
        rows = [np.flatnonzero(labels == label) for label in classes]
        known, left = max(one[0] for one in rows) + 1, min(one[-1] for one in rows)
        possible = np.flatnonzero((starts >= known) & (starts <= left))
        if not len(possible):
            rare = min(range(len(rows)), key=lambda place: len(rows[place]))
            raise ValueError(
                f"no time has rows of each class before and after it; class {classes[rare]!s} has {len(rows[rare])} of "
                f"{len(labels)} rows; give more rows, or leave the class out"
            )
        n_later = len(starts) - possible[0]
        possible = possible[possible <= len(starts) - self.n_folds]
        if not len(possible):
            raise ValueError(
                f"after the first rows of each class there are {n_later} different times, too few for {self.n_folds} "
                "blocks to calibrate on; give fewer folds, more rows, or a finer time"
            )
        share = 1 / (self.n_folds + 1) if self.first_share is None else self.first_share
        first = possible[np.abs(starts[possible] - share * len(labels)).argmin()]
        return starts[first:]


class GroupHoldout:
    """Hold out the rows of some groups, with about the class shares of all rows. There is one fold.

    Parameters
    ----------
    share : float, default=0.25
        Share of the rows to calibrate on, rounded to one over a whole number.
    random_state : int, default=0
        Seed of the draw.
    """

    def __init__(self, share: float = 0.25, random_state: int = 0) -> None:
        self.share = share
        self.random_state = random_state

    def __repr__(self) -> str:
        return f"GroupHoldout({self.share}, random_state={self.random_state})"

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return 1, the number of folds.

        Parameters
        ----------
        X, y, groups : object, default=None
            Ignored.

        Returns
        -------
        int
            1.
        """
        return 1

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[Rows]:
        """Yield the rows of the only fold.

        Parameters
        ----------
        X : object
            Ignored.
        y : array-like of shape (n_rows,)
            Labels.
        groups : array-like of shape (n_rows,)
            Group of each row.

        Yields
        ------
        tuple of ndarray
            Row numbers to learn from, and row numbers to calibrate on.

        Raises
        ------
        ValueError
            If the groups are missing, or too few to have each class on both sides.
        """
        labels, keys = label_array(y), _keys(groups, len(y), "group")
        n_parts = max(2, round(1 / self.share))
        n_groups, n_classes = len(np.unique(keys)), len(np.unique(labels))
        if n_groups >= n_parts:
            folds = StratifiedGroupKFold(n_parts, shuffle=True, random_state=self.random_state)
            # a fold can lack a class, because groups stay whole
            for learn, calibrate in folds.split(np.zeros(len(labels)), labels, keys):
                if min(len(np.unique(labels[learn])), len(np.unique(labels[calibrate]))) == n_classes:
                    yield learn, calibrate
                    return
        raise ValueError(
            f"{n_groups} groups are too few to hold out 1 / {n_parts} of them with each class on both sides; give more "
            "groups"
        )


def starts_of_times(times: np.ndarray) -> np.ndarray:
    """Return the places at which another time begins, without the first. ``times``, (n_rows,), are in order."""
    return np.flatnonzero(times[1:] != times[:-1]) + 1


def nearest_starts(starts: np.ndarray, places: Sequence[float] | np.ndarray) -> list[int]:
    """Return one of the ``starts`` near each of the ``places``, each another one. Both are in rising order.

    There must be at least as many starts as places.
    """
    chosen: list[int] = []
    first = 0
    for number, place in enumerate(places):
        # one start remains for each of the later places
        possible = starts[first : len(starts) - (len(places) - number - 1)]
        nearest = int(np.abs(possible - place).argmin())
        chosen.append(int(possible[nearest]))
        first += nearest + 1
    return chosen


def _keys(groups: Any, n_rows: int, what: str) -> np.ndarray:
    if groups is None:
        raise ValueError(f"groups is missing: give fit the {what} of each row as groups")
    return group_array(groups, n_rows, what)
