"""Test summaries of several classes: exact losses, every class within the bound of its cells, in any order."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.errors import DataError, ProbcalError
from probcal.measure import many_files, summary
from probcal.measure.file_summaries import summarised_classes
from probcal.measure.measure import MeasureOptions, measure
from probcal.measure.measurement import class_sections, likeliest_section, measure_sections
from probcal.measure.summary import ClassCells, ClassSums, SummarisedClasses
from probcal.metrics.metric import Prediction
from probcal.metrics.registry import ASKED_METRICS, METRICS, metric_named
from probcal.reading.prediction_file import FilePredictions, PredictionsRequest
from probcal.reading.table import UserTable
from tests.commands import probcal
from tests.measure.prediction_files import read_table
from tests.measure.test_summary import written_parts

NEEDS_ROWS = {"c_emp_p", "e50", "e90"}
"""Metrics that the cells of the classes do not decide."""


def several(n: int, k: int = 4, seed: int = 0) -> pd.DataFrame:
    """Return overconfident predictions of ``k`` classes, with groups and weights."""
    random = np.random.default_rng(seed)
    z = random.normal(np.linspace(-1, 1, k), 1.5, (n, k))
    p = np.exp(1.4 * z) / np.exp(1.4 * z).sum(axis=1, keepdims=True)
    true = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    y = (true.cumsum(axis=1) < random.random((n, 1))).sum(axis=1).clip(0, k - 1)
    frame = pd.DataFrame(p, columns=[f"p_{chr(97 + label)}" for label in range(k)])
    more = {"g": random.choice(["u", "v", None], n), "w": random.integers(1, 4, n) / 7}
    return frame.assign(y=[chr(97 + label) for label in y], **more)


def summary_of(folder, frame, n_files=3, **how) -> SummarisedClasses:
    paths = written_parts(folder / "parts", frame, n_files)
    columns = [name for name in frame if name.startswith("p_")]
    request = PredictionsRequest(str(folder / "parts"), ("p_*",), "y", **how)
    return summarised_classes(str(folder / "parts"), paths, request, columns, map)


def tables(predictions, draws=0):
    return [
        *measure_sections(predictions, None, draws, 0),
        likeliest_section(predictions, None, draws, 0),
        *class_sections(predictions, None, draws, 0),
    ]


def values(predictions):
    return {
        (section.name, line.quantity.name): line.before.value
        for section in tables(predictions)
        for line in section.lines
        if line.quantity.name not in NEEDS_ROWS
    }


@pytest.mark.parametrize("weight", [None, "w"])
def test_few_probabilities_of_classes_are_measured_exactly(weight, tmp_path):
    frame = several(3000)
    columns = [name for name in frame if name.startswith("p_")]
    frame[columns] = frame[columns].to_numpy()[np.arange(3000) % 40]
    exact = values(read_table(frame, tmp_path, "p_*", groups=("g",), weight=weight))
    assert len(exact) == 4 * 14 + 5 + 4 * 5
    found = values(summary_of(tmp_path, frame, groups=("g",), weight=weight))
    assert found == pytest.approx(exact, rel=1e-9, abs=1e-12, nan_ok=True)


def test_many_probabilities_of_classes_are_measured_within_the_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(summary, "MOST_DISTINCT", 1000)
    frame = several(8000)
    exact = values(read_table(frame, tmp_path, "p_*", groups=("g",), weight="w"))
    found = values(summary_of(tmp_path, frame, groups=("g",), weight="w"))
    differences = {name: abs(value - exact[name]) for name, value in found.items()}
    assert max(differences.values()) < 1e-4
    exact_ones = ("log_loss_bits", "brier", "ece", "accuracy", "base_rate")
    assert max(difference for (_, metric), difference in differences.items() if metric in exact_ones) < 1e-9


@pytest.mark.slow
def test_intervals_of_classes_are_those_of_the_rows_or_wider(tmp_path, monkeypatch):
    monkeypatch.setattr(summary, "MOST_DISTINCT", 1000)
    frame = several(8000, 3)
    exact, found = (
        {
            (section.name, line.quantity.name): line.before
            for section in tables(predictions, 200)
            for line in section.lines
            if not math.isnan(line.before.low) and line.quantity.name not in NEEDS_ROWS
        }
        for predictions in (read_table(frame, tmp_path, "p_*", weight="w"), summary_of(tmp_path, frame, weight="w"))
    )
    assert exact.keys() == found.keys()
    for (section, metric), one in exact.items():
        other, width = found[section, metric], one.high - one.low
        assert other.low <= one.low + 0.25 * width, (section, metric)
        assert other.high >= one.high - 0.25 * width, (section, metric)
        if section != "all rows" or "loss" in metric or metric == "brier":
            assert other.high - other.low == pytest.approx(width, rel=0.35), (section, metric)


logits = st.sampled_from([-740.0, -36.0, -1.0, 0.0, 0.0, 0.3, 1.0, 36.0])


@st.composite
def rows_of_classes(draw):
    k = draw(st.integers(3, 5))
    one = st.tuples(st.integers(0, k - 1), st.lists(logits, min_size=k, max_size=k), st.sampled_from([0.25, 1.0, 3.0]))
    rows = draw(st.lists(one, min_size=1, max_size=40))
    y, z, weight = (np.array(column) for column in zip(*rows, strict=True))
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return y, p / p.sum(axis=1, keepdims=True), weight


def predictions_of(y, p, weight) -> FilePredictions:
    classes = tuple("abcde"[: p.shape[1]])
    table = UserTable("t", "t", [], [])
    return FilePredictions(table, "y", classes, classes, y, p, weight, True, {}, ".")


def summarised(sums, predictions) -> SummarisedClasses:
    cells = ClassCells.of(sums)
    k = len(predictions.classes)
    return SummarisedClasses(
        predictions.table, "y", predictions.classes, predictions.classes, np.arange(k), np.eye(k), cells.weight, True,
        {}, ".", cells=cells, group_cells={},
    )  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(rows_of_classes())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_classes_of_few_rows_are_measured_exactly(rows):
    exact = predictions_of(*rows)
    found = values(summarised(ClassSums.of(*rows), exact))
    assert found == pytest.approx(values(exact), rel=1e-9, abs=1e-9, nan_ok=True)


@settings(max_examples=30, deadline=None)
@given(rows_of_classes())
def test_losses_and_bins_of_the_grid_are_exact(rows):
    exact = predictions_of(*rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summary, "MOST_DISTINCT", 0)
        found = values(summarised(ClassSums.of(*rows), exact))
    for name, value in values(exact).items():
        if name[1] in ("log_loss_bits", "log_loss_nats", "brier", "ece", "accuracy", "base_rate"):
            assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True), name


@settings(max_examples=30, deadline=None)
@given(rows_of_classes(), st.integers(0, 10**6), st.booleans())
def test_sums_of_classes_add_up_in_any_order(rows, seed, is_grid):
    random = np.random.default_rng(seed)
    part = random.integers(3, size=len(rows[0]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summary, "MOST_DISTINCT", 0 if is_grid else 10**6)
        whole = ClassSums.of(*rows)
        parts = [ClassSums.of(*(column[part == one] for column in rows)) for one in random.permutation(3)]
        merged = parts[0].merged(parts[1]).merged(parts[2])
    np.testing.assert_allclose(merged.labels, whole.labels)
    np.testing.assert_allclose(merged.losses, whole.losses)
    for one, two in zip((*merged.against, merged.likeliest), (*whole.against, whole.likeliest), strict=True):
        for found, exact in zip(one, two, strict=True):
            assert found.codes.tolist() == exact.codes.tolist()
            np.testing.assert_allclose(found.sums, exact.sums, rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(rows_of_classes())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_metrics_follow_from_their_classes_as_declared(rows):
    y, p, weight = rows
    for metric in map(metric_named, (*METRICS, *ASKED_METRICS)):
        if metric.of_classes is not None:
            classes = [Prediction((y == one) * 1, p[:, one], weight) for one in range(p.shape[1])]
            of_classes = metric.of_classes(np.array([metric.value(one) for one in classes]))
            whole = metric.value(Prediction(y, p, weight))
            assert float(of_classes) == pytest.approx(whole, rel=1e-9, abs=1e-12, nan_ok=True), metric.name


def test_files_of_classes_are_summarised_and_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(many_files, "EXACT_ROWS", 1000)
    frame = several(2000).drop(columns="w")
    frame.loc[0, "p_a"] += 0.001
    written_parts(tmp_path / "parts", frame, 2)
    words = ("measure", tmp_path / "parts", "-p", "p_*", "-t", "y", "-g", "g", "--draws", 20)
    done = probcal(*words, "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert "target y: 4 classes" in said and "each row was divided by its sum" in said and "g = (missing)" in said
    assert "There are no tests, which need single rows" in said and "p(c_emp) is left out" in said
    assert "likeliest class value" in said and "class d value" in said and "accuracy" in said
    page = (tmp_path / "r.html").read_text()
    assert "The likeliest class" in page and page.count("Reliability: class") == 4
    assert "fits each row with all its probabilities" in probcal(*words, "-c", "beta").stderr
    assert "columns of both classes" in probcal(*words[:2], "-p", "p_a", "-p", "p_b", *words[4:]).stderr
    one = probcal(*words[:2], "-p", "p_a", "--positive", "a", *words[4:], "-c", "beta")
    assert one.exit_code == 0, one.output


@pytest.mark.slow
def test_a_cluster_gives_the_same_numbers_of_classes(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(many_files, "EXACT_ROWS", 1000)
    monkeypatch.setattr(summary, "MOST_DISTINCT", 500)
    written_parts(tmp_path / "parts", several(4000), 5)
    words = ("measure", tmp_path / "parts", "-p", "p_*", "-t", "y", "-g", "g", "-w", "w", "--draws", 20, "-f", "csv")
    whole = probcal(*words)
    assert whole.exit_code == 0 and "(likeliest class)" in whole.stdout
    assert probcal(*words, "--workers", 2).stdout == whole.stdout


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"p_b": 1.5}, 'part-1.parquet, row 1: column "p_b" holds 1.5; a probability lies from 0 to 1'),
        ({"p_b": 0.9}, "part-1.parquet, row 1: the probabilities have the sum 1."),
        ({"y": None}, 'row 1: column "y" holds nothing; each row needs a label'),
        ({"y": "zebra"}, "do not name them; give one column for each label, named like p_LABEL"),
    ],
)
def test_faults_of_classes_name_file_and_row(change, said, tmp_path):
    frame = several(100)
    [(name, value)] = change.items()
    frame.loc[50, name] = value
    with pytest.raises(DataError) as error:
        summary_of(tmp_path, frame, 2, weight="w")
    assert said in str(error.value)


def test_the_labels_of_all_files_name_the_columns(tmp_path):
    """The first file alone would name its columns otherwise, because "aa" is a column and a label."""
    frame = several(90, 3).rename(columns={"p_a": "aa", "p_b": "aaa", "p_c": "aaaa"})
    frame = frame.assign(y=frame.y.map({"a": "a", "b": "aa", "c": "aaa"})).sort_values("y", ascending=False)
    paths = written_parts(tmp_path / "parts", frame, 5)
    request = PredictionsRequest(str(tmp_path / "parts"), ("aa", "aaa", "aaaa"), "y")
    found = summarised_classes("parts", paths, request, request.probability, map)
    assert (found.classes, found.columns) == (("a", "aa", "aaa"), ("aa", "aaa", "aaaa"))


def test_a_class_without_rows_is_named(tmp_path):
    frame = several(90).query("y != 'd'")
    [section] = measure_sections(summary_of(tmp_path, frame), None, 50, 0)
    assert section.support.reason == '0 rows of "d"' and section.counts[3] == 0
    assert math.isnan(section.line("auc").before.value) and section.line("log_loss_bits").before.low > 0


def test_one_class_is_refused(tmp_path):
    with pytest.raises(DataError, match="holds only one class"):
        summary_of(tmp_path, several(60).assign(y="a"))
    with pytest.raises(DataError, match="--positive is for two classes"):
        summary_of(tmp_path, several(60), positive="a")


def test_a_map_of_classes_is_refused_before_files_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(many_files, "EXACT_ROWS", 10)
    written_parts(tmp_path / "parts", several(60).assign(y=None), 1)
    request = PredictionsRequest(str(tmp_path / "parts"), ("p_*",), "y")
    with pytest.raises(ProbcalError, match="--calibrate of several classes"):
        measure(request, MeasureOptions(map="beta"), print)
