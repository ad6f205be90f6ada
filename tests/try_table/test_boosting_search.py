"""Test the search of ``probcal try --budget``: how many settings run, on which rows, and how the export repeats it."""

import runpy

import joblib
import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.special import expit
from threadpoolctl import threadpool_info, threadpool_limits

from probcal.data.card import read_card
from probcal.data.load import load
from probcal.errors import ProbcalError
from probcal.store.folder import Store
from probcal.try_table.boosting_search import (
    MOST_SETTINGS,
    BoostingSearch,
    SearchRequest,
    earlier_settings,
    plan_search,
)
from probcal.try_table.new_rows import read_grouped_rows
from probcal.try_table.split_choice import choose_splits
from tests.commands import probcal, refused
from tests.try_table.own_tables import written

pytestmark = pytest.mark.slow


def visits(n=120):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 3))
    left = np.where(random.random(n) < expit(2 * X[:, 0]), "yes", "no")
    return pd.DataFrame(X, columns=["a", "b", "c"]).assign(patient=np.arange(n) // 4, left=left)


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """Return (folder, output) of a trial with groups and two settings, whose best method is exported to ``model``."""
    folder = tmp_path_factory.mktemp("search")
    path = written(visits(), folder / "visits.csv")
    call = ("try", path, "-t", "left", "-l", "boosting", "-m", "direct", "--splits", 2, "--trials", 2)
    result = probcal(*call, "--group", "patient", "-o", folder / "results", "--export", folder / "model")
    assert result.exit_code == 0, result.output
    return folder, result.output


def test_output_tells_how_many_settings_were_tried(tuned):
    _, output = tuned
    text = " ".join(output.split())
    assert "tuned: 2 settings of each library in each split, as --trials asks" in text
    assert "search: 4 settings tried in 2 cells" in text


def test_search_keeps_to_groups(tuned):
    folder, _ = tuned
    cells = Store(folder / "results").results()
    assert [cell.status for cell in cells.values() if cell.method == "tuned"] == ["done"] * 2
    [experiment] = (folder / "results/input").glob("*.yaml")
    assert yaml.safe_load(experiment.read_text())["methods"]["tuned"]["params"] == {"n_settings": 2, "cv": 3}
    assert "  nested: true" in next((folder / "results/input").rglob("visits.yaml")).read_text()
    assert earlier_settings(experiment) == 2


def test_exported_code_finds_the_setting_of_the_exported_model(tuned, monkeypatch):
    folder, output = tuned
    model = joblib.load(folder / "model/model.joblib")
    assert "tuned on boosting, fitted on all 120 labelled rows" in " ".join(output.split())
    setting = ", ".join(f"{name}={value}" for name, value in model.best_params_.items())
    assert f"the search chose {setting}" in (folder / "model/train.py").read_text().replace("\n# ", " ")
    assert f"the search chose {setting}" in (folder / "model/model-card.md").read_text()
    X, _, _ = read_grouped_rows(str(folder / "visits.csv"), folder / "model/columns.json")
    before = model.predict_proba(X)
    monkeypatch.chdir(folder)
    runpy.run_path(str(folder / "model/train.py"))
    np.testing.assert_array_equal(joblib.load(folder / "model/model.joblib").predict_proba(X), before)


def test_exported_script_fits_in_one_thread(tuned, monkeypatch):
    # with a thread for each processor, other work on the machine makes the many small fits wait for each other
    folder, _ = tuned
    threads = []

    def fit(self, *args, **kwargs):
        threads.append({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"})
        return self

    monkeypatch.setattr("probcal.TunedBoostingClassifier.fit", fit)
    monkeypatch.setattr("joblib.dump", lambda *_, **__: None)
    script = folder / "model" / "train.py"
    with threadpool_limits(2):
        runpy.run_path(str(script))
    assert threads == [{1}]


def dataset_of(folder):
    return load(read_card(next((folder / "results/input").rglob("visits.yaml"))))


def test_budget_fixes_the_number_of_settings_before_the_run(tuned):
    dataset, split = dataset_of(tuned[0]), choose_splits(2, "patient", None)
    search = plan_search(SearchRequest(budget=3600.0), dataset, split, ["boosting"], 0, None, 0)
    assert search.n_settings == MOST_SETTINGS and "--trials 30 repeats them" in search.sentence
    again = plan_search(SearchRequest(budget=3600.0), dataset, split, ["boosting"], 0, 7, 0)
    assert again.n_settings == 7 and "as in the earlier run" in again.sentence
    with pytest.raises(ProbcalError, match=r"too short for one setting of boosting in 2 splits; give about \d"):
        plan_search(SearchRequest(budget=0.001), dataset, split, ["boosting"], 0, None, 0)


def test_learners_that_are_no_boosting_are_refused(tmp_path):
    path = written(visits(), tmp_path / "visits.csv")
    message = refused("try", path, "-t", "left", "-l", "logistic", "--budget", "10m", "-o", tmp_path / "results")
    assert "--budget and --trials tune boosting, lightgbm, xgboost, catboost; -l names none of them" in message


def test_libraries_of_the_search_are_tuned_and_nothing_else():
    search = BoostingSearch({"boosting": {}, "lightgbm": {}}, 5, 2, False, "")
    combined = search.combinations(["shares", "tree", "boosting"], ["direct", "beta"], {"shares": ["direct"]})
    assert combined == {
        "shares": ["direct"], "tree": ["direct", "beta"], "boosting": ["direct", "beta", "tuned"],
        "lightgbm": ["tuned"],
    }  # fmt: skip
    assert BoostingSearch({}, 5, 2, True, "").entry["params"]["ensemble"] is False


def test_search_ends_with_its_budget(tmp_path):
    path = written(visits(), tmp_path / "visits.csv")
    call = ("try", path, "-t", "left", "-l", "boosting", "-m", "direct", "--splits", 5, "-o", tmp_path / "results")
    result = probcal(*call, "--budget", "0.5s", "--trials", 12)
    assert result.exit_code == 0, result.output
    cells = [cell for cell in Store(tmp_path / "results").results().values() if cell.method == "tuned"]
    assert len(cells) == 1
    assert "the budget ended before 4 cells of the search" in " ".join(result.output.split())
