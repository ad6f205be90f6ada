"""Which interval of probabilities Probing splits next, and where.

Langford & Zadrozny (2005), section 3, "Loss Details". All logarithms here are natural (nats).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Loss = Literal["log_loss", "squared_error"]
Refinement = Literal["printed", "true_drop"]


@dataclass(frozen=True)
class Goal:
    """The loss that thresholds are chosen for, and the rule that says what splitting an interval gains.

    ``refinement``: for squared error ``"printed"`` is the b - a of the paper and ``"true_drop"`` the largest
    drop in squared error, (b - a)^2 / 4. For log loss the printed rule is the true drop.
    """

    loss: Loss = "log_loss"
    refinement: Refinement = "printed"

    def interval(self, a: float, b: float) -> Interval:
        """The interval [a, b] under this loss."""
        if self.loss == "log_loss":
            p = _minimax_log_loss(a, b)
            return Interval(a, b, p, _gain_log_loss(a, p) if a < p < b else 0.0)
        return Interval(a, b, (a + b) / 2, b - a if self.refinement == "printed" else ((b - a) / 2) ** 2)

    def split(self, one: Interval) -> tuple[Interval, Interval]:
        """[a, p] and [p, b]: step 2(c) of Algorithm 1."""
        return self.interval(one.a, one.p), self.interval(one.p, one.b)


@dataclass(frozen=True)
class Interval:
    """An interval [a, b] of probabilities, its minimax optimal ``p``, and what splitting it may gain.

    ``gain`` is the largest possible drop in loss for one training example that lies in it.
    """

    a: float
    b: float
    p: float
    gain: float

    @property
    def can_be_split(self) -> bool:
        """False once ``p`` is no longer strictly inside: floating point has run out between a and b."""
        return self.a < self.p < self.b


def _minimax_log_loss(a: float, b: float) -> float:
    """p = 1 / (1 + exp((H(b) - H(a)) / (b - a))), H the entropy in nats.

    The slope is written out so that no digits cancel, however narrow or close to 0 the interval is:
    (H(b) - H(a)) / (b - a) = [ln(1-a) + g((b-a)/(1-b))] - [ln b + g((b-a)/a)] with g(u) = ln(1+u)/u.
    """
    if not a < b:
        return a
    upper = math.log1p(-a) + (_g((b - a) / (1 - b)) if b < 1 else 0.0)
    lower = math.log(b) + (_g((b - a) / a) if a > 0 else 0.0)
    slope = upper - lower
    if slope > 700:  # exp would overflow; a slope this steep needs b below 1e-300
        return a
    return min(max(1 / (1 + math.exp(slope)), a), b)


def _gain_log_loss(a: float, p: float) -> float:
    """(1-a) ln((1-a)/(1-p)) + a ln(a/p): the regret of p when the truth is a."""
    return (1 - a) * math.log1p((p - a) / (1 - p)) + (a * math.log1p((a - p) / p) if a > 0 else 0.0)


def _g(u: float) -> float:
    return math.log1p(u) / u if u > 0 else 1.0
