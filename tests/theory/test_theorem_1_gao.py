"""Test Theorem 1 of Gao, Parameswaran & Peng (2017): no labels prove that predictions are the probabilities.

Q is the distribution of X, B = E min(f, 1 - f). If Q(x) < 1 / (10 n^2) for every x, no prover A(D) of n rows meets
both of these conditions:

1. It says 1 with probability above 2/3 if P(Y = 1 | X) = f.
2. It says 1 with probability below 1/3 if the l1 distance between P(Y = 1 | X) and f exceeds B / 2.

The proof uses a pair: P with P(Y = 1 | x) = f(x), and a deterministic P'. In P' each x always has one label, which is
drawn once with probability f(x). Below, ``spread`` is P, and ``fixed`` is the labels of a P'.
"""

from __future__ import annotations

from fractions import Fraction as F
from itertools import permutations, product

import numpy as np
import pytest

from probcal.metrics import brier_score, calibration_p_value, empirical_calibration_error, l1_error

FIVE = (F(1, 4), F(1, 2), F(9, 10), F(0), F(2, 3))
"""f on five points."""


def probability_of(labels, f):
    """Return the probability of these labels for these points, each drawn with probability f."""
    found = F(1)
    for label, p in zip(labels, f, strict=True):
        found *= p if label else 1 - p
    return found


@pytest.mark.parametrize("n", [1, 2, 3])
def test_fixed_and_spread_distributions_label_distinct_rows_alike(n):
    fixed = {labels: probability_of(labels, FIVE) for labels in product((0, 1), repeat=5)}
    assert sum(fixed.values()) == 1
    for points in permutations(range(5), n):
        for seen in product((0, 1), repeat=n):
            by_the_fixed = sum(share for labels, share in fixed.items() if tuple(labels[x] for x in points) == seen)
            assert by_the_fixed == probability_of(seen, [FIVE[x] for x in points])


def test_every_fixed_distribution_has_distance_at_least_b():
    f = [float(p) for p in FIVE]
    b = np.mean(np.minimum(f, np.subtract(1, f)))
    distances = [l1_error(labels, f) for labels in product((0, 1), repeat=5)]
    assert min(distances) == pytest.approx(b, rel=1e-12), "that of the likelier label everywhere"
    assert max(distances) > 3 * b


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.slow
def test_theorem_1_best_verifier_gains_less_than_a_tenth(n):
    """Compute the best of all verifiers. It passes exactly the samples that P makes likelier than the mean P' does."""
    n_points = 10 * n**2 + 1
    f = np.linspace(0.05, 0.95, n_points)
    said = np.stack([1 - f, f])
    best = 0.0
    for points in product(range(n_points), repeat=n):
        distinct = set(points)
        if len(distinct) == n:
            continue  # both give the same distribution of labels, as the first test checks
        for seen in product((0, 1), repeat=n):
            labels = {x: {y for at, y in zip(points, seen, strict=True) if at == x} for x in distinct}
            spread = np.prod([said[y, x] for x, y in zip(points, seen, strict=True)])
            fixed = np.prod([said[min(ys), x] if len(ys) == 1 else 0 for x, ys in labels.items()])
            best += max(0.0, spread - fixed) / n_points**n
    # So a verifier that passes P with more than 2/3 passes some P' with more than 2/3 - 1/10 > 1/3.
    assert 0 < best < 1 / 10


N_ROWS = 20
N_POINTS = 10 * N_ROWS**2 + 1
SAID = np.random.default_rng(0).permutation(np.linspace(0.15, 0.85, N_POINTS))
"""f on 4001 points, all as likely."""
PROVERS = {
    "c_emp is small": lambda y, p: empirical_calibration_error(y, p) < 0.22,
    "c_emp may come by chance": lambda y, p: calibration_p_value(y, p) > 0.2,
    "the Brier score is as expected": lambda y, p: abs(brier_score(y, p) - np.mean(p * (1 - p))) < 0.06,
    "as many positives as said": lambda y, p: abs(np.sum(y - p)) < 3,
}
N_SAMPLES = 1500


def passes(prover, truth):
    """Return how often ``prover`` says 1 of samples whose labels come with probability ``truth``."""
    rng = np.random.default_rng(1)
    points = rng.integers(N_POINTS, size=(N_SAMPLES, N_ROWS))
    labels = rng.random(points.shape) < truth[points]
    return np.mean([prover(y, SAID[x]) for x, y in zip(points, labels, strict=True)])


@pytest.mark.parametrize("prover", PROVERS.values(), ids=PROVERS)
def test_theorem_1_prover_of_the_truth_accepts_fixed_labels(prover):
    fixed = (np.random.default_rng(2).random(N_POINTS) < SAID).astype(float)
    b = np.mean(np.minimum(SAID, 1 - SAID))
    assert l1_error(SAID, SAID) == 0
    assert l1_error(fixed, SAID) > b > 0.3
    assert passes(prover, SAID) > 2 / 3, "condition 1 of the theorem holds"
    assert passes(prover, fixed) > 2 / 3 - 1 / 10 > 1 / 3, "so condition 2 does not"


def test_theorem_1_fixed_distribution_can_match_any_seen_labels():
    rng = np.random.default_rng(3)
    points = rng.permutation(N_POINTS)[:N_ROWS]
    seen = rng.random(N_ROWS) < SAID[points]
    fixed = np.round(SAID)
    fixed[points] = seen
    assert (fixed[points] == seen).all()
    assert l1_error(fixed, SAID) >= np.mean(np.minimum(SAID, 1 - SAID))


def test_prover_exists_without_the_condition_of_theorem_1():
    """Put all mass on one point, with n = 100. The prover checks if the share of positives is within B/4 of f."""
    f = 0.4
    b, n = min(f, 1 - f), 100
    rng = np.random.default_rng(4)
    for truth in np.linspace(0, 1, 101):
        says = np.mean(np.abs(rng.binomial(n, truth, size=2000) / n - f) < b / 4)
        if np.isclose(truth, f):
            assert says > 2 / 3
        if abs(truth - f) > b / 2:
            assert says < 1 / 3
