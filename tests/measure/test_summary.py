"""Test summaries: they add up in any order, are exact for few probabilities, and near for many."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.errors import DataError
from probcal.measure import many_files, summary
from probcal.measure.file_summaries import summarised
from probcal.measure.many_files import parquet_files
from probcal.measure.measurement import measure_sections
from probcal.measure.summary import Cells, CellSums
from probcal.reading.prediction_file import PredictionsRequest
from tests.commands import probcal
from tests.measure.prediction_files import read_table

NO_VALUE_HERE = {"c_emp_p"}
"""The p-value needs single rows."""


def written_parts(folder: Path, frame: pd.DataFrame, n: int) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = [folder / f"part-{i}.parquet" for i in range(n)]
    for path, rows in zip(paths, np.array_split(np.arange(len(frame)), n), strict=True):
        frame.iloc[rows].to_parquet(path, index=False)
    return paths


def smooth(n: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    z = random.normal(-1, 2, n)
    y = (random.random(n) < 1 / (1 + np.exp(-0.7 * z))).astype(int)
    groups, weight = random.choice(["a", "b", "b ", None], n), random.integers(1, 4, n) / 7
    return pd.DataFrame({"p": 1 / (1 + np.exp(-z)), "y": y, "g": groups, "w": weight})


def summary_of(folder, frame, n_files=3, **how):
    paths = written_parts(folder / "parts", frame, n_files)
    request = PredictionsRequest(str(folder / "parts"), ("p",), "y", **how)
    return summarised(str(folder / "parts"), paths, request, map)


def values(sections):
    return {
        (section.name, line.quantity.name): line.before.value
        for section in sections
        for line in section.lines
        if line.quantity.name not in NO_VALUE_HERE
    }


@pytest.mark.parametrize("weight", [None, "w"])
def test_few_probabilities_are_measured_exactly(weight, tmp_path):
    frame = smooth(4000).assign(p=lambda rows: rows.p.round(2))
    exact = measure_sections(read_table(frame, tmp_path, groups=("g",), weight=weight), None, 0, 0)
    found = measure_sections(summary_of(tmp_path, frame, groups=("g",), weight=weight), None, 0, 0)
    assert [section.n_rows for section in found] == [section.n_rows for section in exact]
    assert values(found) == pytest.approx(values(exact), rel=1e-9, abs=1e-12, nan_ok=True)


def test_many_probabilities_are_measured_within_a_millionth(tmp_path, monkeypatch):
    monkeypatch.setattr(summary, "MOST_DISTINCT", 1000)
    frame = smooth(60_000)
    exact = measure_sections(read_table(frame, tmp_path, groups=("g",), weight="w"), None, 0, 0)
    found = summary_of(tmp_path, frame, groups=("g",), weight="w")
    assert len(found.p) < len(frame)
    differences = {
        name: abs(value - values(exact)[name]) for name, value in values(measure_sections(found, None, 0, 0)).items()
    }
    assert max(differences.values()) < 1e-4
    exact_ones = ("log_loss_bits", "brier", "ece")
    assert max(difference for (_, metric), difference in differences.items() if metric in exact_ones) < 1e-6


def test_intervals_are_those_of_the_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(summary, "MOST_DISTINCT", 1000)
    frame = smooth(20_000)
    [exact] = measure_sections(read_table(frame, tmp_path, weight="w"), None, 400, 0)
    [found] = measure_sections(summary_of(tmp_path, frame, weight="w"), None, 400, 0)
    for line in exact.lines:
        other = found.line(line.quantity.name).before
        if not math.isnan(line.before.low) and line.quantity.is_fast:
            width = line.before.high - line.before.low
            assert (other.low, other.high) == pytest.approx((line.before.low, line.before.high), abs=0.25 * width)


rows = st.lists(
    st.tuples(
        st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-300, 5e-324, 1 - 2**-53, 1 / 15]), st.floats(0, 1)),
        st.sampled_from([0.25, 1.0, 3.0]),
    ),
    max_size=40,
)


@settings(max_examples=100)
@given(rows, rows, rows, st.booleans())
def test_sums_add_up_in_any_order(one, two, three, is_grid):
    def sums(*parts):
        p, weight = np.array([pair for part in parts for pair in part] or np.empty((0, 2))).T.reshape(2, -1)
        found = CellSums.of(p, weight)
        return found.on_grid() if is_grid else found

    whole = sums(one, two, three)
    for merged in (sums(one).merged(sums(two)).merged(sums(three)), sums(three).merged(sums(two, one))):
        assert merged.codes.tolist() == whole.codes.tolist()
        np.testing.assert_allclose(merged.sums, whole.sums, rtol=1e-12)


@settings(max_examples=100)
@given(rows)
def test_cells_move_no_probability_far(one):
    p, weight = np.array(one or np.empty((0, 2))).T.reshape(2, -1)
    cells = Cells.of(CellSums.of(p[::2], weight[::2]).on_grid(), CellSums.of(p[1::2], weight[1::2]).on_grid())
    assert cells.weight.sum() == pytest.approx(weight.sum())
    assert ((cells.p == 0).sum() > 0) == ((p == 0).sum() > 0)
    assert all(np.abs(cells.p - one).min() < 6.2e-5 for one in p)
    assert set(np.searchsorted(np.arange(1, 15) / 15, cells.p)) == set(np.searchsorted(np.arange(1, 15) / 15, p))


@pytest.mark.parametrize("pattern", ["parts", "parts/*.parquet", "parts/**/part-?.parquet"])
def test_folders_and_patterns_are_read(pattern, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    paths = written_parts(tmp_path / "parts", smooth(300), 3)
    if pattern == "parts":
        (tmp_path / "parts" / "_metadata.parquet").write_bytes(b"")
    assert [path.name for path in parquet_files(pattern)] == [path.name for path in paths]
    smooth(300).to_csv("all.csv", index=False)
    whole = probcal("measure", "all.csv", "-p", "p", "-t", "y", "--draws", 20)
    many = probcal("measure", pattern, "-p", "p", "-t", "y", "--draws", 20)
    assert many.exit_code == 0, many.output
    assert many.stdout.partition("all rows")[2] == whole.stdout.partition("all rows")[2]


def test_large_files_are_summarised_and_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(many_files, "EXACT_ROWS", 1000)
    written_parts(tmp_path / "parts", smooth(2000), 2)
    words = ("measure", tmp_path / "parts", "-p", "p", "-t", "y", "-g", "g", "--draws", 20)
    done = probcal(*words, "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    assert "2 Parquet files; summarised by probability" in done.stdout and "g = (missing)" in done.stdout
    assert "p(c_emp) is left out: it needs single rows" in " ".join(done.stdout.split())
    assert "<svg" in (tmp_path / "r.html").read_text() or "data:image" in (tmp_path / "r.html").read_text()
    assert "-o keeps all rows" in probcal(*words, "-c", "beta", "-o", tmp_path / "c.csv").stderr
    assert "--calibrate prior weights single rows" in probcal(*words, "-c", "prior", "--base-rate", ".1").stderr


def test_the_word_for_missing_groups_is_the_group_of_missing_values(tmp_path, monkeypatch):
    monkeypatch.setattr(many_files, "EXACT_ROWS", 10)
    frame = smooth(90).assign(g=["(missing)", "a", None] * 30)
    (path,) = written_parts(tmp_path / "parts", frame, 1)
    done = probcal("measure", path.parent, "-p", "p", "-t", "y", "-g", "g", "--draws", 0, "-f", "csv")
    rows = {line.split(",")[1]: line for line in done.stdout.splitlines() if "log_loss_bits" in line}
    assert "60" in rows["(missing)"].split(",") and "30" in rows["a"].split(",")


@pytest.mark.slow
def test_a_cluster_gives_the_same_numbers(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(many_files, "EXACT_ROWS", 1000)
    monkeypatch.setattr(summary, "MOST_DISTINCT", 500)
    written_parts(tmp_path / "parts", smooth(4000), 5)
    words = ("measure", tmp_path / "parts", "-p", "p", "-t", "y", "-g", "g", "-w", "w", "--draws", 20, "-f", "csv")
    assert probcal(*words, "--workers", 2).stdout == probcal(*words).stdout
    assert 'has no column "q"' in probcal(*words[:3], "q", *words[4:], "--workers", 1).stderr


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"p": 1.5}, 'part-1.parquet, row 1: column "p" holds 1.5; a probability lies from 0 to 1'),
        ({"p": None}, 'row 1: column "p" holds nothing; each row needs a number'),
        ({"y": None}, 'row 1: column "y" holds nothing; each row needs a label'),
        ({"w": -1.0}, 'row 1: column "w" holds -1.0; a weight is at least 0'),
        ({"w": 1e160}, "holds 1e+160; many files need weights from 1e-15 to 1e+15, or 0; multiply all weights"),
    ],
)
def test_faults_name_file_and_row(change, said, tmp_path):
    frame = smooth(100)
    [(name, value)] = change.items()
    frame.loc[50, name] = value
    with pytest.raises(DataError) as error:
        summary_of(tmp_path, frame, 2, weight="w")
    assert said in str(error.value)


def test_columns_must_exist_and_be_numbers(tmp_path):
    with pytest.raises(DataError, match='has no column "y"'):
        summary_of(tmp_path, smooth(10).drop(columns="y"))
    with pytest.raises(DataError, match=r'column "p" has the type .*string.*write numbers'):
        summary_of(tmp_path, smooth(10).assign(p="x"))
    with pytest.raises(DataError, match="holds only one class"):
        summary_of(tmp_path, smooth(10).assign(y=1))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"without a \.parquet file"):
        parquet_files(str(tmp_path / "empty"))
    with pytest.raises(DataError, match="no file matches"):
        parquet_files(str(tmp_path / "*.nothing"))
