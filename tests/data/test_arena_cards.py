"""Test the cards of the calibration benchmark. ``test_shipped_cards.py`` checks the values of the available files."""

from __future__ import annotations

import csv

import pytest

from probcal.config.experiment import find_config, read_experiment
from probcal.data.card import card_names
from tests.data.small_cards import shipped_card

EARLIER = {"churn", "credit-g", "jm1", "magictelescope", "mammography", "phoneme", "qsar-biodeg"}
"""Tables of the benchmark whose cards are older than it."""
CARDS = sorted(name for name in card_names() if name.startswith("arena-"))
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


def test_cards_agree_with_the_index_of_the_benchmark(original_files):
    index = original_files / "arena" / "INDEX.csv"
    if not index.exists():
        pytest.skip("no index at hand")
    with index.open(encoding="utf-8") as file:
        tables = list(csv.DictReader(file))
    assert len(tables) == 60
    for table in tables:
        short = table["name"].lower()
        name = short if short in EARLIER else f"arena-{short}"
        card = shipped_card(name)
        assert card.expect.rows == (card.sample or int(table["rows"]) - LEFT_OUT.get(name, 0))
        assert card.columns[table["target_column"]] == "target"
        assert card.positive_labels == ([table["positive_label"]] if table["positive_label"] else [])
        nominal = {column for column, kind in card.columns.items() if kind == "nominal"}
        listed = set(filter(None, table["categorical_columns"].split(";")))
        assert nominal == listed - set(NO_INPUTS.get(name, []))


def test_the_experiment_names_every_table_once():
    names = [card.name for card in read_experiment(find_config("arena")).cards]
    assert len(names) == len(set(names)) == 103
    assert set(CARDS) - set(names) == {"arena-hypothyroid"}  # it has the patients of sick
