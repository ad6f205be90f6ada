"""Test the common bound of all methods, the base rate of the table, and costs."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import log_loss

from probcal.errors import ProbcalError
from probcal.metrics import registry
from probcal.metrics.decisions import read_costs
from probcal.metrics.metric import Prediction
from probcal.metrics.registry import find_metric
from probcal.try_table.choices import bound, sample_clip
from probcal.try_table.measures import LOSS, MEASURES, MeasureScale, cost_measure, measure_named, measure_predictions

Y = np.array([0, 1, 1, 0, 1], dtype=np.int8)
P = np.array([0.0, 1.0, 0.8, 0.3, 0.0])


def test_the_log_loss_is_that_of_the_bounded_predictions():
    measured = measure_predictions(Y, P, MeasureScale(0.001), [LOSS])
    by_hand = log_loss(Y, np.clip(P, 0.001, 0.999)) / math.log(2)
    assert measured.values["log-loss"] == pytest.approx(by_hand, rel=1e-12)
    assert measured.infinite
    assert not measure_predictions(Y, np.clip(P, 0.01, 0.99), MeasureScale(0.001), [LOSS]).infinite


def test_other_measures_ignore_the_bound():
    measured = measure_predictions(Y, P, MeasureScale(0.2), [MEASURES["brier"]])
    assert measured.values["brier"] == pytest.approx(np.mean((Y - P) ** 2))


def test_enriched_sample_is_measured_at_the_tables_base_rate():
    # Of 1000 rows, 10 are positive. The sample has all 10 and 90 of the 990 others.
    y = np.array([1] * 10 + [0] * 90)
    scale = MeasureScale(0.001, (990 / 90, 1.0))
    measured = measure_predictions(y, np.full(100, 0.1), scale, [LOSS, MEASURES["rms"]])
    rate = 0.01
    assert measured.values["log-loss"] == pytest.approx(-rate * math.log2(rate) - (1 - rate) * math.log2(1 - rate))
    assert measured.values["rms"] == pytest.approx(math.sqrt(rate * (1 - rate)))


def test_bound_holds_for_the_table_and_not_for_its_sample():
    # Of 60,000 rows, 114 are positive. The sample of 10,000 has them all.
    y = np.array([1] * 114 + [0] * 9886)
    p = np.where(y == 1, 0.01, 0.0004)
    weight = 59_886 / 9886
    measured = measure_predictions(y, p, MeasureScale(bound((59_886, 114)), (weight, 1.0)), [LOSS])
    odds = p / (1 - p) / weight
    by_hand = log_loss(y, odds / (1 + odds), sample_weight=np.where(y == 1, 1, weight)) / math.log(2)
    assert measured.values["log-loss"] == pytest.approx(by_hand, rel=1e-12)


def test_clip_of_a_sample_gives_the_bound_of_the_table():
    eps = bound((59_886, 114))
    assert eps == 1 / 120_000
    weights = (59_886 / 9886, 1.0)
    low, high = sample_clip(eps, weights)
    ends = np.array([[1 - low, low], [1 - high, high]])
    assert MeasureScale(eps, weights).reweight(ends)[:, 1] == pytest.approx([eps, 1 - eps], rel=1e-9)
    assert sample_clip(eps, None) == [eps, 1 - eps]
    several = sample_clip(0.001, (8.0, 1.0, 2.0))
    lowest = MeasureScale(0.001, (8.0, 1.0, 2.0)).reweight(np.array([[several[0], 1 - several[0], 0.0]]))
    assert lowest[0, 0] <= 0.001


def test_costs_define_a_threshold_and_a_measure():
    costs = read_costs("1:4")
    assert costs.threshold == 0.2
    measured = measure_predictions(Y, P, MeasureScale(0.001), [cost_measure(costs)])
    assert measured.values["cost"] == pytest.approx((1 + 4) / 5)  # row 4 is a false positive, row 5 a false negative


@pytest.mark.parametrize("text", ["1", "1:0", "-1:2", "a:b", "1:2:3", "inf:1"])
def test_invalid_costs_are_rejected(text):
    with pytest.raises(ProbcalError, match="give two costs above 0"):
        read_costs(text)


def test_several_classes_are_bounded_row_by_row():
    p = np.array([[1.0, 0.0, 0.0], [0.2, 0.3, 0.5]])
    assert MeasureScale(0.01).clip(p).sum(axis=1) == pytest.approx(1)
    assert measure_predictions(np.array([1, 2]), p, MeasureScale(0.01), [LOSS]).infinite


def test_any_metric_of_predictions_can_rank():
    smooth = measure_named("smece")
    measured = measure_predictions(Y, P, MeasureScale(0.001), [smooth])
    assert measured.values["smece"] == pytest.approx(find_metric("smece").value(Prediction(Y, P)))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("aux", 'did you mean "auc"'),
        ("sharpness", "has no better end"),
        ("l1", "needs more than predictions"),
        ("unheard", "no metric"),
    ],
)
def test_unsuitable_metric_names_are_rejected_with_a_reason(name, message):
    with pytest.raises(ProbcalError, match=message):
        measure_named(name)


def test_failing_plugin_metric_is_named(monkeypatch):
    broken = replace(find_metric("smece"), name="broken", value=lambda prediction: 1 / 0)
    monkeypatch.setitem(registry._BY_NAME, "broken", broken)
    with pytest.raises(ProbcalError, match=r"the metric broken cannot be computed: division by zero"):
        measure_predictions(Y, P, MeasureScale(0.001), [measure_named("broken")])


def test_an_error_of_our_own_metric_is_no_message(monkeypatch):
    monkeypatch.setitem(registry._BY_NAME, "smece", replace(find_metric("smece"), value=lambda prediction: 1 / 0))
    with pytest.raises(ZeroDivisionError):
        measure_predictions(Y, P, MeasureScale(0.001), [measure_named("smece")])


def test_threshold_of_costs_is_exact():
    # 1 / 7 with six digits is .142857, which is below the threshold
    [value] = measure_predictions(
        np.array([1]), np.array([0.142857]), MeasureScale(0.001), [cost_measure(read_costs("1:6"))]
    ).values.values()
    assert value == pytest.approx(6)
