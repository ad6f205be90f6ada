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
    return find_traps(prepared, prepared.raw, table_files(prepared, "c").dataset, 0)


def one_line(found):
    return " ".join(found.lines)


def test_an_ordinary_table_has_no_traps(tmp_path):
    assert traps(customers(200).drop(columns="since"), tmp_path).lines == []


def test_missing_values_that_tell_the_class_are_named(tmp_path):
    frame = customers(200)
    random = np.random.default_rng(0)
    frame["reason"] = np.where(frame["left"] == "yes", random.normal(size=200).round(3).astype(str), "")
    found = traps(frame, tmp_path)
    assert found.leaks == ["reason"]
    assert '"reason": whether it is missing tells the class (AUC 1.000 alone)' in one_line(found)


def test_column_that_determines_the_class_is_named(tmp_path):
    frame = customers(200)
    random = np.random.default_rng(0)
    frame["fee"] = (frame["left"] == "yes") * 5 + random.normal(size=200).round(3)  # between two ranges, not at an end
    frame.loc[frame.index % 2 == 0, "fee"] = 2.5 + 3 * (frame["fee"] - 2.5)
    assert traps(frame, tmp_path).leaks == ["fee"]


def test_an_identifier_used_as_a_number_is_named(tmp_path):
    frame = customers(200).assign(**{"account no": np.arange(200) // 2 * 7 % 101})
    assert '"account no" is used as a number' in one_line(traps(frame, tmp_path))


def test_copied_rows_across_splits_are_counted(tmp_path):
    frame = pd.concat([customers(150), customers(150)]).reset_index(drop=True)
    assert " % of the test rows have the same inputs and label as a training row" in one_line(traps(frame, tmp_path))


@pytest.mark.parametrize("columns", [["size", "kind"], ["size", "height"]])
def test_copied_rows_of_two_columns_are_counted(tmp_path, columns):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"size": random.normal(size=150), "height": random.normal(size=150)})
    frame["kind"] = random.choice(["red", "blue", "green"], 150)
    frame["left"] = np.where(frame["size"] + random.normal(size=150) > 0, "yes", "no")
    four_times = pd.concat([frame[[*columns, "left"]]] * 4, ignore_index=True)
    assert "same inputs and label as a training row" in one_line(traps(four_times, tmp_path))


def test_equal_rows_of_coarse_columns_are_no_copies(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({name: random.choice(list("abc"), 600) for name in ("one", "two", "three", "four")})
    frame["left"] = np.where((frame["one"] == "a") ^ (random.random(600) < 0.2), "yes", "no")
    assert "same inputs" not in one_line(traps(frame, tmp_path))


def test_message_on_dates_names_the_time_option(tmp_path):
    assert "--time since tests on later rows" in one_line(traps(customers(200), tmp_path))
    assert "--time" not in one_line(traps(customers(200), tmp_path, time="since"))
    compact = customers(200).drop(columns="since").assign(day=[20260101 + one % 28 for one in range(200)])
    assert "--time day tests on later rows" in one_line(traps(compact, tmp_path))


def test_seconds_since_1970_need_a_telling_name(tmp_path):
    seconds = [1_700_000_000 + 3_600 * one for one in range(200)]
    frame = customers(200).drop(columns="since")
    assert "--time created_at tests on later rows" in one_line(traps(frame.assign(created_at=seconds), tmp_path))
    assert "--time" not in one_line(traps(frame.assign(income=seconds), tmp_path))


def test_column_filled_in_after_the_outcome_is_named(tmp_path):
    frame = customers(200)
    reasons = np.random.default_rng(0).choice(["moved", "price", "other"], 200)
    frame["reason"] = np.where(frame["left"] == "yes", reasons, None)
    assert '"reason": whether it is missing tells the class (AUC 1.000 alone)' in one_line(traps(frame, tmp_path))


def test_message_on_repeated_customers_names_the_group_option(tmp_path):
    frame = customers(200).assign(customer=[f"K{one % 50}" for one in range(200)])
    assert "--group customer keeps them together" in one_line(traps(frame, tmp_path))
    assert "--group customer" not in one_line(traps(frame, tmp_path, group="customer"))
    assert "--time since in place of --group tests on later rows" in one_line(traps(frame, tmp_path, group="customer"))
    assert "--group customer in place of --time keeps" in one_line(traps(frame, tmp_path, time="since"))


def test_group_is_no_input_and_stays_in_one_fold(tmp_path):
    frame = customers(200).assign(customer=[f"K{one % 50}" for one in range(200)])
    text = shown(written(frame, tmp_path / "c.csv"), "left", "--group", "customer")
    assert "customer  group     50 groups of up to 4 rows; no input" in text
    assert 'folds, where all rows of one "customer" are in one fold' in " ".join(text.split())


def test_time_orders_the_splits(tmp_path):
    text = shown(written(customers(200), tmp_path / "c.csv"), "left", "--time", "since", "--splits", 4)
    assert '4 splits in order of "since": each tests about 40 rows' in text


def test_too_few_rows_of_a_class_in_time_are_refused_before_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = customers(200).assign(day=np.arange(200) // 2)
    frame["left"] = ["yes" if one > 90 and one % 3 else "no" for one in range(200)]
    path = written(frame, tmp_path / "c.csv")
    text = refused("try", path, "-t", "left", "-l", "logistic", "--time", "day")
    assert '--time "day": split 1 of 10 trains on 20 rows, none of "yes"; give more rows, or another column' in text
    late = frame.assign(left=["yes" if one > 40 and one % 3 else "no" for one in range(200)])
    text = refused("try", written(late, tmp_path / "d.csv"), "-t", "left", "-l", "logistic", "--time", "day")
    assert 'none of "yes"; give --splits 3' in text
    assert not (tmp_path / "results").exists()


def test_class_in_one_group_is_refused_before_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = customers(200)
    frame["house"] = ["A" if left == "yes" else f"B{one % 30}" for one, left in enumerate(frame["left"])]
    text = refused("try", written(frame, tmp_path / "c.csv"), "-t", "left", "-l", "logistic", "--group", "house")
    assert '--group "house": split' in text and not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--group", "nobody"), '--group: c.csv has no column "nobody"'),
        (("--group", "plan"), "has 3 different values, too few for 5 folds"),
        (("--time", "plan"), 'column "plan" holds no dates and no numbers'),
        (("--time", "since", "--group", "plan"), "rows are split by groups or in order of time"),
        (("--metric", "auc", "--cost", "1:5"), "both name what ranks"),
        (("--cost", "5"), "give two costs above 0"),
        (("--group", "left"), '"left" is the target'),
    ],
)
def test_unsuitable_options_are_rejected(tmp_path, options, message):
    path = written(customers(120), tmp_path / "c.csv")
    assert message in refused("try", path, "-t", "left", "--dry-run", *options)


@pytest.mark.parametrize(("name", "share", "named"), [("case no", 1, True), ("case no", 0.1, False), ("HNR", 1, False)])
def test_only_whole_numbers_can_be_identifiers(tmp_path, name, share, named):
    frame = customers(200).drop(columns="since")
    frame[name] = np.random.default_rng(0).integers(10, 60, 200) * share
    assert ("name is that of an identifier" in one_line(traps(frame, tmp_path))) == named
