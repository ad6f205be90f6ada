"""Test that the wheel holds all that a run needs and nothing else, and that it runs from any folder."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from hatchling import build

from tests.source_trees import trees

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("plots", "parquet", "excel", "openml", "weka", "trees", "boosting", "dask", "onnx")
_KINDS = {".toml", ".py", ".pyi", ".yaml", ".json", ".typed", ".js", ".css", ".html", ".txt", ".md", ".csv", ".LICENSE"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built("wheel", ROOT, tmp_path_factory.mktemp("dist"))


def built(kind, source, folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(source)
        make = build.build_wheel if kind == "wheel" else build.build_sdist
        return folder / make(str(folder))


def files_in(wheel):
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def on_disk():
    """Return the bytes of each source file under its place in the wheel."""
    places = {"probcal": "probcal", "configs": "probcal/configs", "datasets": "probcal/datasets"}
    return {
        f"{place}/{path.relative_to(ROOT / folder).as_posix()}": path.read_bytes()
        for folder, place in places.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_wheel_contains_package_experiments_and_cards(wheel):
    found = {name: content for name, content in files_in(wheel).items() if ".dist-info/" not in name}
    assert found == on_disk()
    assert {Path(name).suffix for name in found} <= _KINDS
    for needed in ("configs/quickstart.yaml", "datasets/wisconsin.yaml", "config/schemas/card.schema.json", "py.typed",
                   "papers/langford_zadrozny_2005/langford-zadrozny-2005.yaml"):  # fmt: skip
        assert f"probcal/{needed}" in found


def test_wheel_contains_licence_and_entry_point(wheel):
    told = {name.rpartition("/")[2]: text.decode() for name, text in files_in(wheel).items() if ".dist-info/" in name}
    assert told["LICENSE"] == (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "probcal = probcal.__main__:main" in told["entry_points.txt"]
    assert f"Version: {PROJECT['version']}\n" in told["METADATA"] and "License-Expression: MIT\n" in told["METADATA"]


def test_source_distribution_builds_the_same_wheel(wheel, tmp_path):
    with tarfile.open(built("sdist", ROOT, tmp_path)) as opened:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.11.4 has it
        opened.extractall(tmp_path, **safely)
        top = Path(opened.getnames()[0]).parts[0]
    (tmp_path / "again").mkdir()
    assert files_in(built("wheel", tmp_path / top, tmp_path / "again")) == files_in(wheel)
    assert {path.name for path in (tmp_path / top).iterdir()} >= {"LICENSE", "README.md", "CITATION.cff"}


@pytest.mark.slow
def test_installed_wheel_runs_from_any_folder(wheel, tmp_path):
    site, here = tmp_path / "site", tmp_path / "a folder of one's own"
    here.mkdir()
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(site)
    environment = {**os.environ, "PYTHONPATH": str(site), "HOME": str(tmp_path / "home"), "OMP_NUM_THREADS": "1"}

    def called(*words):
        done = subprocess.run(
            [sys.executable, *words], cwd=here, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert called("-c", "import probcal; print(probcal.__file__)").startswith(str(site))
    assert "quickstart" in called("-m", "probcal", "list", "configs")
    assert '"$schema"' in called("-m", "probcal", "schema", "card")
    called("-m", "probcal", "run", "quickstart", "--quick", "-d", "wine-first", "-l", "tree")
    assert "ProbTree" in called("-m", "probcal", "table", "results/quickstart-quick")
    assert "is fine" in called("-m", "probcal", "validate", "uci-native")


@cache
def imported_distributions():
    """Return the names of the distributions that any module of probcal imports."""
    modules = set()
    for tree in trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                modules.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
    known = packages_distributions()
    # an optional package that is not installed has the name of its module
    others = modules - sys.stdlib_module_names - {"probcal"}
    return {known.get(name, [name])[0].lower().replace("_", "-") for name in others}


def declared(requirements):
    return {re.match(r"[\w.-]+", requirement)[0].lower().replace("_", "-") for requirement in requirements}


def test_lock_file_names_the_versions_of_the_witnesses():
    lines = (ROOT / "tests" / "witnesses" / "lock.txt").read_text().splitlines()
    locked = dict(line.split("==") for line in lines if not line.startswith("#"))
    for name in ("embedded", "files"):
        recorded = json.loads((ROOT / "tests" / "witnesses" / f"{name}.json").read_text())["versions"]
        assert {package: locked.get(package) for package in recorded if package != "python"} == {
            package: version for package, version in recorded.items() if package != "python"
        }


def test_every_required_dependency_is_imported():
    assert declared(PROJECT["dependencies"]) - imported_distributions() == set()


def test_every_imported_package_is_declared():
    extras = [PROJECT["optional-dependencies"][name] for name in EXTRAS]
    assert imported_distributions() - declared(sum(extras, PROJECT["dependencies"])) == set()


def test_version_is_the_same_everywhere():
    import probcal

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert PROJECT["version"] == probcal.__version__ == cited["version"]
    pages = "\n".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    named = re.findall(r"probcal_runner-([\d.]+)-py3|probcal@v([\d.]+)", pages)
    assert {one or other for one, other in named} == {probcal.__version__}
    newest = re.search(r"^## ([\d.]+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest and newest[1] == probcal.__version__


def test_citation_file_lists_all_papers_with_published_numbers():
    from probcal.papers.published import PublishedPaper, paper_names

    cited = {one["title"].lower() for one in yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["references"]}
    assert {PublishedPaper.read(name).title.lower() for name in paper_names()} < cited
