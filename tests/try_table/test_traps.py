"""Test that columns and rows that make results too good are named, with the option that helps."""

import numpy as np
import pandas as pd
import pytest

from probcal.try_table.experiment_files import table_files
from probcal.try_table.preparation import TableRequest, prepare
from probcal.try_table.traps import find_traps
from tests.commands import refused
from tests.try_table.own_tables import customers, shown, written


def traps(frame, tmp_path, **request):
    prepared = prepare(TableRequest(str(written(frame, tmp_path / "c.csv")), "left", **request))
    return find_traps(prepared, table_files(prepared, "c").dataset, 0)


def text_of(frame, tmp_path, **request):
    return " ".join(traps(frame, tmp_path, **request).lines)


def test_an_ordinary_table_has_no_traps(tmp_path):
    assert traps(customers(200).drop(columns="since"), tmp_path).lines == []


@pytest.mark.parametrize("reasons", [["moved", "price", "other"], np.arange(-1, 1, 0.01).round(3)])
def test_missing_values_that_tell_the_class_are_named(tmp_path, reasons):
    frame = customers(200)
    drawn = np.random.default_rng(0).choice(reasons, 200).astype(object)
    found = traps(frame.assign(reason=np.where(frame["left"] == "yes", drawn, None)), tmp_path)
    assert found.leaks == ["reason"]
    assert '"reason": whether it is missing tells the class (AUC 1.000 alone)' in " ".join(found.lines)


def test_column_that_predicts_the_class_alone_is_named(tmp_path):
    frame = customers(200)
    random = np.random.default_rng(0)
    frame["fee"] = (frame["left"] == "yes") * 5 + random.normal(size=200).round(3)  # between two ranges, not at an end
    frame.loc[frame.index % 2 == 0, "fee"] = 2.5 + 3 * (frame["fee"] - 2.5)
    assert traps(frame, tmp_path).leaks == ["fee"]


@pytest.mark.parametrize(("copy", "last"), [([1, 2], 2), (["x", "y"], "y"), ([None, 5], 7), (["b", "g1"], "g2")])
def test_a_copy_of_the_target_determines_it(tmp_path, copy, last):
    labels = ["bad", "good"] * 30
    frame = customers(60).assign(left=labels, copy=[*copy * 29, copy[0], last])
    found = traps(frame, tmp_path, positive="good", category=("copy",))
    assert "copy" in found.leaks
    rough = frame.assign(copy=[*copy * 28, copy[1], copy[1], copy[0], copy[0]])
    assert "alone determines the target" not in text_of(rough, tmp_path, positive="good", category=("copy",))


@pytest.mark.parametrize(
    ("name", "values", "is_named"),
    [
        ("account no", np.arange(200) // 2 * 7 % 101, True),
        ("case no", np.arange(200) % 50, True),
        ("case no", np.arange(200) % 50 * 0.1, False),
        ("HNR", np.arange(200) % 50, False),
    ],
)
def test_only_whole_numbers_can_be_identifiers(tmp_path, name, values, is_named):
    text = text_of(customers(200).drop(columns="since").assign(**{name: values}), tmp_path)
    assert (f'"{name}" is used as a number, and its name is that of an identifier' in text) == is_named


@pytest.mark.parametrize("columns", [["size", "kind"], ["size", "height"]])
def test_copied_rows_across_splits_are_counted(tmp_path, columns):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"size": random.normal(size=150), "height": random.normal(size=150)})
    frame["kind"] = random.choice(["red", "blue", "green"], 150)
    frame["left"] = np.where(frame["size"] + random.normal(size=150) > 0, "yes", "no")
    four_times = pd.concat([frame[[*columns, "left"]]] * 4, ignore_index=True)
    assert "% of the test rows have the same inputs and label as a training row" in text_of(four_times, tmp_path)


def test_equal_rows_of_coarse_columns_are_no_copies(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({name: random.choice(list("abc"), 600) for name in ("one", "two", "three", "four")})
    frame["left"] = np.where((frame["one"] == "a") ^ (random.random(600) < 0.2), "yes", "no")
    assert "same inputs" not in text_of(frame, tmp_path)


SECONDS = [1_700_000_000 + 3_600 * hour for hour in range(200)]


@pytest.mark.parametrize(
    ("columns", "options", "named"),
    [
        ({}, {}, "--time since tests on later rows"),
        ({}, {"time": "since"}, None),
        ({"since": [20260101 + row % 28 for row in range(200)]}, {}, "--time since tests on later rows"),
        ({"since": "", "created_at": SECONDS}, {}, "--time created_at tests on later rows"),
        ({"since": "", "income": SECONDS}, {}, None),
        ({}, {"group": "customer"}, "--time since in place of --group tests on later rows"),
    ],
)
def test_message_on_dates_names_the_time_option(tmp_path, columns, options, named):
    frame = customers(200).assign(customer=[f"K{row % 50}" for row in range(200)], **columns)
    text = text_of(frame, tmp_path, **options)
    assert "tests on later rows" not in text if named is None else named in text


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({}, "--group customer keeps them together"),
        ({"group": "customer"}, None),
        ({"time": "since"}, "--group customer in place of --time keeps them together"),
    ],
)
def test_message_on_repeated_customers_names_the_group_option(tmp_path, options, named):
    frame = customers(200).assign(customer=[f"K{row % 50}" for row in range(200)])
    text = text_of(frame, tmp_path, **options)
    assert "--group customer" not in text if named is None else named in text


@pytest.mark.parametrize(("n_pairs", "named"), [(40, "40 % of the rows have the value of another row"), (9, None)])
def test_few_customers_with_a_second_row_are_named_by_their_share(tmp_path, n_pairs, named):
    numbers = [row if row >= 2 * n_pairs else row % n_pairs for row in range(200)]
    frame = customers(200).assign(customer=[f"K{number}" for number in numbers])
    text = text_of(frame, tmp_path)
    assert "--group customer" not in text if named is None else named in text


def test_group_is_no_input_and_stays_in_one_fold(tmp_path):
    frame = customers(200).assign(customer=[f"K{row % 50}" for row in range(200)])
    text = shown(written(frame, tmp_path / "c.csv"), "left", "--group", "customer")
    assert "customer  group     50 groups of up to 4 rows; no input" in text
    assert 'folds, where all rows of one "customer" are in one fold' in " ".join(text.split())


def test_time_orders_the_splits(tmp_path):
    text = shown(written(customers(200), tmp_path / "c.csv"), "left", "--time", "since", "--splits", 4)
    assert '4 splits in order of "since": each tests about 40 rows' in text


@pytest.mark.parametrize(
    ("option", "column", "first_yes", "fault"),
    [
        ("--time", "day", 90, 'split 1 of 10 trains on 20 rows, none of "yes"; give more rows, or another column'),
        ("--time", "day", 40, 'none of "yes"; give --splits 3'),
        ("--group", "house", 90, "class 'yes' is in 1 group only, and two are needed"),
    ],
)
def test_splits_without_a_class_are_refused_before_the_run(tmp_path, monkeypatch, option, column, first_yes, fault):
    monkeypatch.chdir(tmp_path)
    frame = customers(200).assign(left=["yes" if row > first_yes and row % 3 else "no" for row in range(200)])
    frame["day"] = np.arange(200) // 2
    frame["house"] = ["A" if left == "yes" else f"B{row % 30}" for row, left in enumerate(frame["left"])]
    text = refused("try", written(frame, tmp_path / "c.csv"), "-t", "left", "-l", "logistic", option, column)
    assert f'{option} "{column}": split' in text and fault in text
    assert not (tmp_path / "results").exists()
