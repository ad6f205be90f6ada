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


def test_a_missing_package_gives_the_install_line_and_the_other_cells_run(tmp_path):
    (tmp_path / "mixed.yaml").write_text(CONFIG)
    done = without(HIDDEN, tmp_path, "-m", "probcal", "run", "mixed.yaml")
    assert done.returncode == 1
    assert "this method needs betacal" in done.stderr
    assert "pip install 'probcal[calibrators]'" in done.stderr
    missing = ("failed", "CalibratorMissing")
    done = ("done", None)
    assert cells(tmp_path) == {
        "sigmoid": done, "isotonic": done, "temperature": done, "venn_abers": missing, "beta": missing
    }


@pytest.mark.slow
def test_with_the_packages_all_cells_run(tmp_path):
    (tmp_path / "mixed.yaml").write_text(CONFIG)
    done = without((), tmp_path, "-m", "probcal", "run", "mixed.yaml")
    assert done.returncode == 0, done.stderr
    assert set(cells(tmp_path).values()) == {("done", None)}


@pytest.mark.parametrize("words", [("validate", "mixed.yaml"), ("list", "methods")])
@pytest.mark.slow
def test_listing_and_validating_need_no_package(words, tmp_path):
    (tmp_path / "mixed.yaml").write_text(CONFIG)
    assert without(HIDDEN, tmp_path, "-m", "probcal", *words).returncode == 0


@pytest.mark.slow
def test_importing_probcal_imports_none_of_them(tmp_path):
    code = (
        "import sys, probcal; [getattr(probcal, name) for name in probcal.__all__]; "
        "assert not {'betacal', 'venn_abers'} & {*sys.modules}"
    )
    done = without((), tmp_path, "-c", code)
    assert (done.returncode, done.stderr) == (0, "")
