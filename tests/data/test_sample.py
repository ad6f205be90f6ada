"""Test the sample of rows that a card draws from a large table."""

from __future__ import annotations

import pandas as pd
import pytest
from pydantic import ValidationError

from probcal.data.dataset import assemble
from probcal.errors import DataError
from tests.data.small_cards import changed, make_card

COLUMNS = {"a": "numeric", "b": "nominal", "y": "target"}
ROWS = pd.DataFrame(
    {"a": range(100), "b": ["low", "high"] * 50, "y": (["yes"] + ["no"] * 3) * 25}, index=range(100, 200), dtype=object
)
CARD = make_card(COLUMNS, "t", sample=20, expect={"rows": 20, "columns": 2}, split={"kind": "k_fold", "folds": 2})


def test_sampled_rows_are_in_table_order():
    drawn = assemble(CARD, ROWS)
    places = drawn.X["a"].astype(int)
    assert len(drawn.y) == 20 and places.is_monotonic_increasing and places.is_unique
    assert (drawn.y == [ROWS["y"].iloc[place] == "yes" for place in places]).all()
    assert drawn.X["b"].tolist() == [ROWS["b"].iloc[place] for place in places]


def test_a_sample_always_has_the_same_rows():
    assert assemble(CARD, ROWS).fingerprint() == assemble(CARD, ROWS).fingerprint()


def test_a_card_of_another_name_draws_other_rows():
    assert assemble(CARD, ROWS).fingerprint() != assemble(changed(CARD, name="other"), ROWS).fingerprint()


def test_columns_are_prepared_before_the_sample():
    card = changed(CARD, prepare={"scale": "all_rows"})
    mean = (assemble(CARD, ROWS).X["a"] - 49.5) / ROWS["a"].astype(float).std(ddof=0)
    assert assemble(card, ROWS).X["a"].to_numpy() == pytest.approx(mean.to_numpy())


def test_a_sample_larger_than_the_table_is_rejected():
    with pytest.raises(DataError, match="draws a sample of 20 rows, and there are 10; lower sample"):
        assemble(CARD, ROWS[:10])


def test_an_expected_count_other_than_the_sample_is_rejected():
    with pytest.raises(ValidationError, match="draws 20 rows, and the card expects 100; write the same number"):
        changed(CARD, expect={"rows": 100, "columns": 2})


def test_a_card_without_a_sample_has_its_old_digest():
    card = changed(CARD, sample=None)
    assert card.digest == make_card(COLUMNS, "t", expect=card.expect, split=card.split).digest != CARD.digest
