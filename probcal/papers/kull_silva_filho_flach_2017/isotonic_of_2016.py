"""Isotonic regression as scikit-learn fitted and interpolated it before version 0.20."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from probcal.methods.calibrators.isotonic import isotonic_values


def legacy_isotonic(p: np.ndarray, y: np.ndarray, spline: bool) -> Callable[[np.ndarray], np.ndarray]:
    """Fit isotonic regression as scikit-learn did before version 0.20.

    Until version 0.19, all rows of one score together weigh as much as a single row of another score. Scores count as
    one only if they are equal to the last bit.

    Parameters
    ----------
    p : ndarray of shape (n_rows,)
        Scores.
    y : ndarray of shape (n_rows,)
        Labels 0 and 1.
    spline : bool
        True interpolates by a spline of degree 1, as version 0.17 did. False interpolates linearly, as 0.18 did.
        Between two scores near 0 that differ by less than 1e-308, the spline is not a number, and Kull, Silva Filho &
        Flach (2017) take 1/2. It may also be infinite there.

    Returns
    -------
    callable
        Isotonic function from scores of shape (n,) to values of shape (n,).
    """
    knots, place, rows = np.unique(p, return_inverse=True, return_counts=True)
    means = np.bincount(place, weights=y) / rows
    values = _pooled(means) if spline else isotonic_values(means, np.ones(len(knots)))
    if len(knots) == 1 or not spline:
        return lambda p: np.interp(p, knots, values)

    def interpolated(p: np.ndarray) -> np.ndarray:
        p = np.clip(p, knots[0], knots[-1])
        left = np.clip(np.searchsorted(knots, p, side="right") - 1, 0, len(knots) - 2)
        # Nearly equal knots have a slope beyond the largest float. What becomes of it is told in the docstring.
        with np.errstate(over="ignore", invalid="ignore"):
            slope = 1 / (knots[left + 1] - knots[left])
            found = values[left] * (slope * (knots[left + 1] - p)) + values[left + 1] * (slope * (p - knots[left]))
        return np.where(np.isnan(found), 0.5, found)

    return interpolated


def _pooled(values: np.ndarray) -> np.ndarray:
    """Return isotonic values of equal weights, (n,), rounded as in version 0.17, which takes means of means.

    Every run that does not rise is replaced by its mean, until all do. Rounding decides on which side of 1/2 the mean
    of three predictions is, and so the accuracy.
    """
    values = values.copy()
    while True:
        ends = np.flatnonzero(np.diff(values) > 0) + 1
        runs = zip([0, *ends.tolist()], [*ends.tolist(), len(values)], strict=True)
        falling = [(start, end) for start, end in runs if values[start] != values[end - 1]]
        for start, end in falling:
            # Added one after the other, because a sum of numpy's adds pairs and rounds in another way.
            values[start:end] = values[start:end].cumsum()[-1] / (end - start)
        if not falling:
            return values
