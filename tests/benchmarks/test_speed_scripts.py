"""Test that the speed scripts run on a few rows and write their results in a table."""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

assert find_spec("weka"), "these tests need the extra weka"


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Return a function that runs a script in this process and returns (exit code, rows of the table's cells)."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run_script(script, *words):
        out = tmp_path / f"{script}.md"
        monkeypatch.setattr(sys, "argv", [f"{script}.py", *map(str, words), "-o", str(out)])
        with pytest.raises(SystemExit) as ended:
            import_module(script).main()
        head, _, text = out.read_text(encoding="utf-8").partition("\n\n")
        assert head.startswith(f"Written by `python benchmarks/{script}.py`.") and "scikit-learn" in head
        table = [line for line in text.splitlines() if line.startswith("|")]
        return ended.value.code, [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]

    return run_script


def test_metrics_of_other_packages_agree_or_are_missing(run):
    code, rows = run("metrics_speed", "--rows", 2000, "--runs", 1)
    assert code == 0
    said = {row[0]: row[5] for row in rows}
    assert all(said[f"scikit-learn {one}"].endswith("apart") for one in ("log_loss", "brier_score_loss"))
    for package, metric in (("mapie", "kuiper_statistic"), ("netcal", "ECE"), ("mcgrad", "ecce")):
        assert said.get(f"{package} {metric}", "").endswith("apart") or said[package].startswith("not installed")


@pytest.mark.slow
def test_maps_are_timed_separately(run):
    code, rows = run("maps_speed", "--map", "sigmoid", "--rows", 500, "--runs", 1)
    assert code == 0
    assert [row[0] for row in rows] == ["sigmoid"] and rows[0][5] == ""


@pytest.mark.slow
def test_probing_gives_the_labels_of_the_plain_loop(run):
    words = ["--learner", "gaussian_nb", "--data", "gaussians", "--rows", 500, "--probes", 5, "--runs", 1]
    code, rows = run("probing", *words)
    assert code == 0
    assert [row[2] for row in rows] == ["loop, as it comes", "ProbingClassifier"]
    assert [row[7] for row in rows] == ["0", "0"]
    assert {row[0] for row in rows} == {"gaussians, 500 x 50"}


@pytest.mark.slow
def test_two_processes_give_the_results_of_one(run):
    words = ["--learner", "sklearn_tree", "--rows", 200, "--probes", 4, "--repeats", 1, "--runs", 1]
    code, rows = run("runs", *words)
    assert code == 0
    assert [row[4] for row in rows] == ["the same", "the same"]


@pytest.mark.slow
def test_the_times_of_two_cores_add_up(run):
    code, rows = run("two_cores", "--learner", "sklearn_tree", "--rows", 200, "--probes", 4, "--runs", 1)
    assert code == 0
    said = dict(rows)
    parts = [value for name, value in said.items() if name.startswith(("half", "+"))]
    assert sum(float(value.split()[0]) for value in parts) == pytest.approx(
        float(said["= wall time with n_jobs=2"].split()[0]), abs=0.04
    )


@pytest.mark.slow
def test_memory_is_compared_with_its_limit(run):
    code, rows = run("memory", "--rows", 500, "--probes", 3)
    assert code == 0
    assert [(row[0], row[2], row[3]) for row in rows] == [
        ("gaussian_nb", "< 3,072 MB", "holds"),
        ("logistic", "< 3,072 MB", "holds"),
    ]


@pytest.mark.slow
@pytest.mark.java
def test_the_command_line_of_weka_is_timed(run, original_files, monkeypatch):
    monkeypatch.setenv("PROBCAL_DATA_DIR", str(original_files))
    code, rows = run("weka_command_line", "--rows", 300, "--runs", 1)
    assert code == 0
    assert [row[0] for row in rows] == ["Weka's command line, ARFF written", "WekaClassifier"]
