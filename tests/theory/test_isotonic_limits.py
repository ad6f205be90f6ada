"""Test Claim 6 and the minimum of L subject to c_emp = 0 of Gao, Parameswaran & Peng (2017, appendix and 3.2.2).

Claim 6: let F(t) = P(f_0(X) <= t), G(t) = P(f_0(X) <= t, Y = 1), cv the lower convex hull of all (F(t), G(t)), and
G_e(t) = E[1[f_0(X) <= t] g*(f_0(X))] for the isotonic g* of n rows. Under the condition of Theorem 2,
Pr(sup over t of |G_e(t) - cv(F(t))| > 2 eps) < 5 delta. Here f_0(X) is uniform on [0, 1], so F(t) = t. The class of
Theorem 2 is that of all continuous rising functions of f_0, and H holds the intervals of f_0.
"""

from __future__ import annotations

from itertools import pairwise, product
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal import IsotonicCalibrator
from probcal.metrics import empirical_calibration_error
from tests.theory.complexities import of_all_intervals

STEPS = 20_000
GRID = np.arange(STEPS + 1) / STEPS
TRUTHS = {
    "rising": lambda t: 0.1 + 0.8 * t**2,
    "falling": lambda t: 0.8 - 0.6 * t,
    "waves": lambda t: 0.5 + 0.3 * np.sin(9 * t),
}
WAYS = pytest.mark.parametrize("truth", TRUTHS.values(), ids=TRUTHS)


def integral(values):
    """Return the integrals of a function from 0 to every point of the grid, by trapezoids."""
    return np.append(0, np.cumsum((values[1:] + values[:-1]) / 2)) / STEPS


def lower_hull(x, y):
    """Return the greatest convex function below the points, at each x, by the largest slope from the left."""
    corners: list[int] = []
    for i in range(len(x)):
        while len(corners) > 1:
            a, b = corners[-2:]
            if (y[b] - y[a]) * (x[i] - x[a]) < (y[i] - y[a]) * (x[b] - x[a]):
                break
            corners.pop()
        corners.append(i)
    return np.interp(x, x[corners], y[corners])


def distances(truth, n, n_samples, to_hull=True):
    """Return sup |G_e - cv(F)| (or sup |G_e - G|) of each sample of n rows."""
    rng = np.random.default_rng(n)
    g = integral(truth(GRID))
    limit = lower_hull(GRID, g) if to_hull else g
    found = []
    for _ in range(n_samples):
        score = rng.random(n)
        fitted = IsotonicCalibrator("score", clip=(0, 1)).fit(score, rng.random(n) < truth(score))
        found.append(np.abs(integral(fitted.predict_proba(GRID)[:, 1]) - limit).max())
    return np.array(found)


def epsilon(n, delta):
    """Return the smallest eps of Theorem 2 for the class of all rising functions of one score."""
    return 2 * (of_all_intervals(n) + sqrt(2 * log(8 / delta) / n))


@WAYS
def test_claim_6_hull_is_missed_by_two_epsilon_less_often_than_five_delta(truth):
    found = distances(truth, 1500, 50)
    delta = 0.05
    assert 2 * epsilon(1500, delta) < 0.5
    assert np.mean(found > 2 * epsilon(1500, delta)) < 5 * delta
    assert found.max() > epsilon(1500, delta) / 30  # the bound is no more than sixty times too large


@WAYS
def test_claim_6_distance_falls_as_the_root_of_the_rows(truth):
    few, many = (distances(truth, n, 100).mean() for n in (250, 4000))
    # sixteen times the rows: a quarter of the distance, within the sampling error of a hundred draws
    assert few / many == pytest.approx(4, rel=0.25)


def test_claim_6_limit_is_the_hull_where_the_truth_does_not_rise():
    # the rising truth is its own hull; for the others, G itself is missed by a distance that more rows do not reduce
    for name, least in (("rising", 0.0), ("falling", 0.07), ("waves", 0.05)):
        to_g = distances(TRUTHS[name], 4000, 20, to_hull=False).mean()
        assert to_g > least
        assert (to_g < 0.02) == (name == "rising")
        assert distances(TRUTHS[name], 4000, 20).mean() < 0.02


# The minimum of L subject to c_emp = 0


LOSSES = {
    "squared": lambda y, p: np.mean((y - p) ** 2),
    "log": lambda y, p: -np.mean(np.log(np.where(y == 1, p, 1 - p).clip(1e-300))),
    "hinge": lambda y, p: np.mean(np.maximum(0, 1 - (2 * y - 1) * (2 * p - 1))),
    "cost of .3": lambda y, p: np.mean(np.where(y == 1, 0.7 * (p <= 0.3), 0.3 * (p > 0.3))),
}


def rising_calibrated(y):
    """Yield every g that rises along the rows with c_emp = 0: each run of equal g has the share of its labels."""
    n = len(y)
    for cuts in product((False, True), repeat=n - 1):
        ends = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), n]
        means = [y[a:b].mean() for a, b in pairwise(ends)]
        if all(a < b for a, b in pairwise(means)):
            yield np.concatenate([np.full(b - a, mean) for (a, b), mean in zip(pairwise(ends), means, strict=True)])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.booleans(), min_size=2, max_size=9).filter(lambda y: 0 < sum(y) < len(y)))
def test_isotonic_regression_has_the_least_loss_subject_to_c_emp_0(labels):
    y, score = np.array(labels, dtype=float), np.arange(len(labels)) / len(labels)
    own = IsotonicCalibrator("score", clip=(0, 1)).fit(score, y == 1).predict_proba(score)[:, 1]
    every = list(rising_calibrated(y))
    assert all(empirical_calibration_error(y, g) < 1e-12 for g in every)
    for name, one in LOSSES.items():
        least = min(one(y, g) for g in every)
        assert one(y, own) == pytest.approx(least, abs=1e-12), name


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.booleans(), min_size=2, max_size=9))
def test_hinge_loss_subject_to_c_emp_0_is_four_times_the_squared_error(labels):
    # so a loss that alone leads to labels leads to probabilities under the constraint (section 3.2.2)
    y = np.array(labels, dtype=float)
    for g in rising_calibrated(y):
        assert LOSSES["hinge"](y, g) == pytest.approx(4 * LOSSES["squared"](y, g), abs=1e-12)


def test_least_hinge_loss_without_the_constraint_is_not_calibrated():
    # labels 0 1 0 1 1: of rising g, 0 0 0 1 1 has the least hinge loss, .4, and its c_emp is .2
    y = np.array([0.0, 1, 0, 1, 1])
    steps = [np.repeat([0.0, 1.0], [k, 5 - k]) for k in range(6)]
    best = min(steps, key=lambda g: LOSSES["hinge"](y, g))
    assert LOSSES["hinge"](y, best) == pytest.approx(0.4)
    assert empirical_calibration_error(y, best) == pytest.approx(0.2)
    assert min(LOSSES["hinge"](y, g) for g in rising_calibrated(y)) == pytest.approx(0.4)
    assert min(LOSSES["hinge"](y, g) for g in rising_calibrated(y)) >= LOSSES["hinge"](y, best) - 1e-12
