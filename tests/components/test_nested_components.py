"""Test parameters that are components themselves, such as pipeline steps, stacked models and calibrated members."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from sklearn.pipeline import Pipeline

from probcal.components.nested import instances
from probcal.config.experiment import read_experiment
from probcal.config.schemas import schema_path
from probcal.errors import FileProblems
from probcal.store.folder import Store
from tests.commands import probcal

CONFIG = """\
name: nested
datasets: [wine-first]
learners:
  scaled:
    type: sklearn.pipeline.Pipeline
    params:
      steps:
        - [scale, {type: sklearn.preprocessing.StandardScaler}]
        - [svm, {type: linear_svm, params: {C: 0.1}}]
  stack:
    type: sklearn.ensemble.StackingClassifier
    params:
      estimators:
        - [forest, {type: sklearn.ensemble.RandomForestClassifier, params: {n_estimators: 5}}]
        - [calibrated, {type: sigmoid, params: {estimator: {type: tree}, cv: 2}}]
      final_estimator: {type: logistic}
      cv: 2
methods: [sigmoid]
"""


def written(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    text = CONFIG
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / "nested.yaml"
    path.write_text(text)
    return path


def faults(tmp_path: Path, *changes: tuple[str, str]) -> list[tuple[int, str]]:
    with pytest.raises(FileProblems) as caught:
        read_experiment(written(tmp_path, *changes))
    return [(problem.line, problem.message) for problem in caught.value.problems]


def test_short_names_include_their_default_parameters(tmp_path):
    experiment = read_experiment(written(tmp_path))
    [scaled, _] = [column.learner.params for column in experiment.columns]
    svm = scaled["steps"][1][1]
    assert svm["type"] == "sklearn.svm.LinearSVC" and (svm["params"]["C"], svm["params"]["loss"]) == (0.1, "hinge")
    steps = instances(scaled)["steps"]
    assert [type(one) for one in steps] == [tuple, tuple]
    assert Pipeline(steps).named_steps["svm"].C == 0.1


def test_nested_components_give_the_same_numbers_in_two_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path)
    for folder in ("first", "second"):
        assert probcal("run", "nested.yaml", "-o", folder).exit_code == 0
    first, second = (
        {one.id: one.metrics for one in Store(folder).results().values()} for folder in ("first", "second")
    )
    assert first == second and len(first) == 2
    assert probcal("run", "nested.yaml", "-o", "first").stderr.startswith("2 cells: 2 done")


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (
            ("type: linear_svm", "type: linear_smv"),
            9,
            'there is no learner or method "linear_smv"; did you mean "linear_s',
        ),
        (("C: 0.1", "c: 0.1"), 9, 'LinearSVC takes no parameter "c"; did you mean "C"?'),
        (("C: 0.1", "C: -1"), 9, "LinearSVC: The 'C' parameter of LinearSVC must be"),
        (("n_estimators: 5", "n_estimators: -5"), 14, "RandomForestClassifier: The 'n_estimators' parameter"),
        (("params: {C: 0.1}", "parms: {C: 0.1}"), 9, 'unknown key "parms" of a component; did you mean "params"?'),
        (("params: {C: 0.1}", "C: 0.1"), 9, 'unknown key "C" of a component; parameters belong below params'),
        (("type: linear_svm, params: {C: 0.1}", "_target_: LinearSVC"), 9, 'a component has "type" and "params", not'),
        (("params: {C: 0.1}", "params: [C]"), 9, "params of a component must be a mapping"),
        (("{type: tree}", "{type: tree, params: {depth: 3}}"), 15, 'DecisionTreeClassifier takes no parameter "depth"'),
        (
            ("StandardScaler", "StandardScalar"),
            8,
            'there is no class "StandardScalar" in sklearn.preprocessing; did you',
        ),
    ],
)
def test_message_names_the_line_of_a_nested_fault(tmp_path, change, line, message):
    [(at, said)] = faults(tmp_path, change)
    assert (at, said[: len(message)]) == (line, message)


def test_nested_import_paths_need_trust(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROBCAL_TRUSTED", raising=False)
    (tmp_path / "nested_mine.py").write_text("raise SystemExit('was imported')\n")
    change = ("sklearn.preprocessing.StandardScaler", "nested_mine.Scaler")
    [(line, message)] = faults(tmp_path, change)
    assert line == 8 and "add  --trust nested_mine" in message
    for more in (
        "combinations:\n  scaled: [{sigmoid: {cv: {type: nested_mine.Folds}}}]\n",
        "exceptions:\n- {dataset: wine-first, learner: scaled, params: {memory: {type: nested_mine.Disk}}, why: no}\n",
    ):
        path = written(tmp_path)
        path.write_text(CONFIG + more)
        with pytest.raises(FileProblems, match="add  --trust nested_mine") as caught:
            read_experiment(path)
        assert all(problem.line == CONFIG.count("\n") + 2 for problem in caught.value.problems)


def test_an_edited_nested_class_makes_its_cells_stale(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "nested_scaler.py"
    mine.write_text("from sklearn.preprocessing import StandardScaler\nclass Mine(StandardScaler):\n    '''Scale.'''\n")
    written(tmp_path, ("sklearn.preprocessing.StandardScaler", "nested_scaler.Mine"))
    assert probcal("run", "nested.yaml", "--trust", "nested_scaler").exit_code == 0
    from probcal.runner import identity, user_code

    for text, stale in (("'''Scale rows.'''", False), ("extra = 1", True)):
        mine.write_text(f"from sklearn.preprocessing import StandardScaler\nclass Mine(StandardScaler):\n    {text}\n")
        for cached in (user_code._source, user_code.user_imports, identity._packages):
            cached.cache_clear()
        said = probcal("status", "results/nested", "--trust", "nested_scaler").output
        assert ("stale: 1 cell: your code changed: nested_scaler" in said) is stale, said


def test_a_nested_parameter_changes_the_key_of_its_cells(tmp_path):
    from probcal.runner.cell import list_cells
    from probcal.runner.identity import Identities

    keys = []
    for change in ((), (("C: 0.1", "C: 0.2"),)):
        cells = list_cells(read_experiment(written(tmp_path, *change)))
        keys.append([Identities().key(cell)["learner"] for cell in cells])
    assert keys[0][0] != keys[1][0] and keys[0][1] == keys[1][1]


def test_an_override_can_set_a_nested_component(tmp_path):
    path = written(tmp_path)
    path.write_text(
        CONFIG
        + "exceptions:\n- {dataset: wine-first, learner: stack, params: {final_estimator: {type: tree}}, why: no}\n"
    )
    experiment = read_experiment(path)
    [_, column] = experiment.columns
    _, overridden = experiment.with_overrides(experiment.cards[0], column)
    assert overridden.learner.params["final_estimator"]["type"] == "sklearn.tree.DecisionTreeClassifier"


def test_a_mapping_with_other_keys_is_a_plain_value():
    plain = {"type": "rbf", "gamma": 1, "more": [{"type": 3}]}
    assert instances(plain) == plain


def test_the_schema_knows_nested_components(tmp_path):
    schema = json.loads(schema_path("experiment").read_text())
    jsonschema.validate(yaml.safe_load(CONFIG), schema)
    for old, new in (("type: linear_svm", "type: linear_smv"), ("params: {C: 0.1}", "params: [C]")):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(yaml.safe_load(CONFIG.replace(old, new)), schema)


def test_an_earlier_short_name_still_names_its_method(tmp_path):
    (tmp_path / "old.yaml").write_text(
        "name: old\ntitle: t\ndatasets: [wine-first]\nlearners: [tree]\nmethods: [relabelling]\n"
    )
    [column] = read_experiment(tmp_path / "old.yaml").columns
    assert (column.method.name, column.method.path) == (
        "relabelling",
        "probcal.methods.relabeling.RelabelingClassifier",
    )
