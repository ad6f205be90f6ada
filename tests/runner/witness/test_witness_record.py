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


@pytest.mark.parametrize(
    ("old", "new", "state", "gap"),
    [
        (witness(), witness(), "equal", 0.0),
        (witness(auc=math.nan), witness(auc=math.nan), "equal", 0.0),
        (witness(), witness(rms=0.3), "equal", 0.0),  # a metric that is new
        (witness(), witness(P + 1e-12), "rounding", 1e-12),
        (witness(), witness(P * (1 - 1e-6)), "changed", None),
        (witness(), witness(cxe=0.5 + 1e-8), "changed", None),
        (witness(cxe=math.inf), witness(P + 1e-12, cxe=0.5), "changed", None),
        (witness(), witness(P[:50]), "changed", math.inf),
        (witness(auc=0.9), witness(), "changed", math.inf),  # a metric that is lost
    ],
)
def test_differences_are_none_rounding_or_changes(old, new, state, gap):
    found, distance = old.compare(new)
    assert found == state and (gap is None or distance == pytest.approx(gap, rel=1e-3))


def test_lost_metric_is_named():
    assert witness(auc=0.9).changed_metrics(witness()) == ["auc"]


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


def test_another_label_of_a_row_that_is_not_stored_is_a_change():
    p = P.copy()
    stored = np.linspace(0, len(p) - 1, STORED_ROWS).round().astype(int)
    row = next(row for row in range(len(p)) if row not in stored)
    p[row] = p[row][[1, 2, 0]]
    assert witness().compare(witness(p))[0] == "changed"


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
