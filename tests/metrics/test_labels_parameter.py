"""Test the parameter ``labels`` of metrics: test rows that lack a class, and one class against the others."""

import numpy as np
import pandas as pd
import pytest
from metric_rows import OF_LABELS, OF_SEVERAL_CLASSES
from sklearn.metrics import log_loss

import probcal.metrics as metrics

RANDOM = np.random.default_rng(0)
CLASSES = np.array(["cat", "cow", "dog"])
BIG = 2**53
P = RANDOM.dirichlet([1, 1, 1], 40)
Y = np.arange(40) % 2  # no dog
DEFINED = [name for name in OF_SEVERAL_CLASSES if name not in ("roc_auc", "score_decomposition", "all_metrics")]
WITHOUT_PARAMETERS = [name for name in OF_LABELS if name not in ("expected_cost", "loss_ratio", "net_benefit")]


@pytest.mark.parametrize("name", DEFINED)
def test_rows_without_a_class_are_measured_with_labels(name):
    expected = getattr(metrics, name)(Y, P)
    for classes in (CLASSES, CLASSES.tolist(), [1, 2, 3], [BIG, BIG + 1, BIG + 2], [-1.5, 0.0, 7.5]):
        assert getattr(metrics, name)(np.asarray(classes)[Y], P, labels=classes) == expected
    assert getattr(metrics, name)(pd.Series(Y + BIG, dtype="Int64"), P, labels=BIG + np.arange(3)) == expected


def test_log_loss_without_a_class_agrees_with_scikit_learn():
    ours = metrics.cross_entropy(CLASSES[Y], P, base="nats", labels=CLASSES)
    assert ours == pytest.approx(log_loss(CLASSES[Y], P, labels=CLASSES), rel=1e-12)
    with pytest.raises(ValueError, match=r"y holds 2 different labels, and p has 3 columns; .*labels=model.classes_"):
        metrics.cross_entropy(CLASSES[Y], P)


@pytest.mark.parametrize("name", WITHOUT_PARAMETERS)
@pytest.mark.parametrize("place", [0, 1])
def test_pos_label_beside_labels_compares_one_class_with_the_others(name, place):
    metric, label = getattr(metrics, name), CLASSES[place]
    expected = metric(place == Y, P[:, place])
    assert metric(CLASSES[Y], P[:, place], pos_label=label, labels=CLASSES) == expected
    assert metric(CLASSES[Y], P, pos_label=label, labels=CLASSES) == expected


def test_a_class_that_no_row_has_is_measured_against_the_others():
    assert metrics.brier_score(CLASSES[Y], P, pos_label="dog", labels=CLASSES) == metrics.brier_score(0 * Y, P[:, 2])
    table = metrics.metrics_by_group(CLASSES[Y], P, Y, pos_label="dog", labels=CLASSES, metrics=["rms"])
    assert table.base_rate.tolist() == [0, 0, 0]


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [1, 2]])
def test_one_column_belongs_to_the_second_of_two_labels(labels):
    p, one = P[:, 0], np.full(40, labels[0])
    two = np.column_stack([1 - p, p])
    for given in (p, two):
        assert metrics.cross_entropy(one, given, labels=labels) == metrics.cross_entropy(0 * Y, given)
    first = metrics.cross_entropy(one, two, labels=labels, pos_label=labels[0])
    assert first == metrics.cross_entropy(0 * Y, two)
    assert metrics.cross_entropy(one, 1 - p, labels=labels, pos_label=labels[0]) == pytest.approx(first)


@pytest.mark.parametrize(
    ("p", "parameters", "message"),
    [
        (P, {"labels": ["dog", "cow", "cat"]}, "labels must be two or more different labels in rising order"),
        (P, {"labels": ["cat", "cat", "dog"]}, "different labels in rising order"),
        (P, {"labels": ["cat", "dog", "eel"]}, r"y holds the label 'cow', which is not one of labels \('cat', 'dog', "),
        (P, {"labels": ["cat", "cow"]}, "p must have a column for each of 2 labels, not 3"),
        (P[:, 0], {"labels": CLASSES}, r"p is of shape \(n,\), and there are 3 labels; give pos_label"),
        (P, {"labels": CLASSES, "pos_label": "eel"}, "pos_label 'eel' is not one of labels"),
        (2 * P, {"labels": CLASSES, "pos_label": "cat"}, "each row of p must sum to 1"),
        (P, {"labels": ["cat", None, "dog"]}, "1 of 3 labels are missing"),
        (P[:, 0], {"pos_label": "dog"}, r"y holds no label 'dog'.*name all of them with labels"),
        (P, {"pos_label": "cat"}, "pos_label is for two classes, and p has 3 columns; name their labels with labels"),
    ],
)
def test_labels_that_do_not_fit_are_refused_with_the_reason(p, parameters, message):
    with pytest.raises(ValueError, match=message):
        metrics.rms_error(CLASSES[Y], p, **parameters)


def test_large_labels_stay_apart_without_labels():
    large = pd.Series(Y + BIG, dtype="Int64")
    assert metrics.rms_error(large, P[:, 0], pos_label=BIG + 1) == metrics.rms_error(Y, P[:, 0])
    table = metrics.metrics_by_group(Y, P[:, 0], [BIG, BIG + 1, None, None] * 10, metrics=["rms"])
    assert table.index[:2].tolist() == [BIG, BIG + 1] and table.rows.tolist() == [10, 10, 20, 40]


def test_probabilities_of_half_precision_are_measured():
    half = P.astype(np.float16)
    for form in (half, pd.DataFrame(half)):
        assert metrics.cross_entropy(Y, form) == pytest.approx(metrics.cross_entropy(Y, P), abs=0.01)
    two = np.column_stack([1 - half[:, 0], half[:, 0]])
    assert metrics.rms_error(Y, two, labels=[0, 1], pos_label=0) == metrics.rms_error(1 - Y, two[:, ::-1])
    with pytest.raises(ValueError, match="each row of p must sum to 1"):
        metrics.cross_entropy(Y, 0.98 * half)


@pytest.mark.parametrize("dtype", ["boolean", "Int8", "Float64", object])
def test_nullable_labels_and_probabilities_are_measured(dtype):
    y, p = pd.Series(Y.astype(bool)).astype(dtype), pd.Series(P[:, 0]).astype("Float64")
    assert metrics.rms_error(y, p) == metrics.rms_error(Y, P[:, 0])
    for wrong in ([y.where(Y == 0, None), p], [y, p.where(Y == 0)]):
        with pytest.raises(ValueError, match="no missing values"):
            metrics.rms_error(*wrong)


def test_columns_of_a_frame_that_are_named_after_the_labels_may_be_in_any_order():
    frame = pd.DataFrame(P, columns=CLASSES)
    for given in (frame, frame[["dog", "cat", "cow"]]):
        assert metrics.brier_score(CLASSES[Y], given, labels=CLASSES) == metrics.brier_score(Y, P)
        one = metrics.brier_score(CLASSES[Y], given, labels=CLASSES, pos_label="cow")
        assert one == metrics.brier_score(Y == 1, P[:, 1])
