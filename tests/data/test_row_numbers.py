"""Test splits by row numbers, the file with the row numbers, its card, and declared levels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from probcal.config.experiment import read_experiment
from probcal.data.cache import Note, read_cached, write_cached
from probcal.data.card import Card, read_card
from probcal.data.dataset import Dataset, assemble
from probcal.data.sources.files import read_original_files
from probcal.data.splits import read_row_numbers, repetitions_of, split_rows
from probcal.errors import DataError, FileProblems, RowError
from probcal.runner.identity import _split
from tests.data.small_cards import shipped_card

CARD = """
name: small
title: Small
columns: {x: numeric, colour: nominal, y: target}
positive: "yes"
split: {kind: rows, file: parts/small.json}
expect: {rows: 4, columns: 2}
files: [{format: delimited, files: [{name: small.csv}]}]
"""
ROWS = "0,red,yes\n1,blue,no\n2,red,yes\n3,red,no\n4,blue,no\n"
PUBLISHED = {"australian": 460, "breast": 191, "diabetes": 512, "echocardiogram": 87, "hepatitis": 103}
"""Data set -> training rows of the MLC++ distribution."""


def card_in(folder: Path, numbers: Any = None, text: str = CARD) -> Card:
    (folder / "parts").mkdir(exist_ok=True)
    (folder / "parts/small.json").write_text(json.dumps(numbers or {"train": [4, 0], "test": [3, 2]}))
    (folder / "small").mkdir(exist_ok=True)
    (folder / "small/small.csv").write_text(ROWS)
    (folder / "small.yaml").write_text(text)
    return read_card(folder / "small.yaml")


def data_of(card: Card) -> Dataset:
    return assemble(card, read_original_files(card, None))


def test_rows_train_and_test_in_the_order_of_the_file(tmp_path):
    card = card_in(tmp_path)
    data = data_of(card)
    train, test = split_rows(card, len(data.y), repetition=0, seed=1)
    assert data.X["x"].iloc[train].tolist() == [4, 0]
    assert data.X["x"].iloc[test].tolist() == [3, 2]
    assert data.y.tolist() == [0, 1, 0, 1]


def test_a_split_by_row_numbers_is_one_repetition(tmp_path):
    assert repetitions_of(card_in(tmp_path), 30) == 1


def test_other_row_numbers_change_digest_and_fingerprint(tmp_path):
    cards = [card_in(tmp_path, {"train": train, "test": [3, 2]}) for train in ([4, 0], [0, 4])]
    assert cards[0].digest != cards[1].digest
    assert _split(cards[0]) != _split(cards[1])


def test_the_fingerprint_ignores_the_path_of_the_row_numbers(tmp_path):
    assert "parts" not in str(_split(card_in(tmp_path)))


def test_the_fingerprint_of_an_older_split_never_changes():
    assert _split(shipped_card("adult")) == {
        "kind": "standard", "train": 32561, "train_fraction": None, "n_train": 32561
    }  # fmt: skip


def test_the_digest_of_an_older_card_never_changes():
    # with another digest, no cached data set is found
    assert shipped_card("diabetes").digest == "dd423eb2732dde75"


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"train": [0]}, 'needs the lists "train" and "test" of row numbers; "test" is none'),
        ([0, 1], '"train" is none'),
        ({"train": [], "test": [1]}, '"train" is none'),
        ({"train": [0, 1.0], "test": [2]}, '"train" holds 1.0; rows are counted 0, 1, 2'),
        ({"train": [0, True], "test": [2]}, '"train" holds True'),
        ({"train": [0, -1], "test": [2]}, '"train" holds -1'),
        ({"train": [0, 0], "test": [2]}, 'row 0 is twice in "train"'),
        ({"train": [0, 1], "test": [2, 1]}, 'row 1 is in "train" and in "test"'),
        ({"train": [0, 1], "test": [2]}, "small.json has 3 training and test rows, the card expects 4"),
    ],
)
def test_message_for_wrong_row_numbers_names_their_file(tmp_path, numbers, message):
    with pytest.raises(FileProblems) as caught:
        card_in(tmp_path, numbers)
    [problem] = caught.value.problems
    assert "parts/small.json" in problem.message
    assert message in problem.message


@pytest.mark.parametrize(("content", "message"), [("{", "is no JSON"), (None, "cannot be read: No such file")])
def test_message_names_an_unreadable_file_of_row_numbers(tmp_path, content, message):
    if content:
        (tmp_path / "rows.json").write_text(content)
    with pytest.raises(DataError, match=f"rows.json: {message}"):
        read_row_numbers(tmp_path / "rows.json")


@pytest.mark.parametrize("name", ["../small.json", "/tmp/small.json", "parts/../../small.json"])
def test_a_row_number_file_outside_the_card_folder_is_rejected(tmp_path, name):
    with pytest.raises(FileProblems, match="must lie below"):
        card_in(tmp_path, text=CARD.replace("parts/small.json", name))


def test_a_rows_split_of_an_experiment_is_rejected(tmp_path):
    config = tmp_path / "small.yaml"
    config.write_text(
        "name: small\ndatasets: [wine-first]\nlearners: [logistic]\nmethods: [direct]\n"
        "split: {kind: rows, file: parts/small.json}\n"
    )
    with pytest.raises(FileProblems, match=r"small\.yaml:5: a rows split belongs to one data set; write it on"):
        read_experiment(config)


def test_a_row_number_beyond_the_data_is_rejected(tmp_path):
    card = card_in(tmp_path, {"train": [4, 0], "test": [5, 2]})
    with pytest.raises(DataError, match=r"parts/small.json names row 5, counted from 0, of 5 rows"):
        data_of(card)


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("{kind: rows}", 'a rows split takes "file" and not "train"'),
        ("{kind: rows, file: parts/small.json, train: 2}", 'a rows split takes "file" and not "train"'),
        ("{kind: standard, file: parts/small.json, train: 2}", 'a standard split takes "train" and not "file"'),
        ("{kind: rows, rows: {train: [0], test: [1]}}", 'row numbers stand in a file of their own; name it: "file"'),
    ],
)
def test_a_kind_of_split_takes_only_its_keys(tmp_path, split, message):
    with pytest.raises(FileProblems, match=message):
        card_in(tmp_path, text=CARD.replace("{kind: rows, file: parts/small.json}", split))


def test_declared_levels_stay_in_order_even_if_unseen(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path / "cache"))
    card = card_in(tmp_path, text=CARD + "levels: {colour: [red, green, blue]}\n")
    data = data_of(card)
    assert list(data.X["colour"].cat.categories) == ["red", "green", "blue"]
    write_cached(data, Note("here", "", data.fingerprint()))
    cached = read_cached(card, data.fingerprint())
    assert list(cached.X["colour"].cat.categories) == ["red", "green", "blue"]
    assert cached.X["colour"].tolist() == ["blue", "red", "red", "red"]


def test_a_value_outside_the_declared_levels_is_rejected(tmp_path):
    with pytest.raises(RowError, match="row 5 has 'blue' in column 'colour', which is not among its levels"):
        data_of(card_in(tmp_path, text=CARD + "levels: {colour: [red, green]}\n"))


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ("{x: [1, 2]}", "levels: x is numeric; only a nominal column has levels"),
        ("{colour: [red, red]}", 'levels: colour has "red" twice'),
        ("{color: [red]}", 'the card has no column "color"; did you mean'),
    ],
)
def test_levels_that_match_no_column_are_rejected(tmp_path, levels, message):
    with pytest.raises(FileProblems, match=message):
        card_in(tmp_path, text=CARD + f"levels: {levels}\n")


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_split_uses_every_row_once(name):
    card = shipped_card(f"{name}-published")
    assert sorted(card.split.rows.in_order) == list(range(card.expect.rows))
    assert len(card.split.rows.train) == PUBLISHED[name]
    assert card.reading_of == name


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_split_equals_the_mlc_files(name, original_files):
    """Compare values and labels line by line, if the folder of original data files has the MLC++ files."""
    stem = Path(original_files) / "mlc" / {"breast": "breast-cancer"}.get(name, name)
    if not stem.with_suffix(".test").exists():
        pytest.skip(f"not at hand: {stem}.test")
    card = shipped_card(f"{name}-published")
    data = assemble(card, read_original_files(card, original_files))
    text = stem.with_suffix(".data").read_text() + stem.with_suffix(".test").read_text()
    lines = [line.split("|")[0].strip().rstrip(".") for line in text.splitlines()]
    theirs = pd.DataFrame([[value.strip() for value in line.split(",")] for line in lines if line])
    labels = theirs.pop(theirs.columns[-1])
    positive = {"breast": "recurrence-events", "diabetes": "2"}.get(name, "1")
    np.testing.assert_array_equal(data.y, labels == positive)
    for (_, ours), (_, column) in zip(data.X.items(), theirs.items(), strict=True):
        column = column.mask(column == "?")
        if ours.dtype == "category":
            assert ours.astype(object).equals(column.astype(object).where(column.notna(), np.nan))
        else:
            np.testing.assert_array_equal(ours, column.astype(float))
