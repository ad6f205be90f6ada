"""Splits of whole groups: the card, the order of the rows, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from probcal.data.card import Card, read_card
from probcal.data.dataset import Dataset, assemble
from probcal.data.sources.files import read_original_files
from probcal.data.splits import repetitions_of, split_rows
from probcal.errors import DataError, FileProblems
from probcal.runner.fingerprint import _split
from probcal.store.outline import Row

CARD = """
name: small
title: Small
columns: {patient: ignore, x: numeric, y: target}
positive: "yes"
split: {kind: group_holdout, column: patient, train: 6}
expect: {rows: 9, columns: 1}
files: [{format: delimited, files: [{name: small.csv}]}]
"""
ROWS = [("a", 0), ("b", 1), ("a", 2), ("c", 3), ("b", 4), ("c", 5), ("c", 6), ("a", 7), ("b", 8)]
"""Patient and x of each row. Every patient has three rows."""


def card_in(folder: Path, text: str = CARD, rows: list[tuple[str, int]] = ROWS) -> Card:
    name = read_name(text)
    (folder / name).mkdir(exist_ok=True)
    lines = [f"{patient},{x},{'yes' if x % 2 else 'no'}" for patient, x in rows]
    (folder / name / "small.csv").write_text("\n".join(lines) + "\n")
    (folder / f"{name}.yaml").write_text(text)
    return read_card(folder / f"{name}.yaml")


def read_name(text: str) -> str:
    return text.split("name: ")[1].splitlines()[0]


def data_of(card: Card) -> Dataset:
    return assemble(card, read_original_files(card, None))


def sides(card: Card) -> tuple[list[str], list[str]]:
    """The patients that train, and those that test, row by row."""
    data, patients = data_of(card), {float(x): patient for patient, x in ROWS}
    found = [[patients[x] for x in data.X["x"].iloc[rows]] for rows in split_rows(card, len(data.y), 0, seed=1)]
    return found[0], found[1]


def test_a_group_is_on_one_side(tmp_path):
    train, test = sides(card_in(tmp_path))
    assert (len(train), len(test)) == (6, 3)
    assert not set(train) & set(test)


def test_rows_of_a_group_keep_their_order(tmp_path):
    data = data_of(card_in(tmp_path))
    patients = pd.Series({float(x): patient for patient, x in ROWS})
    for _, of_one in data.X["x"].groupby(patients[data.X["x"]].to_numpy()):
        assert of_one.is_monotonic_increasing


def test_labels_stay_with_their_rows(tmp_path):
    data = data_of(card_in(tmp_path))
    assert (data.y == data.X["x"] % 2).all()


def test_the_draw_of_groups_never_changes(tmp_path):
    # another draw would make stored results those of other rows
    assert sides(card_in(tmp_path))[1] == ["c", "c", "c"]


def test_cards_of_other_names_draw_other_groups(tmp_path):
    texts = [CARD.replace("name: small\n", f"name: small-{number}\n") for number in range(10)]
    assert {sides(card_in(tmp_path, text))[1][0] for text in texts} == {"a", "b", "c"}


def test_a_group_holdout_is_one_repetition(tmp_path):
    assert repetitions_of(card_in(tmp_path), 30) == 1


def test_the_column_of_the_groups_is_in_the_fingerprint(tmp_path):
    assert _split(card_in(tmp_path))["column"] == "patient"


def test_a_group_holdout_is_not_the_split_of_a_paper():
    row = Row(name="small", title="Small", split="group_holdout")
    assert row.fixed and row.random


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("{kind: group_holdout, train: 6}", 'takes "column", which names the groups, and "train", and no other key'),
        ("{kind: group_holdout, column: patient}", 'takes "column", which names the groups, and "train"'),
        ("{kind: group_holdout, column: patient, train: 6, train_fraction: 0.5}", "and no other key"),
        ("{kind: standard, column: patient, train: 6}", 'a standard split takes "train" and not "column"'),
        ("{kind: group_holdout, column: patent, train: 6}", 'split: the card has no column "patent"; did you mean'),
        ("{kind: group_holdout, column: y, train: 6}", "split: y is the target; name the column of the groups"),
        ("{kind: group_holdout, column: patient, train: 9}", "9 training rows of 9 leave none to test on"),
    ],
)
def test_a_wrong_key_of_a_group_holdout_is_refused(tmp_path, split, message):
    with pytest.raises(FileProblems, match=message):
        card_in(tmp_path, CARD.replace("{kind: group_holdout, column: patient, train: 6}", split))


def test_a_number_that_divides_a_group_is_refused(tmp_path):
    card = card_in(tmp_path, CARD.replace("train: 6", "train: 5"))
    with pytest.raises(
        DataError, match="small: 5 training rows would divide a group of column 'patient'; the nearest number is 6"
    ):
        data_of(card)


def test_one_group_alone_cannot_be_split(tmp_path):
    card = card_in(tmp_path, rows=[("a", x) for x in range(9)])
    with pytest.raises(DataError, match="there is only one group"):
        data_of(card)


def test_a_row_without_a_group_is_refused(tmp_path):
    card = card_in(tmp_path, CARD.replace("delimited,", 'delimited, missing: ["?"],'), [("?", 0), *ROWS[1:]])
    with pytest.raises(DataError, match="row 1 has no value in column 'patient', so no group"):
        data_of(card)
