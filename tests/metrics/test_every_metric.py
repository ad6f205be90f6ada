"""Test what all metrics share: input checks, weights, row order, and unchanged inputs."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metric_rows import EVERY_METRIC, OF_LABELS, has_a_value, numbers, quick, rows, weighted_rows

from probcal.metrics import rms_error

every_metric = pytest.mark.parametrize("metric", EVERY_METRIC.values(), ids=EVERY_METRIC)
by_name = pytest.mark.parametrize("name", EVERY_METRIC)
BAD_ESTIMATES = [
    pytest.param([0, 1], [math.nan, 0.5], id="NaN estimate"),
    pytest.param([0, 1], [None, 0.5], id="None estimate"),
    pytest.param([0, 1], pd.Series([pd.NA, 0.5], dtype="Float64"), id="NA estimate"),
    pytest.param([0, 1], [1.2, 0.5], id="above 1"),
    pytest.param([0, 1], [-1e-9, 0.5], id="below 0"),
    pytest.param([0, 1], [math.inf, 0.5], id="infinite"),
    pytest.param([0, 1], ["a", "b"], id="text estimate"),
    pytest.param([0, 1], [0.5j, 0.5], id="complex estimate"),
    pytest.param([0, 1, 1], [0.1, 0.5], id="lengths"),
    pytest.param([], [], id="empty"),
    pytest.param([[0, 1]], [[0.1, 0.5]], id="2-D"),
    pytest.param([[0], [1]], [[0.1], [0.5]], id="columns"),
    pytest.param([0, 1], [[0.1], [0.5]], id="one column"),
    pytest.param([0, 1], [[0.1, 0.9], [0.5]], id="ragged"),
    pytest.param(1, 0.5, id="scalars"),
    pytest.param([0, 1], np.ma.array([0.1, 0.5], mask=[0, 1]), id="masked estimate"),
    pytest.param(np.ma.array([0, 1], mask=[1, 0]), [0.1, 0.5], id="masked label"),
]
BAD_LABELS = [
    pytest.param([1, 2], id="1 2"),
    pytest.param([-1, 1], id="-1 1"),
    pytest.param([0.5, 1], id="a half"),
    pytest.param(["0", "1"], id="text"),
    pytest.param(pd.Series(["0", "1"]), id="text in a series"),
    pytest.param([math.nan, 1], id="NaN"),
    pytest.param(pd.Series([pd.NA, 1], dtype="Int64"), id="NA"),
]
MASKED = np.ma.array([1.0, 2.0], mask=[0, 1])
BAD_WEIGHTS = [[1], [1, -1], [0, 0], [math.nan, 1], [math.inf, 1], [[1, 1]], ["a", "b"], 1, MASKED]


def accepting(metrics, message, *given, **more):
    """Return the names of the metrics that do not refuse these arguments."""
    names = []
    for name, metric in metrics.items():
        try:
            metric(*given, **more)
        except ValueError as error:
            if message in str(error):
                continue
        names.append(name)
    return names


@pytest.mark.parametrize(("y", "p"), BAD_ESTIMATES)
def test_invalid_predictions_are_rejected(y, p):
    assert accepting(EVERY_METRIC, "", y, p) == []


@pytest.mark.parametrize("y", BAD_LABELS)
def test_invalid_labels_are_rejected(y):
    assert accepting(OF_LABELS, "", y, [0.1, 0.5]) == []


@pytest.mark.parametrize("weight", BAD_WEIGHTS)
def test_invalid_weights_are_rejected(weight):
    assert accepting(EVERY_METRIC, "sample_weight", [0, 1], [0.1, 0.5], sample_weight=weight) == []


def test_message_names_the_wrong_row():
    with pytest.raises(
        ValueError, match=r"p must lie within \[0, 1\], with no missing values \(row 2, counted from 0: 1.2\)"
    ):
        rms_error([0, 1, 1], [0, 1, 1.2])
    with pytest.raises(ValueError, match=r"y must hold 0 and 1 only.*\(row 1, counted from 0: 2\)"):
        rms_error([1, 2], [0.5, 0.5])
    with pytest.raises(
        ValueError, match=r"sample_weight must be finite and not negative \(row 0, counted from 0: -1\)"
    ):
        rms_error([1, 0], [0.5, 0.5], [-1, 2])
    with pytest.raises(ValueError, match=r"p must hold numbers, and no missing values \(1 are masked\)"):
        rms_error([1, 0], np.ma.array([0.1, 0.5], mask=[0, 1]))


def test_message_shows_every_digit_of_the_wrong_number():
    with pytest.raises(ValueError, match=r"\(row 0, counted from 0: 1\.0000001\)"):
        rms_error([0, 1], [1.0000001, 0.5])
    with pytest.raises(ValueError, match=r"sum to 1 \(row 1, counted from 0: 1\.000002\)"):
        rms_error([0, 1], [[0.5, 0.5], [1.0, 0.000002]])


def test_masked_array_without_masked_elements_is_accepted():
    assert rms_error([1, 0], np.ma.array([0.5, 0.5], mask=[0, 0])) == 0.5


@every_metric
def test_inputs_are_not_modified(metric):
    y, p, weight = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.9, 0.9, 0.1, 0.0]), np.array([1.0, 0.0, 2.0, 3.0])
    for one in (y, p, weight):
        one.flags.writeable = False
    metric(y, p, sample_weight=weight)
    assert y.tolist() == [1, 0, 1, 0]
    assert p.tolist() == [0.9, 0.9, 0.1, 0.0]
    assert weight.tolist() == [1, 0, 2, 3]


@by_name
@quick
@given(rows=weighted_rows, random=st.randoms(use_true_random=False))
def test_metrics_ignore_the_order_of_rows(name, rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    _alike(name, rows, shuffled)


@pytest.mark.parametrize("name", [name for name in EVERY_METRIC if name not in ("calibration_p_value", "all_metrics")])
@quick
@given(rows=weighted_rows)
def test_row_of_weight_two_counts_as_two_rows(name, rows):
    _alike(name, rows, [(y, p, 1) for y, p, weight in rows for _ in range(weight)])


@by_name
@quick
@given(rows=weighted_rows, more=rows)
def test_rows_of_weight_zero_change_nothing(name, rows, more):
    _alike(name, rows, [*((y, p, 0) for y, p in more), *rows])


def _alike(name, rows, others):
    found = []
    for one in (rows, others):
        y, p, weight = zip(*one, strict=True)
        if not has_a_value(name, [row[0] for row in rows]):
            return
        found.append(numbers(EVERY_METRIC[name](y, p, sample_weight=weight)))
    assert found[1] == pytest.approx(found[0], rel=1e-9, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("y", [[False, True, True], np.array([0, 1, 1], dtype="u1"), np.array([0, 1, 1], dtype=object)])
@pytest.mark.parametrize("p", [(0.5, 0.25, 1), np.array([0.5, 0.25, 1], dtype="f4"), pd.Series([0.5, 0.25, 1])])
def test_labels_and_predictions_accept_any_container(y, p):
    # squares .25 .5625 0: sum .8125
    assert rms_error(y, p) == pytest.approx(math.sqrt(0.8125 / 3))
