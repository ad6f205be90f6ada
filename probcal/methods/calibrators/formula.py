"""Formulas of fitted maps of two classes, from which ``probcal.deploy`` writes SQL, Python and ONNX.

A map writes its formula once, with the operators of Python and the functions of this module.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from probcal.methods._base import log_odds as log_odds_of_rows
from probcal.methods.calibrators._inspection import lowest_float

Operation = Literal["column", "number", "+", "-", "*", "/", "log", "exp", "clip", "pieces"]
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
_NARROW = 1e-6
"""Relative width of an interval of probabilities in which log-odds have too few digits."""
_LARGEST_EXPONENT = 700.0
"""Largest number of which databases and languages take ``exp`` without an overflow. exp(-700) is 1e-304."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Polynomials, each for an interval.

    Parameters
    ----------
    edges : ndarray of shape (n_pieces - 1,)
        Rising edges between the intervals. An edge belongs to the interval above it.
    origins : ndarray of shape (n_pieces,)
        The number that is subtracted before the polynomial of each interval is computed.
    coefficients : ndarray of shape (n_pieces, degree + 1)
        Coefficients of the polynomials, the constant first.
    """

    edges: np.ndarray
    origins: np.ndarray
    coefficients: np.ndarray


@dataclass(frozen=True, eq=False)
class Formula:
    """An operation on other formulas.

    Parameters
    ----------
    operation : str
        ``"column"`` is a column of scores, and ``"pieces"`` is a polynomial of its second operand, chosen by the
        interval of its first one.
    operands : tuple of Formula
        What it is applied to.
    value : int, float, tuple or Pieces
        The place of the column, the number, the bounds (low, high) of ``"clip"``, or the polynomials.
    range : tuple of (low, high)
        What the result lies between, as far as it is known. A clip that changes nothing is left out of the formula.
    log_odds_of : Formula or None
        The column of probabilities p, if this is ln(p / (1 - p)).
    """

    operation: Operation
    operands: tuple[Formula, ...] = ()
    value: int | float | tuple[float, float] | Pieces | None = None
    range: tuple[float, float] = (-math.inf, math.inf)
    log_odds_of: Formula | None = None

    def __add__(self, other: Formula | float) -> Formula:
        return _binary("+", self, other)

    def __radd__(self, other: float) -> Formula:
        return _binary("+", other, self)

    def __sub__(self, other: Formula | float) -> Formula:
        return _binary("-", self, other)

    def __rsub__(self, other: float) -> Formula:
        return _binary("-", other, self)

    def __mul__(self, other: Formula | float) -> Formula:
        return _binary("*", self, other)

    def __rmul__(self, other: float) -> Formula:
        return _binary("*", other, self)

    def __truediv__(self, other: Formula | float) -> Formula:
        return _binary("/", self, other)

    def __neg__(self) -> Formula:
        return 0.0 - self


def _binary(operation: Literal["+", "-", "*", "/"], one: Formula | float, other: Formula | float) -> Formula:
    left, right = _as_formula(one), _as_formula(other)
    with np.errstate(all="ignore"):
        ends = [OPERATORS[operation](x, y) for x in np.array(left.range) for y in np.array(right.range)]
    # an interval around 0 has quotients of any size
    is_known = not np.isnan(ends).any() and not (operation == "/" and right.range[0] <= 0 <= right.range[1])
    return Formula(operation, (left, right), range=(min(ends), max(ends)) if is_known else (-math.inf, math.inf))


def _as_formula(value: Formula | float) -> Formula:
    if isinstance(value, Formula):
        return value
    return Formula("number", value=float(value), range=(float(value), float(value)))


def column(place: int, of_probability: bool) -> Formula:
    return Formula("column", value=place, range=(0.0, 1.0) if of_probability else (-math.inf, math.inf))


def log(one: Formula) -> Formula:
    low, high = one.range
    return Formula("log", (one,), range=(math.log(low) if low > 0 else -math.inf, math.log(high)))


def exp(one: Formula) -> Formula:
    argument = clip(one, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    low, high = argument.range
    return Formula("exp", (argument,), range=(math.exp(low), math.exp(high)))


def clip(one: Formula, low: float = -math.inf, high: float = math.inf) -> Formula:
    """Return the formula clipped to [low, high], without the bounds that it never reaches."""
    low, high = float(low), float(high)
    within = (max(one.range[0], low), min(one.range[1], high))
    if within == one.range:
        return one
    if (p := one.log_odds_of) is not None:  # in SQL this is shorter
        return log_odds(None, clip(p, 1 / (1 + math.exp(min(-low, 709.0))), 1 / (1 + math.exp(min(-high, 709.0)))))
    bounds = (low if low > one.range[0] else -math.inf, high if high < one.range[1] else math.inf)
    return Formula("clip", (one,), bounds, range=within)


def log_odds(negative: Formula | None, positive: Formula) -> Formula:
    """Return the log-odds of two probabilities, which are finite for 0 and 1, as ``methods._base.log_odds`` does.

    Without ``negative``, it is 1 minus ``positive``.
    """
    tiny = float(np.finfo(np.float64).tiny)
    rest = 1.0 - positive if negative is None else negative
    difference = log(clip(positive, low=tiny)) - log(clip(rest, low=tiny))
    return replace(difference, log_odds_of=positive if negative is None else None)


def logistic(log_odds: Formula, low: float = 0.0, high: float = 1.0) -> Formula:
    """Return the probabilities of ``log_odds``, clipped to [low, high].

    The log-odds are clipped instead, which does not write the whole formula three times in SQL.
    """
    lowest = math.log(low) - math.log1p(-low) if low > 0 else -_LARGEST_EXPONENT
    highest = math.log(high) - math.log1p(-high) if high < 1 else _LARGEST_EXPONENT
    return _as_formula(1.0) / (1.0 + exp(-clip(log_odds, lowest, highest)))


def log_probabilities(log_odds: Formula) -> tuple[Formula, Formula]:
    """Return the natural logarithms of 1 - p and of p, of given log-odds of p."""
    if (p := log_odds.log_odds_of) is not None and p.range[0] > 0 and p.range[1] < 1:
        return log(1.0 - p), log(p)
    # log(1 + exp(x)) that does not overflow
    above, below = clip(log_odds, low=0.0), clip(log_odds, high=0.0)
    tail = log(1.0 + exp(below - above))
    return -(above + tail), below - tail


def pieces(where: Formula, of: Formula, edges: np.ndarray, origins: np.ndarray, coefficients: np.ndarray) -> Formula:
    """Return polynomials of ``of`` minus its origin. The place of ``where`` among the rising edges chooses one.

    Neighbouring intervals of one constant are merged. Edges of log-odds become edges of their probability, because
    a logarithm may have another last digit elsewhere, and then a row at an edge would be on its other side.
    """
    if where.log_odds_of is not None:
        where, edges = where.log_odds_of, _probabilities_of(edges)
        is_narrow = np.diff(edges, prepend=-1, append=2) < _NARROW * np.append(0, np.minimum(edges, 1 - edges))
        if coefficients.shape[1] == 2 and is_narrow.any():
            # Between such edges, log-odds lose the digits that tell the rows apart, and p is as good as linear. The
            # values at the edges are those of the map, which has log-odds with the same digits.
            keeps = ~is_narrow[:, None]
            reached = np.minimum(edges, 1.0)
            at_edges = log_odds_of_rows(np.column_stack([1 - reached, reached]), 1)
            with np.errstate(all="ignore"):
                values = coefficients[:, 0] + coefficients[:, 1] * np.append(0.0, at_edges - origins[1:])
                slopes = np.append(np.diff(values), 0.0) / np.append(np.diff(edges, prepend=0), 1.0)
            own = np.column_stack([values, np.where(np.isfinite(slopes), slopes, 0.0)])
            starts = np.append(0.0, edges)
            broad = _pieces(where, of, edges, origins, np.where(keeps, coefficients, 0.0))
            return broad + _pieces(where, where, edges, starts, np.where(keeps, 0.0, own))
    return _pieces(where, of, edges, origins, coefficients)


def _pieces(where: Formula, of: Formula, edges: np.ndarray, origins: np.ndarray, coefficients: np.ndarray) -> Formula:
    is_constant = (coefficients[:, 1:] == 0).all(axis=1)
    is_same = (coefficients[1:, 0] == coefficients[:-1, 0]) & is_constant[1:] & is_constant[:-1]
    edges, is_kept = edges[~is_same], np.append(True, ~is_same)
    origins, coefficients = origins[is_kept], coefficients[is_kept]
    constants = coefficients[:, 0]
    if coefficients.shape[1] == 1:
        known = float(constants.min()), float(constants.max())
    else:
        # no term is larger than at the largest distance from the origin
        distance = np.abs(np.array(of.range) - origins[:, None]).max(axis=1)
        with np.errstate(all="ignore"):
            most = (np.abs(coefficients) * distance[:, None] ** np.arange(coefficients.shape[1])).sum(axis=1).max()
        known = (-float(most), float(most)) if np.isfinite(most) else (-math.inf, math.inf)
    return Formula("pieces", (where, of), Pieces(edges, origins, coefficients), range=known)


def _probabilities_of(edges: np.ndarray) -> np.ndarray:
    """Return the lowest float64 p whose log-odds reach each edge, and infinity where those of 1 do not."""

    def reaches(p: np.ndarray) -> np.ndarray:
        return np.asarray(log_odds_of_rows(np.column_stack([1 - p, p]), 1) >= edges)

    is_reached = reaches(np.ones(len(edges)))
    return np.where(is_reached, lowest_float(0.0, 1.0, len(edges), reaches), np.inf)
