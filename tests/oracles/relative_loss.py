"""Both sides of Theorem 2 of Langford & Zadrozny (AISTATS 2005, section 4), by closed integrals.

A distribution is finite and known: P(x) and D(1|x) are fractions. A classifier for every p in (0, 1) comes from
n_probes of them: that of the threshold t_i stands for every p in (t_{i-1}, t_i], and beyond the last threshold the
answer is 0. t_i = i d, d = 1 / (n_probes + 1), where nothing else is said. ``answers[i][j]`` is what probe i says of
value j of x, 0 or 1.

Logarithms are decimals of 60 digits: where D(1) is near D(0) the closed integral loses the square of their difference.
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
    """P(x) and D(1|x) for each value of x; both classes have some probability."""

    share: tuple[Fraction, ...]
    truth: tuple[Fraction, ...]

    @property
    def positive(self) -> Fraction:
        """D(1)."""
        return sum(share * truth for share, truth in zip(self.share, self.truth, strict=True))

    @property
    def larger_class(self) -> Fraction:
        """max(D(1), D(0))."""
        return max(self.positive, 1 - self.positive)

    def squared_error(self, estimates: Sequence[Fraction | float]) -> float:
        """E_x (D(1|x) - estimate(x))^2."""
        differences = [truth - Fraction(p) for truth, p in zip(self.truth, estimates, strict=True)]
        return float(sum(share * apart**2 for share, apart in zip(self.share, differences, strict=True)))


def relative_loss(
    distribution: Distribution, answers: Answers, thresholds: Sequence[Fraction | float] | None = None
) -> float:
    """epsilon = E_{p ~ U(0,1)} [l_p(c_p) - min_c l_p(c)].

    At one p a wrong answer for x costs |D(1|x) - p| / (p Z_p), where p Z_p = D(1) + p (D(0) - D(1)); an answer is
    wrong where it is 0 below D(1|x) or 1 above it.
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
    """What one answer for all p in (a, b] costs for one x."""
    if answer:
        return -integral(positive, truth, max(a, truth), b) if b > truth else Decimal(0)
    return integral(positive, truth, a, min(b, truth)) if a < truth else Decimal(0)


def integral(positive: Fraction, truth: Fraction, a: Fraction, b: Fraction) -> Decimal:
    """Of (truth - p) / (A + B p) dp from a to b, with A = D(1) and B = D(0) - D(1)."""
    slope = 1 - 2 * positive
    if slope == 0:
        return decimal((truth * (b - a) - (b**2 - a**2) / 2) / positive)
    ratio = decimal((positive + slope * b) / (positive + slope * a))
    return decimal((truth + positive / slope) / slope) * ratio.ln() - decimal((b - a) / slope)


def mean_answer(answers: Answers) -> list[Fraction]:
    """Theorem 2's estimate for each x: the measure of the p that are answered by 1, which is where sorting ends."""
    return [sum(votes) * Fraction(1, len(answers) + 1) for votes in zip(*answers, strict=True)]


def first_zero(answers: Answers) -> list[Fraction]:
    """The estimate that does not sort: the least p that is answered by 0."""
    return [Fraction([*votes, 0].index(0), len(answers) + 1) for votes in zip(*answers, strict=True)]


def even(n_probes: int) -> list[Fraction]:
    """Thresholds d, 2d, ..., 1 - d."""
    return [Fraction(i, n_probes + 1) for i in range(1, n_probes + 1)]


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / number.denominator
