"""Test that columns of a frame that are named after the labels are matched by name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from probcal.metrics import all_metrics, brier_score, cross_entropy, roc_auc

P = pd.DataFrame({"b": [0.1, 0.9, 0.2, 0.8], "a": [0.9, 0.1, 0.8, 0.2]})
THREE = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.3, 0.6, 0.1]])


def test_text_labels_find_their_columns_in_any_order():
    y = ["a", "b", "a", "b"]
    assert cross_entropy(y, P) == cross_entropy(y, P[["a", "b"]].to_numpy())
    assert roc_auc(y, P) == roc_auc(y, P[["a", "b"]].to_numpy()) == 1
    assert all_metrics(y, P) == all_metrics(y, P[["a", "b"]])


@pytest.mark.parametrize("labels", [[1, 2, 3, 2], [10, 9, 8, 9], [1.0, 2.0, 3.0, 2.0], ["x", "y", "z", "y"]])
@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 0, 2]])
def test_numbers_and_texts_of_several_classes_find_their_columns(labels, order):
    frame = pd.DataFrame(THREE, columns=labels[:3])
    numbers = [labels[:3].index(label) for label in labels]
    assert cross_entropy(labels, frame.iloc[:, order]) == pytest.approx(cross_entropy(numbers, THREE), rel=1e-14)


def test_labels_one_and_two_beside_three_columns_are_matched_by_name():
    frame = pd.DataFrame(THREE, columns=["1", "2", "3"])
    assert cross_entropy([1, 2, 1, 2], frame) == cross_entropy([0, 1, 0, 1], THREE)


def test_positive_label_names_its_column():
    y = np.array(["a", "b", "a", "b"])
    assert brier_score(y, P, pos_label="a") == brier_score(y == "a", P["a"])
    assert brier_score(y, P, pos_label="b") == brier_score(y == "b", P["b"])


def test_label_without_a_column_is_refused():
    frame = pd.DataFrame(THREE, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="y holds the labels a, d, and the columns of p are a, b, c"):
        cross_entropy(["a", "d", "a", "d"], frame)


def test_other_names_leave_columns_in_their_places():
    frame = pd.DataFrame(THREE, columns=["p0", "p1", "p2"])
    assert cross_entropy([0, 1, 2, 1], frame) == cross_entropy([0, 1, 2, 1], THREE)
