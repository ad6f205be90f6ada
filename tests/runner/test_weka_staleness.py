"""Test which results are stale if another Weka than theirs is present, and what the plan says."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from probcal.config.experiment import parse_experiment
from probcal.learners.weka.jvm import named_version
from probcal.runner import description
from probcal.runner.cell import list_cells
from probcal.runner.identity import Identities, _packages, used_packages
from probcal.runner.plan import make_plan, plan_lines
from probcal.store.cell_result import CellResult
from probcal.store.folder import Store
from probcal.yaml_file import YamlFile

CONFIG = """
name: dated
weka: 3.6.0
datasets: [wine-first]
learners: [tree, j48]
methods: [direct]
"""
NOT_HERE = "measured with Weka {}, which is not at hand; PROBCAL_WEKA_JAR names a jar file"


def jar(folder: Path, version: str) -> str:
    path = folder / f"weka-{version}.jar"
    with ZipFile(path, "w") as file:
        file.writestr("weka/core/Instances.class", b"")
        file.writestr("weka/core/version.txt", version)
    return str(path)


@pytest.fixture
def of(monkeypatch):
    """Return a function that names a jar of Weka, or none, as a new process finds it."""

    def named(path: str | None) -> None:
        monkeypatch.setenv("PROBCAL_WEKA_JAR", path or "")
        _packages.cache_clear()

    yield named
    _packages.cache_clear()


@pytest.fixture
def dated(tmp_path, of):
    """Return an experiment of Weka 3.6.0, the folder of its results, and the Weka that made them."""
    pytest.importorskip("weka", reason="needs the extra weka")
    of(jar(tmp_path, "3.6.0"))
    experiment = parse_experiment(YamlFile(tmp_path / "dated.yaml", CONFIG))
    store, identities = Store(tmp_path / "results"), Identities(experiment.weka)
    record = {"run": "one", "versions": {}}
    with store.writing("dated"):
        for cell in list_cells(experiment):
            record["versions"] |= used_packages(cell)
            store.add(CellResult(**cell.names, status="done", run="one", seconds=1.0, key=identities.key(cell)))
        store.write_experiment(description.describe(experiment, store.folder))
        store.add_run(record)
    return experiment, store, named_version()


def told(experiment, store) -> list[str]:
    return plan_lines(make_plan(experiment, store))


def test_results_of_the_named_release_are_current_without_its_jar(dated, of, tmp_path):
    experiment, store, weka = dated
    assert told(experiment, store) == ["2 cells: 2 done"]
    for other in (None, jar(tmp_path, "3.9.1")):
        of(other)
        assert told(experiment, store) == ["2 cells: 2 done", f"  done: 1 cell: {NOT_HERE.format(weka)}"]


def test_other_jar_of_the_named_release_is_told_and_makes_nothing_stale(dated, of, tmp_path):
    experiment, store, weka = dated
    (tmp_path / "other").mkdir()
    path = jar(tmp_path / "other", "3.6.0")
    with ZipFile(path, "a") as file:
        file.writestr("more", b"")
    of(path)
    assert told(experiment, store) == [
        "2 cells: 2 done",
        f"  done: 1 cell: made with weka.jar {weka}, here is {named_version()}",
    ]


def test_experiment_without_release_compares_the_present_weka(dated, of):
    experiment, store, _ = dated
    of(None)
    without = parse_experiment(YamlFile(experiment.path, CONFIG.replace("weka: 3.6.0\n", "")))
    assert told(without, store)[0] == "2 cells: 1 done, 1 stale"


def test_other_changes_make_results_stale_without_the_jar(dated, of):
    experiment, store, _ = dated
    of(None)
    text = CONFIG.replace("[tree, j48]", "{tree: {}, j48: {params: {options: -U}}}")
    changed = parse_experiment(YamlFile(experiment.path, text))
    assert told(changed, store)[:2] == ["2 cells: 1 done, 1 stale", "  stale: 1 cell: the settings of j48 changed"]


@pytest.mark.parametrize("stale", [{}, {"one": ["wine-first/0/tree/direct"]}])
def test_a_run_without_the_jar_changes_no_stale_mark(dated, of, stale):
    experiment, store, _ = dated
    with store.writing("dated"):
        store.write_experiment(store.experiment() | {"stale": stale})
    of(None)
    marks = description.describe_with_stale_results(experiment, store)["stale"]
    assert marks == {}, "their data are at hand, and the release is named"
