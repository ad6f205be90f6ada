"""Test the registry of metrics: bounds, directions, decimals and undefined values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_rows import few_levels, quick, rows

from probcal.metrics import ASKED_METRICS, METHOD_METRICS, METRICS, NAMED, all_metrics, find_metric, means_over_labels

ASKED = (*ASKED_METRICS, "cost(0.05)", "cost(0.7)")


@pytest.mark.parametrize("name", [*NAMED, "cost(0.05)", "cost(0.7)"])
def test_every_metric_has_bounds(name):
    metric = find_metric(name)
    assert metric.least < metric.most
    for end in (metric.least, metric.most):
        assert metric.fault(end) is None
    assert metric.least < 0 or metric.fault(-1.0) is not None
    assert bool(metric.fault(math.nan)) is not metric.undefined
    assert metric.most == math.inf or metric.fault(1.1e15 if metric.most > 1 else metric.most + 0.1) is not None


def faults(found):
    return {name: number for name, number in found.items() if find_metric(name).fault(number)}


@pytest.mark.slow
@quick
@given(rows)
def test_no_metric_of_two_classes_leaves_its_bounds(rows):
    y, p = map(np.array, zip(*rows, strict=True))
    found = all_metrics(y, p, true_p=p[::-1], also=ASKED)
    assert set(found) == {*METRICS, *ASKED} and faults(found) == {}
    two_columns = all_metrics(y, np.column_stack([1 - p, p]), also=ASKED)
    assert faults(two_columns) == {}
    assert faults(means_over_labels(y[:, np.newaxis], p[:, np.newaxis], also=ASKED)) == {}


@pytest.mark.slow
@quick
@given(st.lists(st.tuples(st.integers(0, 2), few_levels, few_levels), min_size=1, max_size=20))
def test_no_metric_of_three_classes_leaves_its_bounds(rows):
    y, a, b = map(np.array, zip(*rows, strict=True))
    p = np.column_stack([a, (1 - a) * b, 1 - a - (1 - a) * b]).clip(0, 1)
    assert faults(all_metrics(y, p, also=ASKED, labels=[0, 1, 2])) == {}


@quick
@given(st.lists(st.integers(0, 1), min_size=1, max_size=9))
def test_metrics_of_completely_wrong_predictions_respect_their_bounds(labels):
    y = np.array(labels)
    assert faults(all_metrics(y, 1.0 - y, true_p=y, also=ASKED)) == {}


def test_only_the_logarithmic_method_metric_may_be_negative():
    assert {name: find_metric(name).fault(-30.4) for name in METHOD_METRICS} == {
        "log10_martingale": None, "crossings": "is a count"
    }  # fmt: skip


def names_of(holds):
    return {name for name in NAMED if holds(find_metric(name))}


def test_only_four_metrics_are_better_when_larger():
    assert names_of(lambda metric: metric.larger_is_better) == {"auc", "c_emp_p", "accuracy", "discrimination"}
    assert [find_metric(name).good_end for name in ("auc", "rms")] == ["larger is better", "smaller is better"]
    assert find_metric("rms").help.endswith(", smaller is better")
    assert [find_metric(name).best([0.3, 0.1, 0.2]) for name in ("auc", "rms")] == [0.3, 0.1]


def test_only_seven_metrics_have_no_better_direction():
    of_data, of_method = {"l1_trivial", "frequency"}, {"log10_martingale", "crossings"}
    none = of_data | of_method | {"slope", "intercept", "sharpness"}
    assert names_of(lambda metric: metric.no_end) == none
    assert find_metric("slope").help == "calibration slope: 1 if calibrated, two classes only"


def test_sums_and_counts_have_one_decimal_others_three():
    sums = {"errors", "log10_loss", "log10_martingale", "crossings"}
    assert {name: find_metric(name).decimals for name in NAMED} == {name: 1 if name in sums else 3 for name in NAMED}


def test_exactly_the_undefined_metrics_give_nan():
    y, p = np.array([1, 1, 1]), np.array([0.5, 0.5, 1])  # one class; predictions without log-odds
    three = np.array([0, 1, 2]), np.full((3, 3), 1 / 3)
    found = [all_metrics(y, p, also=ASKED), all_metrics(*three, also=ASKED)]
    without = {name for values in found for name, value in values.items() if math.isnan(value)}
    assert without == {name for name in found[0] if find_metric(name).undefined}
    of_three = {name for name, value in found[1].items() if math.isnan(value)}
    assert of_three == {name for name in found[0] if find_metric(name).two_classes}


def test_five_metrics_use_true_probabilities():
    assert names_of(lambda metric: metric.of_the_truth) == {"l1", "l1_trivial", "frequency", "l2", "l_max"}


@pytest.mark.parametrize(("name", "most"), [("rms", 1.0), ("cost(0.05)", 0.95), ("cost(0.7)", 0.7)])
def test_value_may_exceed_its_bounds_by_rounding_only(name, most):
    metric = find_metric(name)
    assert metric.fault(most + 1e-10) is metric.fault(-1e-10) is None
    assert metric.fault(most + 1e-8) == metric.fault(-1e-8) == f"lies between 0 and {most:g}"
