"""Test the edges and error rates of bands, and the numbers that cannot be judged."""

import math

import numpy as np
import pytest
from scipy import stats

from probcal.papers.bands import LEVEL, SIGMAS, Band


def test_published_split_may_differ_by_exactly_the_tolerance():
    assert Band([0.446], 0.010).compare(0.436).in_band
    assert not Band([0.4461], 0.010).compare(0.436).in_band


# Five numbers with sd .01. Student's t with 4 degrees of freedom exceeds 6.6202 with probability .27 % (tables: 4.604
# at 1 %, 8.610 at .1 %). So the band is 6.6202 * .01 * sqrt(1 + 1/5) + .0005 = .073021 on each side of .8.
FIVE = [0.8 + step * 0.01 / math.sqrt(2.5) for step in (-2, -1, 0, 1, 2)]


@pytest.mark.parametrize(("published", "in_band"), [(0.8, True), (0.8730, True), (0.8731, False), (0.7269, False)])
def test_band_of_random_splits_treats_publication_as_another_draw(published, in_band):
    assert Band(FIVE).compare(published).in_band is in_band


def test_distance_is_one_at_the_edge_of_the_band():
    assert Band(FIVE).compare(0.8 + 0.073021).distance == pytest.approx(1, abs=1e-4)
    assert Band([0.5], 0.010).compare(0.52).distance == pytest.approx(2)


def test_fixed_sigmas_replace_the_t_quantile():
    # Two numbers with a difference of .02: sd = .0141421; 3 sd sqrt(1 + 1/2) + .0005 = .0524615.
    assert Band([0.79, 0.81], sigmas=SIGMAS).compare(0.8 + 0.0524615).distance == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("n", [2, 3, 5, 10, 30])
@pytest.mark.slow
def test_band_excludes_27_of_10000_draws_for_any_split_count(n):
    draws = np.random.default_rng(n).normal(0.3, 0.04, size=(20_000, n + 1)).tolist()
    false_alarms = sum(not Band(ours, rounding=0).compare(published).in_band for *ours, published in draws)
    low, high = stats.binom.interval(0.999, len(draws), LEVEL)
    assert low <= false_alarms <= high


@pytest.mark.parametrize(("n", "sd_away", "seen"), [(5, 10, 0.85), (10, 7, 0.95), (30, 6, 0.95)])
def test_clearly_different_number_is_out_of_band(n, sd_away, seen):
    draws = np.random.default_rng(n).normal(0.3, 0.04, size=(2_000, n + 1)).tolist()
    out = sum(not Band(ours, rounding=0).compare(published + sd_away * 0.04).in_band for *ours, published in draws)
    assert out / len(draws) >= seen


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_fewer_than_five_random_splits_are_not_judged(n):
    values = [0.3, 0.5, 0.4, 0.6][:n]
    assert Band(values).no_verdict_reason(0.9) == f"{n} split{'s' if n > 1 else ''}"
    assert Band([*values, math.inf]).no_verdict_reason(0.9) == f"{n + 1} splits, {n} of them finite"


def test_equal_splits_are_not_judged():
    assert Band([0.3] * 30).no_verdict_reason(0.3) == "30 splits, all alike"
    assert Band([0.3] * 30).no_verdict_reason(0.9) == "30 splits, all alike"
    assert Band([0.3, 0.3 + 1e-13] * 15).no_verdict_reason(0.3) == "30 splits, all alike"


def test_infinity_needs_many_finite_splits_to_be_judged():
    finite = [0.3, 0.4] * 15
    assert Band(finite).no_verdict_reason(math.inf) == "30 splits, none infinite"
    assert Band([math.inf] * 30).no_verdict_reason(0.4) == "30 splits, none finite"
    assert Band([0.3, 0.4] * 200).no_verdict_reason(math.inf) is None
    assert 1 / 370 > LEVEL > 1 / 371


@pytest.mark.parametrize("values", [FIVE, [*FIVE, math.inf], [0.1 * n for n in range(30)]])
def test_enough_finite_splits_are_judged(values):
    assert Band(values).no_verdict_reason(0.8) is None


def test_one_published_split_is_judged():
    assert Band([0.3], 0.005).no_verdict_reason(0.9) is None
    assert Band([], 0.005).no_verdict_reason(0.9) == "no splits"


def test_published_infinity_agrees_if_one_split_is_infinite():
    assert Band([0.5, math.inf]).compare(math.inf).in_band
    assert Band([0.5, 0.6]).compare(math.inf).distance == math.inf


def test_finite_number_is_compared_with_finite_splits():
    assert Band([*FIVE, math.inf]).compare(0.8) == Band(FIVE).compare(0.8)
    assert Band([math.inf, math.inf]).compare(0.8).distance == math.inf


@pytest.mark.parametrize("values", [[], [0.5], [0.5, math.inf]])
def test_one_finite_split_is_too_few(values):
    assert not Band(values).has_enough_values(0.5)
    with pytest.raises(ValueError, match="too few"):
        Band(values).compare(0.5)


def test_published_mean_of_several_runs_has_a_narrower_band():
    # Five values with sd .001. For a mean of five, 6.6202 sd * sqrt(1/5 + 1/5) = .00419; for one run, * sqrt(1 + 1/5)
    # = .00725.
    values = [0.1 + step * 0.001 / math.sqrt(2.5) for step in (-2, -1, 0, 1, 2)]
    published = 0.1 + 0.0060
    assert Band(values, None, 0.00005).compare(published).in_band
    assert not Band(values, None, 0.00005, runs=5).compare(published).in_band
    assert Band(values, None, 0.00005, runs=5).compare(0.1 + 0.0042).in_band
