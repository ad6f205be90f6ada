"""Test that every method and metric agrees with its peer within the bound of the table of peers."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

assert find_spec("venn_abers") and find_spec("betacal"), "these tests need the extra test"


def run(*words):
    command = [sys.executable, ROOT / "benchmarks/peers.py", *map(str, words)]
    known = os.environ | {"PYTHONPATH": str(ROOT)}
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
