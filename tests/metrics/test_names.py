"""Every metric says between which numbers it lies, and never leaves them."""

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


def test_what_is_no_metric_has_none():
    assert find_metric("accuracy") is None and find_metric("cost(1)") is None


def faults(found):
    return {name: number for name, number in found.items() if find_metric(name).fault(number)}


@quick
@given(rows)
def test_no_metric_of_two_classes_leaves_its_bounds(rows):
    y, p = map(np.array, zip(*rows, strict=True))
    found = all_metrics(y, p, true_p=p[::-1], also=ASKED)
    assert set(found) == {*METRICS, *ASKED} and faults(found) == {}
    two_columns = all_metrics(y, np.column_stack([1 - p, p]), also=ASKED)
    assert faults(two_columns) == {}
    assert faults(means_over_labels(y[:, np.newaxis], p[:, np.newaxis], also=ASKED)) == {}


@quick
@given(st.lists(st.tuples(st.integers(0, 2), few_levels, few_levels), min_size=1, max_size=20))
def test_no_metric_of_three_classes_leaves_its_bounds(rows):
    y, a, b = map(np.array, zip(*rows, strict=True))
    p = np.column_stack([a, (1 - a) * b, 1 - a - (1 - a) * b]).clip(0, 1)
    assert faults(all_metrics(y, p, also=ASKED)) == {}


@quick
@given(st.lists(st.integers(0, 1), min_size=1, max_size=9))
def test_estimates_that_are_as_wrong_as_can_be_stay_within_their_bounds(labels):
    y = np.array(labels)
    assert faults(all_metrics(y, 1.0 - y, true_p=y, also=ASKED)) == {}


def test_what_methods_measure_may_be_negative_only_where_it_is_a_logarithm():
    assert {name: find_metric(name).fault(-30.4) for name in METHOD_METRICS} == {
        "log10_martingale": None, "crossings": "is a count"
    }  # fmt: skip
