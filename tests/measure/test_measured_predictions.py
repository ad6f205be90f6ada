"""Test measured values against scikit-learn, and test intervals, groups and weights."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from probcal.measure.maps import cross_fit
from probcal.measure.measured_page import reliability_figure
from probcal.measure.measurement import default_draws, measure_sections
from probcal.metrics import METRICS, all_metrics, binned_curve
from tests.commands import probcal
from tests.measure.prediction_files import read_table, three_classes, two_classes, written


def measured(table, folder, *columns, draws=20, **more):
    """Return the measured sections of a table that is written to a file."""
    return measure_sections(read_table(table, folder, *columns, **more), None, draws, 0)


def values(section):
    return {line.quantity.name: line.before.value for line in section.lines}


def test_two_classes_agree_with_scikit_learn(tmp_path):
    frame = two_classes()
    [section] = measured(frame, tmp_path, weight="w")
    measures, weight = values(section), {"sample_weight": frame.w}
    assert measures["log_loss_nats"] == pytest.approx(log_loss(frame.y, frame.p, **weight), rel=1e-12)
    assert measures["log_loss_bits"] == pytest.approx(log_loss(frame.y, frame.p, **weight) / math.log(2), rel=1e-12)
    assert measures["brier"] == pytest.approx(brier_score_loss(frame.y, frame.p, **weight), rel=1e-12)
    assert measures["auc"] == pytest.approx(roc_auc_score(frame.y, frame.p, **weight), rel=1e-12)
    assert measures["base_rate"] == pytest.approx(np.average(frame.y, weights=frame.w))
    assert measures["mean_probability"] == pytest.approx(np.average(frame.p, weights=frame.w))


def test_three_classes_agree_with_scikit_learn(tmp_path):
    predictions = read_table(three_classes(), tmp_path, "p_*")
    [section] = measure_sections(predictions, None, 20, 0)
    measures = values(section)
    assert measures["log_loss_nats"] == pytest.approx(log_loss(predictions.y, predictions.p), rel=1e-12)
    area = roc_auc_score(predictions.y, predictions.p, multi_class="ovr", average="macro")
    assert measures["auc"] == pytest.approx(area, rel=1e-12)
    assert "base_rate" not in measures


def test_every_metric_of_the_registry_is_a_line(tmp_path):
    frame = two_classes()
    [section] = measured(frame, tmp_path)
    known, measures = all_metrics(frame.y, frame.p), values(section)
    for name in METRICS:
        if name in known and name != "rms":
            assert measures["log_loss_bits" if name == "cxe" else name] == pytest.approx(known[name])
    assert not {"errors", "log10_loss", "l1", "log_loss"} & measures.keys()
    assert len(measures) == len(section.lines)


def test_an_interval_contains_its_value_and_stays_within_the_bounds(tmp_path):
    [section] = measured(two_classes(40), tmp_path, draws=50)
    for line in section.lines:
        interval, metric = line.before, line.quantity.metric
        assert math.isnan(interval.low) or (
            metric.least <= interval.low <= interval.value <= interval.high <= metric.most
        )


def test_the_interval_of_a_small_error_ends_at_its_value(tmp_path):
    rng = np.random.default_rng(2)
    p = rng.random(400)
    frame = two_classes(400).assign(p=p, y=(rng.random(400) < p).astype(int))
    [section] = measured(frame, tmp_path, draws=50)
    for name in ("c_emp", "miscalibration"):
        error = section.line(name).before
        assert error.low < error.value / 5 and error.high == pytest.approx(error.value, rel=0.1)


def test_a_group_is_measured_like_a_separate_file(tmp_path):
    frame = two_classes()
    every, *groups = measured(frame, tmp_path, groups=("sex",))
    assert [group.name for group in groups] == ["sex = F", "sex = M"]
    assert sum(group.n_rows for group in groups) == every.n_rows == 200
    [alone] = measured(frame[frame.sex == "M"], tmp_path)
    assert values(groups[1]) == values(alone)


def test_a_row_of_weight_two_counts_as_two_rows(tmp_path):
    frame = two_classes(60)
    twice = frame.loc[frame.index.repeat(frame.w)]
    [weighted] = measured(frame, tmp_path, weight="w")
    [repeated] = measured(twice, tmp_path)
    for name, value in values(weighted).items():
        if name != "c_emp_p":
            assert value == pytest.approx(values(repeated)[name]), name


def test_a_column_of_weights_that_has_no_effect_is_named(tmp_path):
    frame = two_classes(60).rename(columns={"w": "weight"})
    [note] = [note for note in read_table(frame, tmp_path).notes if "weight" in note]
    assert note.endswith("add -w weight")
    assert not any("weight" in note for note in read_table(frame, tmp_path, weight="weight").notes)


def test_rows_of_weight_zero_are_ignored(tmp_path):
    frame = two_classes(60)
    frame.loc[:9, "w"] = 0
    frame.loc[0, ["p", "y"]] = [0, 1]
    [section] = measured(frame, tmp_path, weight="w")
    assert (section.n_rows, section.impossible_rows) == (50, ())


def test_observed_labels_of_probability_zero_are_counted(tmp_path):
    frame = two_classes(30)
    frame.loc[4, ["p", "y"]] = [0, 1]
    frame.loc[7, ["p", "y"]] = [1, 0]
    predictions = read_table(frame, tmp_path)
    [section] = measure_sections(predictions, None, 20, 0)
    assert section.impossible_rows == (4, 7)
    assert predictions.line(4) == "line 6"
    assert math.isinf(section.line("log_loss_bits").before.value)


def test_a_group_of_one_class_has_no_auc(tmp_path):
    frame = two_classes(60)
    frame["sex"] = np.where(frame.y == 1, "F", "M")
    _, group, _ = measured(frame, tmp_path, groups=("sex",))
    assert math.isnan(group.line("auc").before.value) and math.isnan(group.line("auc").before.low)


def test_large_files_and_many_groups_get_fewer_draws():
    def draws(n_rows, n_groups=0):
        groups = {"g": [str(number) for number in range(n_groups)]} if n_groups else {}
        return default_draws(SimpleNamespace(n_rows=n_rows, groups=groups))

    assert [draws(n) for n in (10, 100_000, 200_000, 10_000_000)] == [1000, 1000, 500, 200]
    assert [draws(100, n) for n in (19, 39)] == [1000, 500]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_figure_equals_the_reliability_display(tmp_path, n_classes):
    frame = two_classes() if n_classes == 2 else three_classes().assign(w=1)
    predictions = read_table(frame, tmp_path, "p" if n_classes == 2 else "p_*", weight="w")
    [section] = measure_sections(predictions, predictions.p, 20, 0)
    figure = reliability_figure(predictions, section, "beta")
    lines = {line.get_label(): line for line in figure.axes[0].get_lines()}
    assert {"before", "beta", "Perfectly calibrated"} <= set(lines)
    y, p = predictions.y, predictions.p
    if n_classes == 3:
        y, p = y == p.argmax(axis=1), p.max(axis=1)
    expected = binned_curve(y, p, sample_weight=predictions.weight)
    assert lines["before"].get_xdata() == pytest.approx(expected.mean)
    assert lines["before"].get_ydata() == pytest.approx(expected.observed)


@pytest.mark.parametrize("map", ["sigmoid", "venn_abers", "histogram"])
def test_shares_measure_and_calibrate_like_whole_weights(tmp_path, map):
    frame = two_classes(100)
    share = frame.assign(w=frame.w / frame.w.sum())
    stages = []
    for table in (frame, share):
        predictions = read_table(table, tmp_path, weight="w")
        [section] = measure_sections(predictions, cross_fit(map, predictions, 0), 20, 0)
        stages.append([stage.value for line in section.lines for stage in (line.before, line.after) if stage])
    np.testing.assert_allclose(stages[1], stages[0], rtol=1e-9)


def test_rows_of_weight_zero_do_not_move_the_folds_of_a_map(tmp_path):
    frame = two_classes(100)
    frame.loc[::4, "w"] = 0
    kept = frame.w > 0
    whole = cross_fit("sigmoid", read_table(frame, tmp_path, weight="w"), 0)
    part = cross_fit("sigmoid", read_table(frame[kept], tmp_path, weight="w"), 0)
    assert np.array_equal(whole[kept], part)


def test_header_and_table_count_the_same_rows(tmp_path):
    frame = two_classes(60).assign(w=[0, 0, 1, 3] * 15)
    written(frame, tmp_path / "a.csv")
    text = probcal("measure", tmp_path / "a.csv", "-p", "p", "-t", "y", "-w", "w", "--draws", 20).stdout
    used = frame[frame.w > 0]
    share = np.average(used.y, weights=used.w)
    assert f"{used.y.sum()} rows ({100 * used.y.mean():.3g} %), {100 * share:.3g} % of the weight" in text
    assert "note: left out: 30 rows of weight 0" in text
    assert f"base rate         {share:.4f}" in text and "rows                  30\n" in text


def test_values_are_shown_before_their_intervals(tmp_path):
    shown, waited_for = [], []
    predictions = read_table(two_classes(), tmp_path, groups=("sex",))
    sections = measure_sections(predictions, None, 20, 0, shown.extend, lambda parts: waited_for.append(parts) or parts)
    assert [values(section) for section in shown] == [values(section) for section in sections]
    assert len(waited_for[0]) == len(shown) == 3


def test_without_draws_intervals_are_in_closed_form(tmp_path):
    [section] = measured(two_classes(), tmp_path, draws=0)
    with_interval = {line.quantity.name for line in section.lines if not math.isnan(line.before.low)}
    assert with_interval == {"base_rate", "mean_probability", "log_loss_bits", "log_loss_nats", "brier", "auc"}
    [drawn] = measured(two_classes(), tmp_path, draws=1000)
    for name in with_interval:
        closed, bootstrap = section.line(name).before, drawn.line(name).before
        assert closed.high - closed.low == pytest.approx(bootstrap.high - bootstrap.low, rel=0.12)


@pytest.mark.parametrize(("draws", "is_shown"), [(20, True), (0, False)])
def test_values_are_printed_early_only_if_intervals_are_drawn(tmp_path, monkeypatch, draws, is_shown):
    from probcal.measure import measure
    from probcal.reading.prediction_file import PredictionsRequest

    monkeypatch.setattr(measure, "_MANY_ROWS", 100)
    early = []
    request = PredictionsRequest(str(written(two_classes(), tmp_path / "a.csv")), ("p",), "y")
    measure.measure(request, measure.MeasureOptions(draws=draws), lambda line: None, early.append)
    assert bool(early) == is_shown
