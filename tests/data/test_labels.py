"""Test labels in a separate file, matched by line or key, and ``positive: majority``."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
from pydantic import ValidationError

from probcal.data.cache import Note, read_cached, write_cached
from probcal.data.dataset import Dataset, assemble
from probcal.data.sources.files import read_original_files
from probcal.errors import DataError
from tests.data.small_cards import make_card, put

LINE_BY_LINE = {"name": "x", "labels": {"name": "t"}}
BY_KEY = {"name": "x", "labels": {"name": "t", "key": "id"}}


def read(tmp_path, rows, labels, file=LINE_BY_LINE, columns=None, **more):
    columns = columns or {"a": "numeric", "y": "target"}
    put(tmp_path, "x", rows)
    put(tmp_path, "t", labels)
    return read_original_files(make_card(columns, file, **more), tmp_path)


def read_by_key(tmp_path, rows, labels):
    columns = {"id": "ignore", "a": "numeric", "y": "target", "gift": "ignore"}
    return read(tmp_path, rows, labels, BY_KEY, columns, header=True)


def test_the_first_label_goes_to_the_first_row(tmp_path):
    rows = read(tmp_path, "1\n2\n3\n", "yes\nno\n?\n")
    assert rows["a"].tolist() == ["1", "2", "3"]
    assert rows["y"].tolist()[:2] == ["yes", "no"] and rows["y"].isna().tolist() == [False, False, True]


def test_fewer_labels_than_rows_are_rejected(tmp_path):
    with pytest.raises(DataError, match=r"small/t: 2 labels for the 3 rows of x"):
        read(tmp_path, "1\n2\n3\n", "yes\nno\n")


def test_labels_match_rows_by_key_in_any_order(tmp_path):
    rows = read_by_key(tmp_path, "a,id\n10,7\n20,8\n30,9\n", "id,y,gift\n9,yes,5\n7,no,0\n8,yes,2.5\n")
    assert rows[["id", "a", "y", "gift"]].to_numpy().tolist() == [
        ["7", "10", "no", "0"],
        ["8", "20", "yes", "2.5"],
        ["9", "30", "yes", "5"],
    ]


def test_message_names_a_row_without_a_label(tmp_path):
    with pytest.raises(DataError, match="small/t: has no label for id 8 of x"):
        read_by_key(tmp_path, "a,id\n10,7\n20,8\n", "id,y,gift\n7,no,0\n")


def test_two_labels_of_one_key_are_rejected(tmp_path):
    with pytest.raises(DataError, match="small/t: two labels have id 7"):
        read_by_key(tmp_path, "a,id\n10,7\n", "id,y,gift\n7,no,0\n7,yes,3\n")


@pytest.mark.parametrize(("rows", "labels", "named"), [("a\n1\n", "id,y,gift\n7,no,0\n", "x"),
                                                       ("a,id\n1,7\n", "y,gift\nno,0\n", "t")])  # fmt: skip
def test_both_files_must_have_the_key(tmp_path, rows, labels, named):
    with pytest.raises(DataError, match=f"small/{named}: has no column 'id', the key of the labels"):
        read_by_key(tmp_path, rows, labels)


def test_a_second_file_must_have_the_columns_of_the_first(tmp_path):
    put(tmp_path, "b", "y,p\nyes,1\n")
    card = make_card({"y": "target", "*": "infer"}, "x", "b", header=True)
    with pytest.raises(DataError, match="small/b: has no column 'q'"):
        read_original_files(card, put(tmp_path, "x", "y,p,q\nno,1,2\n"))


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
