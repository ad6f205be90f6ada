"""Test ``measure --calibrate prior --base-rate`` against ``PriorCalibrator`` and weights by hand."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from probcal import PriorCalibrator
from probcal.errors import ProbcalError
from probcal.measure.maps import read_base_rates, weighted_to
from tests.commands import contents, probcal, refused
from tests.measure.prediction_files import read_table, three_classes, two_classes, written

CALL = ("measure", "a.csv", "-p", "p", "-t", "y", "--draws", 20)
PRIOR = ("-c", "prior", "--base-rate")
RATES = ("cat=.2", "cow=.5", "dog=.3")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(two_classes(), tmp_path / "a.csv")
    return tmp_path


def values(stdout):
    """Return (stage, metric) -> value of all rows."""
    lines = [line.split(",") for line in stdout.splitlines()[1:]]
    return {(line[3], line[4]): float(line[5] or "nan") for line in lines if not line[0]}


@pytest.mark.parametrize(
    ("texts", "classes"),
    [(("a=.2,b=.5,c=.3",), "abc"), (("a=.2,b=.5", "c=.3"), "abc"), (("a,x=.2,b=y=.5,c=.3",), ("a,x", "b=y", "c"))],
)
def test_base_rates_may_be_joined_by_commas(texts, classes):
    assert read_base_rates(texts, classes) == (0.2, 0.5, 0.3)


def test_rows_are_weighted_to_the_new_base_rate(tmp_path):
    predictions = read_table(two_classes(), tmp_path, weight="w")
    weighted = weighted_to(predictions, (0.998, 0.002))
    assert weighted.shares()["1"] == pytest.approx(0.002)
    ratio = weighted.weight / predictions.weight
    assert len(np.unique(ratio.round(12))) == 2  # one factor for each class


def test_metrics_are_those_of_rows_weighted_by_hand(here):
    frame = two_classes()
    found = values(probcal(*CALL, *PRIOR, ".002", "-f", "csv").stdout)
    weight = np.where(frame.y == 1, 0.002 / frame.y.mean(), 0.998 / (1 - frame.y.mean()))
    assert found["before", "log_loss_nats"] == pytest.approx(log_loss(frame.y, frame.p, sample_weight=weight), rel=1e-9)
    assert found["before", "base_rate"] == pytest.approx(0.002)
    # the shares of stratified folds differ a little from those of all rows
    after = PriorCalibrator(0.002, clip=1e-12).fit(frame.p, frame.y).predict_proba(frame.p)[:, 1]
    assert found["prior", "log_loss_nats"] == pytest.approx(log_loss(frame.y, after, sample_weight=weight), rel=0.02)


def test_small_probabilities_keep_their_odds_ratio_after_few_rows(here):
    frame = two_classes()
    written(frame, here / "a.csv")
    assert probcal(*CALL, *PRIOR, ".0001", "--export", "small.json").exit_code == 0
    pd.DataFrame({"p": [1e-9, 1e-6, 0.3, 1 - 1e-9]}).to_csv("new.csv", index=False)
    assert probcal("apply", "small.json", "new.csv", "-o", "o.csv").exit_code == 0
    new = pd.read_csv("o.csv")
    rate = frame.y.mean()
    odds = new.p / (1 - new.p) * (0.0001 / 0.9999) / (rate / (1 - rate))
    np.testing.assert_allclose(new.iloc[:, -1], odds / (1 + odds), rtol=1e-6)


def test_predictions_of_another_base_rate_are_told(here):
    frame = two_classes()
    assert "are not of this file's base rate" not in probcal(*CALL, *PRIOR, ".002").stdout
    written(frame.assign(p=frame.p / 3), here / "a.csv")
    assert "are not of this file's base rate" in " ".join(probcal(*CALL, *PRIOR, ".002").stdout.split())


def test_weighting_gives_what_a_sample_with_the_new_base_rate_gives(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    x, y = random.normal(size=100_000), random.random(100_000) < 0.05
    x = x + 2 * y  # the true log-odds are 2 x - 2 + log(base rate / (1 - base rate))
    rows = np.concatenate([np.flatnonzero(y), np.flatnonzero(~y)[: y.sum()]])
    p = 1 / (1 + np.exp(-(2 * x - 2)))
    written(pd.DataFrame({"p": p[rows], "y": y[rows].astype(int)}), tmp_path / "a.csv")
    found = values(probcal(*CALL, *PRIOR, ".05", "-f", "csv").stdout)
    true = 1 / (1 + np.exp(-(2 * x - 2 + np.log(0.05 / 0.95))))
    assert found["prior", "log_loss_nats"] == pytest.approx(log_loss(y, true), rel=0.03)
    assert found["prior", "slope"] == pytest.approx(1, abs=0.05)
    assert found["prior", "mean_probability"] == pytest.approx(0.05, abs=0.003)


def test_the_files_hold_the_corrected_probabilities(here):
    text = probcal(*CALL, *PRIOR, ".002", "-o", "o.csv", "--export", "m.json", "--report", "r.html").stdout
    frame = two_classes()
    by_hand = PriorCalibrator(0.002, clip=1e-12).fit(frame.p, frame.y).predict_proba(frame.p)[:, 1]
    np.testing.assert_array_equal(pd.read_csv("o.csv").p_prior, by_hand)
    assert 'are for the base rate "1": 0.002;' in " ".join(text.split())
    assert "for the base rate" in (here / "r.html").read_text(encoding="utf-8")
    audit = json.loads((here / "m.json").read_text())["audit"]
    assert audit["base_rates"] == {"0": 0.998, "1": 0.002} and "weighted" in audit["weighting"]
    assert audit["shares"]["1"] == pytest.approx(frame.y.mean())
    probcal("apply", "m.json", "a.csv", "-o", "applied.csv")
    np.testing.assert_array_equal(pd.read_csv("applied.csv").p_prior, by_hand)


def test_several_classes_name_each_rate(here):
    frame = three_classes()
    written(frame, here / "t.csv")
    rates = [word for rate in RATES for word in ("--base-rate", rate)]
    words = ("measure", "t.csv", "-p", "p_*", "-t", "y", "--draws", 20, "-c", "prior", *rates)
    result = probcal(*words, "-o", "o.csv", "--export", "m.json")
    assert result.exit_code == 0, result.output
    p = frame[["p_cat", "p_cow", "p_dog"]].to_numpy()
    new = {"cat": 0.2, "cow": 0.5, "dog": 0.3}
    by_hand = PriorCalibrator(new, clip=1e-12).fit(p / p.sum(axis=1, keepdims=True), frame.y)
    expected = by_hand.predict_proba(p / p.sum(axis=1, keepdims=True))
    found = pd.read_csv("o.csv")[["p_cat_prior", "p_cow_prior", "p_dog_prior"]]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert probcal("apply", "m.json", "t.csv", "-o", "applied.csv").exit_code == 0
    np.testing.assert_allclose(pd.read_csv("applied.csv").p_dog_prior, found.p_dog_prior, rtol=1e-12)


@pytest.mark.parametrize(
    ("texts", "classes", "message"),
    [
        (["2"], "01", "above 0 and below 1"),
        (["nan"], "01", "above 0 and below 1"),
        (["x"], "01", "above 0 and below 1"),
        ([".1", ".9"], "01", "write label=rate"),
        ([".2"], "abc", "there are 3 classes; name each"),
        (["a=.2", "b=.8"], "abc", "these have none: c"),
        (["a=.2", "b=.8", "d=.1"], "abc", 'there is no class "d"'),
        (["a=.2", "a=.2", "b=.6"], "abc", "named twice"),
        (["a=.2", "b=.2", "c=.2"], "abc", "have the sum 0.6"),
    ],
)
def test_unusable_rates_are_refused(texts, classes, message):
    with pytest.raises(ProbcalError, match=message):
        read_base_rates(texts, [*classes])


def test_labels_may_hold_an_equals_sign():
    assert read_base_rates(["a=b=.25", "c=.75"], ["c", "a=b"]) == (0.75, 0.25)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-c", "prior"), "name it with --base-rate"),
        (("--base-rate", ".1"), "write --calibrate prior"),
        (("-c", "beta", "--base-rate", ".1"), "leave it out with beta"),
        (("-c", "prior", "--base-rate", "5"), "above 0 and below 1"),
    ],
)
def test_nothing_is_written_after_a_mistake(here, words, message):
    before = contents(here)
    assert message in refused(*CALL, *words, *(("-o", "o.csv") if "-c" in words else ()), "--report", "r.html")
    assert contents(here) == before
