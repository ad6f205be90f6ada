"""Test expected cost and loss ratio against hand calculations and sums over rows."""

import math

import pytest
from hypothesis import given
from metric_rows import few_levels, quick, weighted_rows

from probcal.metrics import all_metrics, expected_cost, loss_parameter, loss_ratio, nearest_cost

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
