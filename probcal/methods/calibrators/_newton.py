"""Newton's method for convex losses of a few parameters that are sums over many rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import lstsq

_MOST_STEPS = 100
_CLOSE = 1e-12
"""Share of the loss. A step that promises less is the last: its error is the square of its length."""
_LENGTHS = 0.5 ** np.arange(40)
_SUFFICIENT = 1e-4
"""A step must gain this part of what its length promised (Lin, Lin & Weng 2007)."""
_SINGULAR = 1e-13
"""Share of the greatest curvature. The parameters do not move in directions with less."""
_PART = 2**15
"""Numbers of the largest array of a part of the rows, so that all of them fit into the processor's cache."""
Loss = Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]]
"""From the parameters, (m,), to the loss, its gradient, (m,), and its Hessian, (m, m)."""


def minimise(loss: Loss, start: np.ndarray) -> np.ndarray:
    """Return the parameters, (m,), of the least convex loss, found from ``start``.

    A step is halved until it gains enough. Where the least loss is that of many parameters, these are the nearest to
    ``start``.
    """
    at = start
    value, gradient, hessian = loss(at)
    for _ in range(_MOST_STEPS):
        step = lstsq(hessian, gradient, cond=_SINGULAR, lapack_driver="gelsy")[0]
        promised = float(gradient @ step)
        if promised <= _CLOSE * value:
            return np.asarray(at - step)
        for length in _LENGTHS:
            candidate = at - length * step
            found = loss(candidate)
            if found[0] < value - _SUFFICIENT * length * promised:
                break
        else:
            return at  # the loss has no more digits to compare
        at, (value, gradient, hessian) = candidate, found
    return at


def row_parts(n_rows: int, n_numbers: int) -> list[slice]:
    """Return consecutive parts of ``n_rows`` rows. Arrays with ``n_numbers`` for each row of a part stay in cache."""
    size = max(_PART // n_numbers, 256)
    return [slice(first, first + size) for first in range(0, n_rows, size)]
