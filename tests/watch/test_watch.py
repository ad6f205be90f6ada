"""Test ``probcal watch``: its table, its alarm, and runs that go on from a state."""

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit

from probcal.metrics.checked_rows import checked
from probcal.metrics.closed_forms import intercept_interval, slope_interval
from probcal.metrics.recalibration import intercept_of, slope_of
from probcal.reading.periods import period_names
from tests.commands import probcal

WORDS = ("--time", "when", "-p", "p", "-t", "y")


def log(n=4000, change="2025-07-01", shift=1.0, seed=0):
    """Return a year of predictions, with labels whose log-odds rise at the day of ``change``."""
    rng = np.random.default_rng(seed)
    when = pd.Timestamp("2025-01-01") + pd.to_timedelta(np.sort(rng.random(n)) * 365 * 86400, unit="s").floor("s")
    p = rng.beta(1, 4, n).round(4).clip(1e-4, 1)
    truth = np.where(when < pd.Timestamp(change), p, expit(logit(p) + shift))
    return pd.DataFrame({"when": when, "p": p, "y": (rng.random(n) < truth).astype(int)})


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def watch(frame, *words):
    frame.to_csv("log.csv", index=False)
    return probcal("watch", "log.csv", *WORDS, *words)


def summary(done):
    return json.loads(done.stdout.splitlines()[-1])["monitor"]


def test_month_by_month_the_alarm_comes_in_the_month_of_the_change_and_not_before(here):
    frame = log(8000)
    for month in range(1, 13):
        seen = frame[frame.when < pd.Timestamp("2025-01-01") + pd.DateOffset(months=month)]
        done = watch(seen, "--state", "watch.json")
        assert done.exit_code == (3 if month >= 7 else 0), done.output
        assert done.stdout.startswith("period") and f"2025-{month:02}" in done.stdout.splitlines()[1]
    found = summary(watch(frame, "--state", "watch.json", "-f", "json"))
    assert found["new_rows"] == 0 and found["rows"] == len(frame)
    assert found["onset_from"] <= "2025-07-01" <= found["onset_to"] and found["alarm"].startswith("2025-07")
    whole = summary(watch(frame, "-f", "json"))
    assert whole["alarm"] == found["alarm"] and whole["log10_evidence"] == pytest.approx(found["log10_evidence"])


def test_calibrated_log_ends_with_0_and_a_line_for_each_period(here):
    done = watch(log(shift=0), "--every", "quarter")
    assert done.exit_code == 0 and "no alarm: evidence" in done.stdout
    assert [line[:7] for line in done.stdout.splitlines()[1:5]] == [f"2025-Q{quarter}" for quarter in range(1, 5)]
    periods = [json.loads(line)["period"] for line in watch(log(shift=0), "-f", "json").stdout.splitlines()[:-1]]
    july = log(shift=0)[lambda frame: frame.when.dt.month == 7]
    assert periods[6]["rows"] == len(july) and periods[6]["base_rate"] == pytest.approx(july.y.mean())
    assert periods[6]["mean_prediction"] == pytest.approx(july.p.mean())


def test_order_of_the_rows_does_not_matter(here):
    frame = log(500)
    assert watch(frame.sample(frac=1, random_state=0)).stdout == watch(frame).stdout


def test_rows_without_a_label_wait_and_late_ones_are_told(here):
    frame = log(600, shift=0).astype({"y": "Int64"})
    waiting = frame.assign(y=frame.y.mask(frame.index >= 500))
    first = summary(watch(waiting, "--state", "s.json", "-f", "json"))
    assert (first["new_rows"], first["waiting_rows"]) == (500, 100)
    assert summary(watch(frame, "--state", "s.json", "-f", "json"))["new_rows"] == 100
    nothing = summary(watch(frame.assign(y=pd.NA), "--state", "n.json", "-f", "json"))
    assert (nothing["new_rows"], nothing["waiting_rows"], nothing["rows"]) == (0, 600, 0)
    watch(frame.drop(index=17), "--state", "t.json")
    done = watch(frame, "--state", "t.json")
    assert "left out: 1 row whose time is before the last one of the state" in " ".join(done.stdout.split())


def test_a_log_begins_with_one_class_and_without_labels(here):
    frame = log(40).assign(y=0)
    assert "no alarm: evidence" in watch(frame, "--state", "s.json").stdout
    assert "no alarm: evidence" in watch(frame.iloc[:2].assign(y=[0, 1]), "--state", "t.json").stdout
    frame["y"] = "bad"
    done = watch(frame)
    assert done.exit_code == 2 and "name the label whose probability" in " ".join(done.output.split())
    assert watch(frame, "--positive", "bad").exit_code in (0, 3)


def test_several_negative_labels_are_counted_in_a_line(here):
    frame = log(400, shift=0).assign(y=lambda table: table.y.map({0: "fine", 1: "fraud"}))
    assert "count as negative" not in watch(frame, "--positive", "fraud").stdout
    n_fine = int((frame.y == "fine").sum())
    frame.loc[frame.index[frame.y == "fine"][0], "y"] = "maybe"
    done = watch(frame, "--positive", "fraud")
    assert f'\nlabels other than "fraud" count as negative: fine ({n_fine - 1}), maybe (1)\n' in done.stdout


@pytest.mark.parametrize("doubled", [slice(None), slice(7, 9)])
def test_rows_that_a_job_appended_twice_are_counted_in_a_warning(here, doubled):
    frame = log(4000, shift=0).assign(shop=np.arange(4000) % 3)
    twice = pd.concat([frame, frame[doubled]])
    n_copies = len(twice) - len(frame)
    done = watch(twice, "-g", "shop", "--report", "page.html")
    note = (
        f"{n_copies:,} of {len(twice):,} rows with a label equal an earlier row in time, probability, label and groups"
    )
    assert note in done.stdout and note in (here / "page.html").read_text()
    assert summary(watch(twice, "-g", "shop", "-f", "json"))["copied_rows"] == n_copies
    differ = pd.concat([frame, frame[doubled].assign(shop="d")])
    assert "equal an earlier" in watch(differ).stdout
    assert "equal an earlier" not in watch(differ, "-g", "shop").stdout


def test_coarse_rows_that_are_equal_by_chance_are_no_copies(here):
    day = log(4000, shift=0).assign(when=lambda table: table.when.dt.date)
    # a new map each month, with few values of its own
    steps = day.assign(p=lambda table: table.p.round(1).clip(0.05) + pd.to_datetime(table.when).dt.month / 1000)
    for frame in (day.assign(p=day.p.round(2)), day.assign(p=day.p.round(1)), steps, day.assign(when="2025-01-01")):
        assert summary(watch(frame, "-f", "json"))["copied_rows"] == 0
        assert "equal an earlier" not in watch(frame).stdout
    twice = pd.concat([day, day])
    assert summary(watch(twice, "-f", "json"))["copied_rows"] == twice.duplicated().sum()


def test_expected_log_loss_needs_no_labels_and_is_that_of_calibrated_predictions(here):
    frame = log(20_000, shift=0).astype({"y": "Int64"})
    lines = watch(frame.assign(y=pd.NA), "--every", "year", "-f", "json").stdout.splitlines()
    without = json.loads(lines[0])["period"]
    labelled = json.loads(watch(frame, "--every", "year", "-f", "json").stdout.splitlines()[0])["period"]
    assert (without["rows"], without["waiting_rows"], without["log_loss"]) == (0, 20_000, None)
    assert (
        without["expected_log_loss"] == labelled["expected_log_loss"] == pytest.approx(labelled["log_loss"], abs=0.01)
    )
    assert without["mean_prediction"] == pytest.approx(frame.p.mean())


def test_a_change_in_one_group_is_an_alarm_of_this_group(here):
    frame = log(6000, shift=0).assign(shop=np.repeat(["a", "b", "c"], 2000)[np.random.default_rng(1).permutation(6000)])
    shifted = (frame.when >= "2025-06-01") & (frame.shop == "b")
    rng = np.random.default_rng(2)
    frame.loc[shifted, "y"] = (rng.random(shifted.sum()) < expit(logit(frame.p[shifted]) + 1.5)).astype(int)
    words = ("-g", "shop", "--state", "s.json")
    for month in range(2, 13):
        done = watch(frame[frame.when < f"2025-{month:02}-01"], *words)
    assert done.exit_code == 3 and "ALARM in shop = b since 2025-06" in done.stdout
    assert "ALARM in shop = a" not in done.stdout and "ALARM in shop = c" not in done.stdout
    found = {one["name"]: one for line in watch(frame, *words, "-f", "json").stdout.splitlines()
             if (one := json.loads(line).get("monitor"))}  # fmt: skip
    assert list(found) == ["shop = c", "shop = b", "shop = a", "all rows"]
    assert found["shop = b"]["onset_from"] <= "2025-06-02" <= found["shop = b"]["onset_to"]
    assert sum(found[f"shop = {name}"]["rows"] for name in "abc") == found["all rows"]["rows"] == 6000
    assert "was begun with --group shop" in " ".join(watch(frame, "--state", "s.json").output.split())


def test_an_alarm_gives_the_odds_since_the_onset_with_their_interval_and_a_complete_command(here):
    frame = log(6000).rename(columns={"p": "p cal"}).assign(y=lambda table: table.y.map({0: "ok", 1: "bad"}))
    frame.to_csv("log.csv", index=False)
    done = probcal("watch", "log.csv", "--time", "when", "-p", "p cal", "-t", "y", "--positive", "bad")
    onset, n_rows, ratio, low, high = re.search(
        r"began about (\S+) .*\. In the ([\d,]+) rows since then, the odds of the positive label are (\S+) times as "
        r"high as predicted on average \(95 % interval (\S+) to (\S+)\)\n",
        done.stdout,
    ).groups()
    rows = frame[frame.when >= onset]
    is_bad, offset = (rows.y == "bad").to_numpy(), logit(rows["p cal"].to_numpy())
    by_hand = sm.GLM(is_bad, np.ones((len(rows), 1)), family=sm.families.Binomial(), offset=offset).fit()
    expected = np.exp([*by_hand.params, *by_hand.conf_int()[0]])
    assert n_rows == f"{len(rows):,}" and [ratio, low, high] == [f"{value:.3g}" for value in expected]
    command = re.search(r"fit a map: (probcal measure FILE .*?\.json)\. ", done.stdout)[1]
    assert command == (
        f"probcal measure FILE -p 'p cal' -t y --positive bad --calibrate sigmoid --export map-{onset}.json"
    )
    rows.to_csv("FILE", index=False)
    assert probcal(*shlex.split(command)[1:], "--draws", 0).exit_code == 0 and (here / f"map-{onset}.json").exists()
    assert 'If "p cal" is the output of a map, fit on the prediction of the model itself' in done.stdout


def test_report_shows_periods_groups_and_the_rows_before_and_since_the_onset(here):
    frame = log(4000).assign(shop=["<b>", "x"] * 2000)
    assert watch(frame, "-g", "shop", "--report", "page.html").exit_code == 3
    page = (here / "page.html").read_text()
    assert "2025-12" in page and "shop = &lt;b&gt;" in page and "<b>" not in page
    assert "Calibration over time" in page and "Lines: Perfectly calibrated, before the onset, since the onset" in page
    assert watch(frame, "--report", "page.html").exit_code == 3  # the next run replaces its page
    (here / "mine.html").write_text("<!doctype html>")
    assert "already exists" in watch(frame, "--report", "mine.html").output
    assert watch(frame.assign(y=""), "--report", "empty.html").exit_code == 0  # no label has come yet


@pytest.mark.parametrize(
    ("change", "words", "message"),
    [
        ({"when": "yesterday"}, (), 'column "when" of log.csv holds no dates; write dates such as 2026-11-28'),
        ({"when": "03.04.2025"}, (), "day and month can be exchanged in every date"),
        ({"when": 7}, (), "holds no dates; write dates such as 2026-11-28"),
        ({"p": 1.5}, (), "log.csv"),
        ({}, ("--time", "wen"), 'has no column "wen"; did you mean "when"?'),
        ({}, ("--state", "other.json"), "other.json holds no state of probcal watch"),
        ({}, ("--state", "begun.json", "--false-alarms", "0.05"), "was begun with --false-alarms 0.01; do the same"),
        ({}, ("--state", "begun.json", "--positive", "0"), "was begun without --positive; do the same"),
        ({}, ("--report", "log.csv", "--force"), "log.csv is also TABLE; name another file"),
        ({"when": "2225-01-15"}, (), "log.csv:2: column "),
        (
            {"when": ["soon"] + ["2025-01-01"] * 199},
            (),
            'log.csv:2: column "when" holds "soon", no date like the others',
        ),
    ],
)
def test_faults_are_named_and_nothing_is_written(here, change, words, message):
    assert watch(log(200), "--state", "begun.json").exit_code in (0, 3)
    (here / "other.json").write_text("{}")
    before = {path.name: path.read_bytes() for path in here.iterdir() if path.name != "log.csv"}
    done = watch(log(200).assign(**change), *words)
    assert done.exit_code == 2 and message in " ".join(done.output.split())
    assert {path.name: path.read_bytes() for path in here.iterdir() if path.name != "log.csv"} == before


def test_periods_of_days():
    days = np.array(["2025-12-28", "2025-12-29", "2026-01-04", "2026-01-05"], dtype="datetime64[D]").astype(int) + 0.5
    assert period_names(days, "week").tolist() == ["2025-12-22", "2025-12-29", "2025-12-29", "2026-01-05"]  # Mondays
    assert period_names(days, "quarter").tolist() == ["2025-Q4", "2025-Q4", "2026-Q1", "2026-Q1"]
    assert period_names(days, "year").tolist() == ["2025", "2025", "2026", "2026"]


@pytest.mark.parametrize("seed", range(3))
def test_intervals_of_intercept_and_slope_are_those_of_statsmodels(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(-1, 2, 300)
    y = (rng.random(300) < expit(0.4 + 0.7 * x)).astype(int)
    rows = checked(y, expit(x))
    line = sm.Logit(y, sm.add_constant(x)).fit(disp=0)
    np.testing.assert_allclose(slope_interval(rows, slope_of(rows), 0.95), line.conf_int()[1], rtol=1e-6)
    shift = sm.GLM(y, np.ones((300, 1)), family=sm.families.Binomial(), offset=x).fit()
    np.testing.assert_allclose(intercept_interval(rows, intercept_of(rows), 0.95), shift.conf_int()[0], rtol=1e-6)
    separated = checked([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    assert np.isnan(slope_interval(separated, slope_of(separated), 0.95)).all()
    one_class = checked([1, 1], [0.3, 0.4])
    assert np.isnan(intercept_interval(one_class, intercept_of(one_class), 0.95)).all()
