"""Permutation importance: known values, held-out rows only, groups of columns, and the same numbers each time."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from probcal.try_table.importance import _importance, _work
from tests.commands import probcal
from tests.try_table.own_tables import written


def rows(n: int = 400, slope: float = 3.0) -> pd.DataFrame:
    random = np.random.default_rng(0)
    strong, noise = random.normal(size=n).round(3), random.normal(size=n).round(3)
    y = np.where(random.random(n) < 1 / (1 + np.exp(-slope * strong)), "yes", "no")
    return pd.DataFrame({"strong": strong, "noise": noise, "site": np.arange(n) % 40, "y": y})


def importances(folder, frame: pd.DataFrame, *words: object) -> dict[str, tuple[float, float, float]]:
    result = probcal(
        "try", written(frame, folder / "t.csv"), "-t", "y", "-l", "logistic", "-m", "direct", "--splits", 5,
        "-o", folder / "results", *words,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    table = result.stdout.split("95 % interval\n")[-1]
    found = re.findall(r"^(\w+) +(-?[0-9.]+) +(-?[0-9.]+) to (-?[0-9.]+)$", table, re.MULTILINE)
    return {name: tuple(map(float, numbers)) for name, *numbers in found}


def test_the_column_that_makes_the_labels_drives_the_winner(tmp_path):
    found = importances(tmp_path, rows(), "--group", "site")
    assert list(found) == ["strong", "noise"]  # the column of groups is no input
    bits, low, high = found["strong"]
    assert low < bits < high
    assert low > 0.3
    bits, low, high = found["noise"]
    assert low < 0 < high
    assert abs(bits) < 0.02


def test_the_value_is_that_of_a_model_with_known_probabilities(tmp_path):
    # Logistic regression finds p = 1 / (1 + exp(-b x)). If the rows are permuted, the loss of such a model grows by
    # the mean of b x y, because the mean of x is 0 and that of log(1 + exp(b x)) stays.
    frame = rows(8_000, slope=1.0)
    x, y = frame["strong"].to_numpy(), frame["y"] == "yes"
    slope = LogisticRegression(C=np.inf).fit(x[:, None], y).coef_[0, 0]
    bits, low, high = importances(tmp_path, frame, "--drop", "site")["strong"]
    assert bits == pytest.approx(slope * np.cov(x, y)[0, 1] / np.log(2), rel=0.03)
    assert low < bits < high


def test_the_same_seed_gives_the_same_importance(tmp_path):
    frame = rows()
    once, again = importances(tmp_path, frame, "--drop", "site"), importances(tmp_path, frame, "--drop", "site")
    assert once == again


def test_columns_made_from_one_column_are_permuted_together(tmp_path):
    frame = rows().astype({"strong": object})
    frame.loc[frame.index % 25 == 0, "strong"] = "<10"  # words between numbers become a second input
    found = importances(tmp_path, frame, "--drop", "site")
    assert set(found) == {"strong", "noise"}


def test_the_card_and_the_report_have_the_table(tmp_path):
    importances(tmp_path, rows(), "--drop", "site", "--export", tmp_path / "model")
    card = (tmp_path / "model" / "model-card.md").read_text()
    assert "## What drives it" in card
    assert re.search(r"^\| strong \| \d\.\d{4} \| \d\.\d{4} to \d\.\d{4} \|$", card, re.MULTILINE)
    page = (tmp_path / "results" / "report.html").read_text()
    assert page.count('id="trial-importance"') == 1


def test_the_interval_is_that_of_a_mean_and_of_sums_over_groups():
    change, weights = np.array([1.0, 2.0, 3.0, 6.0]), np.ones(4)
    plain = _importance("x", change, weights, None)
    half = 1.959963984540054 * np.std(change, ddof=1) / np.sqrt(4)
    assert (plain.bits, plain.low, plain.high) == pytest.approx((3.0, 3.0 - half, 3.0 + half))
    repeated = _importance("x", np.repeat(change, 2), np.ones(8), np.repeat(np.arange(4), 2))
    assert (repeated.low, repeated.high) == pytest.approx((plain.low, plain.high))
    weighted = _importance("x", change, np.array([2.0, 1.0, 1.0, 0.5]), None)
    assert weighted.bits == pytest.approx((2 + 2 + 3 + 3) / 4.5)


def test_the_work_is_bounded_by_numbers_and_not_by_the_clock():
    assert _work(10_000, 16, 1) == (5, 1.0)
    repeats, share = _work(10_000, 400, 1)
    assert (repeats, share) == (1, 1.0)
    repeats, share = _work(10_000, 400, 100)
    assert repeats == 1
    assert share * 10_000 == 500
