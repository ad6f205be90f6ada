"""Test that learners and methods that cannot work are rejected before a run, and that others' components are taken."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from probcal.components.classes import import_class
from probcal.config.experiment import config_names, find_config, read_experiment
from probcal.errors import ProbcalError
from probcal.papers.published import PublishedPaper, paper_names
from probcal.store.folder import Store
from tests.commands import probcal, refused
from tests.small_config import experiment, faults, the_fault

WITH_A_METHOD = "methods: {direct: , probing: , mine: {type: sklearn.svm.SVC}}"
PROBING = "methods:\n  direct:\n  probing:\n    params:\n      n_probs: 3"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("max_depth: 3", "max_deph: 3", 4, 'DecisionTreeClassifier takes no parameter "max_deph"; did you mean'),
        ("methods: [direct, probing]", PROBING, 10, 'ProbingClassifier takes no parameter "n_probs"; did you mean'),
        ("kernel_nb", "kernel_nb, params: {weights: share}", 5, "weights must be one of ('counts', 'shares'), not 'sh"),
        ("methods: [direct, probing]", WITH_A_METHOD, 6, 'SVC takes no "estimator", so it cannot be a method'),
        ("kernel_nb", "linear_svm", 5, "nb with direct: direct needs predict_proba, which LinearSVC does not have"),
    ],
)
def test_message_names_a_component_that_cannot_work_with_its_line(tmp_path, old, new, line, message):
    found, said = the_fault(tmp_path, (old, new))
    assert found == line and said.startswith(message)


def test_message_names_every_wrong_value_of_a_learner(tmp_path):
    params = "max_depth: -3, min_samples_leaf: 0, criterion: gini"
    found = faults(tmp_path, ("max_depth: 3", params))
    assert [line for line, _ in found] == [4, 4]
    assert "'max_depth'" in found[0][1] and "'min_samples_leaf'" in found[1][1]


def test_message_names_a_wrong_method_value_once(tmp_path):
    methods = "{direct: , probing: {params: {n_probes: 0, clip: 5, loss: log}}}"
    found = faults(tmp_path, ("[direct, probing]", methods))
    assert [message for _, message in found] == [
        "clip must be two rising numbers within [0, 1], not 5",
        "loss must be one of ('log_loss', 'squared_error'), not 'log'",
        "n_probes must be a whole number from 1, not 0",
    ]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("sklearn.ensamble.Forest", "cannot be imported: No module named 'sklearn.ensamble'"),
        ("sklearn.tree.DecisionTreeClasifier", 'did you mean "DecisionTreeClassifier"?'),
        ("sklearn.tree", 'there is no class "tree" in sklearn'),
        (".tree.Tree", "is not an import path"),
        ("..", "is not an import path"),
        ("os.system", 'there is no class "system" in os'),
        ("pathlib.Path", "Path is not a classifier: it has no fit and no predict"),
        ("sklearn.linear_model.LinearRegression", "LinearRegression is not a classifier"),
        ("sklearn.multiclass.OneVsRestClassifier", "cannot be made"),
    ],
)
def test_message_names_an_import_path_without_a_learner(tmp_path, path, message):
    line, said = the_fault(tmp_path, ("kernel_nb", path))
    assert line == 5 and message in said


@pytest.mark.parametrize("fault", ["1 / 0", "raise SystemExit", "import nothing_such", "def f(:"])
def test_message_names_a_user_module_that_cannot_be_imported(tmp_path, monkeypatch, fault):
    (tmp_path / "broken_module.py").write_text(fault)
    monkeypatch.syspath_prepend(tmp_path)
    line, said = the_fault(tmp_path, ("kernel_nb", "broken_module.Learner"))
    assert line == 5 and '"broken_module.Learner" cannot be imported' in said


def test_a_class_with_keyword_arguments_accepts_any_parameter(tmp_path, monkeypatch):
    (tmp_path / "own_learner.py").write_text(
        "from sklearn.tree import DecisionTreeClassifier\n\n"
        "class Own(DecisionTreeClassifier):\n"
        "    def __init__(self, **anything):\n        super().__init__()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert experiment(tmp_path, ("kernel_nb", "own_learner.Own, params: {whatever: 1}"))
    sys.modules.pop("own_learner")


def test_any_meta_estimator_can_be_a_method(tmp_path):
    methods = "{direct: , probing: , platt: {type: sklearn.calibration.CalibratedClassifierCV}}"
    assert experiment(tmp_path, ("[direct, probing]", methods)).columns[-1].method.name == "platt"


def test_probing_weights_need_a_learner_that_accepts_weights(tmp_path):
    nearest = ("kernel_nb", "sklearn.neighbors.KNeighborsClassifier")
    pair = ("  tree: [", "  nb:\n    - direct\n    - probing: {weighting: weight}\n  tree: [")
    assert the_fault(tmp_path, nearest, pair) == (
        10,
        "nb with probing: KNeighborsClassifier.fit takes no sample_weight; use weighting='rejection' or 'auto'",
    )


@pytest.mark.parametrize("metric", ["crossings", "log10_martingale"])
def test_message_names_a_metric_that_no_method_provides(tmp_path, metric):
    line, said = the_fault(
        tmp_path,
        ("methods: [direct, probing]", "methods: [direct]"),
        ("[direct, {probing: {weighting: rejection}}]", "[direct]"),
        ("[rms, auc]", f"[rms, {metric}]"),
    )
    assert (line, said) == (9, f'only some methods provide the metric "{metric}", and no method here does; remove it')


def test_message_names_a_curve_that_no_method_provides(tmp_path):
    line, said = the_fault(tmp_path, more="curves:\n  - roc\n  - iso_probability\n")
    assert (line, said) == (
        12,
        'only some methods provide the curve "iso_probability", and no method here does; remove it',
    )


def test_one_method_that_provides_a_curve_is_enough(tmp_path):
    methods = ("methods: [direct, probing]", "methods: [direct, probing, weight_sweep]")
    more = "curves: [iso_probability, roc]\n"
    metrics = ("[rms, auc]", "[rms, crossings]")
    assert experiment(tmp_path, methods, metrics, more=more).curves == ("iso_probability", "roc")


def test_class_that_a_module_refuses_on_access_is_a_fault_and_no_traceback(tmp_path, monkeypatch):
    source = "def __getattr__(name):\n    raise ImportError(f'{name} is experimental')\n"
    (tmp_path / "experimental.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ProbcalError, match="Search is experimental"):
        import_class("experimental.Search")


FOREST = "{type: sklearn.ensemble.RandomForestClassifier, params: {n_estimators: 3}}"
CONFIG = """\
name: small
datasets: [wine-first]
learners: {own: LEARNER}
methods: {platt: {type: sklearn.calibration.CalibratedClassifierCV, params: {cv: 2}}}
"""


def test_a_meta_estimator_without_a_seed_repeats_its_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("small.yaml").write_text(CONFIG.replace("LEARNER", FOREST))
    found = []
    for folder in ("first", "second"):
        result = probcal("run", "small.yaml", "-o", folder)
        assert result.exit_code == 0, result.output
        found.append([cell.metrics for cell in Store(folder).results().values()])
    assert found[0] == found[1] != []


def test_column_labels_use_the_names_of_the_experiment(tmp_path):
    file = tmp_path / "small.yaml"
    own = f"{{own: {FOREST}, gaussian_nb: , sklearn.naive_bayes.BernoulliNB: }}"
    file.write_text(CONFIG.replace("{own: LEARNER}", own).replace("{platt:", "{direct: , platt:"))
    assert [column.label for column in read_experiment(file).columns] == [
        "own", "plattown", "GaussNB", "plattGaussNB", "sklearn.naive_bayes.BernoulliNB",
        "plattsklearn.naive_bayes.BernoulliNB",
    ]  # fmt: skip
    file.write_text(file.read_text().replace("{direct: , ", "{").replace("{cv: 2}}", '{cv: 2}, label: ""}'))
    assert next(column.label for column in read_experiment(file).columns) == "own", "an empty label is kept"


def test_a_learner_is_found_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("learner_of_mine.py").write_text("from sklearn.naive_bayes import GaussianNB as Mine\n")
    Path("small.yaml").write_text(CONFIG.replace("LEARNER", "{type: learner_of_mine.Mine}"))
    assert probcal("validate", "small.yaml").exit_code == 0


@pytest.mark.parametrize("spelling", ["mine.py:Flaky", "./mine.Flaky", "./mine.py:Flaky", "/home/me/mine.py:Flaky"])
def test_a_class_named_by_its_file_gets_the_import_path_that_works(tmp_path, monkeypatch, spelling):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PROBCAL_TRUSTED", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("mine.py").write_text(
        "from sklearn.dummy import DummyClassifier\n\n\nclass Flaky(DummyClassifier):\n    pass\n"
    )
    Path("small.yaml").write_text(CONFIG.replace("LEARNER", f'{{type: "{spelling}"}}'))
    advice = f'small.yaml:3: "{spelling}" is not an import path; write  mine.Flaky'
    assert refused("validate", "small.yaml").endswith(f"{advice}  and if you trust mine, add  --trust mine")
    assert advice in refused("validate", "small.yaml", "--trust", "mine")
    assert "; write  mine.Flaky" in refused("test", spelling)
    Path("small.yaml").write_text(CONFIG.replace("LEARNER", "{type: mine.Flaky}"))
    assert probcal("validate", "small.yaml", "--trust", "mine").exit_code == 0


@pytest.mark.slow
def test_every_shipped_experiment_is_listed_with_its_title():
    lines = probcal("list", "configs").stdout.splitlines()[2:-1]  # the last one says how to copy one
    told = dict(line.split(maxsplit=1) for line in lines)
    assert told == {name: read_experiment(find_config(name)).title for name in config_names()}


def test_every_paper_is_listed_with_citation_and_counts():
    text = probcal("list", "papers").stdout
    for name in paper_names():
        paper = PublishedPaper.read(name)
        line = next(line for line in text.splitlines() if line.startswith(f"{name} "))
        n_numbers = sum(len(table.numbers) for table in paper.tables.values())
        assert paper.short in line
        assert [int(one) for one in line.split()[-3:]] == [len(paper.tables), n_numbers, len(paper.claims)]
        assert paper.citation in " ".join(text.split())
