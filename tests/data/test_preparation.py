"""Test the preparation of all rows before any split."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from sklearn.preprocessing import StandardScaler

from probcal.data.dataset import assemble, prepare_columns
from probcal.data.sources.specifications import Preparation
from tests.data.small_cards import changed, make_card

COLUMNS = {"a": "numeric", "b": "nominal", "y": "target"}
ROWS = pd.DataFrame(
    {"a": [1.0, 2.0, np.nan, 6.0], "b": ["low", None, "high", "mid"], "y": ["yes", "no", "no", "yes"]}, dtype=object
)


def frame() -> pd.DataFrame:
    return pd.DataFrame({"a": [1.0, 2.0, np.nan, 6.0], "b": pd.Categorical(["low", None, "high", "mid"])})


def test_an_empty_preparation_changes_nothing():
    X, is_complete = prepare_columns(Preparation(), frame())
    pd.testing.assert_frame_equal(X, frame())
    assert is_complete.all()


def test_levels_become_their_sorted_positions():
    X, _ = prepare_columns(Preparation(nominal="codes"), frame())
    np.testing.assert_array_equal(X["b"], [1, np.nan, 0, 2])


def test_a_level_of_dropped_rows_still_has_a_code():
    X, is_complete = prepare_columns(Preparation(nominal="codes", missing="drop_rows"), frame())
    assert is_complete.tolist() == [True, False, False, True]
    assert X.to_numpy().tolist() == [[1, 1], [6, 2]]


def test_missing_values_get_the_mean_of_their_column():
    X, _ = prepare_columns(Preparation(nominal="codes", missing="column_mean"), frame())
    assert X["a"].tolist() == [1, 2, 3, 6] and X["b"].tolist() == [1, 1, 0, 2]


def test_scaling_equals_scikit_learn_on_all_rows():
    numbers = pd.DataFrame(np.random.default_rng(1).normal(3, 2, (50, 4))).assign(constant=7.0)
    numbers.iloc[3, 1] = np.nan
    X, _ = prepare_columns(Preparation(scale="all_rows"), numbers)
    np.testing.assert_allclose(X, StandardScaler().fit_transform(numbers.to_numpy()), atol=1e-12)


def test_nominal_columns_are_scaled_only_as_codes():
    X, _ = prepare_columns(Preparation(scale="all_rows"), frame())
    assert X["b"].dtype == "category" and abs(X["a"].mean()) < 1e-12


def test_a_card_expects_counts_after_dropped_rows():
    card = make_card(
        COLUMNS,
        "t.csv",
        prepare={"nominal": "codes", "missing": "drop_rows"},
        split={"kind": "same"},
        positive="no",
        expect={"rows": 3, "columns": 2, "classes": {"yes": 2, "no": 1}},
    )
    rows = ROWS.assign(a=[1.0, 2.0, 3.0, 6.0])
    dataset = assemble(card, rows)
    assert dataset.y.tolist() == [0, 1, 0] and dataset.X["a"].tolist() == [1, 3, 6]


def test_only_a_named_preparation_changes_the_digest():
    card = make_card(COLUMNS, "t.csv")
    plain = changed(card, prepare=None)
    scaled = changed(card, prepare={"scale": "all_rows"})
    assert card.digest == plain.digest != scaled.digest and card.reading == plain.reading != scaled.reading


def test_rows_of_a_published_split_cannot_be_dropped():
    split = {"kind": "rows", "file": "s.json", "rows": {"train": [0, 1], "test": [2, 3]}}
    with pytest.raises(ValidationError, match="drop_rows would take rows from the split"):
        make_card(COLUMNS, "t.csv", split=split, prepare={"missing": "drop_rows"})
