"""Test which rows assemble rejects and what a Dataset and its fingerprint contain."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from probcal.data.cache import Note, is_cached, read_cached, write_cached
from probcal.data.dataset import assemble
from probcal.data.text_values import sort_labels
from probcal.errors import DataError
from tests.data.small_cards import changed, make_card

COLUMNS = {"size": "numeric", "colour": "nominal", "y": "target"}
ROWS = pd.DataFrame(
    {
        "size": ["3", "1.5", None, "-0.0"],
        "colour": ["red", "blue", "red", None],
        "y": ["yes", "no", "no", "yes"],
    }
)
CARD = make_card(COLUMNS, "f", expect={"rows": 4, "columns": 2, "classes": {"yes": 2, "no": 2}})
IN_FILE_ORDER = changed(CARD, split={"kind": "chronological", "train": 2})


def refused(rows, card=CARD) -> str:
    with pytest.raises(DataError) as caught:
        assemble(card, rows)
    return str(caught.value)


class TestFinishedColumns:
    def test_numbers_are_float64_with_nan_for_missing(self):
        size = assemble(IN_FILE_ORDER, ROWS).X["size"]
        assert size.dtype == np.float64
        np.testing.assert_array_equal(size, [3, 1.5, np.nan, 0])

    def test_levels_are_sorted_text(self):
        colour = assemble(IN_FILE_ORDER, ROWS).X["colour"]
        assert list(colour.cat.categories) == ["blue", "red"]
        assert colour.isna().tolist() == [False, False, False, True]

    def test_text_numbers_and_categories_give_the_same_data_set(self):
        as_numbers = ROWS.assign(size=[3.0, 1.5, np.nan, 0.0])
        as_categories = ROWS.astype("category")
        prints = {assemble(IN_FILE_ORDER, rows).fingerprint() for rows in (ROWS, as_numbers, as_categories)}
        assert len(prints) == 1

    def test_every_digit_of_a_number_counts(self):
        texts = ["0.1", "0.30000000000000004", "1e-7", "123456789.123456789"]
        size = assemble(IN_FILE_ORDER, ROWS.assign(size=texts)).X["size"]
        assert size.tolist() == [float(text) for text in texts]

    def test_whole_number_levels_and_labels_have_no_decimal_point(self):
        rows = ROWS.assign(colour=[2.0, 1.0, 2.0, np.nan], y=[1.0, 0.0, 0.0, 1.0])
        card = changed(IN_FILE_ORDER, positive="1", expect={"rows": 4, "columns": 2, "classes": {"0": 2, "1": 2}})
        assert list(assemble(card, rows).X["colour"].cat.categories) == ["1", "2"]

    def test_missing_codes_apply_to_their_own_column_only(self):
        card = changed(IN_FILE_ORDER, columns=COLUMNS | {"colour": "numeric"}, missing_codes={"size": ["3"]})
        X = assemble(card, ROWS.assign(colour=["3", "3", "3", "3"])).X
        assert X["size"].isna().tolist() == [True, False, True, False]
        assert X["colour"].tolist() == [3, 3, 3, 3]

    def test_an_inferred_column_without_values_is_numeric(self):
        card = changed(IN_FILE_ORDER, columns=COLUMNS | {"size": "infer"})
        assert assemble(card, ROWS.assign(size=None)).X["size"].dtype == np.float64

    def test_several_labels_can_be_positive(self):
        card = changed(IN_FILE_ORDER, positive=["a", "b"], expect={"rows": 4, "columns": 2})
        assert assemble(card, ROWS.assign(y=["a", "c", "b", "d"])).y.tolist() == [1, 0, 1, 0]


class TestSeveralClasses:
    CARD = changed(IN_FILE_ORDER, task="multiclass", positive=[], expect={"rows": 4, "columns": 2})

    @pytest.mark.parametrize(
        ("labels", "y"),
        [
            (["10", "9", "2", "10"], [2, 1, 0, 2]),
            ([10.0, 9, 2, 10], [2, 1, 0, 2]),
            (["0.5", "-1", "1e1", "2"], [1, 0, 3, 2]),
            (["red", "blue", "green", "red"], [2, 0, 1, 2]),
            (["10", "9", "other", "10"], [0, 1, 2, 0]),  # not all are numbers, so text order
            (["b", "B", "a", "a"], [2, 0, 1, 1]),
        ],
    )
    def test_y_is_the_index_of_the_sorted_label(self, labels, y):
        dataset = assemble(self.CARD, ROWS.assign(y=labels))
        assert dataset.y.dtype == np.int8
        assert dataset.y.tolist() == y

    def test_two_spellings_of_a_number_are_two_labels(self):
        assert sort_labels(["2", "1.0", "1", "01"]) == sort_labels(["01", "1", "2", "1.0"]) == ["01", "1", "1.0", "2"]

    def test_counts_of_the_classes_are_checked(self):
        expect = {"rows": 4, "columns": 2, "classes": {"a": 1, "b": 1, "c": 2}}
        message = refused(ROWS.assign(y=["a", "b", "b", "c"]), changed(self.CARD, expect=expect))
        assert "the classes are {'a': 1, 'b': 2, 'c': 1}, the card expects {'a': 1, 'b': 1, 'c': 2}" in message

    def test_two_labels_are_rejected_on_a_multiclass_card(self):
        assert "of a multiclass card holds the labels ['no', 'yes'] only; for two, leave" in refused(ROWS, self.CARD)

    def test_more_than_128_labels_are_rejected(self):
        rows = pd.DataFrame({"size": "1", "colour": "red", "y": [str(number) for number in range(129)]})
        card = changed(self.CARD, expect={"rows": 129, "columns": 2})
        assert "holds 129 labels, at most 128 are taken" in refused(rows, card)
        card = changed(self.CARD, expect={"rows": 128, "columns": 2})
        assert assemble(card, rows.iloc[:128]).y.tolist() == list(range(128))


class TestWhatIsRefused:
    def test_a_table_without_rows_is_rejected(self):
        assert "holds no rows" in refused(ROWS.iloc[:0])

    @pytest.mark.parametrize("nothing", [None, np.nan, pd.NA])
    def test_missing_labels_are_rejected(self, nothing):
        message = refused(ROWS.assign(y=["yes", "no", nothing, nothing]))
        assert "2 rows have no label in column 'y' (the first is row 3)" in message
        assert "drop_unlabelled" in message

    def test_a_positive_label_of_no_row_is_rejected(self):
        card = changed(CARD, positive="Yes", expect={"rows": 4, "columns": 2})
        assert "no row has the positive label ['Yes']; the labels are ['no', 'yes']" in refused(ROWS, card)

    def test_positive_labels_of_all_rows_are_rejected(self):
        card = changed(CARD, positive=["yes", "no"], expect={"rows": 4, "columns": 2})
        assert "every row has a positive label" in refused(ROWS, card)

    def test_other_class_counts_are_rejected(self):
        message = refused(ROWS.assign(y=["yes", "no", "no", "no"]))
        assert "the classes are {'no': 3, 'yes': 1}, the card expects {'yes': 2, 'no': 2}" in message

    def test_other_numbers_of_rows_and_columns_are_rejected(self):
        card = changed(CARD, expect={"rows": 5, "columns": 2})
        assert "small: 4 rows arrived, the card expects 5" in refused(ROWS, card)
        card = changed(CARD, expect={"rows": 4, "columns": 3})
        assert "small: 2 columns arrived, the card expects 3" in refused(ROWS, card)

    @pytest.mark.parametrize("value", ["tall", "1,5", "nan", "inf", float("inf")])
    def test_message_names_the_row_without_a_finite_number(self, value):
        message = refused(ROWS.assign(size=["3", "1", value, "2"]))
        assert f"column 'size' is numeric on the card, but row 3 holds {value!r}" in message

    def test_row_numbers_in_messages_count_unlabelled_rows(self):
        card = changed(CARD, drop_unlabelled=True, expect={"rows": 3, "columns": 2})
        rows = ROWS.assign(y=["yes", None, "no", "no"], size=["1", "x", "2", "tall"])
        assert "row 4 holds 'tall'" in refused(rows, card)

    def test_a_missing_column_is_rejected(self):
        message = refused(ROWS.rename(columns={"colour": "color"}))
        assert "the data have no column 'colour', which the card names; did you mean \"color\"?" in message

    def test_values_that_contradict_the_fingerprint_are_rejected(self):
        fingerprint = assemble(CARD, ROWS).fingerprint()
        card = changed(CARD, expect=CARD.expect.model_dump() | {"fingerprint": fingerprint})
        assert assemble(card, ROWS).fingerprint() == fingerprint
        assert "the values are not those the card expects" in refused(ROWS.assign(size="1"), card)


class TestOrderOfRows:
    def test_holdout_data_ignore_the_row_order_of_the_source(self):
        prints = {assemble(CARD, ROWS.sample(frac=1, random_state=seed)).fingerprint() for seed in range(10)}
        assert len(prints) == 1

    def test_rows_that_differ_only_in_label_are_sorted(self):
        rows = ROWS.assign(size="1", colour="red")
        assert assemble(CARD, rows).fingerprint() == assemble(CARD, rows[::-1]).fingerprint()

    def test_chronological_rows_stay_in_file_order(self):
        assert assemble(IN_FILE_ORDER, ROWS[::-1]).y.tolist() == [1, 0, 0, 1][::-1]
        assert assemble(IN_FILE_ORDER, ROWS).fingerprint() != assemble(IN_FILE_ORDER, ROWS[::-1]).fingerprint()


@pytest.mark.parametrize(
    "change",
    [
        {"size": ["3", "1.5", None, "1e-300"]},
        {"size": ["3", "1.5000000000000002", None, "0"]},
        {"size": ["3", "1.5", "0", None]},
        {"colour": ["red", "blue", "red", "red"]},
        {"colour": ["blue", "red", "blue", None]},
        {"colour": ["Red", "blue", "Red", None]},
        {"y": ["no", "yes", "no", "yes"]},
    ],
)
def test_any_changed_value_changes_the_fingerprint(change):
    assert assemble(IN_FILE_ORDER, ROWS.assign(**change)).fingerprint() != assemble(IN_FILE_ORDER, ROWS).fingerprint()


def test_a_changed_column_name_or_kind_changes_the_fingerprint():
    rows = ROWS.assign(size=["3", "1", "2", "2"])
    renamed = changed(IN_FILE_ORDER, columns={"Size": "numeric", "colour": "nominal", "y": "target"})
    nominal = changed(IN_FILE_ORDER, columns=COLUMNS | {"size": "nominal"})
    prints = {
        assemble(IN_FILE_ORDER, rows).fingerprint(),
        assemble(renamed, rows.rename(columns={"size": "Size"})).fingerprint(),
        assemble(nominal, rows).fingerprint(),
    }
    assert len(prints) == 3


def test_negative_zero_and_zero_have_the_same_fingerprint():
    assert (
        assemble(IN_FILE_ORDER, ROWS).fingerprint()
        == assemble(IN_FILE_ORDER, ROWS.assign(size=["3", "1.5", None, "0"])).fingerprint()
    )


def test_the_cache_stores_a_nominal_column_without_values(monkeypatch, tmp_path):
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path))
    dataset = assemble(CARD, ROWS.assign(colour=None))
    assert dataset.X["colour"].isna().all()
    write_cached(dataset, Note("here", "contents", dataset.fingerprint()))
    again = read_cached(dataset.card, dataset.fingerprint())
    pd.testing.assert_frame_equal(again.X, dataset.X)


def test_the_cache_stores_names_levels_and_missing_values(monkeypatch, tmp_path):
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path))
    colours = ["réd", "a\nb", None, ""] * len(ROWS)
    dataset = assemble(CARD, ROWS.assign(colour=colours[: len(ROWS)]))
    write_cached(dataset, Note("here", "contents", dataset.fingerprint()))
    pd.testing.assert_frame_equal(read_cached(dataset.card, dataset.fingerprint()).X, dataset.X)


def test_a_parquet_cache_of_an_earlier_version_is_read(monkeypatch, tmp_path):
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path))
    dataset = assemble(CARD, ROWS)
    write_cached(dataset, Note("here", "contents", dataset.fingerprint()))
    [kept] = tmp_path.glob("data/*/X.npz")
    kept.unlink()
    assert not is_cached(dataset.fingerprint())
    dataset.X.to_parquet(kept.with_name("X.parquet"))
    assert is_cached(dataset.fingerprint())
    assert read_cached(dataset.card, dataset.fingerprint()).fingerprint() == dataset.fingerprint()
