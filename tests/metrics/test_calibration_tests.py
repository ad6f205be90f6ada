"""Test the tests of calibration against published examples, scipy, and enumeration, and their levels by simulation."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from probcal.metrics import calibration_tests
from probcal.metrics.calibration_tests import CalibrationTests

GRADES = [
    (0.027845, 56, 6, 1), (0.07689, 79, 18, 1), (0.12764, 68, 16, 1), (0.17523, 54, 21, 1), (0.2268, 45, 11, 0),
    (0.27502, 40, 14, 0), (0.327, 40, 10, 0), (0.37635, 34, 13, 0), (0.41964, 37, 19, 0), (0.47274, 47, 22, 0),
]  # fmt: skip
"""Mean PD, obligors, defaults, and whether the Jeffreys test rejects at 95 %: example of ``jeffreysTest`` in MATLAB's
Risk Management Toolbox, https://www.mathworks.com/help/risk/risk.validation.jeffreystest.html"""


def counts(k, n, p):
    """Return the tests of k positive rows among n of equal probability."""
    return calibration_tests(np.arange(n) < k, np.full(n, p))


def rows(n, seed=0):
    random = np.random.default_rng(seed)
    p = random.beta(0.6, 2, n)
    return (random.random(n) < p).astype(int), p


def test_jeffreys_p_equals_a_published_example():
    # D. Roesch and H. Scheule, Deep Credit Risk, JP.html: two of six defaults with a PD of .0367 give .0044
    assert round(counts(2, 6, 0.0367).jeffreys_p, 4) == 0.0044


@pytest.mark.parametrize(("pd", "n", "k", "is_rejected"), GRADES)
def test_jeffreys_test_rejects_the_published_grades(pd, n, k, is_rejected):
    tests = counts(k, n, pd)
    assert (tests.jeffreys_p < 0.05) == is_rejected
    density = lambda x: x ** (k - 0.5) * (1 - x) ** (n - k - 0.5)  # noqa: E731
    by_hand = integrate.quad(density, 0, pd)[0] / integrate.quad(density, 0, 1)[0]
    assert tests.jeffreys_p == pytest.approx(by_hand, rel=1e-6)


@pytest.mark.parametrize(("k", "n", "p"), [(0, 7, 0.2), (7, 7, 0.9), (3, 40, 0.02), (250, 900, 0.3), (4, 3000, 0.0007)])
def test_tests_of_equal_predictions_equal_scipy(k, n, p):
    tests = counts(k, n, p)
    assert tests.binomial_p == pytest.approx(stats.binomtest(k, n, p, "greater").pvalue, rel=1e-9)
    tails = [stats.binomtest(k, n, p, side).pvalue for side in ("less", "greater")]
    assert tests.exact_p == pytest.approx(min(1, 2 * min(tails)), rel=1e-9)
    low, high = stats.beta.ppf([0.025, 0.975], k + 0.5, n - k + 0.5)
    assert (tests.low, tests.high) == pytest.approx((low if k else 0, high if k < n else 1), rel=1e-9)
    assert (tests.n_rows, tests.n_positive, tests.observed) == (n, k, k / n)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.data())
def test_exact_p_equals_the_enumeration_of_all_labels(p, data):
    y = data.draw(st.lists(st.integers(0, 1), min_size=len(p), max_size=len(p)))
    mass = np.zeros(len(p) + 1)
    for labels in product((0, 1), repeat=len(p)):
        mass[sum(labels)] += math.prod(q if label else 1 - q for label, q in zip(labels, p, strict=True))
    k = sum(y)
    expected = min(1, 2 * mass[: k + 1].sum(), 2 * mass[k:].sum())
    assert calibration_tests(y, p).exact_p == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 900))
def test_swapped_labels_have_the_same_two_sided_p_values(seed, n):
    y, p = rows(n, seed)
    one, other = calibration_tests(y, p), calibration_tests(1 - y, 1 - p)
    assert one.exact_p == pytest.approx(other.exact_p, abs=1e-9)
    assert one.spiegelhalter_z == pytest.approx(other.spiegelhalter_z, nan_ok=True, abs=1e-9)
    assert one.low == pytest.approx(1 - other.high, abs=1e-9)


def test_many_rows_have_the_p_value_of_one_long_sum():
    y, p = rows(3000)
    mass = np.ones(1)
    for q in p:  # row by row, without Fourier transforms
        mass = np.convolve(mass, [1 - q, q])
    k = y.sum()
    assert calibration_tests(y, p).exact_p == pytest.approx(2 * min(mass[: k + 1].sum(), mass[k:].sum()), rel=1e-9)


def test_spiegelhalter_is_the_standardised_brier_score():
    # Spiegelhalter (1986): the Brier score less its mean sum p (1 - p), over its standard deviation
    y, p = rows(200)
    score, mean = np.sum((y - p) ** 2), np.sum(p * (1 - p))
    z = (score - mean) / math.sqrt(np.sum((1 - 2 * p) ** 2 * p * (1 - p)))
    tests = calibration_tests(y, p)
    assert tests.spiegelhalter_z == pytest.approx(z, rel=1e-12)
    assert tests.spiegelhalter_p == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)


def test_spiegelhalter_has_no_value_where_its_limit_is_far():
    for tests in (counts(1, 100, 0.01), counts(50, 100, 0.5), counts(9, 9, 1)):
        assert math.isnan(tests.spiegelhalter_z) and math.isnan(tests.spiegelhalter_p)
    assert counts(9, 9, 1).exact_p == 1 and counts(8, 9, 1).exact_p == 0


def test_the_interval_stays_inside_the_ends_unless_all_rows_are_alike():
    assert counts(1, 10**5, 0.1).low > 0 and counts(10**5 - 1, 10**5, 0.1).high < 1
    assert counts(0, 5, 0.1).low == 0 < counts(0, 5, 0.1).high < 0.5


def p_values(draw, seed, n_draws, shift=0, slope=1):
    """Return p-values of samples whose true log-odds are ``shift + slope`` times the predicted ones."""
    random, found = np.random.default_rng(seed), []
    for _ in range(n_draws):
        p = draw(random)
        odds = slope * np.log(p / (1 - p)) + shift
        y = random.random(len(p)) < 1 / (1 + np.exp(-odds))
        found.append(calibration_tests(y, p))
    return {name: np.array([getattr(one, name) for one in found]) for name in CalibrationTests._fields[6:]}


SAMPLES = {
    "spread": lambda random: random.beta(0.5, 2, 300),
    "rare": lambda random: np.exp(random.normal(-5, 1, 600)).clip(0, 0.9),
    "a grade": lambda _: np.full(500, 0.02),
}


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES)
def test_levels_hold_for_calibrated_predictions(sample):
    found = p_values(SAMPLES[sample], 0, 4000)
    for level in (0.05, 0.01):
        bound = level + 4 * math.sqrt(level * (1 - level) / 4000)
        for name in ("exact_p", "binomial_p"):
            assert (found[name] <= level).mean() <= bound, (name, level)
        for name in ("jeffreys_p", "spiegelhalter_p"):  # approximate
            assert (found[name] <= level).mean() <= 1.4 * bound, (name, level)


@pytest.mark.slow
@pytest.mark.parametrize("sample", SAMPLES)
def test_odds_that_are_too_low_by_half_are_mostly_found(sample):
    found = p_values(SAMPLES[sample], 0, 400, shift=math.log(2))
    power = {name: (found[name] <= 0.05).mean() for name in ("exact_p", "binomial_p", "jeffreys_p")}
    assert min(power.values()) > 0.5, power  # 5 to 10 positive rows are expected of the last two samples
    assert power["jeffreys_p"] >= power["binomial_p"]


@pytest.mark.slow
def test_only_spiegelhalter_finds_predictions_that_are_too_extreme():
    found = p_values(lambda random: random.beta(0.5, 0.5, 300), 0, 400, slope=0.6)
    assert (found["spiegelhalter_p"] <= 0.05).mean() > 0.95
    assert (found["exact_p"] <= 0.05).mean() < 0.15


@pytest.mark.parametrize("base", [pytest.param(0.0, marks=pytest.mark.slow), -2.0])
def test_tests_of_groups_hold_their_level_and_those_of_rows_do_not(base):
    random, rejected = np.random.default_rng(0), np.zeros(4)
    for _ in range(500):
        group = np.repeat(np.arange(200), random.poisson(4, 200) + 1)
        p = 1 / (1 + np.exp(-base - random.normal(size=200)))[group]
        own = random.random(len(group))
        y = (np.where(random.random(len(group)) < 0.7, random.random(200)[group], own) < p).astype(int)
        robust, plain = calibration_tests(y, p, groups=group), calibration_tests(y, p)
        names = ("robust_p", "spiegelhalter_p")
        rejected += np.array([getattr(robust, one) for one in names] + [plain.exact_p, plain.spiegelhalter_p]) <= 0.05
    # four standard errors of a share of .05 in 500 samples are .039
    assert (rejected[:2] / 500 < 0.089).all()
    assert (rejected[2:] / 500 > 0.15).all()


def test_equal_rows_of_a_group_count_as_one_and_groups_of_one_as_rows():
    y, p = rows(300)
    group = np.arange(300).astype(str)
    one = calibration_tests(y, p, groups=group)
    many = calibration_tests(*(np.repeat(values, 5) for values in (y, p)), groups=np.repeat(group, 5))
    assert many[2:] == pytest.approx(one[2:], nan_ok=True)
    plain = calibration_tests(y, p)
    assert (one.low, one.high, one.spiegelhalter_p) == pytest.approx((plain.low, plain.high, plain.spiegelhalter_p))
    assert one.robust_p == pytest.approx(2 * stats.norm.sf(abs((y - p).sum()) / math.sqrt((p * (1 - p)).sum())))
    assert all(math.isnan(value) for value in (one.exact_p, one.binomial_p, one.jeffreys_p, plain.robust_p))


def test_groups_of_another_length_and_few_groups():
    y, p = rows(100)
    with pytest.raises(ValueError, match="groups holds 99 values for 100 rows"):
        calibration_tests(y, p, groups=np.arange(99))
    few = calibration_tests(y, p, groups=np.arange(100) % 19)
    assert math.isnan(few.robust_p) and math.isnan(few.spiegelhalter_p) and few.low < few.observed < few.high
