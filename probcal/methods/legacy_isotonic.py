"""Isotonic regression as scikit-learn fitted and interpolated it before version 0.20."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from probcal.methods.calibrators.isotonic import isotonic_values


def legacy_isotonic(p: np.ndarray, y: np.ndarray, spline: bool) -> Callable[[np.ndarray], np.ndarray]:
    """Return the isotonic function of scores ``p`` and labels 0 and 1 ``y``, both (n_rows,).

    Until version 0.19, all rows of one score together weigh as much as a single row of another score. Scores count as
    one only if they are equal to the last bit.

    Parameters
    ----------
    spline : whether it interpolates as version 0.17 did, by a spline of degree 1, or linearly as 0.18 did. Between two
        scores near 0 that differ by less than 1e-308, the spline is not a number, and Kull, Silva Filho & Flach (2017)
        take 1/2. It may also be infinite there.
    """
    knots, place, rows = np.unique(p, return_inverse=True, return_counts=True)
    values = isotonic_values(np.bincount(place, weights=y) / rows, np.ones(len(knots)))
    if len(knots) == 1 or not spline:
        return lambda p: np.interp(p, knots, values)

    def interpolated(p: np.ndarray) -> np.ndarray:
        p = np.clip(p, knots[0], knots[-1])
        left = np.clip(np.searchsorted(knots, p, side="right") - 1, 0, len(knots) - 2)
        with np.errstate(over="ignore", invalid="ignore"):
            slope = 1 / (knots[left + 1] - knots[left])
            found = values[left] * (slope * (knots[left + 1] - p)) + values[left + 1] * (slope * (p - knots[left]))
        return np.where(np.isnan(found), 0.5, found)

    return interpolated
