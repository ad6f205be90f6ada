"""Test which rows of a split train, which rows a sample has, and what these choices depend on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from probcal.data.card import Card
from probcal.data.dataset import assemble
from probcal.data.splits import split_rows, stream_seed
from probcal.errors import DataError
from tests.data.small_cards import changed, make_card


def card(name="golden", n_rows=20, **split):
    return Card(
        name=name,
        title="A card",
        columns={"x": "numeric", "y": "target"},
        positive=["1"],
        split=split or {"kind": "holdout", "train_fraction": 0.66},
        expect={"rows": n_rows, "columns": 1},
        bundled={"loader": "load_wine"},
    )


def training_rows(*, name="golden", repetition=0, seed=2005):
    return split_rows(card(name), 20, repetition, seed)[0].tolist()


def test_a_random_split_never_changes():
    # With another split, every stored result of a random split would belong to other rows
    train, test = split_rows(card(), 20, repetition=0, seed=2005)
    assert train.tolist() == [6, 18, 0, 13, 8, 15, 9, 5, 16, 14, 7, 1, 17]
    assert test.tolist() == [3, 11, 12, 19, 10, 4, 2]


def test_a_same_split_trains_and_tests_on_all_rows_once():
    train, test = split_rows(card(kind="same"), 20, repetition=3, seed=1)
    assert train.tolist() == test.tolist() == list(range(20))


def test_a_same_split_rejects_a_size():
    with pytest.raises(ValueError, match='no "train" and no "train_fraction"'):
        card(kind="same", train_fraction=0.5)


def test_stream_seeds_never_change():
    assert stream_seed(2005, "split", "golden", 0) == 16051731998342611209


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.integers(2, 400),
    st.integers(0, 5),
    st.integers(0, 2**40),
    st.floats(0.001, 0.999),
    st.sampled_from(["holdout", "standard", "chronological"]),
)
def test_every_row_is_in_exactly_one_part(n_rows, repetition, seed, fraction, kind):
    n_train = min(max(round(fraction * n_rows), 1), n_rows - 1)
    size = {"train_fraction": n_train / n_rows} if kind == "holdout" else {"train": n_train}
    one = card(n_rows=n_rows, kind=kind, **size)
    train, test = split_rows(one, n_rows, repetition, seed)
    assert sorted([*train, *test]) == list(range(n_rows))
    assert len(train) == n_train


@pytest.mark.parametrize(
    ("n_rows", "expected"),
    [
        pytest.param(768, 507, id="Diabetes, 506.88"),
        pytest.param(351, 232, id="Ionosphere, 231.66"),
        pytest.param(699, 461, id="Breast, 461.34"),
        pytest.param(155, 102, id="Hepatitis, 102.3"),
        pytest.param(25, 16, id="16.5, to the even"),
        pytest.param(75, 50, id="49.5, to the even"),
    ],
)
def test_66_percent_is_rounded_to_the_nearest_row(n_rows, expected):
    assert len(split_rows(card(n_rows=n_rows), n_rows, 0, 2005)[0]) == expected


def test_a_split_ignores_the_global_generator():
    first = training_rows()
    np.random.seed(0)
    training_rows(repetition=7)
    assert training_rows() == first


@pytest.mark.parametrize("change", [{"repetition": 1}, {"seed": 2006}, {"name": "silver"}])
def test_the_split_depends_on_repetition_seed_and_data_set(change):
    assert training_rows(**change) != training_rows()


@pytest.mark.parametrize("kind", ["standard", "chronological"])
def test_a_fixed_split_ignores_the_seed(kind):
    for seed in (0, 2005):
        train, test = split_rows(card(kind=kind, train=15), 20, repetition=0, seed=seed)
        assert train.tolist() == list(range(15))
        assert test.tolist() == list(range(15, 20))


def test_seeds_of_similar_names_differ():
    parts = [("fit", "a/0"), ("fit", "a/1"), ("split", "a/0"), ("fita", "/0"), (2005, "fit"), (2006, "fit")]
    assert len({stream_seed(*one) for one in parts}) == len(parts)


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
