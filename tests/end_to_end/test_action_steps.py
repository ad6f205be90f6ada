"""Test the steps of the GitHub Action in a clean folder, with accepted numbers and with a drift."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.commands import probcal
from tests.test_distribution import Environment

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


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """Return a function that runs a script with unusable variables in this process, and gives its one line."""

    def message(script: str, **inputs: str) -> str:
        on_github = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "GITHUB_OUTPUT": str(tmp_path / "outputs")}
        for name, value in {
            "CONFIG": "quickstart",
            "ARGUMENTS": PART,
            "GITHUB_ACTIONS": "true",
            **on_github,
            **inputs,
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(ROOT / "action" / script), run_name="__main__")
        said = capsys.readouterr()
        assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1)
        assert not list(tmp_path.iterdir())
        return said.err

    return message


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

    file.write_text("\n".join([*lines, "wine-first,logistic,removed,rms,0.3"]) + "\n", encoding="utf-8")
    red = steps(tmp_path, REPORT="false")
    assert red.returncode == 1 and "probcal: 1 accepted number no longer in the experiment" in red.stdout


@pytest.mark.slow
def test_a_mistake_in_the_experiment_ends_before_any_run(tmp_path):
    (tmp_path / "mine.yaml").write_text("name: mine\n")
    ended = steps(tmp_path, CONFIG="mine.yaml", ARGUMENTS="")
    assert ended.returncode == 2 and "Traceback" not in ended.stderr and not (tmp_path / "results").exists()


def test_the_script_reads_every_variable_of_the_action():
    [step] = [one for one in ACTION["runs"]["steps"] if one.get("id") == "probcal"]
    script = (ROOT / "action" / "steps.py").read_text(encoding="utf-8")
    assert all(f'"{name}"' in script for name in step["env"] if name not in ("STEPS", "PROBCAL_CACHE_DIR"))
    given = {name for one in ACTION["runs"]["steps"] for name in ACTION["inputs"] if f"inputs.{name}" in str(one)}
    assert given == set(ACTION["inputs"])


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
    assert (tmp_path / "results" / "other" / "cells.parquet").is_file()
    steps(tmp_path, CONFIG="mine.yaml", ARGUMENTS="--quick", REPORT="false")
    assert (tmp_path / "results" / "other-quick" / "cells.parquet").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("words", ["--trust={}", "--trust {}", "--allow-imports"])
def test_every_way_to_trust_a_module_reaches_the_validation(tmp_path, monkeypatch, words):
    (tmp_path / "my_trees.py").write_text("from sklearn.tree import DecisionTreeClassifier as Mine\n")
    (tmp_path / "mine.yaml").write_text(
        "name: mine\ntitle: t\ndatasets: [wine-first]\nlearners: {t: {type: my_trees.Mine}}\nmethods: [direct]\n"
    )
    ended = steps(tmp_path, CONFIG="mine.yaml", ARGUMENTS=words.format("my_trees"), REPORT="false",
                  PYTHONPATH=f"{ROOT}{os.pathsep}{tmp_path}")  # fmt: skip
    assert (tmp_path / "results" / "mine" / "cells.parquet").is_file(), ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"CONFIG": ""}, "set CONFIG to an experiment: CONFIG=quickstart python action/steps.py\n"),
        ({"CONFIG": "--help"}, "CONFIG is --help, which reads as an option"),
        ({"CONFIG": "-"}, "CONFIG is -, which reads as an option"),
        ({"CONFIG": "mine.yaml\nx"}, "CONFIG holds a line break"),
        ({"RESULTS": "results/a\npassed=true"}, "RESULTS holds a line break"),
        ({"RESULTS": "results/a\rpassed=true"}, "RESULTS holds a line break"),
        ({"RESULTS": "--help"}, "RESULTS is --help, which reads as an option"),
        ({"RESULTS": "."}, "RESULTS is .; name a folder of its own"),
        ({"RESULTS": "results/.."}, "RESULTS is results/..; name a folder of its own"),
        ({"RESULTS": "/"}, "RESULTS is /; name a folder of its own"),
        ({"DATA_DIR": "data\n::error::x"}, "DATA_DIR holds a line break"),
        ({"JOBS": "--help"}, "JOBS is --help, which reads as an option"),
        ({"REPORT": "yes"}, "REPORT is yes; write true or false"),
        ({"ARGUMENTS": "--help"}, "ARGUMENTS has --help; call probcal run instead"),
        ({"ARGUMENTS": "-h"}, "ARGUMENTS has --help; "),
        ({"ARGUMENTS": "-oelsewhere"}, "ARGUMENTS has -o; set RESULTS instead"),
        ({"ARGUMENTS": "--output=elsewhere"}, "ARGUMENTS has -o; set RESULTS instead"),
        ({"ARGUMENTS": "--dry-run"}, "ARGUMENTS has --dry-run; "),
        ({"ARGUMENTS": "--quikc"}, "ARGUMENTS: No such option"),
        ({"ARGUMENTS": "-d 'wine"}, "ARGUMENTS: No closing quotation"),
        ({"ARGUMENTS": "other.yaml"}, "ARGUMENTS has other.yaml, which belongs to no option"),
    ],
)
def test_unusable_variables_give_one_sentence_and_no_output(refused, inputs, told):
    assert refused("steps.py", **inputs).startswith(f"error: {told}")


HOSTILE = """\
name: mine
title: "![x](http://evil/i.png) </pre> <img src=x>\\n```\\n# Big\\n::error::title\\n::add-mask::a"
datasets: [wine-first]
learners: {nb: {type: gaussian_nb, label: "![y](http://evil/j.png) ::error:: <img src=y> ```"}}
methods: [direct]
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Run the steps in a stranger's repository as GitHub does. Returns the folder and what was printed."""
    folder = tmp_path_factory.mktemp("repository")
    (folder / "mine.yaml").write_text(HOSTILE)
    code = f"open({str(folder / 'ran')!r}, 'a').write(__name__)\nraise SystemExit(9)\n"
    for module in ("yaml", "click", "json", "numpy", "sitecustomize", "probcal"):
        (folder / f"{module}.py").write_text(code)
    (folder / "results").mkdir()
    (folder / "precious.txt").write_text("precious")
    (folder / "results" / "mine-badge.svg").symlink_to(folder / "precious.txt")
    [step] = [one for one in ACTION["runs"]["steps"] if one.get("id") == "probcal"]
    command = step["run"].replace('"$STEPS"', str(ROOT / "action" / "steps.py"))
    assert command.startswith("python ")
    done = subprocess.run(
        [sys.executable, *command.split()[1:]], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "CONFIG": "mine.yaml", "REPORT": "false", "GITHUB_ACTIONS": "true",
             "GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "GITHUB_OUTPUT": str(folder / "outputs")},
    )  # fmt: skip
    return folder, done


@pytest.mark.slow
def test_no_module_in_the_root_of_a_repository_is_imported(hostile):
    folder, done = hostile
    assert not (folder / "ran").exists() and "nothing to compare" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_github_obeys_no_line_that_a_name_prints(hostile):
    _, done = hostile
    token, obeyed = None, []
    for line in done.stdout.splitlines():
        if token is None and line.startswith("::"):
            obeyed.append(line.split("::")[1])
            if line.startswith("::stop-commands::"):
                token = line.removeprefix("::stop-commands::")
                assert len(token) == 32
        elif line == f"::{token}::":
            token = None
    assert token is None and "::error::title" in done.stdout
    assert set(obeyed) <= {"group", "stop-commands", "endgroup"} and "stop-commands" in obeyed
    assert not any(line.startswith("::") for line in done.stderr.splitlines())


@pytest.mark.slow
def test_a_title_adds_no_markdown_to_the_summary(hostile):
    folder, _ = hostile
    summary = (folder / "summary.md").read_text(encoding="utf-8")
    assert "evil" in summary and "![x](" not in summary.partition("</pre>")[2] and "![y](" not in summary
    html_part = summary.partition("<pre>")[2].partition("</pre>")[0]
    assert "&lt;/pre&gt;" in html_part and "<" not in html_part and "::error::title" in html_part
    assert "\n```" not in summary.replace(html_part, "") and not re.search(r"(?<!\\)<(?!/?pre>)", summary)


@pytest.mark.slow
def test_a_link_in_place_of_the_badge_is_not_followed(hostile):
    folder, _ = hostile
    assert (folder / "precious.txt").read_text() == "precious"
    badge = folder / "results" / "mine-badge.svg"
    assert badge.read_text(encoding="utf-8").startswith("<svg") and not badge.is_symlink()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["report.html", "cells.parquet", "cells.jsonl", "runs.jsonl"])
def test_a_link_in_place_of_an_uploaded_file_ends_the_steps(tmp_path, name):
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "results" / "quickstart").mkdir(parents=True)
    (tmp_path / "results" / "quickstart" / name).symlink_to(tmp_path / "secret.txt")
    done = steps(tmp_path)
    assert done.returncode == 2 and f"error: results/quickstart/{name} is a link" in done.stderr
    assert not (tmp_path / "outputs").exists()


def test_uploaded_files_are_those_that_may_be_no_links():
    [step] = [one for one in ACTION["runs"]["steps"] if one.get("uses", "").startswith("actions/upload-artifact")]
    files = {line.rpartition("/")[2] for line in step["with"]["path"].split("\n") if "outputs.folder" in line}
    script = (ROOT / "action" / "steps.py").read_text(encoding="utf-8")
    assert all(f'"{name}"' in script.partition("_UPLOADED = ")[2].partition("\n")[0] for name in files)
    assert {"report.html", "cells.parquet", "runs.jsonl"} <= files


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"INSTALL": "probcal[weka, trees]==0.1.0"}, "write  extras: weka,trees  instead"),
        ({"INSTALL": ".[plots]"}, "write  extras: plots  instead"),
        ({"INSTALL": "probcal"}, "no input install any more; remove it"),
        ({"EXTRAS": "plots,wekka"}, "probcal has no extra 'wekka'; write names of this list into extras: plots, "),
        ({"EXTRAS": "plots] @ https://evil"}, "probcal has no extra '@'"),
    ],
)
def test_install_step_says_what_to_write_into_extras(refused, inputs, told):
    assert told in refused("install.py", ACTION_PATH=str(ROOT), **inputs)


@pytest.mark.slow
def test_the_action_installs_the_code_of_its_own_commit(tmp_path):
    environment = Environment(tmp_path / "runner")
    (tmp_path / "runner" / "pip.py").write_text("raise SystemExit(9)\n")
    done = subprocess.run(
        [environment.bin / "python", "-I", ROOT / "action" / "install.py"], cwd=tmp_path / "runner",
        env={**os.environ, "ACTION_PATH": f"{ROOT}/./", "EXTRAS": "plots,openml", "INSTALL": "", "PIP_NO_INDEX": "1",
             "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"Processing {ROOT}\n" in done.stdout and "Successfully installed probcal-runner-" in done.stdout
    assert environment.probcal("version").stdout.startswith("probcal, version")
