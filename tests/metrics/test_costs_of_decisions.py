"""Test costs, net benefit and the bound on the excess cost by hand calculations, sums over rows and simulation."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_rows import few_levels, quick, weighted_rows

from probcal.metrics import (
    all_metrics,
    decision_curve,
    empirical_calibration_error,
    excess_cost_bound,
    expected_cost,
    loss_parameter,
    loss_ratio,
    nearest_cost,
    net_benefit,
)

Y, P = [1, 1, 0, 0], [0.3, 0.7, 0.2, 0.6]


@pytest.mark.parametrize(
    ("parameter", "cost"),
    [
        (0.25, 0.0625),  # only .2 is predicted negative: one false positive, .25 of 4 rows
        (0.3, 0.075),  # .3 is still predicted positive: one false positive, .3 of 4
        (0.5, 0.25),  # .3 is a false negative, .6 a false positive: .5 + .5 of 4
        (0, 0),  # all are predicted positive, which costs nothing
        (1, 0),  # all are predicted negative, which costs nothing
    ],
)
def test_false_positives_and_false_negatives_have_different_costs(parameter, cost):
    assert expected_cost(Y, P, parameter) == pytest.approx(cost, rel=1e-12)


def test_loss_ratio_divides_cost_after_by_cost_before():
    # the cost before is .25; .4 for .6 leaves only the false negative, .125; .5 for .3 leaves no error
    assert loss_ratio(Y, P, [0.3, 0.7, 0.2, 0.4], 0.5) == pytest.approx(0.5, rel=1e-12)
    assert loss_ratio(Y, P, [0.5, 0.7, 0.2, 0.4], 0.5) == 0
    # weights 3 1 1 1: 1.5 of 6 after, 2 of 6 before
    assert loss_ratio(Y, P, [0.3, 0.7, 0.2, 0.4], 0.5, [3, 1, 1, 1]) == pytest.approx(0.75, rel=1e-12)


def test_loss_ratio_with_zero_cost_before_is_one_or_infinite():
    right = [0.5, 0.7, 0.2, 0.4]
    assert loss_ratio(Y, right, right, 0.5) == 1
    assert loss_ratio(Y, right, P, 0.5) == math.inf


@quick
@given(weighted_rows, few_levels)
def test_expected_cost_is_the_mean_over_rows(rows, parameter):
    y, p, weight = zip(*rows, strict=True)
    cost = sum(
        w * ((1 - parameter) if a == 1 and b < parameter else parameter if a == 0 and b >= parameter else 0)
        for a, b, w in rows
    )
    assert expected_cost(y, p, parameter, weight) == pytest.approx(cost / sum(weight), abs=1e-12)


@pytest.mark.parametrize("parameter", [-0.1, 1.1, math.nan, math.inf, None, "a", [0.5, 0.2]])
def test_invalid_loss_parameter_is_rejected(parameter):
    with pytest.raises(ValueError, match="loss_parameter"):
        expected_cost(Y, P, parameter)
    with pytest.raises(ValueError, match="loss_parameter"):
        loss_ratio(Y, P, P, parameter)


def test_both_prediction_arrays_of_loss_ratio_are_checked():
    with pytest.raises(ValueError, match="within"):
        loss_ratio(Y, P, [2, 0, 0, 0], 0.5)
    with pytest.raises(ValueError, match="within"):
        loss_ratio(Y, [math.nan, 0, 0, 0], P, 0.5)


@pytest.mark.parametrize(("name", "parameter"), [("cost(0.05)", 0.05), ("cost(0.5)", 0.5), ("cost(0.125)", 0.125)])
def test_cost_metric_is_named_by_its_loss_parameter(name, parameter):
    assert loss_parameter(name) == parameter
    assert all_metrics(Y, P, also=[name])[name] == expected_cost(Y, P, parameter)


@pytest.mark.parametrize(
    "name", ["cost(.05)", "cost(0.50)", "cost(0)", "cost(1)", "cost(1.5)", "cost(-0.5)", "cost(a)", "cost", "rms"]
)
def test_other_spellings_of_a_cost_name_are_unknown(name):
    assert loss_parameter(name) is None
    assert all_metrics(Y, P, also=[name]).keys() == all_metrics(Y, P).keys()


def test_other_spellings_of_a_cost_get_a_suggestion():
    told = [nearest_cost(name) for name in ("cost(.05)", "cost(0.50)", "cost(2)", "cost(1.5)", "cxe")]
    assert told == ["cost(0.05)", "cost(0.5)", None, None, None]


def test_cost_of_several_classes_is_nan():
    found = all_metrics([0, 1, 2], [[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]], also=["cost(0.5)"])
    assert math.isnan(found["cost(0.5)"])


def test_net_benefit_agrees_with_hand_calculation():
    # at .5: two true positives and one false positive of four rows, odds 1: (2 - 1) / 4; at .2 the odds are 1/4
    y, p = [0, 0, 1, 1], [0.1, 0.6, 0.7, 0.9]
    assert net_benefit(y, p, 0.5) == 0.25
    found = decision_curve(y, p, [0.2, 0.5])
    assert found.net_benefit == pytest.approx([(2 - 1 / 4) / 4, 0.25])
    assert found.treat_all == pytest.approx([(2 - 2 / 4) / 4, 0])


@quick
@given(weighted_rows, st.floats(0, 0.99))
def test_net_benefit_follows_from_expected_cost(rows, t):
    y, p, weight = map(np.array, zip(*rows, strict=True))
    rate = np.average(y, weights=weight)
    expected = ((1 - t) * rate - expected_cost(y, p, t, weight)) / (1 - t)
    assert net_benefit(y, p, t, weight) == pytest.approx(expected, abs=1e-9)


def test_prediction_equal_to_threshold_is_treated():
    assert net_benefit([0, 1], [0.2, 0.5], 0.5) == 0.5


def test_default_thresholds_are_whole_percents():
    assert decision_curve([0, 1], [0.2, 0.5]).thresholds == pytest.approx(np.linspace(0.01, 0.99, 99))


@pytest.mark.parametrize("thresholds", [[1.0], [-0.1], [np.nan], [], [[0.1]]])
def test_invalid_thresholds_are_rejected(thresholds):
    with pytest.raises(ValueError, match="thresholds"):
        decision_curve([0, 1], [0.2, 0.5], thresholds)


LEVELS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.integers(1, 9)), min_size=1, max_size=6)


def cost(mass, truth, positive, a, b):
    return float(np.sum(mass * np.where(positive, a * (1 - truth), b * truth)))


def limit_of_c(p, mass, truth):
    """Return c(f): the largest absolute sum of mass (truth - p) over neighbouring levels."""
    sums = np.append(0, np.cumsum(mass * (truth - p)))
    return sums.max() - sums.min()


@given(LEVELS, st.floats(0.05, 20), st.floats(0.05, 20))
def test_excess_over_any_rule_is_within_the_lemma(levels, a, b):
    levels = sorted({p: (p, truth, weight) for p, truth, weight in levels}.values())
    p, truth, weight = np.array(levels).T
    mass = weight / weight.sum()
    own = p >= a / (a + b)
    c = limit_of_c(p, mass, truth)
    for other in product([False, True], repeat=len(p)):
        differs = own != np.array(other)
        # decisions change between two intervals, and at the threshold: the sign of the difference changes there
        signs = np.where(differs, np.where(own, 1, -1), 0)
        n_intervals = np.count_nonzero((signs != 0) & (signs != np.append(0, signs[:-1])))
        excess = cost(mass, truth, own, a, b) - cost(mass, truth, np.array(other), a, b)
        assert excess <= n_intervals * (a + b) * c + 1e-9


def test_lemma_is_tight():
    # all rows are predicted just above t, and all are negative: the excess is nearly (a + b) c
    a, b = 1.0, 9.0
    p, mass, truth = np.array([0.1]), np.array([1.0]), np.array([0.0])
    excess = cost(mass, truth, np.array([True]), a, b) - cost(mass, truth, np.array([False]), a, b)
    assert excess == pytest.approx((a + b) * limit_of_c(p, mass, truth))


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("true", [lambda p: p, lambda p: p**2, lambda p: 0.3 * p])
def test_bound_fails_less_often_than_delta(finite, true):
    rng = np.random.default_rng(0)
    a, b, fails = 1.0, 4.0, 0
    grid = (np.arange(100_000) + 0.5) / 100_000
    costs = [np.where(grid >= s, a * (1 - true(grid)), b * true(grid)).mean() for s in np.linspace(0, 1, 101)]
    excess = costs[20] - min(costs)  # t = .2
    for _ in range(300):
        p = rng.random(400)
        fails += excess_cost_bound(rng.random(400) < true(p), p, a, b, delta=0.2, finite=finite) < excess
    assert fails <= 77  # 60 expected at most; more has a probability below .01


def test_bound_is_the_sum_of_both_parts():
    p = np.array([0.2, 0.7, 0.9, 0.4] * 100)
    y = np.array([0, 1, 1, 0] * 100)
    expected = 5 * (empirical_calibration_error(y, p) + np.sqrt(8 * np.log(2 / 0.05) / 400))
    assert excess_cost_bound(y, p, 1, 4, finite=True) == pytest.approx(expected)
    assert excess_cost_bound(y, p, 1, 4, n_intervals=2) == pytest.approx(2 * excess_cost_bound(y, p, 1, 4))
    assert excess_cost_bound(y[:2], p[:2], 1, 4) == 4  # no decision can cost more


def test_few_positive_rows_use_the_bound_for_any_number_of_rows():
    p, y = np.full(200, 0.001), np.arange(200) < 1
    expected = 201 * (empirical_calibration_error(y, p) + np.sqrt(8 * np.log(2 / 0.05) / 200))
    assert excess_cost_bound(y, p, 1, 200) == pytest.approx(min(expected, 200))


@pytest.mark.parametrize(("costs", "word"), [((0, 1), "false_positive"), ((1, np.inf), "false_negative")])
def test_costs_must_be_positive(costs, word):
    with pytest.raises(ValueError, match=f"{word} must be a finite number above 0"):
        excess_cost_bound([0, 1], [0.1, 0.9], *costs)
    with pytest.raises(ValueError, match="n_intervals must be a whole number from 1, not 0"):
        excess_cost_bound([0, 1], [0.1, 0.9], 1, 1, n_intervals=0)
