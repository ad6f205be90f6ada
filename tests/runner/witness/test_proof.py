"""Test the file of proofs: which numeric code computed all witnesses as stored."""

from __future__ import annotations

import inspect

import pytest
from click.testing import CliRunner

from probcal.cli.main import main
from probcal.runner.witness import proof
from probcal.runner.witness.proof import add_proof, code_digest, doubt_about, is_proven, numeric_files


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
