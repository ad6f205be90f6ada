"""Where a band begins and ends."""

import math

import pytest

from probcal.paper.bands import compare, enough


def test_on_the_papers_own_split_the_mean_may_be_off_by_exactly_the_tolerance():
    assert compare([0.446], 0.436, 0.010).in_band
    assert not compare([0.4461], 0.436, 0.010).in_band


# Two numbers .02 apart: sd = .0141421; 3 sd sqrt(1 + 1/2) + .0005 = .0524615 about their mean .8.
@pytest.mark.parametrize(("published", "in_band"), [(0.8, True), (0.8524, True), (0.8526, False), (0.7474, False)])
def test_a_random_split_of_the_papers_is_one_more_draw(published, in_band):
    assert compare([0.79, 0.81], published, None).in_band is in_band


def test_the_distance_is_1_at_the_edge():
    assert compare([0.79, 0.81], 0.8 + 0.0524615, None).distance == pytest.approx(1, abs=1e-5)
    assert compare([0.5], 0.52, 0.010).distance == pytest.approx(2)


def test_splits_that_are_all_alike_leave_room_for_rounding_only():
    assert compare([0.3, 0.3], 0.3005, None).in_band
    assert not compare([0.3, 0.3], 0.301, None).in_band
    assert compare([0.3, 0.3], 0.301, None, rounding=0.001).in_band


def test_infinity_is_plausible_where_one_split_gives_it():
    assert compare([0.5, math.inf], math.inf, None).in_band
    assert compare([0.5, 0.6], math.inf, None).distance == math.inf


def test_a_finite_number_is_held_against_the_finite_splits():
    assert compare([0.79, 0.81, math.inf], 0.8, None).in_band
    assert compare([math.inf, math.inf], 0.8, None).distance == math.inf


@pytest.mark.parametrize("values", [[], [0.5], [0.5, math.inf]])
def test_one_finite_split_has_no_spread_to_compare_with(values):
    assert not enough(values, 0.5, None)
    with pytest.raises(ValueError, match="too few"):
        compare(values, 0.5, None)


def test_the_mean_of_several_runs_is_held_to_a_narrower_band_than_one_run():
    # Five values with sd .001; 3 sd * sqrt(1/5 + 1/5) = .0019 of a mean of five, * sqrt(1 + 1/5) = .0033 of one.
    values = [0.1 + step * 0.001 / math.sqrt(2.5) for step in (-2, -1, 0, 1, 2)]
    published = 0.1 + 0.0025
    assert compare(values, published, None, 0.00005).in_band
    assert not compare(values, published, None, 0.00005, runs=5).in_band
    assert compare(values, 0.1 + 0.0019, None, 0.00005, runs=5).in_band
