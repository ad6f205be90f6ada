"""Test learners and methods of a user or of another library in an experiment file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from probcal.config.experiment import read_experiment
from probcal.store.folder import Store
from tests.commands import probcal, refused

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
    file.write_text(file.read_text().replace("{cv: 2}}", '{cv: 2}, label: ""}'))
    assert [column.label for column in read_experiment(file).columns][1] == "own", "an empty label is kept"


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
