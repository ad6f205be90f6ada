"""Test the closed integral of the relative loss against the paper's definitions, term by term."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product

import pytest
from scipy.integrate import quad

from tests.oracles.relative_loss import Distribution, relative_loss

HALF = F(1, 2)
BALANCED = Distribution((HALF, HALF), (F(0), F(1)))
PROBLEMS = {
    "balanced": Distribution((HALF, F(1, 4), F(1, 4)), (F(2, 5), F(1, 5), F(1))),
    "nearly balanced": Distribution((HALF, HALF), (F(1, 5), F(800_001, 1_000_000))),
    "rare": Distribution((F(9, 10), F(1, 10)), (F(1, 100), F(3, 10))),
    "common": Distribution((F(2, 3), F(1, 3)), (F(1), F(3, 4))),
}
ANSWERS = {
    "perfect of three": ((1, 1, 1), (0, 1, 1), (0, 0, 1)),
    "inverted": ((0, 0, 0), (1, 0, 0), (1, 1, 0)),
    "none": ((0, 0, 0),),
    "mixed": ((0, 1, 1), (1, 0, 1), (0, 0, 0), (1, 1, 0), (0, 1, 0)),
}


def importance_weighted_loss(distribution, p, labels):
    """Return l_p(c) = E i_p(y) I(c(x) != y) / Z_p, with i_p(1) = (1-p)/p and i_p(0) = 1."""
    i = {1: (1 - p) / p, 0: 1.0}
    loss = total = 0.0
    for share, truth, label in zip(distribution.share, distribution.truth, labels, strict=True):
        for y, probability in ((1, float(truth)), (0, 1 - float(truth))):
            total += float(share) * probability * i[y]
            loss += float(share) * probability * i[y] * (label != y)
    return loss / total


def by_definition(distribution, answers):
    """Return the mean over p of the loss minus that of the best of all 2^n classifiers, by quadrature."""
    n, width = len(distribution.share), 1 / (len(answers) + 1)

    def above_the_best(p, labels):
        best = min(importance_weighted_loss(distribution, p, c) for c in product((0, 1), repeat=n))
        return importance_weighted_loss(distribution, p, labels) - best

    kinks = sorted(float(truth) for truth in distribution.truth)
    pieces = ((i * width, (i + 1) * width, labels) for i, labels in enumerate([*answers, (0,) * n]))
    return sum(
        quad(above_the_best, a, b, args=(labels,), points=[k for k in kinks if a < k < b] or None, epsabs=1e-11)[0]
        for a, b, labels in pieces
    )


@pytest.mark.parametrize("answers", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("distribution", PROBLEMS.values(), ids=PROBLEMS)
def test_relative_loss_agrees_with_quadrature_of_its_definition(distribution, answers):
    answers = [labels[: len(distribution.share)] for labels in answers]
    assert relative_loss(distribution, answers) == pytest.approx(by_definition(distribution, answers), abs=1e-9)


def test_relative_loss_of_balanced_classes_agrees_with_hand_calculation():
    # p Z_p = 1/2, so a wrong prediction costs 2 |D(1|x) - p|. One probe, d = 1/2, predicts 1. For D(1|x) = 0 this
    # costs half of 2 (1/2)^2 / 2 = 1/8. For D(1|x) = 1 the prediction 0 above the last threshold costs 1/8.
    assert relative_loss(BALANCED, [(1, 1)]) == pytest.approx(1 / 4, abs=1e-15)
    # A probe that predicts 0 costs half of 2 (1/2) for D(1|x) = 1, and nothing for D(1|x) = 0.
    assert relative_loss(BALANCED, [(0, 0)]) == pytest.approx(1 / 2, abs=1e-15)
