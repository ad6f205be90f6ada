"""Test packages that declare learners, methods, metrics and papers as entry points."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from probcal.store.folder import Store

ENTRY_POINTS = """\
[probcal.learners]
nearest_mean = forecasts.parts:NearestMean
[probcal.methods]
shrunk = forecasts.parts:Shrunk
probing = forecasts.parts:Shrunk
[probcal.metrics]
skill = forecasts.scores:SKILL
[probcal.papers]
forecasts-2020 = forecasts.numbers
[console_scripts]
forecasts = forecasts:main
"""
PARTS = '''\
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone


class NearestMean(ClassifierMixin, BaseEstimator):
    """Predict the nearer mean."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.array([np.asarray(X)[y == label].mean(axis=0) for label in self.classes_])
        return self

    def decision_function(self, X):
        first, second = (((np.asarray(X) - mean) ** 2).sum(axis=1) for mean in self.means_)
        return first - second

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


class Shrunk(ClassifierMixin, BaseEstimator):
    """Move every probability towards a half."""

    def __init__(self, estimator=None, share=0.5):
        self.estimator, self.share = estimator, share

    def fit(self, X, y):
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.estimator_.classes_
        return self

    def predict_proba(self, X):
        p = np.eye(2)[np.searchsorted(self.classes_, self.estimator_.predict(X))]
        return (1 - self.share) * p + self.share / 2
'''
SCORES = """\
import numpy as np
from probcal.metrics import Metric

SKILL = Metric(
    "skill", "one less the Brier score", "Skill", "Skill, one less the Brier score",
    value=lambda one: float(1 - np.mean((one.rows.y - one.positive) ** 2)),
    larger_is_better=True, measured="asked", two_classes=True,
)
"""
PAPER = """\
title: Forecasts of a package
citation: A. Nobody, 2020.
short: Nobody (2020)
datasets: {wine-first: Wine}
columns: {Near: {learner: near, method: shrunk}}
tables: {skill: {number: 1, tolerance: 0.5, rows: {wine-first: [0.9]}}}
best: {}
best_entries: {}
claims: {}
"""
CONFIG = """\
name: mine
paper: forecasts-2020
datasets: [wine-first]
learners: {nearest_mean: {paper: near}}
methods: {shrunk: {params: {share: 0.2}}}
metrics: [skill]
"""


@pytest.fixture
def installed(tmp_path):
    """Install the package into a separate folder."""
    return install(tmp_path)


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """Install the package and run the experiment, for all tests that begin with its results."""
    folder = install(tmp_path_factory.mktemp("once"))
    probcal(folder, "run", "mine.yaml")
    return folder


@pytest.fixture
def finished(once, tmp_path):
    """Copy the package and the results of the experiment."""
    shutil.copytree(once.parent, tmp_path, dirs_exist_ok=True)
    return tmp_path / "installed"


def install(parent):
    folder = parent / "installed"
    package, info = folder / "forecasts", folder / "forecasts-1.2.dist-info"
    (package / "numbers").mkdir(parents=True)
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: forecasts\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    for name, text in {"__init__": "", "parts": PARTS, "scores": SCORES, "numbers/__init__": ""}.items():
        (package / f"{name}.py").write_text(text)
    (package / "numbers" / "forecasts-2020.yaml").write_text(PAPER)
    (parent / "here").mkdir()
    (parent / "here" / "mine.yaml").write_text(CONFIG)
    return folder


def environment(folder: Path) -> dict[str, str]:
    """Return the environment with ``folder`` on the path, where nothing is trusted."""
    usual = {name: value for name, value in os.environ.items() if name != "PROBCAL_TRUSTED"}
    return {**usual, "PYTHONPATH": os.pathsep.join([str(folder), str(Path(__file__).parents[2])])}


def probcal(installed: Path, *words: str, code: int = 0) -> str:
    """Run the command beside the experiment, with the folder of packages on the path, and return what it prints."""
    found = subprocess.run(
        [sys.executable, "-P", "-m", "probcal", *words],
        cwd=installed.parent / "here",
        env=environment(installed),
        capture_output=True,
        text=True,
    )
    assert found.returncode == code and "Traceback" not in found.stderr, found.stdout + found.stderr
    return found.stdout + found.stderr


def test_a_plugin_is_listed_with_its_package(installed):
    assert "plugin of forecasts 1.2" in next(
        line for line in probcal(installed, "list", "methods").splitlines() if line.startswith("shrunk")
    )
    assert "skill" in probcal(installed, "list", "metrics")
    assert "nearest_mean" in probcal(installed, "list", "learners")


@pytest.mark.slow
def test_a_run_uses_every_kind_of_plugin_without_trust(finished):
    results = Store(finished.parent / "here" / "results" / "mine").results()
    assert [0.5 < one.metrics["skill"] < 1 for one in results.values()] == [True]
    table = probcal(finished, "table", "results/mine")
    assert "Skill, one less the Brier score" in table and "[0.900]" in table and "larger is better" in table
    assert "0.9" in probcal(finished, "check", "results/mine", "-f", "json", code=1), "one split cannot be judged"


@pytest.mark.slow
def test_an_edited_plugin_metric_is_measured_again_without_a_fit(finished):
    scores = finished / "forecasts" / "scores.py"
    scores.write_text(scores.read_text().replace("1 - np.mean", "0.5 - 0.5 * np.mean"))
    assert "1 cell need no fit" in probcal(finished, "run", "mine.yaml")
    found = Store(finished.parent / "here" / "results" / "mine").results()
    assert [one.metrics["skill"] < 0.5 for one in found.values()] == [True]


@pytest.mark.slow
def test_an_edited_plugin_method_makes_its_cells_stale(finished):
    parts = finished / "forecasts" / "parts.py"
    parts.write_text(parts.read_text().replace("self.share / 2", "self.share * 0.5"))
    assert "code changed: forecasts.parts" in probcal(finished, "status", "results/mine")


def test_a_plugin_never_replaces_a_built_in_name(installed):
    line = next(one for one in probcal(installed, "list", "methods").splitlines() if one.startswith("probing"))
    assert "probcal.methods.probing.ProbingClassifier" in line


def test_only_the_declared_class_is_trusted(installed):
    config = installed.parent / "here" / "mine.yaml"
    both = "{a: {type: forecasts.parts.NearestMean}, b: {type: forecasts.parts.Other}}"
    config.write_text(CONFIG.replace("{nearest_mean: {paper: near}}", both))
    said = probcal(installed, "validate", "mine.yaml", code=2)
    assert "--trust forecasts" in said and "forecasts.parts.Other" in said and "NearestMean" not in said


@pytest.mark.slow
def test_a_package_beside_the_experiment_is_not_a_plugin(installed):
    here = installed.parent / "here"
    installed.rename(here / "packages")
    for path in list((here / "packages").iterdir()):
        path.rename(here / path.name)
    command = [sys.executable, "-m", "probcal", "validate", "mine.yaml"]  # -m puts the current folder on the path
    said = subprocess.run(command, cwd=here, env=environment(here), capture_output=True, text=True).stderr
    assert 'there is no learner "nearest_mean"' in said


@pytest.mark.slow
def test_a_name_declared_by_two_packages_is_rejected(installed):
    other = installed / "more-3.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 3\n")
    (other / "entry_points.txt").write_text("[probcal.methods]\nshrunk = more:Shrunk\n")
    said = probcal(installed, "validate", "mine.yaml", code=2)
    assert 'forecasts 1.2 and more 3 both declare "shrunk"' in said and "mine.yaml:5" in said


@pytest.mark.slow
def test_a_broken_plugin_stops_only_experiments_that_name_it(installed):
    for name in ("parts", "scores", "numbers/__init__"):
        (installed / "forecasts" / f"{name}.py").write_text("raise RuntimeError('broken')\n")
    said = probcal(installed, "validate", "mine.yaml", code=2)
    for entry in (
        "nearest_mean = forecasts.parts:NearestMean",
        "shrunk = forecasts.parts:Shrunk",
        "skill = forecasts.scores:SKILL",
        "forecasts-2020 = forecasts.numbers",
    ):
        assert (
            f'forecasts 1.2 declares the entry point "{entry}", which cannot be imported: broken (RuntimeError); '
            "reinstall or upgrade forecasts, or uninstall it"
        ) in said
    assert said.count("cannot be imported: broken") == 4
    probcal(installed, "list", "methods")
    probcal(installed, "validate", "quickstart")


@pytest.mark.slow
def test_message_for_a_missing_class_names_its_package(installed):
    parts = installed / "forecasts" / "parts.py"
    parts.write_text(parts.read_text().replace("Shrunk", "Shrunken"))
    said = probcal(installed, "validate", "mine.yaml", code=2)
    assert 'forecasts 1.2 declares the entry point "shrunk = forecasts.parts:Shrunk", which cannot be imported' in said
    assert 'there is no class "Shrunk" in forecasts.parts; did you mean "Shrunken"?' in said


@pytest.mark.slow
def test_message_names_the_missing_paper_of_a_plugin(installed):
    (installed / "forecasts" / "numbers" / "forecasts-2020.yaml").unlink()
    assert "forecasts.numbers has no forecasts-2020.yaml" in probcal(installed, "validate", "mine.yaml", code=2)
    assert "forecasts-2020 cannot be read: forecasts 1.2 declares the paper" in probcal(installed, "list", "papers")
