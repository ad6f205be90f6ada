"""Test what the package declares about numerics versions, and the components that a cell uses."""

from __future__ import annotations

from dataclasses import replace

import pytest

from probcal._io import shipped
from probcal.components.classes import import_class
from probcal.components.nested import canonical
from probcal.components.numerics import Numerics, numerics
from probcal.config.experiment import read_experiment
from probcal.learners.registry import known_learners
from probcal.methods.registry import PUBLIC_CLASSES, known_methods
from probcal.metrics.registry import NAMED
from probcal.runner.cell import list_cells
from probcal.runner.identity import used_components

PROBING = "probcal.methods.probing.ProbingClassifier"
LOGISTIC = "sklearn.linear_model.LogisticRegression"
CONFIGS = sorted(shipped("configs").glob("*.yaml"))
BUILTIN = [component for names in (known_learners(), known_methods()) for component in names.values()]


def test_every_class_of_the_registries_has_a_component():
    paths = {component.path for component in BUILTIN if component.path.startswith("probcal.")}
    paths |= {f"{module}.{name}" for name, module in PUBLIC_CLASSES.items() if not name.endswith("Display")}
    assert {path for path in paths if numerics().canonical(path) not in numerics().by_class} == set()


@pytest.mark.slow
def test_every_class_of_a_shipped_experiment_has_a_component():
    paths = {
        component.path
        for path in CONFIGS
        for column in read_experiment(path).columns
        for component in (column.learner, column.method)
    }
    ours = {path for path in paths if path.startswith("probcal.")}
    assert {path for path in ours if numerics().canonical(path) not in numerics().by_class} == set()


def test_every_declared_class_exists():
    for path in numerics().by_class:
        assert import_class(path).__name__ == path.rpartition(".")[2]


def test_only_known_metrics_have_risen():
    assert set(numerics().metrics) <= {*NAMED, "cost", "curves"}


def test_each_rise_has_a_reason():
    declared = (*numerics().components.values(), *numerics().metrics.values())
    assert [component.name for component in declared if component.version != 1 + len(component.rises)] == []


def test_all_used_components_are_declared():
    used = {name for component in numerics().components.values() for name in component.uses}
    assert (used | set(numerics().fast_paths.values())) <= set(numerics().components)


def test_fast_path_counts_where_class_weights_meet_its_learner():
    direct = "probcal.methods.direct.DirectClassifier"
    assert "fast logistic regression" in numerics().used([LOGISTIC, PROBING])
    assert "fast logistic regression" not in numerics().used([LOGISTIC, direct])
    assert "fast logistic regression" not in numerics().used(["sklearn.tree.DecisionTreeClassifier", PROBING])
    assert "fast logistic regression" in numerics().used(["mine.Tree", direct], any_learner=True)


def test_components_of_version_one_are_left_out():
    table = with_version("probing", 2, ("a tie goes up",))
    assert numerics_of_version_one().risen(["probing", "cell"]) == ""
    assert table.risen(["probing", "cell"]) == "probing 2"
    assert table.reasons("", "probing 2") == ["probing 1 -> 2 (a tie goes up)"]
    assert table.reasons("probing 2, cell 3", "probing 2") == ["cell 3 -> 1"]


def test_moved_class_keeps_its_identity_and_its_old_name():
    old, new = "probcal.methods.old_place.ProbingClassifier", PROBING
    table = replace(numerics(), moved={old: new}, first_path={new: old})
    assert table.canonical(new) == old


def test_old_import_path_of_a_moved_class_is_an_alias(monkeypatch):
    monkeypatch.setitem(numerics().moved, "probcal.methods.old_place.ProbingClassifier", PROBING)
    assert import_class("probcal.methods.old_place.ProbingClassifier") is import_class(PROBING)


def test_nested_components_have_their_first_import_paths(monkeypatch):
    monkeypatch.setitem(numerics().first_path, PROBING, "probcal.old.ProbingClassifier")
    value = {"steps": [["last", {"type": PROBING, "params": {"n_probes": 3}}]]}
    assert canonical(value) == {
        "steps": [["last", {"type": "probcal.old.ProbingClassifier", "params": {"n_probes": 3}}]]
    }


def test_a_cell_uses_the_components_of_its_learner_method_and_split():
    [first, *_] = list_cells(read_experiment(shipped("configs") / "quickstart.yaml"))
    assert {"cell", "split", "encoding", "input checks"} <= set(used_components(first))


def with_version(name: str, version: int, rises: tuple[str, ...]) -> Numerics:
    table = numerics_of_version_one()
    risen = replace(table.components[name], version=version, rises=rises)
    return replace(table, components={**table.components, name: risen})


def numerics_of_version_one() -> Numerics:
    components = {name: replace(part, version=1, rises=()) for name, part in numerics().components.items()}
    return replace(numerics(), components=components)


def test_no_component_uses_itself():
    parts = numerics().components
    assert [name for name in parts if name in numerics().used([], parts[name].uses)] == []
