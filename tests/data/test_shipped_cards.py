"""Test that each shipped card is valid, and that each available source gives what its card expects."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from probcal.data.card import Card, card_names
from probcal.data.dataset import Dataset, assemble
from probcal.data.sources.files import missing_files, read_original_files
from probcal.data.text_values import sort_labels
from tests.data.small_cards import changed, shipped_card

PAPER = {
    "adult", "australian", "biology", "breast", "coil", "diabetes", "echocardiogram", "hepatitis",
    "ionosphere", "kdd98", "kr-vs-kp", "liver", "mushroom", "physics", "sick",
}  # fmt: skip
NEVER_SEEN = {"kdd98": "not at hand", "physics": "not at hand", "kull-lung-cancer": "not at hand"}
"""Cards whose files nobody could read yet, and the words of the card that say so."""
LARGE = {"biology", "biology-by-block", "biology-file-order", "covertype"}
"""Cards whose files a folder of original files may lack: they are 70 MB and more."""
CARDS = {name: shipped_card(name) for name in card_names()}
SOURCES = [
    pytest.param(name, number, marks=() if name in PAPER - LARGE else pytest.mark.slow)
    for name, card in CARDS.items() for number in range(len(card.files))
]  # fmt: skip


def one_source(card: Card, number: int) -> Card:
    return changed(card, files=[card.files[number].model_dump()])


@pytest.fixture(scope="module")
def dataset(original_files):
    """Return ``dataset(name)``, which reads the first source of the card."""
    known: dict[str, Dataset] = {}

    def read(name: str) -> Dataset:
        if name not in known:
            known[name] = assemble(CARDS[name], read_original_files(CARDS[name], original_files))
        return known[name]

    return read


def test_the_fifteen_data_sets_of_the_paper_have_cards():
    assert not PAPER - set(CARDS)


def test_every_card_has_counts_checksums_and_fingerprint():
    """Check the cards alone. The test does not need the data files."""
    for name, card in CARDS.items():
        parts = [part for source in card.files for file in source.files for part in (file, file.labels) if part]
        if name in NEVER_SEEN:
            assert NEVER_SEEN[name] in card.about and card.expect.fingerprint is None, name
        elif card.generator:
            assert card.expect.fingerprint is None, name
        else:
            assert all(len(part.sha256 or "") == 64 for part in parts), name
            assert len(card.expect.fingerprint or "") == 64, name
            assert sum((card.expect.classes or {}).values()) == card.expect.rows, name


@pytest.mark.parametrize(("name", "number"), SOURCES)
def test_each_source_gives_the_expected_data_set(name, number, original_files):
    card = one_source(CARDS[name], number)
    if missing := missing_files(card, original_files):
        assert name in LARGE or name in NEVER_SEEN
        pytest.skip(f"not at hand: {', '.join(missing)}")
    dataset = assemble(card, read_original_files(card, original_files))  # assemble checks counts and fingerprint
    counts = card.expect.classes
    if counts is None:
        assert name in NEVER_SEEN  # the card is correct even if its file becomes available later
    elif card.task == "multiclass":
        assert np.bincount(dataset.y).tolist() == [counts[label] for label in sort_labels(counts)]
    else:
        assert dataset.y.sum() == sum(counts[label] for label in card.positive_labels)


@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.bundled])
def test_a_bundled_data_set_is_as_its_card_expects(name):
    assemble(CARDS[name], CARDS[name].bundled.rows(CARDS[name].target))


@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.reading_of])
def test_a_reading_differs_from_its_original_card(name):
    card, other = CARDS[name], CARDS[CARDS[name].reading_of]
    assert name.startswith(f"{other.name}-") and other.name in {*PAPER, "covertype"} and other.reading_of is None
    assert card.expect.fingerprint != other.expect.fingerprint or card.split != other.split
    assert (card.folder or name) == (other.folder or other.name)


class TestKnownRows:
    """Check single rows that a person read in the original files."""

    def test_adult_has_the_training_file_before_the_test_file(self, dataset):
        X, y = dataset("adult").X, dataset("adult").y
        assert X.loc[0, ["age", "workclass", "fnlwgt"]].tolist() == [39, "State-gov", 77516]
        assert X.loc[32560, ["age", "capital-gain"]].tolist() == [52, 15024] and y[32560] == 1
        assert X.loc[32561, ["age", "education", "fnlwgt"]].tolist() == [25, "11th", 226802]
        assert X.loc[48841, ["age", "fnlwgt"]].tolist() == [35, 182148] and y[48841] == 1
        assert (y[:32561].sum(), y[32561:].sum()) == (7841, 3846)

    def test_coil_has_the_learning_rows_first_with_their_labels(self, dataset):
        X, y = dataset("coil").X, dataset("coil").y
        assert X.loc[0, ["MOSTYPE", "MAANTHUI", "MGEMOMV", "MGEMLEEF"]].tolist() == [33, 1, 3, 2]
        assert X.loc[5822, ["MOSTYPE", "MAANTHUI", "MGEMOMV", "MGEMLEEF"]].tolist() == [33, 1, 4, 2]
        assert (y[:5822].sum(), y[5822:].sum()) == (348, 238)
        assert y[5822:5825].tolist() == [0, 1, 0]

    def test_bank_marketing_is_in_order_of_time(self, dataset):
        X, y = dataset("bank-marketing").X, dataset("bank-marketing").y
        assert X.loc[0, ["age", "job", "balance", "month"]].tolist() == [58, "management", 2143, "may"]
        assert X.loc[45208, ["age", "poutcome", "duration"]].tolist() == [72, "success", 1127] and y[45208] == 1

    def test_echocardiogram_has_no_column_that_reveals_the_label(self, dataset):
        X = dataset("echocardiogram").X
        assert list(X) == ["age", "pericardial-effusion", "fractional-shortening", "epss", "lvdd", "wall-motion-index"]
        assert not (X["pericardial-effusion"] == 77).any()
        assert ((X == [71, 0, 0.26, 9, 4.6, 1]).all(axis=1) & (dataset("echocardiogram").y == 0)).any()


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
