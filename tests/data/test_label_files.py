"""Test labels in a separate file, matched line by line (COIL 2000) or by a key (KDD Cup 98)."""

from __future__ import annotations

import pytest

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
