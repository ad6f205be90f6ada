"""Test the steps of the GitHub Action in a clean folder, with accepted numbers and with a drift."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.commands import probcal

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PART = "-d wine-first -l logistic"
"""A part of the quickstart that runs in seconds."""


def steps(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the steps in ``folder`` as the action does."""
    on_github = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "GITHUB_OUTPUT": str(folder / "outputs")}
    return subprocess.run(
        [sys.executable, str(ROOT / "action" / "steps.py")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "CONFIG": "quickstart", "ARGUMENTS": PART, **on_github, **inputs},
        capture_output=True,
        text=True,
    )


def accepted(folder: Path) -> Path:
    """Accept the numbers of a part of the quickstart in ``folder``, and remove all other results, as in a clone."""
    for words in (("run", "quickstart", *PART.split()), ("check", "results/quickstart", "--accept")):
        assert probcal(*words).exit_code == 0
    for path in (folder / "results" / "quickstart").iterdir():
        if path.name != "accepted.csv":
            path.unlink()
    return folder / "results" / "quickstart" / "accepted.csv"


@pytest.mark.slow
def test_the_action_passes_accepted_numbers_and_fails_a_drift(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    file = accepted(tmp_path)
    green = steps(tmp_path)
    assert green.returncode == 0, green.stdout + green.stderr
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("## probcal: 8 numbers as accepted") and "**Table 1." in summary
    assert "passed=true" in (tmp_path / "outputs").read_text(encoding="utf-8").splitlines()
    assert "#2da44e" in (tmp_path / "results" / "quickstart-badge.svg").read_text(encoding="utf-8")
    assert (tmp_path / "results" / "quickstart" / "report.html").is_file()

    lines = file.read_text(encoding="utf-8").splitlines()
    column, _, value = lines[1].rpartition(",")
    file.write_text("\n".join([lines[0], f"{column},{float(value) - 0.05}", *lines[2:]]) + "\n", encoding="utf-8")
    red = steps(tmp_path, REPORT="false")
    assert red.returncode == 1 and "probcal: 1 number drifted" in red.stdout
    assert "#cf222e" in (tmp_path / "results" / "quickstart-badge.svg").read_text(encoding="utf-8")
    assert "passed=false" in (tmp_path / "outputs").read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_a_mistake_in_the_experiment_ends_before_any_run(tmp_path):
    (tmp_path / "mine.yaml").write_text("name: mine\n")
    ended = steps(tmp_path, CONFIG="mine.yaml", ARGUMENTS="")
    assert ended.returncode == 2 and "Traceback" not in ended.stderr and not (tmp_path / "results").exists()


def test_message_without_a_config_names_the_variable(tmp_path):
    done = steps(tmp_path, CONFIG="")
    assert done.returncode == 2 and done.stderr == (
        "error: set CONFIG to an experiment: CONFIG=quickstart python action/steps.py\n"
    )


def test_the_script_reads_every_variable_of_the_action():
    [step] = [one for one in ACTION["runs"]["steps"] if one.get("id") == "probcal"]
    script = (ROOT / "action" / "steps.py").read_text(encoding="utf-8")
    assert all(f'"{name}"' in script for name in step["env"] if name not in ("STEPS", "PROBCAL_CACHE_DIR"))
    given = {name for one in ACTION["runs"]["steps"] for name in ACTION["inputs"] if f"inputs.{name}" in str(one)}
    assert given == set(ACTION["inputs"])


def test_the_test_matrix_has_the_python_versions_of_the_package():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {one.rpartition(" ")[2] for one in project["classifiers"] if one.startswith("Programming Language")}
    matrix = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]["fast"]["strategy"]
    assert set(matrix["matrix"]["python"]) == named - {"3"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_only_read_permission(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job or "permissions" in job for job in workflow["jobs"].values())


@pytest.mark.slow
def test_the_results_folder_has_the_name_of_the_experiment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(
        "name: other\ntitle: t\ndatasets: [wine-first]\nlearners: [gaussian_nb]\nmethods: [direct]\n"
    )
    steps(tmp_path, CONFIG="mine.yaml", ARGUMENTS="", REPORT="false")
    assert (tmp_path / "results" / "other" / "cells.jsonl").is_file()
    steps(tmp_path, CONFIG="mine.yaml", ARGUMENTS="--quick", REPORT="false")
    assert (tmp_path / "results" / "other-quick" / "cells.jsonl").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("words", ["--trust={}", "--trust {}", "--allow-imports"])
def test_every_way_to_trust_a_module_reaches_the_validation(tmp_path, monkeypatch, words):
    (tmp_path / "my_trees.py").write_text("from sklearn.tree import DecisionTreeClassifier as Mine\n")
    (tmp_path / "mine.yaml").write_text(
        "name: mine\ntitle: t\ndatasets: [wine-first]\nlearners: {t: {type: my_trees.Mine}}\nmethods: [direct]\n"
    )
    ended = steps(tmp_path, CONFIG="mine.yaml", ARGUMENTS=words.format("my_trees"), REPORT="false",
                  PYTHONPATH=f"{ROOT}{os.pathsep}{tmp_path}")  # fmt: skip
    assert (tmp_path / "results" / "mine" / "cells.jsonl").is_file(), ended.stdout + ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("word", ["-o", "--dry-run"])
def test_arguments_that_the_action_sets_are_rejected(tmp_path, word):
    ended = steps(tmp_path, ARGUMENTS=f"{PART} {word} elsewhere")
    assert ended.returncode == 2 and f"ARGUMENTS has {word}; " in ended.stderr


@pytest.mark.slow
def test_accepted_numbers_that_were_not_run_are_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    accepted(tmp_path)
    part = steps(tmp_path, ARGUMENTS=f"{PART} -m direct", REPORT="false")
    assert part.returncode == 1 and "4 accepted numbers not run" in part.stdout, part.stdout
