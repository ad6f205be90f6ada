"""The distribution of the range, largest less smallest value, of Brownian motion on [0, 1] that starts at 0."""

from __future__ import annotations

import math

_NEVER_BELOW = 0.3
"""P(range <= .3) is 1.4e-22."""
_NEVER_ABOVE = 40.0
"""P(range > 40) is less than any float above 0."""
_FEW_TERMS = 1.5
"""Where the two series change over: at this point each needs five terms for all digits of a float."""


def range_exceeds(x: float) -> float:
    """P(range > x), for ``x`` of at least 0.

    Feller (1951), The asymptotic distribution of the range of sums of independent random variables, gives the
    density 8 sum (-1)^(k-1) k^2 phi(k x). Integrated it is the first series, which keeps its relative
    accuracy however large x is; the second is the same function by Poisson summation, good for small x.
    """
    if x < _NEVER_BELOW:
        return 1.0
    if x > _FEW_TERMS:
        return 8 * sum((-1) ** (k - 1) * k * _normal_exceeds(k * x) for k in range(1, 8))
    return 1 - sum(
        (8 / x**2 + 2 / a) * math.exp(-2 * a / x**2) for a in (((k - 0.5) * math.pi) ** 2 for k in range(1, 6))
    )


def range_quantile(delta: float) -> float:
    """The x with P(range > x) = ``delta``, strictly between 0 and 1, to the last digits of a float."""
    low, high = 0.0, _NEVER_ABOVE
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if range_exceeds(middle) > delta else (low, middle)
    return high


def _normal_exceeds(x: float) -> float:
    return math.erfc(x / math.sqrt(2)) / 2
