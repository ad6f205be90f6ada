"""Test the metrics of several classes, with one column of predicted probabilities for each class."""

import math

import numpy as np
import pytest
from hypothesis import given
from metric_rows import OF_SEVERAL_CLASSES, OF_TWO_CLASSES, has_a_value, numbers, quick, rows

from probcal.metrics import (
    all_metrics,
    brier_score,
    calibration_p_value,
    cross_entropy,
    empirical_calibration_error,
    expected_calibration_error,
    kolmogorov_smirnov_error,
    rms_error,
    roc_auc,
)

of_several = pytest.mark.parametrize("metric", OF_SEVERAL_CLASSES.values(), ids=OF_SEVERAL_CLASSES)
Y, P = [0, 2], [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]]


def test_losses_agree_with_hand_calculation():
    # .5^2 + .3^2 + .2^2 = .38 and .1^2 + .8^2 + .9^2 = 1.46, halves .19 and .73, mean .46
    assert brier_score(Y, P) == pytest.approx(0.46, rel=1e-12)
    assert rms_error(Y, P) == pytest.approx(math.sqrt(0.46), rel=1e-12)
    # the observed classes had probabilities 1/2 and 1/10: 1 and 3.321928 bits
    assert cross_entropy(Y, P) == pytest.approx((1 + math.log2(10)) / 2, rel=1e-12)


def test_calibration_errors_agree_with_hand_calculation():
    # class 0, in the order .1 .5: sums 0 -.1 .4; class 1, .3 .8: 0 -.3 -1.1; class 2, .1 .2: 0 .9 .7.
    # Ranges .5 1.1 .9 and largest absolute sums .4 1.1 .9, of two rows, over three classes
    assert empirical_calibration_error(Y, P) == pytest.approx(2.5 / 6, rel=1e-12)
    assert kolmogorov_smirnov_error(Y, P) == pytest.approx(2.4 / 6, rel=1e-12)
    # two bins: class 0 all below |-.1 + .5|, class 1 |-.3| + |-.8|, class 2 all below |.9 - .2|
    assert expected_calibration_error(Y, P, n_bins=2) == pytest.approx((0.4 + 1.1 + 0.7) / 6, rel=1e-12)


def test_p_value_is_the_smallest_times_number_of_classes():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 2, 3], size=400)
    y = (rng.random(400)[:, None] > np.cumsum(p**1.2 / (p**1.2).sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    each = [calibration_p_value(y == one, p[:, one]) for one in range(3)]
    assert calibration_p_value(y, p) == pytest.approx(3 * min(each), rel=1e-12)
    assert calibration_p_value(Y, P) <= 1


@pytest.mark.parametrize("name", ["c_emp", "ece", "ks", "auc"])
def test_other_metrics_are_means_of_one_versus_rest(name):
    rng = np.random.default_rng(1)
    p = rng.dirichlet([1, 1, 1, 1], size=100)
    y = rng.integers(0, 4, 100)
    each = [all_metrics(y == one, p[:, one])[name] for one in range(4)]
    assert all_metrics(y, p)[name] == pytest.approx(np.mean(each), rel=1e-12)


@pytest.mark.parametrize("name", OF_SEVERAL_CLASSES)
@quick
@given(rows=rows)
def test_two_columns_give_the_value_of_the_second_column(name, rows):
    y, p = np.array(rows).T
    p = np.round(p * 64) / 64  # so that 1 - p is exact
    if has_a_value(name, y):
        one, two = (numbers(OF_SEVERAL_CLASSES[name](y, given)) for given in (p, np.column_stack([1 - p, p])))
        assert two == pytest.approx(one, rel=1e-12, abs=1e-15, nan_ok=True)


def test_two_columns_preserve_a_tiny_probability_of_class_zero():
    assert cross_entropy([0], [[2.0**-80, 1.0]]) == 80
    assert all_metrics([0, 1], [[2.0**-80, 1.0], [0.5, 0.5]])["cxe"] == 40.5


def test_weights_apply_to_both_columns():
    p = [[2.0**-80, 1.0], [0.5, 0.5], [0.0, 1.0]]
    assert cross_entropy([0, 0, 0], p, sample_weight=[1, 3, 0]) == pytest.approx((80 + 3) / 4)


def test_error_is_a_row_with_wrong_largest_column():
    p = [[0.5000001, 0.5], [0.5, 0.5]]  # the first of equal classes is predicted
    assert all_metrics([1, 0], p, also=["errors"])["errors"] == 1


def test_predicted_probability_may_exceed_one_by_rounding():
    """Check the value 1.0000000000000013, which Weka's J48 predicts on Adult."""
    p = [[1.0000000000000013, 0.0], [0.0, 1.0]]
    assert cross_entropy([0, 1], p) == 0
    with pytest.raises(ValueError, match="within"):
        cross_entropy([0, 1], [[1.00001, 0.0], [0.0, 1.0]])


def test_absent_class_leaves_only_auc_undefined():
    found = all_metrics(Y, P)
    assert math.isnan(found.pop("auc"))
    assert all(math.isfinite(one) for one in found.values())
    with pytest.raises(ValueError, match="every class"):
        roc_auc(Y, P)


@pytest.mark.parametrize(
    ("y", "p", "fault"),
    [
        ([0, 3], P, r"whole numbers 0 to 2 only.*\(row 1, counted from 0: 3\)"),
        ([-1, 0], P, "whole numbers 0 to 2"),
        ([0.5, 0], P, "whole numbers 0 to 2"),
        ([0, math.nan], P, "whole numbers 0 to 2"),
        (["a", "b"], P, "y holds 2 different labels, and p has 3 columns"),
        ([0, 1], [[0.5, 0.3, 0.2], [0.1, 0.8, 0.2]], r"each row of p must sum to 1 \(row 1, counted from 0: 1.1\)"),
        (
            [0, 1],
            [[0.5, 0.3, 0.2], [0.1, math.nan, 0.1]],
            r"p must lie within.*\(row 1, column 1, counted from 0: nan\)",
        ),
        ([0, 1], [[0.5, 0.7, -0.2], [0.1, 0.8, 0.1]], "p must lie within"),
        ([0, 1, 2], P, "equal n"),
        ([0, 1], [[1.0], [1.0]], "two or more classes"),
        ([0, 1], [[], []], "two or more classes"),
        ([], np.empty((0, 3)), "no rows"),
    ],
)
def test_invalid_labels_or_class_probabilities_are_rejected(y, p, fault):
    for metric in OF_SEVERAL_CLASSES.values():
        with pytest.raises(ValueError, match=fault):
            metric(y, p)


@pytest.mark.parametrize("name", OF_TWO_CLASSES)
def test_metrics_of_two_classes_reject_three_columns(name):
    with pytest.raises(ValueError, match="for two classes, and p has 3 columns"):
        OF_TWO_CLASSES[name]([0, 1], [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]])


@pytest.mark.parametrize("name", OF_TWO_CLASSES)
def test_metrics_of_two_classes_accept_two_columns(name):
    p = np.array([0.5, 0.9, 0.2])
    both = np.column_stack([1 - p, p])
    assert OF_TWO_CLASSES[name]([0, 1, 1], both) == OF_TWO_CLASSES[name]([0, 1, 1], p)
