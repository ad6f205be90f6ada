"""Test that columns of probabilities belong to the labels that name them, and that unclear columns are refused."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metric_rows import OF_LABELS, OF_SEVERAL_CLASSES

from probcal import metrics

TEXTS, NUMBERS = ["a", "b", "10", "9"], [7, 1, 2, 30]
KINDS = {
    "texts": TEXTS,
    "numbers": NUMBERS,
    "zero and more": [0, 1, 2, 3],
    "negative": [-1, 1, 5, 0],
    "floats": [1.0, 2.0, 3.0, 4.0],
}


def rows(n_classes, seed=0, n_rows=40):
    rng = np.random.default_rng(seed)
    return rng.permutation(np.arange(n_rows) % n_classes), rng.dirichlet(np.ones(n_classes), n_rows)


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("name", OF_LABELS)
def test_columns_in_any_order_belong_to_the_labels_that_name_them(name, kind):
    n_classes = 3 if name in OF_SEVERAL_CLASSES else 2
    labels = np.sort(np.array(kind[:n_classes]))
    y, p = rows(n_classes)
    frame = pd.DataFrame(p, columns=labels)
    for shuffled in (frame, frame.iloc[:, ::-1], frame.iloc[:, [1, 0, 2][:n_classes]]):
        assert OF_LABELS[name](labels[y], shuffled) == OF_LABELS[name](y, p)
        assert OF_LABELS[name](labels[y].tolist(), shuffled.rename(columns=str)) == OF_LABELS[name](y, p)


@given(st.permutations(range(4)), st.sampled_from(sorted(KINDS)), st.integers(0, 3))
@settings(max_examples=50, derandomize=True, deadline=None)
def test_log_loss_does_not_depend_on_the_order_of_named_columns(order, kind, absent):
    labels = np.array(KINDS[kind])
    y, p = rows(4)
    y, p = y[y != absent], p[y != absent]
    frame = pd.DataFrame(p, columns=labels).iloc[:, list(order)]
    right = -np.mean(np.log2(p[np.arange(len(y)), y]))
    assert metrics.cross_entropy(labels[y], frame) == pytest.approx(right, rel=1e-12)
    assert metrics.cross_entropy(pd.Series(labels[y]), frame) == pytest.approx(right, rel=1e-12)


def test_columns_of_a_polars_frame_belong_to_the_labels_that_name_them():
    polars = pytest.importorskip("polars", reason="polars is optional")
    y, p = rows(3)
    frame = polars.DataFrame({name: p[:, place] for name, place in (("c", 2), ("a", 0), ("b", 1))})
    assert metrics.cross_entropy(np.array(list("abc"))[y], frame) == metrics.cross_entropy(y, p)


@pytest.mark.parametrize("positive", ["n", "y"])
@pytest.mark.parametrize("columns", ["ny", "yn"])
def test_column_of_pos_label_is_the_positive_one(positive, columns):
    y, p = rows(2)
    labels = np.array(["n", "y"])[y]
    frame = pd.DataFrame(p, columns=["n", "y"])[list(columns)]
    right = metrics.reliability_curve(labels == positive, frame[positive])
    found = metrics.reliability_curve(labels, frame, pos_label=positive)
    assert found.bins.mean.tolist() == right.bins.mean.tolist()
    assert metrics.roc_auc(labels, frame, pos_label=positive) == metrics.roc_auc(y, p)
    assert metrics.all_metrics(labels, frame, pos_label=positive) == pytest.approx(
        metrics.all_metrics(labels == positive, frame[["y", "n"] if positive == "n" else ["n", "y"]].to_numpy())
    )


def test_a_group_may_lack_the_first_class():
    y, p = rows(3)
    groups = np.where(y == 0, "first", np.arange(len(y)) % 2)
    assert math.isfinite(metrics.metrics_by_group(y, p, groups).loc["1", "cxe"])


THREE = np.full((4, 3), 1 / 3)
NOT_LAST = "p has two columns without names, and .* is not the last label in sorted order"


@pytest.mark.parametrize(
    ("y", "p", "pos_label", "message"),
    [
        ([1, 2, 1, 2], THREE, None, "y holds 1, 2 and no 0, and p has 3 columns, so y may count them from 0 or from 1"),
        ([1.0, 2.0, 1.0, 2.0], THREE.tolist(), None, "y may count them from 0 or from 1"),
        (pd.Series([1, 2, 1, 2], dtype="Int64"), pd.DataFrame(THREE), None, "y may count them from 0 or from 1"),
        ([2, 2, 2, 2], pd.DataFrame(THREE, columns=list("abc")), None, "y may count them from 0 or from 1"),
        ([1, 2, 3, 2], pd.DataFrame(THREE, columns=[0, 1, 2]), None, "columns 0, 1, 2, and none .* the label 3"),
        (["a", "b", "x", "b"], pd.DataFrame(THREE, columns=list("abc")), None, "none is named after the label 'x'"),
        (["a", "b", "b", "a"], THREE[:, :2] * 1.5, "a", NOT_LAST),
        ([2, 1, 1, 2], THREE[:, :2] * 1.5, 1, NOT_LAST),
        (["a", "a", "a", "a"], THREE[:, :2] * 1.5, "a", NOT_LAST),
    ],
)
def test_columns_that_may_belong_to_other_labels_are_refused(y, p, pos_label, message):
    with pytest.raises(ValueError, match=message):
        metrics.brier_score(y, p, pos_label=pos_label)
    with pytest.raises(ValueError, match=message):
        metrics.all_metrics(y, p, pos_label=pos_label)


@pytest.mark.parametrize(
    ("y", "pos_label"), [(["n", "y", "y"], "y"), ([1, 1, 1], 1), ([1, 2, 2], 2), ([1, 1, 1], None)]
)
def test_second_of_two_columns_belongs_to_the_last_label(y, pos_label):
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]])
    truth = np.array(y) == (1 if pos_label is None else pos_label)
    assert metrics.brier_score(y, p, pos_label=pos_label) == metrics.brier_score(truth, p[:, 1])


def test_columns_with_names_that_are_no_labels_are_read_in_sorted_order():
    y, p = rows(3)
    frame = pd.DataFrame(p, columns=["first", "second", "third"])
    assert metrics.cross_entropy(np.array(list("abc"))[y], frame) == metrics.cross_entropy(y, p)
