"""Test nested splits: inside the training rows, groups stay whole, and no map is fitted on rows from the past."""

from functools import wraps

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from probcal.config.experiment import read_experiment
from probcal.data.load import fetch_into_cache
from probcal.errors import FileProblems
from probcal.runner.cell import list_cells
from probcal.runner.cell_rows import load_rows
from probcal.runner.execute import execute
from probcal.runner.identity import Identities, used_components

CARD = """
name: visits
title: Visits
columns: {row: numeric, patient: numeric, day: numeric, ill: target}
positive: "yes"
split: SPLIT
expect: {rows: 240, columns: 3}
no_openml: these are a test's own
files:
  - {format: delimited, header: true, files: [{name: visits.csv}]}
"""
ROWS = np.random.default_rng(0).permutation(240)
"""The days and patients of the rows do not follow the order of the file."""
PATIENT, DAY = ROWS % 24, ROWS // 7
GROUPS = "{kind: group_k_fold, folds: 3, group: patient, nested: true}"
TIME = "{kind: time_ordered, folds: 3, order: day, nested: true}"
METHODS = {
    "sigmoid": {"params": {"calibration": "cross_val", "cv": 3}},
    "isotonic": {"params": {"calibration": "holdout"}},
    "beta": {"params": {"calibration": "cross_val", "cv": 3, "ensemble": False}},
    "mean_map": {},
    "outside": {"type": "sklearn.calibration.CalibratedClassifierCV"},
}


def cells(bench, split, methods=None):
    (bench.folder / "visits.yaml").write_text(CARD.replace("SPLIT", split))
    (bench.folder / "visits").mkdir(exist_ok=True)
    lines = [f"{i},{PATIENT[i]},{DAY[i]},{'yes' if i * i % 7 > 2 else 'no'}" for i in range(240)]
    (bench.folder / "visits" / "visits.csv").write_text("\n".join(["row,patient,day,ill", *lines]) + "\n")
    learners = {"nb": {"type": "gaussian_nb", "encoding": "native"}}
    bench.config(datasets=["visits.yaml"], learners=learners, methods=methods or METHODS)
    planned = list_cells(read_experiment(bench.folder / "small.yaml"))
    fetch_into_cache(planned[0].card, None)
    return planned


@pytest.fixture
def scored(monkeypatch):
    """Record for each prediction the rows on which its classifier was fitted, and the rows that it scored."""
    records = []
    fit, predict_proba = GaussianNB.fit, GaussianNB.predict_proba

    @wraps(fit)
    def spied_fit(self, X, y, *more, **named):
        self.rows = X["row"].to_numpy(int)
        return fit(self, X, y, *more, **named)

    @wraps(predict_proba)
    def spied_predict_proba(self, X):
        records.append((self.rows, X["row"].to_numpy(int)))
        return predict_proba(self, X)

    monkeypatch.setattr(GaussianNB, "fit", spied_fit)
    monkeypatch.setattr(GaussianNB, "predict_proba", spied_predict_proba)
    return records


@pytest.mark.parametrize("method", METHODS)
def test_no_group_is_fitted_and_scored_by_one_classifier(bench, scored, method):
    for cell in (cell for cell in cells(bench, GROUPS) if cell.column.method.name == method):
        assert execute(cell, {}, "run").result.status == "done"
    assert len(scored) > 3
    for fitted, predicted in scored:
        assert not set(PATIENT[fitted]) & set(PATIENT[predicted])


@pytest.mark.parametrize("method", METHODS)
def test_no_scored_row_is_older_than_a_training_row(bench, scored, method):
    for cell in (cell for cell in cells(bench, TIME) if cell.column.method.name == method):
        outcome = execute(cell, {}, "run")
        assert outcome.result.status == "done", outcome.result.message
    assert len(scored) > 3
    for fitted, predicted in scored:
        assert DAY[fitted].max() < DAY[predicted].min()


def test_rows_of_one_day_are_not_cut_apart(bench):
    for cell in cells(bench, TIME, ["direct"]):
        rows = load_rows(cell)
        train, test = rows.X_train["row"].to_numpy(int), rows.X_test["row"].to_numpy(int)
        assert not set(DAY[train]) & set(DAY[test])


def test_chronological_card_calibrates_on_its_last_training_rows(bench, scored):
    [cell] = cells(bench, "{kind: chronological, train: 160, nested: true}", {"isotonic": METHODS["isotonic"]})
    assert execute(cell, {}, "run").result.status == "done"
    (fitted, calibrated), (_, tested) = scored
    assert list(calibrated) == list(range(120, 160)) and fitted.max() == 119 and tested.min() == 160


def test_only_nested_cells_have_other_identities(bench):
    [plain, *_] = cells(bench, GROUPS.replace(", nested: true", ""))
    [same, *_] = cells(bench, GROUPS.replace("nested: true", "nested: false"))
    [nested, *_] = cells(bench, GROUPS)
    keys = [Identities().key(cell) for cell in (plain, same, nested)]
    assert keys[0] == keys[1]
    assert keys[2]["split"] != keys[0]["split"]
    assert "nested split" in used_components(nested)
    assert "nested split" not in used_components(plain)


def test_other_splits_cannot_be_nested(bench):
    with pytest.raises(FileProblems, match="a holdout split cannot be nested"):
        cells(bench, "{kind: holdout, train_fraction: 0.5, nested: true}")


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ({"type": "sigmoid", "params": {"cv": [[[0, 1], [2, 3]]]}}, "a number of folds, because the split is nested"),
        ({"type": "isotonic", "params": {"calibration": "holdout", "holdout_size": 50}}, "needs a share"),
    ],
)
def test_methods_that_choose_their_own_rows_fail_with_a_reason(bench, method, message):
    [cell, *_] = cells(bench, GROUPS, {"mine": method})
    outcome = execute(cell, {}, "run")
    assert outcome.result.status == "failed" and message in outcome.result.message
