"""Test the lines on costs of decisions against loops over all rows and thresholds."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from probcal import BetaCalibrator
from probcal.measure.maps import calibration_folds, cross_fit, excess_cost
from probcal.measure.measurement import measure_sections
from probcal.metrics import excess_cost_bound, net_benefit
from probcal.metrics.decisions import Costs, read_costs
from tests.commands import probcal, refused
from tests.measure.prediction_files import read_table, three_classes, two_classes, written

CALL = ("-p", "p", "-t", "y", "--draws", 20)
NAMES = (
    "cost_threshold", "cost", "cost_always_positive", "cost_always_negative", "net_benefit", "best_threshold",
    "lowest_cost",
)  # fmt: skip


def mean_cost(y, p, weight, threshold, false_positive, false_negative):
    """Return the mean cost of a row by a loop."""
    total = 0.0
    for label, one, w in zip(y, p, weight, strict=True):
        if one >= threshold and label == 0:
            total += w * false_positive
        if one < threshold and label == 1:
            total += w * false_negative
    return total / sum(weight)


def lines_of(frame, folder, cost, draws=0, calibrated=None, **more):
    sections = measure_sections(read_table(frame, folder, **more), calibrated, draws, 0, costs=read_costs(cost))
    return [{line.quantity.name: line for line in section.lines} for section in sections]


@pytest.mark.parametrize("cost", ["1:1", "1:20", "3.5:0.2", "1:1e6", "1e6:1"])
def test_every_line_equals_a_loop(tmp_path, cost):
    frame = two_classes()
    frame["p"] = frame.p.round(2)  # ties, and rows at the threshold
    [lines] = lines_of(frame, tmp_path, cost, weight="w")
    costs = [float(one) for one in cost.split(":")]
    rows, threshold = (frame.y, frame.p, frame.w), costs[0] / sum(costs)
    found = {name: lines[name].before.value for name in NAMES}
    assert found["cost_threshold"] == threshold
    assert found["cost"] == pytest.approx(mean_cost(*rows, threshold, *costs), rel=1e-12)
    assert found["cost_always_positive"] == pytest.approx(mean_cost(*rows, 0, *costs), rel=1e-12)
    assert found["cost_always_negative"] == pytest.approx(mean_cost(*rows, 2, *costs), rel=1e-12)
    assert found["net_benefit"] == pytest.approx(net_benefit(frame.y, frame.p, threshold, frame.w), rel=1e-9)
    of_thresholds = [mean_cost(*rows, one, *costs) for one in [0, *frame.p.unique(), 1.5]]
    assert found["lowest_cost"] == pytest.approx(min(of_thresholds), rel=1e-9)
    assert mean_cost(*rows, found["best_threshold"], *costs) == pytest.approx(min(of_thresholds), rel=1e-9)


def test_the_best_threshold_may_decide_all_rows_alike(tmp_path):
    frame = pd.DataFrame({"p": [0.2, 1.0, 0.4, 0.9] * 10, "y": [1, 0, 1, 0] * 10})
    [never] = lines_of(frame, tmp_path, "100:1")
    [always] = lines_of(frame, tmp_path, "1:100")
    assert never["best_threshold"].before.value > 1 and always["best_threshold"].before.value == 0


def test_intervals_are_those_of_drawn_rows(tmp_path):
    frame = two_classes(3000)
    [lines] = lines_of(frame, tmp_path, "1:20", draws=1000)
    random, drawn = np.random.default_rng(1), []
    y, p = frame.y.to_numpy(), frame.p.to_numpy()
    for _ in range(2000):
        rows = random.integers(len(y), size=len(y))
        drawn.append(np.where(p[rows] >= 1 / 21, 1 - y[rows], 20 * y[rows]).mean())
    cost = lines["cost"].before
    width = cost.high - cost.low
    low, high = 2 * cost.value - np.quantile(drawn, [0.975, 0.025])
    assert abs(cost.low - low) < width / 10 and abs(cost.high - high) < width / 10
    for name in NAMES[1:]:
        interval = lines[name].before
        assert interval.low <= interval.value <= interval.high and interval.low < interval.high


def test_costs_in_another_unit_change_no_decision(tmp_path):
    one, other = (lines_of(two_classes(), tmp_path, cost, draws=20)[0] for cost in ("1:20", "1000:20000"))
    assert other["cost"].before.high == pytest.approx(1000 * one["cost"].before.high)
    assert other["best_threshold"].before.value == one["best_threshold"].before.value
    assert other["net_benefit"].before.low == pytest.approx(one["net_benefit"].before.low)


def test_costs_change_no_value_of_another_line(tmp_path):
    frame = two_classes()
    [lines] = lines_of(frame, tmp_path, "1:20", draws=20)
    [plain] = measure_sections(read_table(frame, tmp_path), None, 20, 0)
    for line in plain.lines:
        assert line.before.value == pytest.approx(lines[line.quantity.name].before.value, nan_ok=True, abs=0)


def test_all_forms_show_the_costs_of_each_group(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(two_classes(), tmp_path / "a.csv")
    words = ("measure", "a.csv", *CALL, "-g", "sex", "--cost", "1:20", "-c", "beta")
    text = probcal(*words, "--export", "m.json", "--report", "r.html").stdout
    assert len(re.findall(r"^always negative +\d", text, re.MULTILINE)) == 3
    assert max(map(len, text.splitlines())) <= 80
    assert "To keep the cost low, decide" in text and "optimistic" in text
    metrics = json.loads((tmp_path / "m.json").read_text())["audit"]["metrics"]
    assert {"cost", "net_benefit"} <= metrics.keys()
    assert "best threshold" in (tmp_path / "r.html").read_text(encoding="utf-8")
    table = probcal(*words, "-f", "csv").stdout
    for name in NAMES:
        assert len(re.findall(rf",before,{name},", table)) == 3
    assert len(re.findall(",beta,cost,", table)) == 3


def test_small_costs_are_shown_in_powers_of_ten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(two_classes(), tmp_path / "a.csv")
    text = probcal("measure", "a.csv", *CALL, "--cost", "1e-6:2e-5", "-c", "beta").stdout
    assert re.search(r"^always negative +\d\.\de-[56] +\d\.\de-[56] to", text, re.MULTILINE)
    assert re.search(r"^cost .* [-+]\d\.\de-\d[* ]?$", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 80


def test_costs_of_several_classes_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(three_classes(), tmp_path / "t.csv")
    assert "--cost is for two classes" in refused("measure", "t.csv", "-p", "p_*", "-t", "y", "--cost", "1:2")


def test_bound_on_the_excess_cost_is_told_for_rows_of_equal_weight(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"p": rng.random(20_000).round(2), "w": 2.0})
    frame["y"] = (rng.random(20_000) < frame.p).astype(int)
    frame.loc[0, "w"] = 1.0
    path = written(frame, tmp_path / "rows.csv")
    told = " ".join(probcal("measure", path, *CALL, "--cost", "1:4").stdout.split())
    bound = excess_cost_bound(frame.y, frame.p, 1, 4)
    assert "on new rows the best threshold costs more than that" in told
    assert f"the threshold 0.2 costs at most {bound:.3g} a row more than any other threshold" in told


@pytest.mark.parametrize(
    ("words", "lack"),
    [
        (("--weight", "w"), "rows that count alike, and these are weighted"),
        (("--cluster", "c"), "independent rows, and the rows of a cluster are not independent"),
        (("-c", "prior", "--base-rate", ".1"), "rows that count alike, and these are weighted"),
        ((), "more rows, or costs that differ less, to be below the cost itself"),
    ],
)
def test_where_the_excess_cost_has_no_bound_the_reason_is_told(tmp_path, words, lack):
    frame = two_classes().assign(w=1.0, c=lambda table: np.arange(len(table)) // 2)
    path = written(frame, tmp_path / "rows.csv")
    told = " ".join(probcal("measure", path, *CALL, "--cost", "1:200", *words).stdout.split())
    assert "than any other threshold" not in told
    assert f"probabilities could cost: it needs {lack}." in told


def test_the_bound_of_a_map_is_that_of_its_folds_on_rows_that_it_did_not_see(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"p": rng.random(20_000).round(3)})
    frame["y"] = (rng.random(20_000) < frame.p**2).astype(int)
    path = written(frame, tmp_path / "rows.csv")
    told = " ".join(probcal("measure", path, *CALL, "--cost", "1:4", "-c", "beta").stdout.split())
    folds = StratifiedKFold(5, shuffle=True, random_state=0).split(frame, frame.y)
    bounds = []
    for train, test in folds:
        p = BetaCalibrator().fit(frame.p[train], frame.y[train]).predict_proba(frame.p[test])[:, 1]
        bounds.append(excess_cost_bound(frame.y[test], p, 1, 4, delta=0.01))
    expected = (
        f"costs at most {np.mean(bounds):.3g} a row more than any other threshold of the calibrated probabilities"
    )
    assert f"{expected}, on average over the maps of the 5 folds." in told


def test_the_bound_of_a_map_fails_less_often_than_its_confidence_says(tmp_path):
    rng, fails = np.random.default_rng(2), 0
    grid = np.linspace(0, 1, 41)
    true = 0.1 + 0.6 * grid**2

    def excess(q):
        """Return the cost at .2 less that at the best threshold of ``q``, over all p of the grid."""
        costs = [np.where(q >= threshold, 1 - true, 4 * true).mean() for threshold in (0.2, *q, 2)]
        return costs[0] - min(costs)

    for seed in range(40):
        places = rng.integers(0, len(grid), 2000)
        p, y = grid[places], (rng.random(2000) < true[places]).astype(int)
        predictions = read_table(pd.DataFrame({"p": p, "y": y}), tmp_path)
        bound = excess_cost(predictions, Costs(1, 4), cross_fit("beta", predictions, seed), seed)
        maps = [BetaCalibrator().fit(p[train], y[train]) for train, _ in calibration_folds(predictions, seed)]
        fails += np.mean([excess(one.predict_proba(grid)[:, 1]) for one in maps]) > bound
    assert fails <= 6  # 2 of 40 are allowed; 7 or more has a probability of .0034 at exactly that rate
