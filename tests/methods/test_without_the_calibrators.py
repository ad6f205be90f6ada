"""Without the packages of ``probcal[calibrators]`` the methods built on them say so, and everything else works."""

import json

import pytest

from tests.learners.weka.test_without_the_extra import without

CONFIG = """\
name: mixed
datasets: [wine-first]
learners: [gaussian_nb]
methods: [sigmoid, isotonic, venn_abers, beta, temperature]
"""
HIDDEN = ("venn_abers", "betacal")


def cells(folder):
    lines = (folder / "results/mixed/cells.jsonl").read_text().splitlines()
    return {cell["method"]: (cell["status"], cell.get("error_type")) for cell in map(json.loads, lines)}


@pytest.mark.slow
def test_each_missing_package_is_one_line_and_the_other_cells_run_by_themselves(tmp_path):
    (tmp_path / "mixed.yaml").write_text(CONFIG)
    refused = without(HIDDEN, tmp_path, "-m", "probcal", "run", "mixed.yaml")
    assert (refused.returncode, refused.stdout, (tmp_path / "results").exists()) == (2, "", False)
    first, second = refused.stderr.splitlines()
    assert first.startswith("error: method venn_abers: this method needs venn_abers")
    assert second.startswith("method beta: this method needs betacal")
    assert all(line.endswith("pip install 'probcal[calibrators]'") for line in (first, second))
    others = ("sigmoid", "isotonic", "temperature")
    chosen = [word for method in others for word in ("-m", method)]
    assert without(HIDDEN, tmp_path, "-m", "probcal", "run", "mixed.yaml", *chosen).returncode == 0
    assert cells(tmp_path) == dict.fromkeys(others, ("done", None))


@pytest.mark.slow
def test_with_the_packages_all_cells_run(tmp_path):
    (tmp_path / "mixed.yaml").write_text(CONFIG)
    done = without((), tmp_path, "-m", "probcal", "run", "mixed.yaml")
    assert done.returncode == 0, done.stderr
    assert set(cells(tmp_path).values()) == {("done", None)}


def test_listing_needs_no_package(tmp_path):
    assert without(HIDDEN, tmp_path, "-m", "probcal", "list", "methods").returncode == 0


@pytest.mark.slow
def test_importing_probcal_imports_none_of_them(tmp_path):
    code = (
        "import sys, probcal; [getattr(probcal, name) for name in probcal.__all__]; "
        "assert not {'betacal', 'venn_abers'} & {*sys.modules}"
    )
    done = without((), tmp_path, "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
