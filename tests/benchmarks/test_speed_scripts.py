"""Test that the speed scripts run on a few rows and write their results in a table."""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

assert find_spec("weka"), "these tests need the extra weka"


@pytest.mark.parametrize(
    ("script", "words", "first_cells"),
    [
        ("metrics_speed", ["--rows", 2000, "--runs", 1], None),
        ("maps_speed", ["--map", "sigmoid", "--rows", 500, "--runs", 1], ["sigmoid"]),
        (
            "one_row",
            ["--learner", "gaussian_nb", "--rows", 300, "--calls", 3, "--rounds", 1],
            ["gaussian_nb"] * 14,
        ),
        (
            "probing",
            ["--learner", "gaussian_nb", "--data", "gaussians", "--rows", 500, "--probes", 5, "--runs", 1],
            ["gaussians, 500 x 50"] * 2,
        ),
        ("memory", ["--rows", 500, "--probes", 3], ["gaussian_nb", "logistic"]),
        pytest.param(
            "weka_command_line",
            ["--rows", 300, "--runs", 1],
            ["Weka's command line, ARFF written", "WekaClassifier"],
            marks=pytest.mark.java,
        ),
    ],
)
@pytest.mark.slow
def test_script_writes_its_table(monkeypatch, tmp_path, request, script, words, first_cells):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    if script == "weka_command_line":
        monkeypatch.setenv("PROBCAL_DATA_DIR", str(request.getfixturevalue("original_files")))
    out = tmp_path / f"{script}.md"
    monkeypatch.setattr(sys, "argv", [f"{script}.py", *map(str, words), "-o", str(out)])
    with pytest.raises(SystemExit) as ended:
        import_module(script).main()
    assert ended.value.code == 0
    text = out.read_text(encoding="utf-8")
    assert text.startswith(f"Written by `python benchmarks/{script}.py`.")
    table = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")][2:]
    # tables beside others' code may come first
    assert table and first_cells in (None, [cells[0].strip() for cells in table[-len(first_cells or table) :]])
