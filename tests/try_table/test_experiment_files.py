"""Test that the files of a trial reproduce the table, whatever it holds."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from probcal.config.experiment import read_experiment
from probcal.data.encode import NumericEncoder
from probcal.data.load import obtain
from probcal.data.splits import fold_rows
from probcal.metrics import cross_entropy
from probcal.reading.table import UserTable
from probcal.reading.target import read_target
from probcal.reading.text_column import MISSING
from probcal.runner.cell import list_cells
from probcal.runner.execute import execute
from probcal.runner.identity import Identities
from probcal.try_table.column_types import ColumnChoices, infer_column
from probcal.try_table.experiment_files import Plan, table_files, write, yaml_text
from probcal.try_table.preparation import PreparedTable, TableRequest, card_names, prepare, slug
from probcal.try_table.split_choice import choose_splits, draw_sample, sample_size, stratified_sample
from probcal.yaml_file import YamlFile
from tests.try_table.own_tables import customers, written

often = settings(derandomize=True, deadline=None, max_examples=60)
anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
names = st.lists(anything | st.sampled_from(["*", "a..b", "x1..x9", "no", "1e-3", "null", "~", " "]), max_size=6)


def prepared_of(columns, labels):
    """Return the columns as a prepared table with all labels known and all rows used."""
    arrays = {name: pa.chunked_array([pa.array(values, from_pandas=True)]) for name, values in columns.items()}
    inferred = [infer_column(name, values, ColumnChoices(category=[name])) for name, values in arrays.items()]
    target = read_target("target", pd.Series(labels), "here")
    table = UserTable("here", "/here", list(arrays), list(arrays.values()))
    return PreparedTable(table, target, inferred, target.counts, np.arange(len(labels)))


@pytest.mark.slow
@often
@given(st.lists(st.tuples(anything, anything), min_size=5, max_size=12), names)
def test_any_text_is_read_back_except_for_blanks(rows, name):
    texts = [[" ".join(text.split()) for text in row] for row in rows]
    first, second = (pd.Series([None if row[side] in MISSING else row[side] for row in texts]) for side in (0, 1))
    columns = dict(zip(card_names([*name, "a", "b"])[-2:], (first, second), strict=True))
    if any(column.nunique() < 2 for column in columns.values()):
        return
    labels = ["yes", "no"] * (len(rows) // 2) + ["yes"] * (len(rows) % 2)
    dataset = table_files(prepared_of(columns, labels), "here").dataset
    stored, expected = (
        sorted(repr([None if pd.isna(value) else value for value in row]) for row in rows)
        for rows in (dataset.X.itertuples(index=False), zip(first, second, strict=True))
    )
    assert stored == expected
    assert list(dataset.X.columns) == list(columns)


@often
@given(st.lists(st.floats(allow_nan=True, allow_infinity=False), min_size=5, max_size=12))
def test_any_number_is_read_back_exactly(numbers):
    raw = pa.chunked_array([pa.array(numbers, pa.float64(), from_pandas=True)])
    column = infer_column("n", raw, ColumnChoices())
    if column.kind == "left out":
        return
    labels = ["yes", "no"] * (len(numbers) // 2) + ["yes"] * (len(numbers) % 2)
    target = read_target("target", pd.Series(labels), "here")
    table = UserTable("here", "/here", ["n"], [raw])
    dataset = table_files(PreparedTable(table, target, [column], target.counts, np.arange(len(labels))), "here").dataset
    assert sorted(dataset.X["n"].dropna()) == sorted(number for number in numbers if number == number)


@often
@given(anything)
def test_any_text_survives_as_yaml_value_and_key(text):
    content = {"a": text, text: [text, 1, True, {"b": 0.5}]}
    assert YamlFile("any.yaml", yaml_text(content)).data == content


@often
@given(names)
def test_card_names_are_unique_and_stable(found):
    clean = card_names(found)
    assert len(set(clean)) == len(found)
    assert "" not in clean and "*" not in clean
    assert card_names(clean) == clean


@pytest.mark.parametrize(
    ("text", "name"),
    [("Kunden 2026", "kunden-2026"), ("Ärger", "arger"), ("数据", "table"), ("-a_b-", "a_b"), ("", "table")],
)
def test_card_name_is_derived_from_the_file_name(text, name):
    assert slug(text, "table") == name


@often
@given(st.lists(st.sampled_from("aaaaabbc"), min_size=2, max_size=60), st.integers(1, 60), st.integers(0, 5))
def test_sample_keeps_the_class_shares(labels, size, seed):
    labels = np.array(labels, dtype=object)
    rows = stratified_sample(labels, size, seed)
    assert len(rows) == min(size, len(labels)) == len(set(rows))
    assert list(rows) == sorted(rows)
    for label in set(labels):
        assert abs((labels[rows] == label).sum() - len(rows) * (labels == label).mean()) <= 1


@pytest.mark.parametrize(
    ("rows", "columns", "limit", "size"),
    [
        (5_000, 20, None, 5_000),
        (1_000_000, 20, None, 10_000),
        (10_000, 2_000, None, 2_000),
        (10_000, 100_000, None, 1_000),
        (1_000_000, 20, 50_000, 50_000),
        (300, 20, 50_000, 300),
    ],
)
def test_wide_tables_are_sampled_unless_rows_are_requested(rows, columns, limit, size):
    assert sample_size(rows, columns, limit) == size


@pytest.mark.parametrize(("n_rare", "enriched"), [(40, {"yes": 40}), (400, {"yes": 250}), (600, {})])
def test_rare_classes_keep_their_rows_in_at_most_a_quarter_of_a_sample(n_rare, enriched):
    classes = np.array(["yes"] * n_rare + ["no"] * (10_000 - n_rare), dtype=object)
    sample = draw_sample(classes, classes, 1_000, 0)
    assert (sample.enriched_classes, len(sample.rows), len(set(sample.rows))) == (enriched, 1_000, 1_000)
    assert n_rare > 40 or set(range(40)) <= set(sample.rows)


def test_every_split_has_a_rare_class_on_both_sides(tmp_path):
    frame = customers(100).assign(left=["rare"] * 8 + ["usual"] * 92)
    prepared = prepare(TableRequest(str(written(frame, tmp_path / "c.csv")), "left"))
    dataset = table_files(prepared, "c").dataset
    split = dataset.card.split
    tests = [fold_rows(split, dataset.card.seed_name, dataset.X, dataset.y, number, 0)[1] for number in range(10)]
    assert all(1 <= dataset.y[test].sum() <= 2 for test in tests)


def test_imputation_and_scaling_use_only_training_rows(tmp_path):
    frame = customers(200)
    frame.loc[::7, "age"] = np.nan
    found = table_files(prepare(TableRequest(str(written(frame, tmp_path / "c.csv")), "left")), "c")
    plan = Plan({"log": {"type": "sklearn.linear_model.LogisticRegression"}}, {"direct": {}}, {}, choose_splits(10), 0)
    write(found, plan, tmp_path / "e.yaml", "t", "h")
    cell = list_cells(read_experiment(tmp_path / "e.yaml"))[1]
    obtain(cell.card)
    result = execute(cell, Identities().key(cell), "run").result
    X, y = found.dataset.X, found.dataset.y
    train, test = fold_rows(cell.card.split, cell.card.seed_name, X, y, 1, 0)
    assert len(train) == 160
    encoder = NumericEncoder().fit(X.iloc[train])
    by_hand = LogisticRegression().fit(encoder.transform(X.iloc[train]), y[train])
    p = by_hand.predict_proba(encoder.transform(X.iloc[test]))[:, 1]
    assert result.metrics["cxe"] == cross_entropy(y[test], p)


def test_card_of_many_columns_uses_a_default_type(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(60, 300)), columns=[f"g{i}" for i in range(300)])
    frame["c"], frame["left"] = random.choice(["u", "v"], 60), ["yes", "no"] * 30
    found = table_files(prepare(TableRequest(str(written(frame, tmp_path / "w.csv")), "left")), "w")
    assert found.dataset.X.shape == (60, 301)
    assert '"*": numeric' in found.card and "g17" not in found.card
