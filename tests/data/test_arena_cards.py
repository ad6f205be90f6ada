"""The cards of the sixty tables of the benchmark. Most are checked in ``test_cards.py``, with the file at hand."""

from __future__ import annotations

import csv

import pytest

from probcal.data.card import card_names
from tests.data.small_cards import shipped_card

EARLIER = {"churn", "credit-g", "jm1", "magictelescope", "mammography", "phoneme", "qsar-biodeg"}
"""Tables of the benchmark whose cards are older than it."""
CARDS = sorted({name for name in card_names() if name.startswith("arena-")} | EARLIER)
LEFT_OUT = {"arena-hypothyroid": 2, "arena-nursery": 2}
"""Cards that leave out the rows of a class of two."""
NO_INPUTS = {
    "arena-analcatdata_authorship": ["BookID"],
    "arena-breast-w": ["id"],
    "arena-cells-hcs": ["case"],
    "arena-churn-tv-subscriptions": ["C_FN", "C_FP", "C_TN", "C_TP", "id"],
    "arena-climate-model-simulation-crashes": ["Run", "Study"],
    "arena-credit_card_clients_default": ["ID"],
    "arena-cylinder-bands": ["customer", "cylinder_number", "job_number", "timestamp"],
    "arena-givemesomecredit": ["id"],
    "arena-mammographic": ["BIRADS"],
    "arena-ozone-onehr": ["Date"],
    "arena-parkinsons": ["name"],
    "arena-splice": ["instance"],
}
"""Columns that identify a row, or know its label, or are costs."""


def test_sixty_tables_have_cards():
    assert len(CARDS) == 60


@pytest.mark.parametrize("name", CARDS)
def test_at_most_3000_rows_train_and_the_card_says_so(name):
    card = shipped_card(name)
    n_train = card.split.n_train(card.expect.rows)
    assert n_train <= 3000
    assert ("At most 3,000 rows train." in card.about) == (card.split.train_fraction != 0.66)


@pytest.mark.parametrize("name", CARDS)
def test_identifiers_are_no_inputs(name):
    ignored = sorted(column for column, kind in shipped_card(name).columns.items() if kind == "ignore")
    assert ignored == NO_INPUTS.get(name, [])


@pytest.mark.parametrize("name", [name for name in CARDS if shipped_card(name).task == "multiclass"])
def test_each_class_has_rows_to_learn_and_to_calibrate(name):
    assert min(shipped_card(name).expect.classes.values()) >= 5


def test_the_cards_agree_with_the_index(original_files):
    index = original_files / "arena" / "INDEX.csv"
    if not index.exists():
        pytest.skip("no index at hand")
    with index.open(encoding="utf-8") as file:
        tables = list(csv.DictReader(file))
    for table in tables:
        short = table["name"].lower()
        name = short if short in EARLIER else f"arena-{short}"
        card = shipped_card(name)
        assert card.expect.rows == int(table["rows"]) - LEFT_OUT.get(name, 0)
        assert card.columns[table["target_column"]] == "target"
        assert card.positive_labels == ([table["positive_label"]] if table["positive_label"] else [])
        nominal = {column for column, kind in card.columns.items() if kind == "nominal"}
        listed = set(filter(None, table["categorical_columns"].split(";")))
        assert nominal == listed - set(NO_INPUTS.get(name, []))
