"""Test that ``probcal try --group --test`` counts the groups of the test file, and not their rows."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest

from probcal import load
from probcal.try_table.measures import MEASURES
from probcal.try_table.preparation import TableRequest, prepare
from probcal.try_table.unseen_result import measure_unseen
from probcal.try_table.unseen_rows import UnseenRows, read_unseen_rows
from tests.commands import probcal
from tests.try_table.own_tables import written

CALL = ("-t", "ill", "--group", "patient", "-l", "logistic", "-m", "direct", "--splits", 5, "--metric", "brier")


def visits(n_patients, seed=0, first=0):
    """Return visits of patients, whose rows share their risk and most of their luck."""
    random = np.random.default_rng(seed)
    patient = np.repeat(np.arange(n_patients), random.poisson(4, n_patients) + 1)
    x = random.normal(size=n_patients)[patient] + 0.3 * random.normal(size=len(patient))
    luck = np.where(random.random(len(patient)) < 0.9, random.random(n_patients)[patient], random.random(len(patient)))
    ill = np.where(luck < 1 / (1 + np.exp(-x)), "yes", "no")
    return pd.DataFrame({"patient": [f"P{first + one}" for one in patient], "marker": x, "ill": ill})


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    path = written(visits(120), tmp_path_factory.mktemp("table") / "train.csv")
    return prepare(TableRequest(str(path), "ill", group="patient"))


def sentences(text):
    return " ".join(text.split())


def test_intervals_of_the_test_file_are_those_of_measure_with_clusters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(visits(120), tmp_path / "train.csv")
    later = visits(60, seed=1, first=500)
    written(later, tmp_path / "later.csv")
    tried = probcal("try", "train.csv", *CALL, "--test", "later.csv", "--export", "model")
    assert tried.exit_code == 0, tried.output
    said = 'Rows of one "patient" belong together, so the intervals count its 60 groups, and not the rows.'
    [report] = re.findall(r"^report: (.*)$", tried.stdout, re.MULTILINE)
    page = (tmp_path / report).read_text().replace("&#34;", '"')
    for text in (tried.stdout, (tmp_path / "model" / "model-card.md").read_text(), page):
        assert said in sentences(text)
    later["p_yes"] = load("model").predict_proba(pd.read_csv("later.csv"))[:, 1]
    written(later, tmp_path / "p.csv")
    words = ("-p", "p_yes", "-t", "ill", "--positive", "yes", "--cluster", "patient", "--draws", 0, "-f", "csv")
    measured = probcal("measure", "p.csv", *words)
    assert measured.exit_code == 0, measured.output
    expected = {row["metric"]: row for row in csv.DictReader(io.StringIO(measured.stdout))}
    # a row of cells is longer than those of the ranking: value, low to high, cross-validated, low to high, base rate
    for name, header in (("brier", "Brier"), ("auc", "AUC")):
        [cells] = re.findall(rf"^{header} +([\d.]+) +([\d.]+) to ([\d.]+) .* to ", tried.stdout, re.MULTILINE)
        numbers = [float(expected[name][key]) for key in ("value", "low", "high")]
        assert [*map(float, cells)] == pytest.approx(numbers, abs=6e-4)


def test_draws_take_whole_groups(prepared):
    # c_emp and ECE have no closed form; equal rows of a group count as one
    frame = visits(150).drop_duplicates("patient")
    y, odds = (frame["ill"] == "yes").to_numpy(np.int64), 1 / (1 + np.exp(-1.5 * frame["marker"].to_numpy()))
    found = []
    for times in (1, 4):
        groups = np.repeat(np.arange(len(y)), times)
        rows = UnseenRows(prepared.table, np.ones(len(groups), dtype=bool), y[groups], (), None, ("patient", groups))
        p = np.column_stack([1 - odds, odds])[groups]
        lines = measure_unseen(rows, p, prepared, "", {MEASURES[name]: [0.5] for name in ("c_emp", "ece")}).lines
        found.append([(line.unseen.value, line.unseen.low, line.unseen.high) for line in lines])
    assert np.isfinite(found[0]).all()
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: frame, '40 of 60 groups of "patient" are in the training file, too, so the results may'),
        (lambda frame: frame.drop(columns="patient"), 'has no "patient", so its rows count as independent'),
        (lambda frame: frame.assign(patient=""), 'has no "patient", so its rows count as independent'),
        (lambda frame: frame.head(40), "too few for some of the intervals"),
    ],
)  # fmt: skip
def test_groups_that_are_known_missing_or_few_are_told(prepared, tmp_path, change, said):
    path = written(change(visits(60, seed=1, first=80)), tmp_path / "later.csv")
    rows = read_unseen_rows(str(path), "train.csv", prepared)
    text = " ".join(rows.warnings)
    assert said in text and ("[test-groups]" in text or "groups are too few" in text)
    assert (rows.groups is None) == ("has no" in said)


def test_rows_without_a_group_are_groups_of_their_own_and_not_known(tmp_path):
    train, frame = visits(120), visits(60, seed=1, first=500)
    for one in (train, frame):
        one.loc[one.index[:30], "patient"] = np.nan
    prepared = prepare(TableRequest(str(written(train, tmp_path / "train.csv")), "ill", group="patient"))
    rows = read_unseen_rows(str(written(frame, tmp_path / "later.csv")), "train.csv", prepared)
    assert rows.warnings == []
    assert len(np.unique(rows.cluster)) == frame["patient"].nunique() + 30
