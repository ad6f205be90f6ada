"""Test that only trusted import paths of a config are imported, since an import runs code."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from probcal.cli.main import main
from probcal.components.trust import is_trusted, trusting
from tests.commands import probcal, refused

CONFIG = """\
name: small
datasets: [wine-first]
learners:
  own: {type: bad.Model}
methods: [direct]
"""
MODULE = 'open("imported", "a").close()\nfrom sklearn.naive_bayes import GaussianNB as Model\n'


@pytest.fixture(autouse=True)
def beside_a_module(tmp_path, monkeypatch) -> Path:
    """Yield the folder with ``small.yaml`` and the module that it names. An import of the module leaves a mark."""
    monkeypatch.delenv("PROBCAL_TRUSTED")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path / "cache"))
    Path("small.yaml").write_text(CONFIG)
    Path("bad.py").write_text(MODULE)
    yield tmp_path
    sys.modules.pop("bad", None)


def imported() -> bool:
    return Path("imported").exists()


@pytest.mark.parametrize("command", ["validate", "run", "run --dry-run", "fetch"])
def test_untrusted_module_is_not_imported_and_message_names_option(command):
    first, *options = command.split()
    message = refused(first, "small.yaml", *options)
    assert message.startswith('small.yaml:4: "bad.Model" is not imported: ')
    assert "add  --trust bad  (or  --allow-imports  for any import path" in message
    assert not imported()


@pytest.mark.parametrize("words", [("--trust", "bad"), ("--trust", "other", "--trust", "bad"), ("--allow-imports",)])
def test_module_trusted_on_the_command_line_is_imported(words):
    assert probcal("validate", "small.yaml", *words).exit_code == 0
    assert imported()


@pytest.mark.parametrize("names", ["bad", "other:bad", "other, bad", "bad.Model", "*"])
def test_module_trusted_by_the_environment_is_imported(monkeypatch, names):
    monkeypatch.setenv("PROBCAL_TRUSTED", names)
    assert probcal("validate", "small.yaml").exit_code == 0
    assert imported()


@pytest.mark.parametrize("names", ["ba", "bad.Mod", "bad2", "Bad", ".", ":,", "bad.Model.x"])
def test_partial_or_other_names_trust_nothing(monkeypatch, names):
    monkeypatch.setenv("PROBCAL_TRUSTED", names)
    refused("validate", "small.yaml")
    assert not imported()


def test_trust_ends_with_the_command():
    assert probcal("validate", "small.yaml", "--allow-imports").exit_code == 0
    assert not is_trusted("bad.Model")
    refused("validate", "small.yaml")


def test_trusting_holds_only_within_its_block():
    with trusting("bad"):
        assert is_trusted("bad.Model") and is_trusted("bad") and not is_trusted("badly.Model")
    assert not is_trusted("bad.Model")


@pytest.mark.parametrize("path", ["probcal.learners.x.Y", "sklearn.svm.SVC"])
def test_probcal_and_scikit_learn_are_trusted_by_default(path):
    assert is_trusted(path)


@pytest.mark.parametrize("path", ["sklearn_extra.X", "probcal2.X", "os.system", "", ".sklearn.X"])
def test_names_with_a_similar_start_are_not_trusted(path):
    assert not is_trusted(path)


def test_workers_inherit_trust_and_later_commands_do_not():
    done = probcal("run", "small.yaml", "--trust", "bad")
    assert done.exit_code == 0, done.output
    Path("imported").unlink()
    sys.modules.pop("bad")
    assert probcal("table", "results/small").exit_code == 0, "tables need no import"
    again = probcal("status", "results/small")
    assert again.exit_code == 2 and '"bad.Model" is not imported' in again.stderr
    assert "1 cell stored: 1 done; whether they are stale is unknown" in again.stdout, "nor does what was kept"
    assert not imported()
    assert "1 done" in probcal("status", "results/small", "--trust", "bad").stdout


def test_commands_that_read_configs_take_the_trust_options():
    taking = {name for name, command in main.commands.items() if any(one.name == "trust" for one in command.params)}
    assert taking == {"run", "try", "fetch", "validate", "status", "verify"}


def test_class_typed_on_the_command_line_is_trusted():
    assert probcal("test", "bad.Model").exit_code in (0, 1)
    assert imported()


@pytest.mark.slow
def test_optional_module_beside_a_config_is_not_imported(beside_a_module):
    Path("numexpr.py").write_text(MODULE)  # pandas imports numexpr if it is installed
    Path("small.yaml").write_text(CONFIG.replace("own: {type: bad.Model}", "tree:"))
    root = str(Path(main.callback.__globals__["__file__"]).parents[1])
    command = [sys.executable, "-P", "-m", "probcal", *shlex.split("run small.yaml")]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": root}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not imported()


@pytest.mark.parametrize(
    ("params", "culprit"),
    [
        ("{classifier: misc.SerializedClassifier, options: -model x}", '"misc.SerializedClassifier"'),
        (
            "{classifier: meta.FilteredClassifier, options: -W weka.classifiers.misc.SerializedClassifier}",
            '"misc.SerializedClassifier"',
        ),
        ("{classifier: misc.inputmappedclassifier}", '"misc.inputmappedclassifier"'),
        ("{classifier: meta.Vote, options: -P model.ser}", '"-P" is not among the flags of meta.Vote'),
        (
            "{classifier: meta.FilteredClassifier, options: '-F \"weka.filters.unsupervised.attribute."
            "FixedDictionaryStringToWordVector -binary-dict -dictionary d\"'}",
            '"filters.unsupervised.attribute.FixedDictionaryStringToWordVector"',
        ),
        (
            "{classifier: meta.FilteredClassifier, options: '-F \"weka.filters.unsupervised.attribute."
            "StringToWordVector -dictionary d\"'}",
            '"-dictionary" is not among the flags of filters.unsupervised.attribute.StringToWordVector',
        ),
        (
            "{classifier: bayes.BayesNet, options: -Q weka.classifiers.bayes.net.search.fixed.FromFile -- -B evil.xml}",
            '"bayes.net.search.fixed.FromFile"',
        ),
    ],
)
def test_weka_options_that_touch_files_are_rejected(params, culprit):
    Path("small.yaml").write_text(CONFIG.replace("own: {type: bad.Model}", f"weka: {{params: {params}}}"))
    message = refused("run", "small.yaml")
    assert message.startswith("small.yaml:4: ") and culprit in message and "add  --trust weka" in message
    assert len(message.splitlines()) == 1
    assert probcal("validate", "small.yaml", "--trust", "weka").exit_code == 0


def test_weka_options_from_a_grid_fail_their_cell():
    params = "{param_grid: {options: [-model x]}, error_score: raise}"
    grid = f"{{type: sklearn.model_selection.GridSearchCV, params: {params}}}"
    config = CONFIG.replace("own: {type: bad.Model}", "j48:").replace("[direct]", f"{{tuned: {grid}}}")
    Path("small.yaml").write_text(config)
    done = probcal("run", "small.yaml")
    assert done.exit_code == 1
    assert '"-model" is not among the flags of trees.J48' in done.output


def test_trusting_sets_the_environment_variable():
    with trusting("bad"):
        assert os.environ["PROBCAL_TRUSTED"] == "bad"
    assert "PROBCAL_TRUSTED" not in os.environ
