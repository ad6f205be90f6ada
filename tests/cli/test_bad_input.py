"""Test that a user's mistake gives one message with the place and exit code 2, without a traceback or lost results."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.commands import contents, probcal, refused
from tests.permissions import permissions_count

CONFIG = """\
name: small
datasets: [wine-first]
learners: [tree]
methods: [direct, sigmoid]
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """Make a folder with ``small.yaml`` and, in ``results``, its done cells."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "small.yaml").write_text(CONFIG)
    for words in (("run", folder / "small.yaml", "-o"), ("table",), ("status",)):
        result = probcal(*words, folder / "results")
        assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def here(finished, tmp_path, monkeypatch) -> Path:
    """Make a copy of ``finished`` and work in it."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def unchanged(here) -> Iterator[Path]:
    """Yield the results folder, and check afterwards that no byte of it changed."""
    folder = here / "results"
    before = contents(folder)
    yield folder
    assert contents(folder) == before


def environment(**more: str) -> dict[str, str]:
    """Return an environment in which a process in another folder finds this probcal."""
    found = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]))
    return os.environ | {"PYTHONPATH": found} | more


# --- the experiment file -------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["run", "validate", "fetch"])
def test_message_names_all_config_faults_with_file_and_line(here, unchanged, command):
    Path("small.yaml").write_text(CONFIG.replace("wine-first", "wine-fist").replace("[tree]", "[tre]") + "sede: 3\n")
    lines = refused(command, "small.yaml").splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["small.yaml:2", "small.yaml:3", "small.yaml:5"]
    assert all("did you mean" in line for line in lines)


@pytest.mark.slow
def test_a_mistake_ends_the_process_with_2_and_one_message(here, unchanged):
    Path("small.yaml").write_text("name: small\n\tdatasets: []\n")
    done = subprocess.run(
        [sys.executable, "-m", "probcal", "run", "small.yaml", "-o", "results"],
        env=environment(),
        capture_output=True,
        text=True,
    )
    message = "error: small.yaml:2: the line is indented with a tab; use spaces\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.yaml", "absent.yaml: there is no such file"),
        (
            "quikstart",
            'there is no file "quikstart" and no shipped experiment of that name; did you mean "quickstart"?',
        ),
        (".", ".: cannot be read: Is a directory"),
        ("", ".: cannot be read: Is a directory"),
        ("small.yaml/below.yaml", "small.yaml/below.yaml: cannot be read: Not a directory"),
        ("x" * 300, "there is no file"),
        ("x" * 300 + ".yaml", "cannot be read: File name too long"),
    ],
)
def test_message_names_a_missing_config(here, unchanged, name, message):
    assert message in refused("run", name, "-o", "results")


def test_messages_escape_control_characters(here):
    Path("small.yaml").write_text(CONFIG + '"\\e[2J\\a": 1\n')
    assert 'unknown key "\\x1b[2J\\x07"' in refused("validate", "small.yaml")


# --- the words of the command --------------------------------------------------------------------


def test_message_names_all_unknown_selected_names(here, unchanged):
    said = refused("run", "small.yaml", "-o", "results", "-d", "wine", "-l", "treee", "-m", "sigmod", "-m", "direct")
    assert said.splitlines() == [
        'small has no data set "wine"; did you mean "wine-first"? (it has: wine-first)',
        'small has no learner "treee"; did you mean "tree"? (it has: tree)',
        'small has no method "sigmod"; did you mean "sigmoid"? (it has: direct, sigmoid)',
    ]


@pytest.mark.parametrize(
    "words",
    [("-j", "0"), ("-j", "-1"), ("-j", "two"), ("--seed", "-1"), ("--seed", "9" * 5000), ("--timeout", "soon"),
     ("--timeout", "-5"), ("--timeout", ""), ("--timeout", "nan"), ("--timeout", "1e300"), ("--timeout", "500h"),
     ("--no-such-option",)],
)  # fmt: skip
def test_an_option_with_a_wrong_value_is_a_usage_error(here, unchanged, words):
    said = refused("run", "small.yaml", "-o", "results", *words)
    assert said.startswith("Usage: ") and words[0] in said


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
@pytest.mark.parametrize("folder", ["absent", "small.yaml"])
def test_message_names_a_data_dir_that_is_not_a_folder(here, unchanged, folder, words):
    said = refused("run", "small.yaml", "-o", "results", "--data-dir", folder, *words)
    assert said == f"--data-dir names {folder}, which is not a folder"


def test_message_names_the_variable_of_a_wrong_data_dir(here, unchanged, monkeypatch):
    monkeypatch.setenv("PROBCAL_DATA_DIR", "absent")
    assert refused("fetch", "small.yaml") == "PROBCAL_DATA_DIR names absent, which is not a folder"


# --- the results folder --------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_results_of_another_experiment_are_not_changed(here, unchanged, words):
    Path("small.yaml").write_text(CONFIG.replace("name: small", "name: other"))
    assert refused("run", "small.yaml", "-o", "results", *words) == (
        'results holds the results of experiment "small", not of "other"; choose another with -o'
    )


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_a_note_says_that_another_file_of_the_same_name_takes_over_the_results(here, words):
    Path("copy.yaml").write_text("# a copy\n" + CONFIG)
    Path("other.yaml").write_text(CONFIG.replace("[direct, sigmoid]", "[direct]"))
    for path in ("small.yaml", "copy.yaml"):
        assert "note:" not in probcal("run", path, "-o", "results", "--dry-run").stderr
    note = (
        'note: results holds the results of small.yaml, and other.yaml has the same name "small"; from now on, tables'
        " and checks of the folder show other.yaml alone; to keep both, choose another name or folder (-o)\n"
    )
    assert probcal("run", "other.yaml", "-o", "results", *words).stderr.startswith(note)


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_a_folder_without_results_is_not_changed(here, words):
    Path("thesis").mkdir()
    Path("thesis/chapter.tex").write_text("mine")
    said = refused("run", "small.yaml", "-o", "thesis", *words)
    assert said.startswith("thesis is not empty and is not a results folder (it holds 'chapter.tex')")
    assert contents(Path("thesis")) == {"chapter.tex": b"mine"}


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("notes", "notes is a file; choose a folder with -o"),
        ("notes/below", "cannot write to notes/below: Not a directory; choose another with -o"),
    ],
)
def test_an_output_that_is_a_file_or_below_one_is_not_changed(here, output, said):
    Path("notes").write_text("mine")
    assert refused("run", "small.yaml", "-o", output) == said
    assert Path("notes").read_text() == "mine"


@pytest.mark.parametrize("command", ["table", "status", "check", "compare", "verify", "convert"])
@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("absent", "absent does not exist; give a folder of results that probcal run made"),
        ("small.yaml", "small.yaml is a file; give a folder of results that probcal run made"),
        ("empty", "empty holds no results; run an experiment with probcal run first"),
    ],
)
def test_message_names_a_folder_without_results(here, unchanged, command, folder, message):
    Path("empty").mkdir()
    assert refused(command, folder) == message


@pytest.mark.parametrize("text", ["", "{", "[]", '{"title": "x"}', "[" * 100_000, "\0"])
@pytest.mark.parametrize("command", [("run", "small.yaml", "-o"), ("table",), ("status",)])
def test_message_names_a_damaged_experiment_json_and_nothing_changes(here, text, command):
    Path("results/experiment.json").write_text(text)
    before = contents(Path("results"))
    assert refused(*command, "results").startswith("results/experiment.json ")
    assert contents(Path("results")) == before


@pytest.mark.parametrize("key", ["config", "config_path", "seed", "quick", "columns", "datasets", "repetitions"])
def test_message_names_a_missing_part_of_experiment_json(here, key):
    path = Path("results/experiment.json")
    path.write_text(path.read_text().replace(f'"{key}":', '"something_else":', 1))
    results = [probcal(command, "results") for command in ("table", "status")]
    said = [result.stderr for result in results if result.exit_code == 2]
    assert said and all("results/experiment.json" in message and key in message for message in said)


def test_message_names_the_faulty_line_of_a_stored_experiment(here, unchanged):
    path = unchanged / "experiment.json"
    whole = path.read_text()
    path.write_text(whole.replace("wine-first]", "wine-gone]"))
    result = probcal("status", "results")
    assert result.exit_code == 2 and 'small.yaml:2: there is no data set "wine-gone"' in result.stderr
    path.write_text(whole)


@pytest.mark.slow
def test_tables_are_printed_without_characters_unknown_to_the_terminal(here):
    path = Path("results/experiment.json")
    path.write_text(path.read_text().replace('"title": "small"', '"title": "small \u221e"', 1), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "probcal", "table", "results"],
        env=environment(PYTHONIOENCODING="cp1252"),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("# small \\u221e\n")


# --- folders that cannot be written --------------------------------------------------------------


@pytest.fixture
def ordinary_user(here) -> Iterator[Path]:
    """Yield a folder with a finished experiment, for a user with ordinary permissions.

    In many containers the tests run as root, and root ignores permissions. The thread then gives up this right until
    the end of the test. It stays the same user, so it can still read the modules of a clone that only root may enter.
    """
    with permissions_count():
        yield here
    for path in (here, *here.rglob("*")):
        path.chmod(0o700)


def forbid_writing(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)


def test_message_names_a_read_only_results_folder(ordinary_user):
    before = contents(ordinary_user / "results")
    forbid_writing(ordinary_user / "results")
    said = refused("run", "small.yaml", "-o", "results", "--seed", "5")
    assert said == "cannot write to results: .lock: Permission denied; choose another with -o"
    assert contents(ordinary_user / "results") == before


@pytest.mark.parametrize("name", ["cells.parquet", "cells.jsonl"])
def test_message_names_results_that_cannot_be_replaced(ordinary_user, monkeypatch, name):
    monkeypatch.setattr(os, "access", partial(os.access, effective_ids=True))  # root gave up only its effective rights
    (ordinary_user / "results" / name).chmod(0o444)
    before = contents(ordinary_user / "results")
    said = refused("run", "small.yaml", "-o", "results", "--seed", "5")
    assert said == f"cannot write to results: {name}: Permission denied; choose another with -o"
    assert contents(ordinary_user / "results") == before


def test_message_names_a_folder_that_cannot_be_made(ordinary_user):
    forbid_writing(ordinary_user)
    said = refused("run", "small.yaml", "-o", "new")
    assert said == "cannot write to new: Permission denied; choose another with -o"


def test_message_names_an_unreadable_config(ordinary_user):
    (ordinary_user / "small.yaml").chmod(0)
    assert refused("run", "small.yaml", "-o", "results") == "small.yaml: cannot be read: Permission denied"


@pytest.mark.parametrize("name", ["cells.parquet", "cells.jsonl"])
@pytest.mark.parametrize("command", [("table",), ("status",), ("run", "small.yaml", "-o")])
def test_message_names_unreadable_results(ordinary_user, command, name):
    (ordinary_user / "results" / name).chmod(0)
    result = probcal(*command, "results")
    assert result.exit_code == 2 and "Permission denied" in result.stderr and "results" in result.stderr
