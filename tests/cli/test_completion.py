"""Test the completion after TAB with click and with real shells."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from probcal.cli import suggestions as complete
from probcal.cli.main import main
from probcal.config.experiment import config_names
from probcal.data.card import card_names
from probcal.learners.registry import LEARNERS
from probcal.methods.registry import METHODS
from tests.commands import probcal
from tests.small_config import written

ROOT = Path(__file__).parents[2]


def offered(*words, last=""):
    """Return the completions at the place of ``last``."""
    items = ShellComplete(main, {}, "probcal", "_PROBCAL_COMPLETE").get_completions(list(words), last)
    return [item.value if item.type == "plain" else (item.type, item.value) for item in items]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_and_their_options_are_completed():
    assert offered(last="val") == ["validate"]
    assert offered("run", last="--dr") == ["--dry-run"]
    assert offered("list", last="pa") == ["papers"]
    assert offered("table", "x", "-f") == ["markdown", "latex", "csv", "html"]


def test_experiments_are_completed_by_name_or_file(here):
    written(here)
    (here / "configs").mkdir()
    assert offered("run") == sorted([*config_names(), "small.yaml"])
    assert offered("validate", last="uc") == ["uci", "uci-2004", "uci-native", "uci-random"]
    assert offered("fetch", last="con") == [("file", "con")]
    assert offered("run", last=str(here / "sm")) == [str(here / "small.yaml")]


def test_parts_of_the_named_experiment_are_completed(here):
    path = written(here, ("nb: {type: kernel_nb}", "nb: {type: kernel_nb, variants: {a: , b: {weights: shares}}}"))
    assert offered("run", path.name, "-l") == ["nb", "nb.a", "nb.b", "tree"]
    assert offered("run", "-j", "2", path.name, "--learner", "tree", "-m", last="p") == ["probing"]
    assert offered("run", path.name, "-d") == ["wine-first"]
    assert offered("fetch", "uci-random", "-d", last="a") == ["adult", "australian"]


def test_parts_of_the_experiment_of_results_are_completed(here):
    kept = {"config": written(here).read_text(encoding="utf-8")}
    (here / "kept").mkdir()
    (here / "kept" / "experiment.json").write_text(json.dumps(kept), encoding="utf-8")
    context = click.Context(main.commands["run"])
    for params, args in (({"folder": Path("kept")}, []), ({"folders": (Path("kept"),)}, []), ({}, ["kept"])):
        context.params, context.args = params, args
        assert [one.value for one in complete.learners(context, main.commands["run"].params[0], "")] == ["nb", "tree"]


def test_all_names_are_completed_without_a_readable_experiment(here):
    (here / "torn.yaml").write_text("learners: [", encoding="utf-8")
    for config in ("torn.yaml", "not-there.yaml", "."):
        assert offered("run", config, "-l") == sorted(LEARNERS)
    assert offered("run", "-m") == sorted(METHODS)
    assert offered("run", "-d") == card_names()
    assert offered("test", last="prob") == ["probing"]
    assert offered("test", "probing", "-l", last="tr") == ["tree"]


def test_folders_of_results_are_completed(here):
    for folder in ("results/a", "results/b", "else/c"):
        (here / folder).mkdir(parents=True)
    for folder in ("results/a", "results/b"):
        (here / folder / "experiment.json").touch()
    assert offered("table") == ["results", "results/a", "results/b"]
    assert offered("status", last="results/b") == ["results/b"]
    assert offered("check", last="el") == [("dir", "el")]
    assert offered("run", "uci", "-o", last="r") == [("dir", "r")]


@pytest.mark.parametrize("name", ["a b.yaml", "$(touch x).yaml", "*.yaml", "a\nb.yaml"])
def test_names_unsafe_for_a_shell_are_not_completed(here, name):
    (here / name).touch()
    assert all(isinstance(one, tuple) or one in config_names() for one in (*offered("run"), *offered("run", last="a")))


@pytest.fixture
def on_the_path(tmp_path, monkeypatch):
    """Write a ``probcal`` command and put it on the PATH."""
    folder = tmp_path / "bin of ours"
    folder.mkdir()
    command = folder / "probcal"
    said = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); from probcal.cli.main import main; main(prog_name='probcal')"
    )
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{said}" "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def in_shell(shell, script):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_bash_completes_a_learner(on_the_path):
    script = """
      eval "$(probcal completion bash)"
      COMP_WORDS=(probcal run uci -l sm); COMP_CWORD=4; _probcal_completion probcal; echo "${COMPREPLY[@]}"
    """
    assert in_shell("bash", script) == ["smo", "smo_m"]


def test_zsh_completes_an_experiment(on_the_path):
    script = """
      eval "$(probcal completion zsh | sed 's/^ *compdef .*/:/')" && which _probcal_completion > /dev/null &&
      COMP_WORDS="probcal run quick" COMP_CWORD=2 _PROBCAL_COMPLETE=zsh_complete probcal
    """
    assert in_shell("zsh", script)[:2] == ["plain", "quickstart"]


def test_fish_completes_an_experiment(on_the_path):
    assert in_shell("fish", "probcal completion fish | source; complete -C 'probcal validate quick'") == ["quickstart"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_help_names_the_line_of_each_shell(shell):
    assert f"probcal completion {shell}" in probcal("completion", "--help").stdout
    assert "_PROBCAL_COMPLETE" in probcal("completion", shell).stdout


def test_completion_imports_no_large_library():
    code = (
        "import sys; from click.shell_completion import ShellComplete; from probcal.cli.main import main\n"
        "one = ShellComplete(main, {}, 'probcal', '_PROBCAL_COMPLETE')\n"
        "assert one.get_completions(['run'], 'u') and one.get_completions(['run', 'uci', '-l'], '')\n"
        "assert [item.value for item in one.get_completions(['measure', 'a.csv', '-c'], 'is')] == ['isotonic']\n"
        "print(*({'numpy', 'pydantic', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
