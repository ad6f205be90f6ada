"""Test metrics of labels of any kind, the parameter ``pos_label``, and the names of units."""

import inspect
import math

import numpy as np
import pandas as pd
import pytest
from metric_rows import OF_LABELS, OF_SEVERAL_CLASSES

import probcal.metrics as metrics

Y, P = np.array([0, 1, 1, 0, 1]), np.array([0.2, 0.7, 0.4, 0.6, 0.9])
WITH_LABELS = [name for name in OF_LABELS if name not in ("expected_cost", "loss_ratio", "net_benefit")] + [
    "calibration_slope",
    "calibration_intercept",
]


@pytest.mark.parametrize("name", WITH_LABELS)
def test_labels_of_any_kind_give_the_same_number(name):
    metric = getattr(metrics, name)
    for labels in (("no", "yes"), (-1, 1), (2, 1), (False, True)):
        given = np.array(labels)[Y]
        assert metric(given, P, pos_label=labels[1]) == metric(Y, P)
        assert metric(given, 1 - P, pos_label=labels[0]) == metric(1 - Y, 1 - P)


@pytest.mark.parametrize(
    ("y", "pos_label", "message"),
    [
        (["no", "yes"], None, r"y holds texts \('no', 'yes'\); name the positive one with pos_label"),
        (np.array(["no", "yes"]), None, r"y holds texts \('no', 'yes'\); name the positive one with pos_label"),
        (pd.Categorical(["no", "yes"]), None, r"y holds texts \('no', 'yes'\); name the positive one with pos_label"),
        (list("abcdefg"), None, r"y holds texts \('a', 'b', 'c', 'd', 'e', \.\.\.\); name"),
        (["no", 1.5j], None, "y must hold numbers, and no missing values; for labels of another kind give pos_label"),
        (["no", "yes"], "y", "y holds no label 'y' \\(it holds 'no', 'yes'\\)"),
        (["a", "b", "c"], "a", "y holds more than two labels"),
        (["yes", None], "yes", "1 of 2 labels are missing, the first in row 1"),
        (["yes", math.nan], "yes", "1 of 2 labels are missing"),
    ],
)
def test_invalid_labels_or_pos_label_are_rejected(y, pos_label, message):
    with pytest.raises(ValueError, match=message):
        metrics.rms_error(y, [0.5] * len(y), pos_label=pos_label)


def test_base_accepts_bits_and_nats():
    assert metrics.cross_entropy([1], [0.5], base="bits") == 1
    assert metrics.cross_entropy([1], [0.5], base="nats") == pytest.approx(math.log(2), rel=1e-15)
    with pytest.raises(ValueError, match='base, of the logarithm, must be "bits", "nats"'):
        metrics.cross_entropy([1], [0.5], base="dits")


@pytest.mark.parametrize("name", OF_SEVERAL_CLASSES)
def test_text_labels_match_columns_in_sorted_order(name):
    rng = np.random.default_rng(0)
    y, p = rng.permutation(np.arange(30) % 3), rng.dirichlet([1, 1, 1], 30)
    texts = np.array(["cat", "cow", "dog"])[y]
    for given in (texts, texts.astype(object), texts.tolist(), pd.Categorical(texts), pd.Series(texts)):
        assert OF_SEVERAL_CLASSES[name](given, p) == OF_SEVERAL_CLASSES[name](y, p)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b", "a"], "y holds 2 different labels, and p has 3 columns; name the label of each column with labels"),
        (["a", "b", None], "no missing values"),
        (["a", "b", math.nan], "no missing values"),
    ],
)
def test_text_labels_that_match_no_columns_are_rejected(y, message):
    with pytest.raises(ValueError, match=message):
        metrics.rms_error(y, np.full((3, 3), 1 / 3))


FUNCTIONS = [
    name
    for name in metrics.__all__
    if callable(getattr(metrics, name)) and "y" in inspect.signature(getattr(metrics, name)).parameters
]


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "means_over_labels"])
def test_functions_of_labels_accept_pos_label_labels_and_weights(name):
    parameters = inspect.signature(getattr(metrics, name)).parameters
    for_equal_weights = ("calibration_tests", "excess_cost_bound")
    assert ("sample_weight" in parameters) != (name in for_equal_weights)
    assert {parameters[one].kind for one in ("pos_label", "labels")} == {inspect.Parameter.KEYWORD_ONLY}


def test_costs_and_net_benefit_accept_labels_of_any_kind():
    labels = np.array(["no", "yes"])[Y]
    for metric in (metrics.expected_cost, metrics.net_benefit):
        assert metric(labels, P, 0.3, pos_label="yes") == metric(Y, P, 0.3)
    assert metrics.loss_ratio(labels, P, P**2, 0.3, pos_label="yes") == metrics.loss_ratio(Y, P, P**2, 0.3)
