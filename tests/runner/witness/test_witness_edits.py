"""Test that witnesses notice an edit of the code that changes numbers, and no other edit."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from probcal.config.experiment import read_experiment
from probcal.runner.witness.cells import embedded_cells
from probcal.runner.witness.record import load

ROOT = Path(__file__).parents[3]
WITNESSES = ROOT / "tests" / "witnesses"
CONFIG = """
name: small
datasets: [wine-first]
learners: {logistic: , kernel_nb: }
methods: {sigmoid: , isotonic: , probing: {params: {n_probes: 5}}}
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """Return a function that builds or checks the witnesses of a small experiment, with an edited copy of probcal."""
    folder = tmp_path_factory.mktemp("edited")
    (folder / "configs").mkdir()
    (folder / "configs" / "small.yaml").write_text(CONFIG)
    for name in ("probcal", "datasets"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))

    def command(action, module="", old="", new=""):
        path = folder / "probcal" / module
        text = path.read_text(encoding="utf-8") if module else ""
        if module:
            assert text.count(old) >= 1
            path.write_text(text.replace(old, new), encoding="utf-8")
        try:
            return subprocess.run(
                [sys.executable, "-m", "probcal.runner.witness", action, "--witnesses", "w", "-j", "1"],
                cwd=folder, env=os.environ | {"PYTHONPATH": str(folder)}, text=True, capture_output=True, timeout=300,
            )  # fmt: skip
        finally:
            if module:
                path.write_text(text, encoding="utf-8")

    built = command("build")
    assert built.returncode == 0, built.stderr
    return command


@pytest.mark.slow  # each check starts processes that import everything
def test_an_edit_that_changes_no_number_leaves_witnesses_equal(command):
    done = command("check", "methods/calibrators/_regression.py", "(n1 + 1) / (n1 + 2)", "(1 + n1) / (2 + n1)")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "witnesses: 6 equal"), done.stderr


@pytest.mark.slow  # each check starts processes that import everything
def test_another_prior_changes_only_the_sigmoid(command):
    done = command("check", "methods/calibrators/_regression.py", "(n1 + 1) / (n1 + 2)", "(n1 + 2) / (n1 + 3)")
    assert done.returncode == 1, done.stderr
    changed = [line for line in done.stdout.splitlines() if line.startswith("changed: ")]
    assert len(changed) == 2
    assert all("/sigmoid" in line for line in changed)
    assert "build the witnesses anew" in done.stdout.splitlines()[-1]


@pytest.mark.slow  # it reads the plans of all experiments
def test_every_setting_of_the_shipped_experiments_has_a_witness():
    experiments = [read_experiment(path) for path in sorted((ROOT / "configs").glob("*.yaml"))]
    planned = {item.name for item in embedded_cells(experiments)}
    stored = {witness.name for witness in load(WITNESSES / "embedded.parquet")}
    reasons = json.loads((WITNESSES / "embedded.json").read_text())["not computed"]
    assert planned == stored | reasons.keys()
