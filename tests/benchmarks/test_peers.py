"""Test that every method and metric agrees with its peer within the bound of the table of peers."""

import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]

assert find_spec("venn_abers") and find_spec("betacal"), "these tests need the extra test"


def run(*words, **environment):
    command = [sys.executable, ROOT / "benchmarks/peers.py", *map(str, words)]
    known = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    return subprocess.run(command, capture_output=True, text=True, env=known)


def rows_of(text):
    """Return a mapping: (ours, peer) -> {column: cell}."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return {(cells[0], cells[1]): dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]}


@pytest.fixture(scope="module")
def bundled(tmp_path_factory):
    out = tmp_path_factory.mktemp("peers") / "folder" / "peers.md"
    return run("digits-odd", "wine-first", "-o", out), out


@pytest.mark.slow
def test_every_method_and_metric_is_within_its_bound(bundled):
    said, out = bundled
    assert said.returncode == 0, said.stdout + said.stderr
    table = rows_of(said.stdout)
    for row in table.values():
        assert max(float(row["digits-odd"]), float(row["wine-first"])) <= float(row["at most"])
        assert row[""] == "holds"
    ours = {name.partition(",")[0] for name, _ in table}
    assert ours >= {
        "BaggedVote", "Probing", "WeightSweep", "Sigmoid", "Isotonic", "VennAbers", "BetaCalibration", "temperature",
        "roc_auc", "cross_entropy", "brier_score", "empirical_calibration_error", "expected_calibration_error",
    }  # fmt: skip
    assert rows_of(out.read_text(encoding="utf-8")) == table


@pytest.mark.slow
def test_bounds_hold_on_data_with_nominal_columns(original_files, tmp_path):
    said = run("breast", "-o", "-", PROBCAL_DATA_DIR=str(original_files), PROBCAL_CACHE_DIR=str(tmp_path))
    assert said.returncode == 0, said.stdout + said.stderr
    assert {row["breast"] for row in rows_of(said.stdout).values()} != {"0"}


@pytest.mark.slow
def test_the_committed_table_has_the_same_pairs(bundled):
    said, _ = bundled
    kept = rows_of((ROOT / "results/peers.md").read_text(encoding="utf-8"))
    assert list(kept) == list(rows_of(said.stdout))
    assert {row[""] for row in kept.values()} == {"holds"}


@pytest.fixture
def peers(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    module = import_module("peers")
    monkeypatch.setattr(sys, "argv", ["peers.py", "wine-first", "-o", "-"])
    return module


def not_installed(rows):
    raise ImportError("this method needs something")


@pytest.mark.parametrize(
    ("found", "code", "cell", "verdict"),
    [
        (lambda rows: 0.1, 0, "1.0e-01", "holds"),
        (lambda rows: 0.3, 1, "3.0e-01", "ABOVE"),
        (lambda rows: np.nan, 1, "nan", "ABOVE"),
        (not_installed, 0, "not installed", "holds"),
    ],
    ids=["below", "above", "no number", "not installed"],
)
def test_the_exit_code_is_1_above_a_bound(peers, monkeypatch, capsys, found, code, cell, verdict):
    monkeypatch.setattr(peers, "PEERS", [peers.Peer("ours", "theirs", 0.2, found)])
    with pytest.raises(SystemExit) as ended:
        peers.main()
    (row,) = rows_of(capsys.readouterr().out).values()
    assert (ended.value.code, row["wine-first"], row[""]) == (code, cell, verdict)


@pytest.mark.slow
def test_help_has_an_example():
    assert "python benchmarks/peers.py wine-first -o -" in run("--help").stdout


@pytest.mark.slow
def test_message_names_a_data_set_without_files(tmp_path):
    said = run("biology", "-o", "-", PROBCAL_CACHE_DIR=str(tmp_path))
    assert said.returncode == 1
    assert "biology is left out: biology: has no data files here" in said.stderr
    assert "error: none of the data sets is at hand" in said.stderr
