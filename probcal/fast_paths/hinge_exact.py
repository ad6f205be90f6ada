"""Solve a linear support vector machine from the rows on its margin, and prove that this is the minimum.

A search ends close to the minimum. There each row lies beyond the margin of 1 with multiplier 0, short of it with the
multiplier at its limit, or on it. If these three sets are known, (w, b) solves a linear system (Bach, Heckerman &
Horvitz 2006, "Considering cost asymmetry in learning classifiers", JMLR 7, section 4.1). The solution is exact up to
rounding. It is the minimum if no row lies on the wrong side and each multiplier lies in its range.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr_multiply, svd

from probcal.fast_paths.hinge_solver import Point, Scale

_EPS = float(np.finfo(float).eps)
# A row with a multiplier closer to 0 or its limit, relative to the limit, need not be on the margin.
_STRICT = 1e-9
# A margin is beyond 1 if it is so by more than this.
_SIDE = 1e-9
# A multiplier may leave its range by this, relative to its limit.
_IN_RANGE = 1e-7
# Limit for the slope along b, relative to the sum of c of a class. Below it, b is free up to the next corner.
_LEVEL = 1e-10


def exact_solution(rows: np.ndarray, limits: np.ndarray, point: Point, scale: Scale) -> tuple[np.ndarray, float | None]:
    """Return (w, b) from the rows on the margin, (d,), and the largest error of the margin of a row.

    ``rows``: (n_rows, d), signed. ``limits``: (n_rows,). ``point``: the result of the search. If the solution is not
    proved to be the minimum, it is that of the search, with None.
    """
    a = point.a
    on = (a > _STRICT * limits) & (a < (1 - _STRICT) * limits)
    short = ~on & (a > limits / 2)
    fixed = np.where(short, limits, 0)
    try:
        w, multipliers, apart, bend = _solved(rows[on], a[on], fixed @ rows)
    except np.linalg.LinAlgError:
        return _with_best_intercept(rows, limits, point.w), None
    # without a row on the margin the system leaves b open
    if not on.any():
        w = _with_best_intercept(rows, limits, w)
    margins = rows @ w
    proved = (
        (np.abs(margins[on] - 1) <= _SIDE).all()
        and (margins[short] <= 1 + _SIDE).all()
        and (margins[~on & ~short] >= 1 - _SIDE).all()
        and (multipliers >= -_IN_RANGE * limits[on]).all()
        and (multipliers <= (1 + _IN_RANGE) * limits[on]).all()
    )
    if not proved:
        return _with_best_intercept(rows, limits, point.w), None
    size = float(np.linalg.norm(w))
    rounding = _EPS * (float(fixed.sum()) * scale.largest_norm + size)
    distance = apart + (apart + rounding) / bend
    # without a row on the margin, b moves with the margin of another row
    return w, (2 - on.any()) * scale.largest_norm * (distance + 4 * _EPS * len(w) * size)


def _with_best_intercept(rows: np.ndarray, limits: np.ndarray, w: np.ndarray) -> np.ndarray:
    flat = np.append(w[:-1], 0.0)
    flat[-1] = best_intercept(rows @ flat, rows[:, -1], limits)
    return flat


def _solved(on: np.ndarray, a: np.ndarray, linear: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return the least |w|^2 / 2 - linear'(w, b) for which the rows ``on``, (k, d), have a margin of 1.

    ``a``: (k,) their multipliers after the search. ``linear``: (d,). The result is (w, b), (d,), the multipliers
    nearest to ``a``, (k,), the error of (w, b) within the span of the rows, and the least curvature outside it. Without
    rows b is 0.
    """
    d = len(linear)
    if len(on) == 0:
        return np.append(linear[:-1], 0.0), a, 0.0, 1.0
    ones, triangle = np.ones(len(on)), on
    if len(on) > d:
        # the triangle of a QR has the same solutions in d rows: the SVD of k rows needs a matrix of k x k
        ones, triangle = qr_multiply(on, ones, mode="right")
    left, sizes, right = svd(triangle)
    rank = int(np.count_nonzero(sizes > 8 * _EPS * max(on.shape) * sizes[0]))
    sizes, span, free = sizes[:rank], right[:rank], right[rank:]
    w = ((ones @ left[:, :rank]) / sizes) @ span
    of_w = np.append(np.ones(d - 1), 0.0)
    bend = 1.0
    if rank < d:
        curvature = (free * of_w) @ free.T
        bend = float(np.linalg.eigvalsh(curvature)[0])
        w = w + np.linalg.solve(curvature, free @ (linear - of_w * w)) @ free
    pull = of_w * w - linear - a @ on
    multipliers = a + on @ (((span @ pull) / sizes**2) @ span)
    return w, multipliers, float(np.linalg.norm(on @ w - 1) / sizes[-1]), bend


def best_intercept(margins: np.ndarray, signs: np.ndarray, limits: np.ndarray) -> float:
    """Return the b for which the sum of c max(0, 1 - margin) is least, halfway between its bounds if b is free.

    ``margins``: (n_rows,) at b = 0. ``signs``: (n_rows,) the growth of a margin with b, 1 for rows of the second class
    and -1 for the others. ``limits``: (n_rows,) the c.
    """
    corners = signs * (1 - margins)
    order = np.argsort(corners)
    # beyond a corner one more row of the first class falls short, or one less of the second
    slopes = np.cumsum(limits[order]) - limits[signs > 0].sum()
    # below the second limit a slope is rounding of the sums
    level = max(_LEVEL * min(limits[signs > 0].sum(), limits[signs < 0].sum()), 64 * _EPS * limits.sum())
    low, high = np.minimum(np.searchsorted(slopes, [-level, level]), len(order) - 1)
    return float(corners[order[low]] + corners[order[high]]) / 2
