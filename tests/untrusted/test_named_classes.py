"""Test that a config without trust can name only classes that compute, and no file, command or socket."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import shutil
import warnings
from functools import cache
from pathlib import Path

import pytest
import yaml
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators

from probcal.components.classes import parameter_names, takes_a_learner, value_fault
from probcal.components.trust import FILE_TEXTS, FREE_TEXTS, text_faults, trusted_class, trusting
from probcal.errors import ProbcalError
from tests.commands import probcal, refused

TREE = {"type": "sklearn.tree.DecisionTreeClassifier"}
PRECIOUS = "precious.txt"


@pytest.fixture(autouse=True)
def a_precious_file(tmp_path, monkeypatch):
    monkeypatch.delenv("PROBCAL_TRUSTED")
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path(PRECIOUS).write_text("mine\n")
    yield
    assert Path(PRECIOUS).read_text() == "mine\n"


def transformer(type_, **params):
    """Return a transformer whose parameter holds a component of this type."""
    component = {"type": type_, "params": params}
    return {"type": "sklearn.preprocessing.FunctionTransformer", "params": {"kw_args": {"x": component}}}


def pipeline(step, **params):
    return {"type": "sklearn.pipeline.Pipeline", "params": {"steps": [["first", step], ["tree", TREE]], **params}}


def config(learner):
    data = {"name": "small", "datasets": ["wine-first"], "learners": {"own": learner}, "methods": ["direct"]}
    Path("small.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    return "small.yaml"


CLASSES = {
    "gzip": transformer("sklearn.datasets._covtype.GzipFile", filename=PRECIOUS, mode="wb"),
    "zip": transformer("probcal.learners.weka.jvm.ZipFile", file=PRECIOUS, mode="w"),
    "memmap": transformer("sklearn.externals.array_api_compat.numpy.memmap", filename=PRECIOUS, mode="w+", shape=[1]),
    "templates": transformer("probcal.reporting.html.page.Environment", extensions=["a_module.X"]),
    "a test": transformer("sklearn.tests.test_base.MyEstimator"),
    "a program": transformer("probcal.config.schemas.__main__.Path"),
    "an error class": transformer("probcal.errors.ProbcalError"),
    "a class of another kind": transformer("probcal.learners.kernel_density.KernelDensity"),
}
TEXTS = {
    "pipeline": pipeline({"type": "sklearn.preprocessing.StandardScaler"}, memory="cache"),
    "clusters": pipeline({"type": "sklearn.cluster.FeatureAgglomeration", "params": {"memory": "cache"}}),
    "words": pipeline({"type": "sklearn.feature_extraction.text.CountVectorizer", "params": {"input": "filename"}}),
    "search": {
        "type": "sklearn.model_selection.GridSearchCV",
        "params": {
            "estimator": pipeline({"type": "sklearn.preprocessing.StandardScaler"}),
            "param_grid": {"memory": ["cache"]},
        },
    },
    "inner parameter of a search": {
        "type": "sklearn.model_selection.GridSearchCV",
        "params": {
            "estimator": pipeline({"type": "sklearn.feature_extraction.text.CountVectorizer"}),
            "param_grid": [{"first__input": ["filename", "content"]}],
        },
    },
    "expression": {
        "type": "sklearn.model_selection.GridSearchCV",
        "params": {"estimator": TREE, "param_grid": {"max_depth": [1, 2]}, "pre_dispatch": "2 * n_jobs"},
    },
}


@pytest.mark.parametrize("name", [*CLASSES, *TEXTS])
def test_a_run_refuses_it_in_one_sentence_with_its_line(name):
    learner = {**CLASSES, **TEXTS}[name]
    learner = learner if name in TEXTS else pipeline(learner)
    message = refused("run", config(learner))
    assert message.startswith("small.yaml:")
    assert "add  --trust " in message
    assert message.count("--trust") == 1
    assert not Path("cache").exists() and not Path("results").exists()


@pytest.mark.parametrize("name", TEXTS)
def test_trust_in_the_named_class_allows_the_text(name):
    path = refused("validate", config(TEXTS[name])).partition("--trust ")[2].split()[0]
    assert probcal("validate", "small.yaml", "--trust", path).exit_code == 0


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert probcal("run", config(TREE)).exit_code == 0
    return folder / "results" / "small"


@pytest.mark.parametrize("name", [*CLASSES, *TEXTS])
@pytest.mark.slow  # it draws and prints a results folder
def test_the_config_in_a_results_folder_makes_nothing(results, name):
    learner = {**CLASSES, **TEXTS}[name]
    stored = Path(shutil.copytree(results, "results/small")) / "experiment.json"
    text = Path(config(learner if name in TEXTS else pipeline(learner))).read_text()
    stored.write_text(json.dumps({**json.loads(stored.read_text()), "config": text}))
    for command in ("status", "table", "report", "compare", "verify", "check", "leaderboard", "plot"):
        probcal(command, "results/small")
        assert not Path("cache").joinpath("joblib").exists(), command


@cache
def _reachable_classes() -> list[tuple[str, type]]:
    """Return (path, class) of every class in the name space of each module of scikit-learn and probcal."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for package in ("sklearn", "probcal"):
            root = importlib.import_module(package)
            for info in pkgutil.walk_packages(root.__path__, f"{package}."):
                if any(part in ("tests", "externals", "conftest", "__main__") for part in info.name.split(".")):
                    continue
                try:
                    module = importlib.import_module(info.name)
                except Exception:  # an optional package is missing
                    continue
                found += [
                    (f"{info.name}.{name}", value) for name, value in vars(module).items() if inspect.isclass(value)
                ]
    return found


@pytest.mark.slow  # it imports every module
def test_no_class_of_another_package_is_trusted_and_none_is_called(monkeypatch):
    foreign = [
        path for path, value in _reachable_classes() if value.__module__.partition(".")[0] not in ("sklearn", "probcal")
    ]
    assert len(foreign) > 500
    for path in foreign:
        with pytest.raises(ProbcalError):
            trusted_class(path)


@pytest.mark.slow  # it imports every module
def test_every_trusted_class_is_an_estimator_a_kernel_or_a_splitter():
    from sklearn.gaussian_process.kernels import Kernel

    for path, value in _reachable_classes():
        try:
            trusted_class(path)
        except ProbcalError:
            continue
        assert issubclass(value, BaseEstimator | Kernel) or hasattr(value, "get_n_splits"), path


def test_texts_that_scikit_learn_does_not_declare_are_known():
    """If a new release has a parameter that takes any text, decide whether the text can name a file."""
    text = "no-such-choice"
    unknown = set()
    for _, estimator in all_estimators():
        for name in inspect.signature(estimator).parameters:
            constraints = getattr(estimator, "_parameter_constraints", {}).get(name, [])
            takes_text = constraints == "no_validation" or any(one in (str, object) for one in constraints)
            if takes_text and name not in FREE_TEXTS and not list(text_faults(estimator, {name: text})):
                unknown.add((estimator.__name__, name))
            if takes_text and name not in {*FREE_TEXTS, *FILE_TEXTS}:
                unknown.add((estimator.__name__, name))
    assert unknown == set()


FREE_PARAMETERS = {"random_state", "n_jobs", "n_estimators", "base_rate", "clip", "jitter", "weights",
                   "algorithm", "cv", "levels", "calibrators", "C", "costs"}  # fmt: skip
"""Parameters of probcal that are numbers, folds or names. A wrong text fails when it is used."""


def test_no_parameter_of_probcal_takes_the_name_of_a_file():
    """WekaClassifier is not here: ``untrusted_options`` checks its options."""
    free = set()
    for package in map(importlib.import_module, ("probcal.methods", "probcal.learners")):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(info.name)
            for name, value in vars(module).items():
                if not (inspect.isclass(value) and value.__module__ == info.name and issubclass(value, BaseEstimator)):
                    continue
                arguments = (DecisionTreeClassifier(),) if takes_a_learner(value) else ()
                for parameter in () if name.startswith("_") or name == "WekaClassifier" else parameter_names(value):
                    try:
                        fault = value_fault(value(*arguments, **{parameter: "no-such-choice"}))
                    except Exception as error:
                        fault = str(error) or type(error).__name__
                    if fault is None:
                        free.add(parameter)
    assert free <= FREE_PARAMETERS


def test_ordinary_texts_need_no_trust():
    params = {"criterion": "entropy", "max_features": "sqrt", "class_weight": "balanced"}
    assert probcal("validate", config({**TREE, "params": params})).exit_code == 0
    words = {"type": "sklearn.feature_extraction.text.TfidfVectorizer", "params": {"token_pattern": "[a-z]+"}}
    assert probcal("validate", config(pipeline(words))).exit_code == 0


def test_trust_in_scikit_learn_allows_its_files():
    with trusting("sklearn"):
        assert probcal("validate", config(TEXTS["pipeline"])).exit_code == 0
