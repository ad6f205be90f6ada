"""Provide a slow probing: Algorithms 1 and 2 of Langford & Zadrozny (AISTATS 2005), line by line.

Thresholds are decimals of 120 digits, because the printed formulas lose their digits in floating point. In an
interval of width 1e-8 the error of p is as large as the interval. Two gains that are equal by symmetry differ by
rounding. Only the weights, which a learner gets, are rounded to floats. Labels are 0 and 1, and row numbers start
at 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache, wraps
from typing import Any

Predict = Callable[[Any], Sequence[int]]
Learner = Callable[[Any, Sequence[int], list[float]], Predict]

# This is far above the rounding errors of 120 digits, and far below every other difference.
TIED = Decimal("1e-60")


def in_120_digits(function: Callable) -> Callable:
    @wraps(function)
    def exact(*args: Any, **kwargs: Any) -> Any:
        with localcontext(prec=120):
            return function(*args, **kwargs)

    return exact


def times_log(x: Decimal, ratio: Decimal) -> Decimal:
    """Return x ln(ratio), with 0 ln 0 = 0."""
    return x * ratio.ln() if x else Decimal(0)


def entropy(p: Decimal) -> Decimal:
    """Return H(p), the Shannon entropy, in nats, of a coin with bias p."""
    return -times_log(1 - p, 1 - p) - times_log(p, p)


@cache
@in_120_digits
def minimax_p(loss: str, a: Decimal, b: Decimal) -> Decimal:
    if loss == "log_loss":
        return 1 / (1 + ((entropy(b) - entropy(a)) / (b - a)).exp())
    return (a + b) / 2


@cache
@in_120_digits
def gain_of_one_row(loss: str, a: Decimal, b: Decimal) -> Decimal:
    """Return the factor of |S_a| in the choice of the minimax interval."""
    if loss == "log_loss":
        p = minimax_p(loss, a, b)
        return times_log(1 - a, (1 - a) / (1 - p)) + times_log(a, a / p)
    return b - a


@in_120_digits
def can_be_split(loss: str, a: Decimal, b: Decimal) -> bool:
    return float(a) < float(minimax_p(loss, a, b)) < float(b)


def importance(p: float, y: int) -> float:
    """Return i_p(y) = (1-p)/p y + (1-y)."""
    return (1 - p) / p if y == 1 else 1.0


def importances(p: float, y: Sequence[int], total_weight: str | None) -> list[float]:
    weights = [importance(p, label) for label in y]
    if total_weight == "n":
        total = sum(weights)
        weights = [weight * len(y) / total for weight in weights]
    return weights


@dataclass
class Probed:
    """Hold the result of Algorithm 1, {p: c_p}, and apply Algorithm 2 to it."""

    loss: str
    classifiers: dict[Decimal, Predict]

    @property
    def ends(self) -> list[Decimal]:
        return [Decimal(0), *sorted(self.classifiers), Decimal(1)]

    @property
    def intervals(self) -> list[tuple[Decimal, Decimal]]:
        return list(zip(self.ends[:-1], self.ends[1:], strict=True))

    @property
    def thresholds(self) -> list[float]:
        return [float(p) for p in sorted(self.classifiers)]

    def votes(self, X: Any) -> list[int]:
        votes = [0] * len(X)
        for predict in self.classifiers.values():
            for row, answer in enumerate(predict(X)):
                votes[row] += int(answer)
        return votes

    def probabilities(self, X: Any, clip: tuple[float, float] = (0.001, 0.999)) -> list[float]:
        """Return P(y = 1) of each row, clipped to ``clip``."""
        low, high = clip
        return [min(max(float(minimax_p(self.loss, *self.intervals[n])), low), high) for n in self.votes(X)]


@in_120_digits
def learn(
    learner: Learner,
    X: Any,
    y: Sequence[int],
    *,
    n_probes: int,
    loss: str = "log_loss",
    total_weight: str | None = None,
    discretisation: str = "train",
) -> Probed:
    """Run Algorithm 1: fit ``n_probes`` classifiers, or fewer if no float is left between two thresholds."""
    probed = Probed(loss, {})
    for t in range(1, n_probes + 1):
        if discretisation == "uniform":
            p = Decimal(t) / (n_probes + 1)
        else:
            interval = minimax_interval(probed, X)
            if interval is None:
                break
            p = minimax_p(loss, *interval)
        probed.classifiers[p] = learner(X, y, importances(float(p), y, total_weight))
    return probed


def minimax_interval(probed: Probed, X: Any) -> tuple[Decimal, Decimal] | None:
    """Return the interval of largest potential gain, the lowest of equal ones, or None if none can be split."""
    votes = probed.votes(X)
    chosen, largest = None, Decimal(0)
    for n, interval in enumerate(probed.intervals):
        if not can_be_split(probed.loss, *interval):
            continue
        rows_inside = {row for row in range(len(votes)) if votes[row] == n}
        gain = len(rows_inside) * gain_of_one_row(probed.loss, *interval)
        if chosen is None or gain - largest > TIED * largest:
            chosen, largest = interval, gain
    return chosen
