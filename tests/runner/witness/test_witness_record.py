"""Test how a witness is compared, which components a change names, and the file of proofs."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from probcal.cli.main import main
from probcal.runner.execute import Outcome
from probcal.runner.witness import proof
from probcal.runner.witness.__main__ import explain
from probcal.runner.witness.proof import add_proof, code_digest, doubt_about, is_proven, numeric_files
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


def test_proofs_cover_the_code_of_single_papers():
    from probcal.components.classes import import_class
    from probcal.learners.registry import LEARNERS
    from probcal.methods.registry import METHODS

    files = {str(file) for file in numeric_files()}
    classes = [import_class(entry.path) for entry in (*LEARNERS.values(), *METHODS.values())]
    own = {inspect.getfile(cls) for cls in classes if cls.__module__.startswith("probcal.")}
    assert own and own <= files
    assert any("stump_boosting" in file for file in files)


def test_code_is_proven_by_its_line_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "proofs.csv"
    assert not is_proven(path)
    assert add_proof({"equal": 3, "rounding": 1}, path) and is_proven(path)
    assert not add_proof({"equal": 3}, path)
    assert path.read_text().splitlines()[1].startswith(f"{code_digest()},")
    # where only comments differ, the bytes differ and the code does not
    monkeypatch.setattr(proof, "_files_digest", lambda: "other bytes")
    assert is_proven(path)
    monkeypatch.setattr(proof, "code_digest", lambda: "another")
    assert not is_proven(path)


def test_only_results_of_this_repository_are_doubted(tmp_path, monkeypatch):
    (tmp_path / "package").mkdir()
    monkeypatch.setattr(proof, "PACKAGE", tmp_path / "package")
    monkeypatch.setattr(proof, "code_digest", lambda: "this code")
    monkeypatch.setattr(proof, "_files_digest", lambda: "these files")
    proofs = tmp_path / "proofs.csv"
    assert doubt_about(tmp_path / "results" / "uci", proofs) is None
    proofs.write_text("code,date\nof other code,2026-01-01\n")
    assert doubt_about(tmp_path / "elsewhere", proofs) is None
    assert "make witnesses" in str(doubt_about(tmp_path / "results" / "uci", proofs))


@pytest.mark.parametrize(("command", "code"), [("check", 1), ("table", 0)])
def test_commands_call_unproven_results_so(command, code, monkeypatch):
    root = proof.PACKAGE.parent
    if not (root / "results" / "documents").is_dir():
        pytest.skip("needs the results of a checkout")
    monkeypatch.setattr(proof, "is_proven", lambda path: False)
    done = CliRunner().invoke(main, [command, str(root / "results" / "documents")])
    assert done.exit_code == code and "unproven" in done.stderr


def test_component_of_all_changed_and_no_equal_witness_explains():
    changed = {"a": {"cell", "beta"}, "b": {"cell", "beta"}}
    equal = {"c": {"cell", "isotonic"}}
    assert explain(changed, equal) == {"beta": 2}


def test_shared_component_is_smaller_than_two_of_its_users():
    changed = {"a": {"newton", "beta"}, "b": {"newton", "sigmoid"}}
    assert explain(changed, {"c": {"isotonic"}}) == {"newton": 2}


def test_components_that_only_occur_together_are_both_named():
    assert explain({"a": {"map", "method"}}, {}) == {"map or method": 1}
