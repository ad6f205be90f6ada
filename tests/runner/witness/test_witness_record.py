"""Test how a witness is compared with a new computation, and its file."""

import math
from dataclasses import replace

import numpy as np
import pytest

from probcal.runner.execute import Outcome
from probcal.runner.witness.record import STORED_ROWS, Witness, load, other_versions, save
from probcal.store.cell_result import CellResult

P = np.random.default_rng(0).dirichlet([1, 1, 1], size=200)


def witness(p=P, **metrics):
    result = CellResult("iris", 0, "tree", "direct", "done", "run", 0.1, key={}, metrics={"cxe": 0.5, **metrics})
    return Witness.of("small", "setting", Outcome(result, np.zeros(len(p), dtype="i1"), p))


def test_equal_predictions_are_equal():
    assert witness().compare(witness()) == ("equal", 0.0)
    assert witness(auc=math.nan).compare(witness(auc=math.nan)) == ("equal", 0.0)


def test_a_new_metric_is_no_difference():
    assert witness().compare(witness(rms=0.3)) == ("equal", 0.0)


def test_a_lost_metric_is_a_change():
    old = witness(auc=0.9)
    assert old.compare(witness()) == ("changed", math.inf)
    assert old.changed_metrics(witness()) == ["auc"]


def test_another_curve_or_stage_is_a_change():
    def of(x, stage):
        curves = {"roc": [{"x": [0.0, x], "y": [0.0, 1.0]}]}
        result = CellResult(
            "iris",
            0,
            "tree",
            "direct",
            "done",
            "run",
            0.1,
            key={},
            metrics={},
            curves=curves,
            stages={"cxe": [1.0, stage]},
        )
        return Witness.of("small", "setting", Outcome(result, np.zeros(len(P), dtype="i1"), P))

    assert of(0.5, 0.7).compare(of(0.5, 0.7))[0] == "equal"
    assert of(0.5, 0.7).compare(of(0.6, 0.7))[0] == "changed"
    assert of(0.5, 0.7).compare(of(0.5, 0.8))[0] == "changed"


def test_small_differences_count_as_rounding():
    state, gap = witness().compare(witness(P + 1e-12))
    assert state == "rounding"
    assert gap == pytest.approx(1e-12, rel=1e-3)


def test_larger_differences_are_changes():
    assert witness().compare(witness(P * (1 - 1e-6)))[0] == "changed"
    assert witness().compare(witness(cxe=0.5 + 1e-8))[0] == "changed"
    assert witness(cxe=math.inf).compare(witness(P + 1e-12, cxe=0.5))[0] == "changed"


def test_another_label_of_a_row_that_is_not_stored_is_a_change():
    p = P.copy()
    stored = np.linspace(0, len(p) - 1, STORED_ROWS).round().astype(int)
    row = next(row for row in range(len(p)) if row not in stored)
    p[row] = p[row][[1, 2, 0]]
    assert witness().compare(witness(p))[0] == "changed"


def test_another_number_of_rows_is_a_change():
    assert witness().compare(witness(P[:50])) == ("changed", math.inf)


def test_saved_witnesses_are_read_again(tmp_path):
    path = tmp_path / "small.parquet"
    both = [witness(), replace(witness(P[:10]), dataset="wine")]
    save(both, path)
    assert [old.compare(new) for old, new in zip(both, load(path), strict=True)] == [("equal", 0.0)] * 2
    assert other_versions(path) == ""


def test_other_package_versions_are_named(tmp_path):
    path = tmp_path / "small.parquet"
    save([witness()], path)
    record = path.with_suffix(".json")
    record.write_text(record.read_text().replace('"numpy": "', '"numpy": "0.'))
    assert other_versions(path).startswith("numpy 0.")
