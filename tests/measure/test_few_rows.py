"""Test that few rows give no interval, no star and no p-value, in text, CSV and on the page."""

from __future__ import annotations

import csv
import io
import math

import numpy as np
import pytest

from probcal.measure.measured_page import reliability_figure
from probcal.measure.measurement import measure_sections
from probcal.metrics.row_support import effective_rows, row_support
from tests.commands import probcal
from tests.measure.prediction_files import read_table, three_classes, two_classes, written


def sections_of(tmp_path, frame, *columns, **more):
    predictions = read_table(frame, tmp_path, *columns, **more)
    p = predictions.p if predictions.p.ndim == 2 else np.column_stack([1 - predictions.p, predictions.p])
    return predictions, measure_sections(predictions, p**1.1 / (p**1.1).sum(axis=1, keepdims=True), 20, 0)


def with_interval(section):
    intervals = [stage for line in section.lines for stage in (line.before, line.after, line.change) if stage]
    return [interval for interval in intervals if not math.isnan(interval.low)]


@pytest.mark.parametrize("n", [1, 2, 19])
def test_a_group_of_few_rows_has_no_interval_and_no_p_value(tmp_path, n):
    frame = two_classes().assign(p=0.5, sex=["F"] * n + ["M"] * (200 - n))
    _, [every, few, many] = sections_of(tmp_path, frame, groups=("sex",))
    assert with_interval(few) == [] and with_interval(every) and with_interval(many)
    assert math.isnan(few.line("c_emp_p").before.value) and not math.isnan(many.line("c_emp_p").before.value)


def test_twenty_rows_with_five_of_each_class_have_intervals(tmp_path):
    for positive, expected in ((10, True), (5, True), (4, False), (0, False)):
        group = ["F"] * 20 + ["M"] * 20
        frame = two_classes(40).assign(p=0.5, sex=group, y=([1] * positive + [0] * 20)[:20] + [0, 1] * 10)
        _, [_, few, _] = sections_of(tmp_path, frame, groups=("sex",))
        assert bool(with_interval(few)) == expected


def test_one_heavy_row_counts_as_one_row(tmp_path):
    frame = two_classes().assign(w=1.0)
    frame.loc[3, "w"] = 1e9
    _, [section] = sections_of(tmp_path, frame, weight="w")
    assert with_interval(section) == [] and "200 rows with the weight of 1.0 equal ones" in section.support.reason
    assert math.isnan(section.line("c_emp_p").before.value)


def test_several_classes_keep_the_intervals_of_losses(tmp_path):
    frame = three_classes()
    frame.loc[frame.y == "cow", "y"] = "dog"
    frame.loc[:2, "y"] = "cow"
    _, [section] = sections_of(tmp_path, frame, "p_*")
    assert {line.quantity.name for line in section.lines if not math.isnan(line.before.low)} == {
        "log_loss_bits", "log_loss_nats", "brier"
    }  # fmt: skip
    assert section.support.reason == '3 rows of "cow"'


def test_p_value_needs_labels_that_can_vary():
    y, weight, classes = np.repeat([0, 1], 500), np.ones(1000), ("0", "1")
    for p, expected in ((0.001, False), (0.0055, True), (0.5, True), (0.0, True)):
        assert row_support(y, np.full(1000, p), weight, classes).has_p_value == expected


def test_effective_rows_are_those_of_equal_weight():
    for weight, expected in (([0.1] * 20, 20), ([], 0), ([1e100, 1e-100, 1e100], 2)):
        found = effective_rows(np.array(weight), np.array(weight) ** 2)
        assert found == pytest.approx(expected) and found >= expected


def test_no_band_is_drawn_for_few_rows(tmp_path):
    frame = two_classes().assign(sex=["F"] + ["M"] * 199)
    predictions, [_, few, many] = sections_of(tmp_path, frame, groups=("sex",))
    bands = [len(reliability_figure(predictions, section, None).axes[0].collections) for section in (few, many)]
    assert bands[0] < bands[1]


def test_output_says_why_there_is_no_interval(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(two_classes().assign(sex=["F"] + ["M"] * 199), tmp_path / "a.csv")
    words = ("measure", "a.csv", "-p", "p", "-t", "y", "-g", "sex", "-c", "beta", "--draws", 20)
    text = probcal(*words, "--report", "r.html").stdout
    table = text[text.index("sex = F") : text.index("sex = M")]
    assert "*" not in table and " to " not in table
    sentence = "Too few rows for intervals and stars: sex = F (1 row). 20 rows are needed, and 5 of each class."
    assert sentence in " ".join(text.split())
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert sentence in page and page.count("too few rows for bars and bands") == 1
    rows = list(csv.DictReader(io.StringIO(probcal(*words, "-f", "csv").stdout)))
    bootstrapped = [row for row in rows if row["metric"] != "observed"]  # Jeffreys' interval holds for one row, too
    assert all(row["low"] == row["high"] == "" for row in bootstrapped if row["group"] == "F")
    assert any(row["low"] for row in rows if row["group"] == "M")


def test_change_of_few_rows_is_not_called_insignificant(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(two_classes(16), tmp_path / "a.csv")
    text = " ".join(probcal("measure", "a.csv", "-p", "p", "-t", "y", "-c", "sigmoid").stdout.split())
    assert "There are too few rows to test the change." in text and "significant" not in text


def test_a_class_without_rows_is_named(tmp_path):
    frame = three_classes()
    frame.loc[frame.y == "cow", "y"] = "dog"
    written(frame, tmp_path / "a.csv")
    done = probcal("measure", tmp_path / "a.csv", "-p", "p_*", "-t", "y", "--draws", 20)
    text = " ".join(done.stdout.split())
    assert done.exit_code == 0 and "log loss (bits)" in text and "AUC \N{EN DASH}" in text
    assert 'Where a class has no rows, the AUC has no value: all rows (no row of "cow").' in text
