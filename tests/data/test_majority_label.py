"""Test ``positive: majority``, which contrasts the most frequent label with all others and stratifies by label."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
from pydantic import ValidationError

from probcal.data.cache import Note, read_cached, write_cached
from probcal.data.dataset import Dataset, assemble
from tests.data.small_cards import make_card

LABELS = ["b", "a", "c", "c", "a", "b", "a", "c"]
ROWS = pd.DataFrame({"x": [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0], "y": LABELS})


def majority_card(split=None, classes=None, **more):
    counts = {"a": 3, "b": 2, "c": 3} if classes is None else classes
    return make_card(
        {"x": "numeric", "y": "target"},
        "t.csv",
        positive="majority",
        split=split or {"kind": "same"},
        expect={"rows": 8, "columns": 1, "classes": counts},
        **more,
    )


def test_the_first_of_equally_frequent_labels_is_positive():
    dataset = assemble(majority_card(), ROWS)
    assert majority_card().positive_labels == ["a"]
    assert dataset.y.tolist() == [0, 1, 0, 0, 1, 0, 1, 0]


def test_numeric_labels_are_in_order_of_their_values():
    assert majority_card(classes={"10": 4, "9": 4}).positive_labels == ["9"]


def test_a_data_set_stores_the_index_of_each_label():
    assert assemble(majority_card(), ROWS).strata.tolist() == [1, 0, 2, 2, 0, 1, 0, 2]


def test_sorted_rows_have_their_own_labels():
    dataset = assemble(majority_card({"kind": "holdout", "train_fraction": 0.5}), ROWS)
    assert dataset.X["x"].tolist() == sorted(ROWS["x"]) and dataset.strata.tolist() == [2, 0, 1, 0, 2, 2, 0, 1]


def test_the_fingerprint_distinguishes_the_negative_labels():
    dataset = assemble(majority_card(), ROWS)
    swapped = dataclasses.replace(dataset, strata=dataset.strata[[2, 1, 0, *range(3, 8)]])
    assert (dataset.y == swapped.y).all() and dataset.fingerprint() != swapped.fingerprint()


def test_the_cache_stores_the_strata(monkeypatch, tmp_path):
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path))
    dataset = assemble(majority_card(), ROWS)
    write_cached(dataset, Note("here", "contents", dataset.fingerprint()))
    again = read_cached(dataset.card, dataset.fingerprint())
    assert isinstance(again, Dataset) and again.strata.tolist() == dataset.strata.tolist()


def test_other_cards_have_no_strata():
    card = make_card({"x": "numeric", "y": "target"}, "t.csv", positive=["a", "b"], split={"kind": "same"},
                     expect={"rows": 8, "columns": 1})  # fmt: skip
    assert assemble(card, ROWS).strata is None


def test_the_counts_of_all_labels_are_needed():
    with pytest.raises(ValidationError, match='"positive: majority" needs "classes"'):
        make_card({"x": "numeric", "y": "target"}, "t.csv", positive="majority", expect={"rows": 8, "columns": 1})


def test_a_label_may_be_called_majority():
    card = majority_card(classes={"majority": 3, "minority": 5})
    assert card.positive_labels == ["majority"] and not card.by_majority
