"""Test that witnesses notice an edit of the code that changes numbers, and no other edit."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from probcal.runner.witness.cells import embedded_cells, witnessed_experiments
from probcal.runner.witness.record import load

ROOT = Path(__file__).parents[3]
WITNESSES = ROOT / "tests" / "witnesses"
CONFIG = """
name: small
datasets: [wine-first]
learners: {tree: {params: {max_depth: 3}}, kernel_nb: , logistic: }
methods: {sigmoid: , beta: , isotonic: , histogram: , probing: {params: {n_probes: 5}}}
"""
MOST_IMPORTED = (
    *("_validation", "data/splits", "fast_paths/fast_path", "learners/kernel_density", "methods/_base"),
    *("methods/refinement", "methods/_probes", "methods/calibrators/_calibrated_classifier", "methods/probing"),
    "methods/calibrators/_calibrator",
)
"""Ten numeric modules that many others import and whose code runs in these cells."""


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """Return a function that builds or checks the witnesses of a small experiment, with an edited copy of probcal."""
    folder = tmp_path_factory.mktemp("edited")
    (folder / "configs").mkdir()
    (folder / "configs" / "small.yaml").write_text(CONFIG)
    for name in ("probcal", "datasets"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))

    def command(action, edits=None):
        """Run ``action`` with edited files: path -> function of the text."""
        texts = {folder / "probcal" / name: edit for name, edit in (edits or {}).items()}
        before = {path: path.read_text(encoding="utf-8") for path in texts}
        for path, edit in texts.items():
            path.write_text(edit(before[path]), encoding="utf-8")
            assert path.read_text(encoding="utf-8") != before[path]
        try:
            return subprocess.run(
                [sys.executable, "-m", "probcal.runner.witness", action, "--witnesses", "w", "-j", "1"],
                cwd=folder, env=os.environ | {"PYTHONPATH": str(folder)}, text=True, capture_output=True, timeout=300,
            )  # fmt: skip
        finally:
            for path, text in before.items():
                path.write_text(text, encoding="utf-8")

    built = command("build")
    assert built.returncode == 0, built.stderr
    return command


def replaced(old, new):
    def edit(text):
        assert old in text
        return text.replace(old, new)

    return edit


def renamed(text):
    """Rename a local variable of one function, wherever the function uses it."""
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef):
            names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
            arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
            stored = [node.id for node in names if isinstance(node.ctx, ast.Store) and node.id not in arguments]
            if stored:
                lines = text.splitlines(keepends=True)
                places = {(node.lineno - 1, node.col_offset) for node in names if node.id == stored[0]}
                for row, column in sorted(places, reverse=True):
                    line = lines[row]
                    lines[row] = f"{line[:column]}renamed_{line[column:]}"
                return "".join(lines)
    raise AssertionError("no function has a local variable")


@pytest.mark.slow  # each check starts processes that import everything
def test_renamed_variables_leave_witnesses_equal(command):
    edits = {f"{name}.py": renamed for name in MOST_IMPORTED}
    done = command("check", edits)
    assert (done.returncode, "witnesses: 15 equal" in done.stdout) == (0, True), done.stdout + done.stderr
    assert "added the proof of this code" in done.stdout


@pytest.mark.slow  # each check starts processes that import everything
@pytest.mark.parametrize(
    ("module", "edit", "component", "n"),
    [
        (
            "methods/calibrators/_regression.py",
            replaced("(n1 + 1) / (n1 + 2)", "(n1 + 2) / (n1 + 3)"),
            "regression of one score",
            6,
        ),
        (
            "metrics/ranking.py",
            replaced("prepend=-1) - n1) / 2", "prepend=-1) - n1)"),
            "auc",
            2,
        ),
        (
            "learners/kernel_density.py",
            replaced("np.rint(values / precision)", "np.rint(values / precision / 4)"),
            "kernel naive bayes",
            5,
        ),
    ],
)
def test_changed_number_names_its_component(command, module, edit, component, n):
    done = command("check", {module: edit})
    assert done.returncode == 1, done.stderr
    assert f"  {component}: explains " in done.stdout
    changed = [line for line in done.stdout.splitlines() if line.startswith("changed: ")]
    assert len(changed) >= n
    assert "raise the version in probcal/numerics.toml" in done.stdout.splitlines()[-1]


@pytest.mark.slow  # each check starts processes that import everything
def test_a_witness_that_fails_proves_nothing(command):
    edit = replaced("(n1 + 1) / (n1 + 2)", "(n1 + 1) / (n1 - n1)")
    done = command("check", {"methods/calibrators/_regression.py": edit})
    assert (done.returncode, "witnesses: 9 equal, 6 failed" in done.stdout) == (1, True), done.stdout + done.stderr
    assert "added the proof of this code" not in done.stdout


@pytest.mark.slow  # each check starts processes that import everything
def test_a_declared_change_is_stored_by_update(command):
    edits = {
        "methods/calibrators/_regression.py": replaced("(n1 + 1) / (n1 + 2)", "(n1 + 2) / (n1 + 3)"),
        "numerics.toml": replaced('one score" = { version = 1', 'one score" = { rises = ["prior"], version = 2'),
    }
    done = command("check", edits)
    assert done.returncode == 1 and done.stdout.rstrip().endswith("probcal.runner.witness update"), done.stdout
    done = command("update", edits)
    assert (done.returncode, "6 witnesses are stored anew" in done.stdout) == (0, True), done.stdout + done.stderr
    done = command("check", edits)
    assert (done.returncode, "witnesses: 15 equal" in done.stdout) == (0, True), done.stdout
    assert command("build").returncode == 0


@pytest.mark.slow  # each check starts processes that import everything
def test_fill_adds_new_settings_and_removes_those_that_are_gone(command):
    edits = {"../configs/small.yaml": replaced("beta: ,", "temperature: ,")}
    done = command("check", edits)
    assert (done.returncode, "3 settings have no witness yet" in done.stdout) == (1, True), done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("probcal.runner.witness fill")
    done = command("fill", edits)
    assert (done.returncode, "3 witnesses added, 3 removed" in done.stdout) == (0, True), done.stdout + done.stderr
    done = command("check", edits)
    assert (done.returncode, "witnesses: 15 equal" in done.stdout) == (0, True), done.stdout
    assert command("build").returncode == 0


@pytest.mark.slow  # it reads the plans of all experiments
def test_every_setting_of_the_shipped_experiments_has_a_witness():
    planned = {item.name for item in embedded_cells(witnessed_experiments(ROOT / "configs", WITNESSES))}
    stored = {witness.name for witness in load(WITNESSES / "embedded.parquet")}
    reasons = json.loads((WITNESSES / "embedded.json").read_text())["not computed"]
    assert planned == stored | reasons.keys()
