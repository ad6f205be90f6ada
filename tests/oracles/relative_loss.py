"""Provide both sides of Theorem 2 of Langford & Zadrozny (AISTATS 2005, section 4), by closed integrals.

A distribution is finite and known: P(x) and D(1|x) are fractions. The n_probes classifiers give a classifier for
every p in (0, 1). The classifier of the threshold t_i is used for every p in (t_{i-1}, t_i]. Above the last threshold
the prediction is 0. By default t_i = i d, with d = 1 / (n_probes + 1). ``answers[i][j]`` is the prediction of probe i
for value j of x, 0 or 1.

Logarithms are decimals of 60 digits. If D(1) is near D(0), the closed integral loses the square of their difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

Answers = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Distribution:
    """Hold P(x) and D(1|x) for each value of x; both classes have a positive probability."""

    share: tuple[Fraction, ...]
    truth: tuple[Fraction, ...]

    @property
    def positive(self) -> Fraction:
        """Return D(1)."""
        return sum(share * truth for share, truth in zip(self.share, self.truth, strict=True))

    @property
    def larger_class(self) -> Fraction:
        """Return max(D(1), D(0))."""
        return max(self.positive, 1 - self.positive)

    def squared_error(self, estimates: Sequence[Fraction | float]) -> float:
        """Return E_x (D(1|x) - estimate(x))^2."""
        differences = [truth - Fraction(p) for truth, p in zip(self.truth, estimates, strict=True)]
        return float(sum(share * apart**2 for share, apart in zip(self.share, differences, strict=True)))


def relative_loss(
    distribution: Distribution, answers: Answers, thresholds: Sequence[Fraction | float] | None = None
) -> float:
    """Return epsilon = E_{p ~ U(0,1)} [l_p(c_p) - min_c l_p(c)].

    At one p a wrong prediction for x costs |D(1|x) - p| / (p Z_p), where p Z_p = D(1) + p (D(0) - D(1)). A prediction
    is wrong if it is 0 for p below D(1|x), or 1 for p above it.
    """
    inner = even(len(answers)) if thresholds is None else [Fraction(p) for p in thresholds]
    pieces = list(pairwise([Fraction(0), *inner, Fraction(1)]))
    total = Decimal(0)
    with localcontext(prec=60):
        for value, (share, truth) in enumerate(zip(distribution.share, distribution.truth, strict=True)):
            total += decimal(share) * sum(
                cost_of(distribution.positive, truth, answer, a, b)
                for answer, (a, b) in zip([*(probe[value] for probe in answers), 0], pieces, strict=True)
            )
    return float(total)


def cost_of(positive: Fraction, truth: Fraction, answer: int, a: Fraction, b: Fraction) -> Decimal:
    """Return the cost of one prediction for one x and all p in (a, b]."""
    if answer:
        return -integral(positive, truth, max(a, truth), b) if b > truth else Decimal(0)
    return integral(positive, truth, a, min(b, truth)) if a < truth else Decimal(0)


def integral(positive: Fraction, truth: Fraction, a: Fraction, b: Fraction) -> Decimal:
    """Integrate (truth - p) / (A + B p) dp from a to b, with A = D(1) and B = D(0) - D(1)."""
    slope = 1 - 2 * positive
    if slope == 0:
        return decimal((truth * (b - a) - (b**2 - a**2) / 2) / positive)
    ratio = decimal((positive + slope * b) / (positive + slope * a))
    return decimal((truth + positive / slope) / slope) * ratio.ln() - decimal((b - a) / slope)


def mean_answer(answers: Answers) -> list[Fraction]:
    """Return Theorem 2's predicted probability for each x: the measure of all p with prediction 1, as after sorting."""
    return [sum(votes) * Fraction(1, len(answers) + 1) for votes in zip(*answers, strict=True)]


def first_zero(answers: Answers) -> list[Fraction]:
    """Return the predicted probability without sorting: the smallest p with prediction 0."""
    return [Fraction([*votes, 0].index(0), len(answers) + 1) for votes in zip(*answers, strict=True)]


def even(n_probes: int) -> list[Fraction]:
    """Return the thresholds d, 2d, ..., 1 - d."""
    return [Fraction(i, n_probes + 1) for i in range(1, n_probes + 1)]


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / number.denominator
