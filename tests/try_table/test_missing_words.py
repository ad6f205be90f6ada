"""Test whether words such as NA and None in the target are labels or missing values."""

import pytest

from tests.commands import refused
from tests.try_table.own_tables import customers, shown, written


def table(tmp_path, labels):
    return written(customers(120).assign(left=labels * (120 // len(labels))), tmp_path / "c.csv")


@pytest.mark.parametrize("word", ["NA", "nan", "None", "NULL"])
def test_missing_word_beside_one_label_is_a_label(tmp_path, word):
    text = shown(table(tmp_path, ["yes", word]))
    assert "target: left, 2 classes" in text
    assert f'note: "{word}" is read as a label of left (60 rows)' in text
    assert "missing values written as" not in text


def test_none_beside_words_is_a_label(tmp_path):
    assert "target: left, 3 classes" in shown(table(tmp_path, ["None", "mild", "severe"]))


def test_na_beside_two_labels_is_missing_by_default(tmp_path):
    path = table(tmp_path, ["NA", "mild", "severe"])
    text = shown(path)
    assert "target: left, 2 classes" in text
    assert "if it is a label, add --label NA" in " ".join(text.split())
    assert "target: left, 3 classes" in shown(path, "left", "--label", "NA")


def test_none_beside_numbers_is_missing(tmp_path):
    assert "target: left, 2 classes" in shown(table(tmp_path, ["None", "0", "1"]))


def test_unknown_label_is_rejected(tmp_path):
    path = table(tmp_path, ["yes", "no"])
    assert 'holds no "NA"' in refused("try", path, "-t", "left", "--label", "NA", "--dry-run")
