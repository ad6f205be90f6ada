"""Test ``probcal verify --recompute``, which fits random cells again and bounds the share of cells that differ."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from scipy.stats import binom

from probcal.config.experiment import read_experiment
from probcal.runner import recompute as module
from probcal.runner.instruction_set import LEVEL, WIDE_LEVEL, recorded_level
from probcal.runner.plan import make_plan
from probcal.runner.recompute import Recomputation, draw
from probcal.store.folder import Store
from tests.stored_rows import write_rows


@pytest.fixture
def done(bench):
    assert bench.run().code == 0
    return bench


@pytest.mark.slow
def test_refitted_cells_agree_and_bound_the_share(done):
    said = done.probcal("verify", str(done.results), "--recompute", "6", "--seed", "1")
    assert said.code == 0
    assert "6 of 6 refitted cells agree (6 equal, 0 by rounding), from 8 done cells and 4 columns" in said.said
    assert "fewer than 39.4 % of the cells differ, with 95 % confidence" in said.said


@pytest.mark.slow
def test_an_edited_number_is_found_without_predictions(done):
    rows = done.rows()
    rows[0]["metrics"]["rms"] += 1e-6
    rows[1]["metrics"]["rms"] *= 1 + 1e-12
    write_rows(done.results, rows)
    (done.results / "predictions.bin").unlink()
    said = done.probcal("verify", str(done.results), "--recompute", "8", "-f", "json")
    [found] = json.loads(said.said)
    assert said.code == 1 and found["equal"] == 6
    assert list(found["changed"]) == [next(iter(Store(done.results).results()))]
    assert len(found["rounding"]) == 1


@pytest.mark.slow
def test_cells_of_wider_instructions_are_not_refitted_without_them(done, monkeypatch):
    monkeypatch.setattr(module, "recorded_level", lambda run: WIDE_LEVEL)
    monkeypatch.setattr(module, "lacking_flags", lambda level: frozenset(("avx512f",)))
    said = done.probcal("verify", str(done.results), "--recompute", "2")
    assert said.code == 1
    assert "not refitted, 2 cells: made with x86-64-v4, which this processor lacks" in said.said


def test_sample_is_spread_over_the_columns_and_repeatable(done):
    plan = make_plan(read_experiment(done.folder / "small.yaml"), Store(done.results))
    sample = draw(plan, 6, seed=3)
    columns = Counter((entry.cell.column.learner.name, entry.cell.column.method.name) for entry in sample)
    assert len(columns) == 4 and set(columns.values()) == {1, 2}
    assert [entry.cell.id for entry in draw(plan, 6, seed=3)] == [entry.cell.id for entry in sample]
    assert len(draw(plan, 100, seed=3)) == 8


def test_bound_is_that_of_clopper_and_pearson(tmp_path):
    assert Recomputation(tmp_path, 1000, 1, equal=300).largest_share == pytest.approx(1 - 0.05 ** (1 / 300))
    assert "fewer than 1 % of the cells differ" in Recomputation(tmp_path, 1000, 1, equal=300).text()
    two = Recomputation(tmp_path, 1000, 1, equal=58, changed={"a": 1.0, "b": 1.0})
    assert binom.cdf(2, 60, two.largest_share) == pytest.approx(0.05) and not two.ok  # its definition


def test_level_is_read_from_the_kernels_of_a_run():
    assert recorded_level({"linear_algebra": ["openblas 0.3.30 SkylakeX"]}) == WIDE_LEVEL
    assert recorded_level({"linear_algebra": ["openblas 0.3.30 Haswell"]}) == LEVEL
    assert recorded_level({}) == LEVEL
