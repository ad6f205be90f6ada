"""Test the data sets that come with scikit-learn, with two classes and with all their classes."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from probcal.data.dataset import assemble
from tests.data.small_cards import shipped_card


@pytest.mark.parametrize(
    ("name", "load", "y_of"),
    [
        ("wisconsin", load_breast_cancer, lambda target: target == 0),
        ("digits-odd", load_digits, lambda target: target % 2 == 1),
        ("wine-first", load_wine, lambda target: target == 0),
        ("iris", load_iris, lambda target: target),
        ("wine", load_wine, lambda target: target),
        ("digits", load_digits, lambda target: target),
    ],
)
def test_rows_and_labels_are_those_of_scikit_learn(name, load, y_of):
    card = shipped_card(name)
    dataset = assemble(card, card.bundled.rows(card.target))
    data, target = load(return_X_y=True)
    ours = sorted([*row, label] for row, label in zip(dataset.X.to_numpy().tolist(), dataset.y.tolist(), strict=True))
    theirs = sorted([*row, int(y_of(label))] for row, label in zip(data.tolist(), target, strict=True))
    assert ours == theirs
    assert dataset.fingerprint() == card.expect.fingerprint
