"""Test ``probcal.run`` and ``probcal.load_results``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import probcal
from probcal.errors import ProbcalError
from tests.commands import probcal as command
from tests.commands import refused

CONFIG = {
    "name": "mine",
    "datasets": ["wine-first"],
    "learners": {"gaussian_nb": {}, "tree": {"params": {"max_depth": 3}}},
    "methods": ["direct", "isotonic"],
    "metrics": ["auc", "cxe"],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Run the experiment once, in a folder of its own."""
    folder = tmp_path_factory.mktemp("notebook") / "mine"
    said: list[str] = []
    found = probcal.run(CONFIG, output=folder, say=said.append)
    assert said[0] == "4 cells: 4 to run" and said[-1].startswith("all cells are done")
    return found


def test_frame_has_one_row_per_metric_and_cell(results):
    frame = results.frame
    cells = frame.groupby(["dataset", "learner", "method", "repetition"])
    assert len(cells) == 4 and set(frame["metric"]) >= {"auc", "cxe", "rms"}
    assert frame["value"].dtype == float and not frame.isna()["label"].any()
    assert results.failed.empty and list(results.failed.columns)[:2] == ["dataset", "learner"]


def test_table_agrees_with_the_command(results):
    assert str(results.table()) == command("table", results.folder).stdout
    assert "<table>" in results.table()._repr_html_()


def test_comparison_agrees_with_the_command(results):
    assert str(results.compare()) == command("compare", results.folder).stdout


def test_reliability_draws_a_figure_for_each_data_set(results):
    figures = results.reliability(learners="tree")
    assert len(figures) == 1 and figures._repr_html_().startswith('<img alt="" src="data:image/png;base64,')
    with pytest.raises(ProbcalError, match='there is no learner "trees"; did you mean "tree"'):
        results.reliability(learners="trees")


def test_results_object_shows_its_status_and_tables(results):
    assert repr(results).endswith("4 cells: 4 done")
    assert "4 cells: 4 done" in results._repr_html_() and "<table>" in results._repr_html_()


def test_repeated_run_computes_no_cell_again(results):
    said: list[str] = []
    again = probcal.run(CONFIG, output=results.folder, say=said.append)
    assert said[0] == "4 cells: 4 done"
    assert again.frame.equals(results.frame)


def test_a_single_name_selects_cells(tmp_path):
    results = probcal.run(CONFIG, output=tmp_path / "out", datasets="wine-first", learners="tree", methods="direct")
    cells = results.frame[["dataset", "learner", "method"]].drop_duplicates()
    assert cells.to_numpy().tolist() == [["wine-first", "tree", "direct"]]


def test_mapping_and_file_give_the_same_results(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.yaml").write_text(
        "name: mine\ndatasets: [wine-first]\nlearners: {gaussian_nb: , tree: {params: {max_depth: 3}}}\n"
        "methods: [direct, isotonic]\nmetrics: [auc, cxe]\n"
    )
    assert command("run", "mine.yaml").exit_code == 0
    assert probcal.load_results("results/mine").frame.equals(results.frame)


def test_errors_in_a_mapping_are_reported_without_line_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ProbcalError) as caught:
        probcal.run({**CONFIG, "datasets": ["wine-frist"], "methods": ["isotonc"]})
    lines = str(caught.value).splitlines()
    assert len(lines) == 2 and all(line.startswith("config: there is no ") for line in lines)
    assert 'did you mean "wine-first"?' in lines[0] + lines[1]
    assert list(tmp_path.iterdir()) == []


def test_numpy_numbers_are_accepted_in_a_mapping(tmp_path):
    depth = np.arange(1, 3)[1]
    config = {**CONFIG, "learners": {"tree": {"params": {"max_depth": depth}}}}
    found = probcal.run(config, output=tmp_path / "out", methods=["direct"])
    assert '"max_depth": 2' in json.loads((tmp_path / "out" / "experiment.json").read_text())["config"]
    assert len(found.frame)


def test_sets_and_bad_options_are_rejected_by_name(tmp_path):
    with pytest.raises(ProbcalError, match="which has no order; give a list"):
        probcal.run({**CONFIG, "methods": {"direct"}}, output=tmp_path / "out")
    with pytest.raises(ValueError, match="jobs must be at least 1, not 0"):
        probcal.run(CONFIG, output=tmp_path / "out", jobs=0)
    with pytest.raises(ValueError, match="timeout must be positive, not 0"):
        probcal.run(CONFIG, output=tmp_path / "out", timeout=0)


def test_keys_that_look_like_numbers_stay_texts(tmp_path):
    with pytest.raises(ProbcalError, match=r'unknown key "1e-3"'):
        probcal.run({**CONFIG, "learners": {"tree": {"1e-3": 1}}}, output=tmp_path / "out")
    with pytest.raises(ProbcalError, match=r"which no file can hold"):
        probcal.run({**CONFIG, "learners": {"tree": {"params": {"max_depth": object()}}}}, output=tmp_path / "out")


def test_folder_without_results_is_rejected_here_and_by_command(tmp_path):
    with pytest.raises(ProbcalError, match=r"is not a results folder of probcal"):
        probcal.load_results(tmp_path)
    assert "holds no results" in refused("table", tmp_path)


def test_file_as_folder_and_list_as_config_are_rejected(tmp_path):
    (tmp_path / "shop.csv").write_text("a,y\n")
    with pytest.raises(ProbcalError, match="is a file; give the folder"):
        probcal.load_results(tmp_path / "shop.csv")
    with pytest.raises(ProbcalError, match="the config has the type list; give a mapping, a path"):
        probcal.run([1])


def test_failed_cells_are_listed_with_their_error_type(tmp_path):
    config = {**CONFIG, "learners": {"logistic": {"params": {"solver": "lbfgs", "max_iter": 1, "C": 1.0}}}}
    config["methods"] = {"own": {"type": "sklearn.calibration.CalibratedClassifierCV", "params": {"cv": 1000}}}
    found = probcal.run(config, output=tmp_path / "out", say=lambda line: None)
    assert len(found.failed) == 1 and found.failed["error_type"][0] == "ValueError"
    assert "1 failed" in repr(found)


def test_example_of_the_page_prints_the_shown_output(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[2] / "docs" / "running.md").read_text(encoding="utf-8")
    code, shown = re.findall(r"```python\n((?:(?!```).)*)```\n\n```text\n(.*?)```", page, re.DOTALL)[0]
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert capsys.readouterr().out == shown


@pytest.mark.slow
def test_a_script_without_a_main_guard_runs_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        f"import probcal\nprint('begins')\nprint(probcal.run({CONFIG!r}, jobs=2, say=lambda line: None))\n"
    )
    said = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True)
    assert (said.stdout.count("begins"), said.stdout.count("4 done"), said.returncode) == (1, 1, 0), said.stderr
