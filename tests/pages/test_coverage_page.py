"""Test that the page of coverage names files that exist, and equals its table."""

import runpy
from collections import Counter
from pathlib import Path

import pytest

from probcal.config.experiment import read_experiment

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "benchmarks" / "coverage_page.py"))
ROWS = SCRIPT["rows"]()


def test_page_equals_its_table():
    assert (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8") == SCRIPT["page"]()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['paper']}-{row['item'][:30]}")
def test_named_modules_experiments_and_tests_exist(row):
    assert row["paper"] in SCRIPT["PAPERS"] and row["state"] in SCRIPT["STATES"] and row["where"]
    assert [path for path in f"{row['implemented']} {row['tested']}".split() if not (ROOT / path).is_file()] == []
    assert {path.split("/")[0] for path in row["implemented"].split()} <= {"probcal", "configs", "research"}
    for path in row["tested"].split():
        assert path.startswith("tests/") and "def test_" in (ROOT / path).read_text(encoding="utf-8")
    for path in row["implemented"].split():
        if path.startswith("configs/"):
            assert (ROOT / "results" / read_experiment(ROOT / path).name).is_dir()


def test_done_items_have_a_test_and_the_others_a_reason():
    assert [row["item"] for row in ROWS if row["state"] == "done" and not row["tested"]] == []
    assert [row["item"] for row in ROWS if row["state"] != "done" and not row["remark"]] == []


def test_no_item_is_listed_twice():
    assert [item for item, n in Counter((row["paper"], row["item"]) for row in ROWS).items() if n > 1] == []
