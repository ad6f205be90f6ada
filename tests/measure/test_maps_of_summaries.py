"""Test maps and periods of summaries: fitted on cells, a map is nearly that of the rows, and judged on other folds."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.errors import DataError
from probcal.measure import many_files, summary
from probcal.measure.file_summaries import summarised
from probcal.measure.maps import cross_fit_cells, fit_cells, new_map
from probcal.measure.measurement import measure_sections
from probcal.measure.summary import Cells, CellSums, SummarisedPredictions
from probcal.methods.registry import map_paths
from probcal.reading.prediction_file import PredictionsRequest, read_predictions
from tests.commands import probcal
from tests.measure.test_summary import smooth, summary_of, values, written_parts

STEPS = ("histogram", "isotonic", "venn_abers")
"""Maps that jump. A jump lies anywhere within a cell."""
SMOOTH = sorted(set(map_paths()) - {*STEPS, "prior"})


def every_cell(found: SummarisedPredictions) -> np.ndarray:
    return np.ones(len(found.y), dtype=bool)


def exact_map(name, frame, weight):
    return new_map(name).fit(frame.p.to_numpy(), frame.y, sample_weight=None if weight is None else frame[weight])


@pytest.fixture(scope="module", params=[(0, None), (0, "w"), (-6, None)], ids=["plain", "weighted", "rare"])
def pooled(request, tmp_path_factory):
    shift, weight = request.param
    frame = smooth(60_000)
    odds = np.log(frame.p / (1 - frame.p)) + shift
    frame = frame.assign(p=1 / (1 + np.exp(-odds)), y=(np.random.default_rng(1).random(60_000) < frame.p) * 1)
    frame.loc[:9, "p"], frame.loc[10:19, "p"] = 0.0, 1.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(summary, "MOST_DISTINCT", 1000)
        return frame, weight, summary_of(tmp_path_factory.mktemp("pooled"), frame, weight=weight)


@pytest.mark.parametrize("name", SMOOTH)
def test_smooth_maps_of_cells_are_those_of_the_rows(name, pooled):
    frame, weight, found = pooled
    given, exact = fit_cells(name, found, every_cell(found)), exact_map(name, frame, weight)
    grid = np.append(np.sort(frame.p)[::20], [0.0, 1.0])
    assert np.abs(given.predict_proba(grid) - exact.predict_proba(grid)).max() < 1e-5


@pytest.mark.parametrize("name", STEPS)
def test_maps_with_steps_reach_the_same_log_loss(name, pooled):
    frame, weight, found = pooled

    def log_loss(fitted):
        p = fitted.predict_proba(frame.p.to_numpy())[np.arange(len(frame)), frame.y]
        return np.average(-np.log2(p), weights=None if weight is None else frame[weight])

    given, exact = fit_cells(name, found, every_cell(found)), exact_map(name, frame, weight)
    assert log_loss(given) == pytest.approx(log_loss(exact), abs=1e-4)


rows = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, 0.5, 0.2, 1e-300, 1 - 2**-53, 1 / 15]), st.booleans(), st.integers(1, 3)),
    min_size=4, max_size=40,
)  # fmt: skip


@settings(max_examples=60)
@given(rows, st.sampled_from(["beta", "isotonic", "sigmoid", "temperature", "histogram"]), st.booleans())
def test_maps_of_few_probabilities_are_exact(many, name, has_weights):
    p, y, weight = np.array(many, dtype=float).T
    y = y.astype(np.int64)
    if len(set(y.tolist())) < 2:
        return
    weight = weight if has_weights else np.ones(len(p))
    cells = Cells.of(*(CellSums.of(p[y == label], weight[y == label]) for label in (0, 1)))
    found = SummarisedPredictions(
        table=None, target="y", columns=("p",), classes=("0", "1"), y=cells.y, p=cells.p, weight=cells.weight,
        has_weights=has_weights, groups={}, mark=".", cells=cells, group_cells={},
    )  # fmt: skip
    exact = new_map(name).fit(p, y, sample_weight=weight if has_weights else None)
    grid = np.unique(p)
    assert fit_cells(name, found, every_cell(found)).predict_proba(grid) == pytest.approx(
        exact.predict_proba(grid), abs=1e-6
    )


def test_no_fold_is_judged_by_a_map_that_saw_it(tmp_path):
    frame = smooth(4000).assign(p=lambda rows: rows.p.round(2))
    request = PredictionsRequest(str(tmp_path / "parts"), ("p",), "y", groups=("g",))
    found = summarised(request.source, written_parts(tmp_path / "parts", frame, 3), request, map, 5, 0)
    judged = cross_fit_cells("isotonic", found)
    assert sum(found.cells.counts) == 4000 and set(found.cells.fold) == set(range(5))
    for part in (judged.cells, *judged.group_cells.values()):
        for fold in range(5):
            others = fit_cells("isotonic", found, found.cells.fold != fold)
            is_one = part.fold == fold
            assert np.array_equal(part.calibrated[is_one], others.predict_proba(part.p[is_one]))
    with pytest.raises(DataError, match="some of the 5 folds hold all rows of a class"):
        fit_cells("beta", found, found.cells.y == 0)


def test_calibrated_summaries_are_shown_and_exported(tmp_path, monkeypatch):
    monkeypatch.setattr(many_files, "EXACT_ROWS", 1000)
    frame = smooth(20_000)
    written_parts(tmp_path / "parts", frame, 2)
    words = ("measure", tmp_path / "parts", "-p", "p", "-t", "y", "--draws", 40, "-c", "beta")
    done = probcal(*words, "--export", tmp_path / "map.json", "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    assert "other four of 5 random folds" in done.stdout and "With beta the log loss is" in done.stdout
    record = json.loads((tmp_path / "map.json").read_text())
    assert "5 random folds" in json.dumps(record) and "log_loss_bits" in json.dumps(record)
    frame[["p"]].head(50).to_csv(tmp_path / "new.csv", index=False)
    applied = probcal("apply", tmp_path / "map.json", tmp_path / "new.csv", "-o", tmp_path / "c.csv")
    assert applied.exit_code == 0, applied.output
    exact = exact_map("beta", frame, None).predict_proba(frame.p.to_numpy()[:50])[:, 1]
    assert pd.read_csv(tmp_path / "c.csv").p_beta.to_numpy() == pytest.approx(exact, abs=1e-5)


def test_change_of_a_summary_without_draws_has_no_test(tmp_path, monkeypatch):
    monkeypatch.setattr(many_files, "EXACT_ROWS", 1000)
    written_parts(tmp_path / "parts", smooth(2000), 2)
    done = probcal("measure", tmp_path / "parts", "-p", "p", "-t", "y", "-c", "sigmoid", "--draws", 0)
    text = " ".join(done.stdout.split())
    assert "Without draws, its change has no test." in text and "too few rows" not in text, done.output


def test_intervals_after_calibration_are_those_of_the_rows(tmp_path, monkeypatch):
    frame = smooth(20_000)
    (path,) = written_parts(tmp_path / "parts", frame, 1)
    words = ("-p", "p", "-t", "y", "--draws", 200, "-c", "beta", "-f", "csv")
    whole = probcal("measure", path, *words).stdout
    monkeypatch.setattr(many_files, "EXACT_ROWS", 1000)
    monkeypatch.setattr(summary, "MOST_DISTINCT", 1000)
    cells = probcal("measure", path, *words).stdout
    read = [pd.read_csv(io.StringIO(text)).set_index(["metric", "stage"]) for text in (whole, cells)]
    for metric in ("log_loss_bits", "brier", "auc"):
        for stage in ("before", "beta"):
            one, other = (table.loc[(metric, stage)] for table in read)
            assert [other.low, other.high] == pytest.approx([one.low, one.high], abs=0.25 * (one.high - one.low))


@pytest.mark.parametrize("as_text", [False, True])
def test_periods_are_groups_of_a_summary_and_of_rows(as_text, tmp_path):
    days = pd.to_datetime("2026-01-15") + pd.to_timedelta(np.arange(3000) // 50, "D")
    frame = smooth(3000).assign(p=lambda rows: rows.p.round(2), t=days.strftime("%Y-%m-%d") if as_text else days)
    parts = written_parts(tmp_path / "parts", frame, 3)
    whole = PredictionsRequest(str(tmp_path / "all.parquet"), ("p",), "y", time="t", every="week")
    frame.to_parquet(whole.source, index=False)
    exact = measure_sections(read_predictions(whole), None, 0, 0)
    found = measure_sections(summarised(str(tmp_path), parts, whole, map), None, 0, 0)
    assert [section.name for section in found] == [section.name for section in exact]
    assert exact[1].name == "t = 2026-01-12"  # a Monday
    assert values(found) == pytest.approx(values(exact), rel=1e-9, abs=1e-12, nan_ok=True)
    with pytest.raises(DataError, match="60 periods of a day, and at most 50 are measured; name a longer one"):
        read_predictions(PredictionsRequest(whole.source, ("p",), "y", time="t", every="day"))


def test_a_file_read_whole_says_that_workers_do_nothing(tmp_path):
    pytest.importorskip("distributed")
    smooth(100).to_csv(tmp_path / "a.csv", index=False)
    done = probcal("measure", tmp_path / "a.csv", "-p", "p", "-t", "y", "--draws", 0, "--workers", 1)
    assert "--workers has no effect: only many files" in done.stdout
