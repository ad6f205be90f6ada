"""The draws of the script are those of ProbingClassifier, and it places a published number among them."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from probcal import ProbingClassifier
from probcal.learners import WekaClassifier

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.delenv("PROBCAL_WEKA_JAR", raising=False)
    return import_module("drawn_columns")


def eighty_rows():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.normal(size=80), "b": pd.Categorical(random.choice(list("xyz"), 80))})
    X.loc[3, "a"] = np.nan
    y = (X["a"].fillna(0) + (X["b"] == "x") + random.normal(size=80) > 0.5).to_numpy(np.int64)
    return X, y, np.arange(0, 80, 2), np.arange(1, 80, 2)


def drawn(script, seed, **numbers):
    return script.Draw("test-rows", "ProbJ48", "hepatitis", seed, **({"rms": 0.36, "cxe": 0.6, "auc": 0.7} | numbers))


@pytest.mark.parametrize("column", ["ProbJ48", "ProbSVM"])
def test_numbered_rows_give_the_votes_of_the_rows_themselves(script, column):
    pytest.importorskip("jpype", reason="needs probcal[weka]")
    X, y, train, test = eighty_rows()
    ours = script.probabilities(column, "test-rows", 7, script.Table(X, y, train, test))
    learner, weighting = script.COLUMNS[column]
    total = "n" if weighting == "weight" else None
    method = ProbingClassifier(
        WekaClassifier(**script.LEARNERS[learner].params),
        98,
        weighting=weighting,
        total_weight=total,
        discretisation="transductive",
        clip=(0, 1),
        random_state=7,
    )
    weights = script.jittered(40, 7) if weighting == "weight" else None
    method.fit(X.iloc[train], y[train], weights, X.iloc[test])
    assert np.array_equal(ours, method.predict_proba(X.iloc[test])[:, 1])
    assert len(np.unique(ours)) > 3


def test_one_stream_draws_the_same_rows_for_each_threshold(script, monkeypatch):
    pytest.importorskip("jpype", reason="needs probcal[weka]")
    table = script.Table(*eighty_rows())
    samples = {}
    kept = script.NumberedRows.fit
    monkeypatch.setattr(
        script.NumberedRows, "fit", lambda self, X, y: samples.setdefault(y.mean(), set(X[:, 0])) and kept(self, X, y)
    )
    p = script.probabilities("ProbJ48", "one-stream", 1, table)
    assert p.shape == (40,) and np.array_equal(p, script.probabilities("ProbJ48", "one-stream", 1, table))
    positive = [{row for row in rows if table.y[row]} for _, rows in sorted(samples.items())]
    assert len(positive) > 10 and all(a <= b for a, b in pairwise(positive))


def test_a_published_number_has_a_place_among_the_draws(script):
    found = script.place_of(np.arange(101) / 1000, 0.02, 3)
    assert (found.low, found.high, found.published) == (pytest.approx(0.0025), pytest.approx(0.0975), 0.02)
    assert (found.inside, found.below) == (True, pytest.approx(20.5 / 101))
    assert not script.place_of(np.arange(101) / 1000, 0.12, 3).inside


def test_few_draws_put_out_only_what_one_more_draw_would_not_give(script):
    few = np.array([0.36, 0.361, 0.362])
    assert script.place_of(few, 0.365, 3).inside
    assert not script.place_of(few, 0.367, 3).inside


def test_a_number_within_its_rounding_is_inside(script):
    assert script.place_of(np.full(10, 0.6664), 0.666, 3).inside
    assert not script.place_of(np.full(10, 0.6664), 0.667, 3).inside
    assert script.place_of(np.full(10, 1.2149), 1.21, 2).inside


def test_draws_are_read_again_without_a_line_that_was_cut_off(script, tmp_path):
    path = tmp_path / "draws.csv"
    draws = [drawn(script, seed) for seed in range(3)]
    for one in draws:
        script.append(path, one)
    assert script.read(path) == draws
    path.write_text(path.read_text(encoding="utf-8") + "test-rows,ProbJ48,hep", encoding="utf-8")
    assert script.read(path) == draws


def test_the_page_counts_what_is_inside(script):
    draws = [drawn(script, seed, rms=0.36 + seed / 1000, auc=0.7 + seed / 1000) for seed in range(20)]
    page = script.page(draws)
    assert "1 of 3 published numbers are inside" in page  # .368 is, .665 and .662 are not
    assert "**outside**" in page


def test_another_weka_is_refused(script):
    with pytest.raises(script.ProbcalError, match=r"must name the jar file of Weka 3\.4\.1; it names nothing"):
        script.require_release()


def test_the_committed_table_is_that_of_the_committed_draws(script):
    committed = (script.FOLDER / "table.md").read_text(encoding="utf-8")
    assert committed == script.page(script.read(script.FOLDER / "draws.csv"))
    assert committed.count("## ProbSVM, test-rows\n\n15 of 15 published numbers are inside") == 1
