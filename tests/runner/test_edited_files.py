"""Test a user's table that is edited between two runs and whose card expects no values."""

import pytest

from tests.commands import probcal

CARD = """
name: mine
title: Mine
columns: {size: numeric, colour: nominal, class: target}
positive: "yes"
split: {kind: holdout, train_fraction: 0.66}
expect: {rows: 30, columns: 2}
files: [{format: delimited, files: [{name: mine.csv}]}]
"""
CONFIG = """
name: own
datasets: [./mine.yaml]
learners: [gaussian_nb]
methods: [direct]
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PROBCAL_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "mine.yaml").write_text(CARD)
    (tmp_path / "own.yaml").write_text(CONFIG)
    (tmp_path / "data" / "mine").mkdir(parents=True)
    write_rows(tmp_path, first=0)
    return tmp_path


def write_rows(folder, first):
    rows = [f"{first + i * 7 % 11},{'red' if i % 3 else 'blue'},{'yes' if i % 2 else 'no'}" for i in range(30)]
    (folder / "data" / "mine" / "mine.csv").write_text("\n".join(rows) + "\n")


def run(folder):
    return probcal("run", folder / "own.yaml", "-o", folder / "results")


@pytest.mark.slow
def test_edited_file_makes_its_cells_stale(own):
    assert "1 to run" in run(own).output
    write_rows(own, first=100)
    again = run(own)
    assert again.exit_code == 0
    assert "the data changed" in again.output
    assert "1 done" in run(own).output


def test_results_stay_current_without_the_data_file(own, monkeypatch, tmp_path):
    run(own)
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path / "another cache"))
    (own / "data" / "mine" / "mine.csv").unlink()
    assert "1 cell: 1 done" in run(own).output


def test_dry_run_names_missing_files_and_their_place(own):
    (own / "data" / "mine" / "mine.csv").unlink()
    shown = probcal("run", own / "own.yaml", "-o", own / "results", "--dry-run")
    assert shown.exit_code == 0
    assert "no data  mine/0/gaussian_nb/direct\n" in shown.output
    assert "mine: has no data files here. Put these files in place:" in shown.output
    assert not (own / "results").exists()


def test_damaged_cache_copy_is_rebuilt(own):
    run(own)
    for file in (own / "cache").rglob("*"):
        if file.name != "written.json" and file.is_file():
            file.write_bytes(b"damaged")
    fetched = probcal("fetch", own / "own.yaml")
    assert (fetched.exit_code, fetched.stdout) == (0, "mine: original files\n")
    assert probcal("fetch", own / "own.yaml").stdout == "mine: cache\n"
