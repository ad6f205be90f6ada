"""Test one random stream for all probes, with which the samples of all thresholds share most rows."""

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
    return import_module("one_stream")


def eighty_rows():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.normal(size=80), "b": pd.Categorical(random.choice(list("xyz"), 80))})
    X.loc[3, "a"] = np.nan
    y = (X["a"].fillna(0) + (X["b"] == "x") + random.normal(size=80) > 0.5).to_numpy(np.int64)
    return X, y, np.arange(0, 80, 2), np.arange(1, 80, 2)


class SampledWeka(WekaClassifier):
    """Keep the rows whose number is below their weight, and train on their frame."""

    def fit(self, X, y, sample_weight=None):
        chosen = self.numbers * sample_weight.max() < sample_weight
        if len(np.unique(y[chosen])) < 2:
            self.only = y[chosen][0]
            self.classes_ = np.unique(y)
            return self
        return super().fit(X[chosen], y[chosen])

    def predict(self, X):
        return np.full(len(X), self.only) if hasattr(self, "only") else super().predict(X)


@pytest.mark.java
@pytest.mark.slow
def test_numbered_rows_give_the_votes_of_a_direct_fit(script):
    pytest.importorskip("jpype", reason="needs the extra weka")
    X, y, train, test = eighty_rows()
    ours = script.probabilities("ProbJ48", 7, script.Table(X, y, train, test))
    SampledWeka.numbers = script.uniform_numbers(len(train), 7)
    method = ProbingClassifier(SampledWeka(), 98, weighting="weight", discretisation="transductive", clip=(0, 1))
    method.fit(X.iloc[train], y[train], None, X.iloc[test])
    assert np.array_equal(ours, method.predict_proba(X.iloc[test])[:, 1])
    assert len(np.unique(ours)) > 3


@pytest.mark.java
def test_samples_of_one_stream_are_nested(script, monkeypatch):
    pytest.importorskip("jpype", reason="needs the extra weka")
    table = script.Table(*eighty_rows())
    samples = []
    part = script.Table.part
    monkeypatch.setattr(
        script.Table, "part", lambda self, numbers: samples.append(set(numbers.tolist())) or part(self, numbers)
    )
    p = script.probabilities("ProbJ48", 1, table)
    assert p.shape == (40,) and np.array_equal(p, script.probabilities("ProbJ48", 1, table))
    positive = sorted(({row for row in rows if table.y[row]} for rows in samples), key=len)
    assert len(positive) > 10 and all(a <= b for a, b in pairwise(positive))


def test_reading_draws_skips_an_incomplete_line(script, tmp_path):
    path = tmp_path / "draws.csv"
    draws = [script.Draw("ProbJ48", "hepatitis", seed, 0.36, 0.6, 0.7) for seed in range(3)]
    for one in draws:
        script.append(path, one)
    assert script.read(path) == draws
    path.write_text(path.read_text(encoding="utf-8") + "ProbJ48,hep", encoding="utf-8")
    assert script.read(path) == draws


def test_a_missing_jar_of_weka_3_4_1_is_rejected(script):
    with pytest.raises(script.ProbcalError, match=r"must name the jar file of Weka 3\.4\.1; it names nothing"):
        script.require_release()


def test_the_committed_table_matches_the_committed_draws(script):
    committed = (script.FOLDER / "table.md").read_text(encoding="utf-8")
    assert committed == script.table(script.read(script.FOLDER / "draws.csv"))
