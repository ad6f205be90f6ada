"""Test that the page of coverage names files that exist, and equals its table."""

import runpy
from collections import Counter
from pathlib import Path

from probcal.config.experiment import read_experiment

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "benchmarks" / "coverage_page.py"))
ROWS = SCRIPT["rows"]()


def test_page_equals_its_table():
    assert (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8") == SCRIPT["page"]()


def test_papers_and_states_are_known_and_each_item_has_a_place():
    known = SCRIPT["PAPERS"], SCRIPT["STATES"]
    assert [row for row in ROWS if not (row["paper"] in known[0] and row["state"] in known[1] and row["where"])] == []


def test_named_modules_experiments_and_tests_exist():
    implemented, tested = ({path for row in ROWS for path in row[key].split()} for key in ("implemented", "tested"))
    assert [path for path in implemented | tested if not (ROOT / path).is_file()] == []
    assert {path.split("/")[0] for path in implemented} <= {"probcal", "configs", "research"}
    assert [path for path in tested if not path.startswith("tests/")] == []
    assert [path for path in tested if "def test_" not in (ROOT / path).read_text(encoding="utf-8")] == []
    names = {read_experiment(ROOT / path).name for path in implemented if path.startswith("configs/")}
    assert [name for name in names if not (ROOT / "results" / name).is_dir()] == []


def test_done_items_have_a_test_and_the_others_a_reason():
    assert [row["item"] for row in ROWS if row["state"] == "done" and not row["tested"]] == []
    assert [row["item"] for row in ROWS if row["state"] != "done" and not row["remark"]] == []


def test_no_item_is_listed_twice():
    assert [item for item, n in Counter((row["paper"], row["item"]) for row in ROWS).items() if n > 1] == []
