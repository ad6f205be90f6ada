"""The ROC curve of the rows of all splits together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.isotonic import isotonic_regression

from probcal.metrics.ranked import Ranked
from probcal.metrics.rows import checked_two_classes
from probcal.show.estimates.kept import Array, Estimates

POINTS = 200
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RocCurve:
    """Points of the curve from (0, 0) to (1, 1), both coordinates rising; arrays of shape (points,)."""

    negative: Counts
    """How many negative rows have a larger estimate than the threshold has."""
    positive: Counts
    """How many positive rows have."""

    @property
    def x(self) -> Array:
        """The share of the negative rows that is called positive."""
        return np.asarray(self.negative / self.negative[-1])

    @property
    def y(self) -> Array:
        """The share of the positive rows that is called so."""
        return np.asarray(self.positive / self.positive[-1])


def roc_curve(one: Estimates, points: int = POINTS) -> RocCurve | None:
    """At most ``points`` of the curve's points; None of more than two classes, and where all rows are of one.

    Kept are those on its convex hull, on which the cost curve depends, and others at even distances along it. One
    curve of all splits: estimates are probabilities, so that a threshold means the same in each.
    """
    if one.top_label:
        return None
    ranked = Ranked.of(checked_two_classes(one.y, one.p))
    if not ranked.has_both_classes():
        return None
    # from the largest estimate down
    negative, positive = (_from_the_top(ranked.up_to(of)) for of in (1 - ranked.y, ranked.y))
    kept = _kept(negative, positive, points)
    return RocCurve(negative[kept], positive[kept])


def hull(negative: Counts, positive: Counts) -> Counts:
    """The places of the points on the upper convex hull: slopes that fall are what isotonic regression finds."""
    steps = np.diff(negative) + np.diff(positive)
    slopes = isotonic_regression(np.diff(positive) / steps, sample_weight=steps, increasing=False)
    return np.concatenate([[0], np.flatnonzero(np.diff(slopes)) + 1, [len(steps)]])


def _kept(negative: Counts, positive: Counts, points: int) -> Counts:
    if len(negative) <= points:
        return np.arange(len(negative))
    along = negative / negative[-1] + positive / positive[-1]
    corners = hull(negative, positive)
    corners = corners[_even(along[corners], points)]
    others = _even(along, points - len(corners) + 2) if len(corners) < points else corners[:0]
    return np.union1d(corners, others)


def _even(along: Array, points: int) -> Counts:
    """At most so many places, first and last among them, whose values of ``along``, which rises, are evenly spread."""
    if len(along) <= points:
        return np.arange(len(along))
    places = np.searchsorted(along, np.linspace(along[0], along[-1], points))
    return np.unique(places.clip(0, len(along) - 1))


def _from_the_top(rising: Array) -> Counts:
    counts = np.rint(rising).astype(np.int64)
    return np.asarray(counts[-1] - counts[::-1])
