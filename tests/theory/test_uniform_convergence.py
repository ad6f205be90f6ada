"""Test Theorem 2 of Gao, Parameswaran & Peng (2017): c_emp converges to c uniformly over a class F of classifiers.

    E_D R_D(H) + sqrt(2 ln(8 / delta) / n) < eps / 2   implies
    Pr_D(sup over f in F of |c(f) - c_emp(f, D)| > eps) < delta,

H = {1[p1 < f(x) <= p2]: p1, p2, f in F}. The classes below are finite, and their complexities are exact. The printed
proof needs 2 E_D R_D(H) where the statement has E_D R_D(H), since its equation 1 has that factor. The tests check the
statement, which claims more.
"""

from __future__ import annotations

import math
from functools import cache, partial
from itertools import product

import numpy as np
import pytest
from scipy.special import expit

from probcal.metrics import calibration_bound, empirical_calibration_error
from tests.theory.complexities import intervals, of_all_intervals, of_all_subsets, rademacher

N_SAMPLES = 300
GRID = (np.arange(200_000) + 0.5) / 200_000


class OneScore:
    """Hold nondecreasing functions of one uniform score. H holds the intervals of the score."""

    classifiers = (lambda x: x, lambda x: x**2, np.sqrt, lambda x: 0.2 + 0.6 * x, lambda x: expit(9 * x - 4))

    def complexity(self, n):
        return of_all_intervals(n)

    def truth(self, x):
        return 0.1 + 0.8 * x**2

    def c(self, f):
        sums = np.append(0, np.cumsum(self.truth(GRID) - f(GRID)) / len(GRID))  # all five functions rise with x
        return np.ptp(sums)

    def draw(self, n, rng):
        return rng.random(n)


class EveryLabelling:
    """Hold all functions that predict .2 or .9 for four points. H holds all 16 sets of points."""

    masses = np.array([0.4, 0.3, 0.2, 0.1])
    rates = np.array([0.1, 0.9, 0.4, 0.6])
    classifiers = tuple(partial(np.take, says) for says in product((0.2, 0.9), repeat=4))

    def complexity(self, n):
        return of_all_subsets(self.masses, n)

    def truth(self, x):
        return self.rates[x]

    def c(self, f):
        says, residuals = f(np.arange(4)), self.masses * (self.rates - f(np.arange(4)))
        low, high = residuals[says == 0.2].sum(), residuals[says == 0.9].sum()
        return max(abs(low), abs(high), abs(low + high))

    def draw(self, n, rng):
        return rng.choice(4, n, p=self.masses)


class Constants(OneScore):
    """Hold nine constants. H holds the set of all rows and the empty set."""

    classifiers = tuple(lambda x, value=value: np.full(len(x), value) for value in np.linspace(0.1, 0.9, 9))

    def complexity(self, n):
        return of_all_subsets([1.0], n)

    def c(self, f):
        return abs(np.mean(self.truth(GRID) - f(GRID)))


CLASSES = pytest.mark.parametrize(
    "family", [OneScore(), EveryLabelling(), Constants()], ids=["one score", "every labelling", "constants"]
)


@cache
def farthest(family, n):
    """Return the sup over f of |c(f) - c_emp(f, D)| of each sample."""
    rng = np.random.default_rng(n)
    c = [family.c(f) for f in family.classifiers]
    found = []
    for _ in range(N_SAMPLES):
        x = family.draw(n, rng)
        y = rng.random(n) < family.truth(x)
        measured = [empirical_calibration_error(y, f(x)) for f in family.classifiers]
        found.append(np.abs(np.subtract(c, measured)).max())
    return np.array(found)


@CLASSES
@pytest.mark.parametrize("n", [200, 1000])
def test_theorem_2_bound_is_exceeded_less_often_than_delta(family, n):
    found = farthest(family, n)
    for delta in (0.05, 0.5):
        eps = 2 * (family.complexity(n) + math.sqrt(2 * math.log(8 / delta) / n)) * (1 + 1e-12)
        assert eps < 1, "a distance of 1 would bound nothing"
        assert np.mean(found > eps) < delta


@CLASSES
def test_theorem_2_bound_is_within_thirty_times_the_distance(family):
    found = farthest(family, 1000)
    eps = 2 * (family.complexity(1000) + math.sqrt(2 * math.log(8 / 0.05) / 1000))
    assert eps / 30 < np.quantile(found, 0.95) < eps


@pytest.mark.parametrize("delta", [0.01, 0.1, 0.5])
def test_calibration_bound_of_one_classifier_is_below_theorem_2(delta):
    for n in (10, 100, 1000):
        theorem = 2 * (of_all_intervals(n) + math.sqrt(2 * math.log(8 / delta) / n))
        assert calibration_bound(n, delta) < theorem


def test_interval_complexity_matches_all_signs():
    for n in range(1, 11):
        by_signs = rademacher(intervals(np.arange(n) / n))
        assert of_all_intervals(n) == pytest.approx(by_signs, rel=1e-12)
    # The mean largest rise of Brownian motion on [0, 1] is sqrt(pi / 2), as is its mean largest |value| (Levy).
    assert of_all_intervals(1000) == pytest.approx(math.sqrt(math.pi / 2000), rel=0.03)


def test_subset_complexity_matches_all_signs_and_samples():
    # For one, two or three rows of two points, take the mean over all samples and all signs.
    masses = np.array([0.7, 0.3])
    for n in (1, 2, 3):
        mean = 0.0
        for sample in product((0, 1), repeat=n):
            patterns = [[side[x] for x in sample] for side in product((0, 1), repeat=2)]
            mean += masses[list(sample)].prod() * rademacher(patterns)
        assert of_all_subsets(masses, n) == pytest.approx(mean, rel=1e-12)
