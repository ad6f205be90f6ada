"""Test compare.json, which stores what a comparison needs from predictions, in case they are removed."""

import json
import math

import numpy as np
import pytest

from probcal.analysis.hypothesis_tests import ROW_METRICS
from probcal.errors import StoreError
from probcal.metrics import cross_entropy, rms_error, roc_auc
from probcal.reporting.comparison.split_results import SAMPLES, read_comparison_data
from probcal.store.folder import COMPARISON as FILE
from probcal.store.folder import CellResult
from probcal.store.stored_experiment import StoredExperiment
from tests.commands import probcal
from tests.stored_rows import stored_rows, write_rows

COLUMNS = ("j48.direct", "j48.probing")


@pytest.fixture
def store(small):
    """Write Adult with one split and Breast with three, with predictions; on Adult J48 once predicts 1 wrongly."""
    written = small(datasets={"adult": 1, "breast": 3}, columns=COLUMNS, metrics=("cxe", "rms", "auc"))
    store = written.write({})
    random = np.random.default_rng(5)
    with store.writing("small"):
        for dataset, splits in {"adult": 1, "breast": 3}.items():
            for split in range(splits):
                y = (random.random(80) < 0.4).astype(np.int8)
                y[:2] = (0, 1)
                for column in COLUMNS:
                    p = np.clip(0.3 * y + 0.7 * random.random(80), 0.002, 0.998)
                    if (dataset, column) == ("adult", "j48.direct"):
                        p[0] = 1.0
                    metrics = {"cxe": cross_entropy(y, p), "rms": rms_error(y, p), "auc": roc_auc(y, p)}
                    cell = (dataset, split, *column.split("."))
                    store.add(CellResult(*cell, "done", "run1", 1.0, metrics=metrics, n_train=160, n_test=80), y, p)
    return store


def of(store):
    return read_comparison_data(store, StoredExperiment.of(store), store.results())


def test_compare_data_has_samples_and_clipped_losses(store):
    found = of(store)
    assert list(found.rows) == ["adult"]
    assert set(found.rows["adult"]) == set(ROW_METRICS)
    assert found.rows["adult"]["auc"]["j48/probing"].shape == (SAMPLES,)
    assert len(found.clipped) == 8
    assert np.isinf(found.rows["adult"]["cxe"]["j48/direct"]).any()
    assert math.isfinite(found.clipped["adult/0/j48/direct"])


def test_the_comparison_is_the_same_without_predictions(store):
    before = probcal("compare", store.folder)
    text = (store.folder / FILE).read_text()
    (store.folder / "predictions.bin").unlink()
    after = probcal("compare", store.folder)
    assert before.exit_code == 0
    note = [line for line in after.output.splitlines() if "come from the summaries in compare.json" in line]
    assert len(note) == 1
    lines = [line for line in after.output.splitlines() if line and line not in note]
    assert lines == [line for line in before.output.splitlines() if line]
    assert (store.folder / FILE).read_text() == text


def test_samples_of_other_predictions_are_ignored(store):
    of(store)
    text = (store.folder / FILE).read_text()
    digest = json.loads(text)["rows"]["adult"]["digests"]["j48/direct"]
    (store.folder / FILE).write_text(text.replace(digest, "0" * 12))
    (store.folder / "predictions.bin").unlink()
    found = of(store)
    assert (found.rows, found.missing_columns) == ({}, {"Adult": ["j48/direct", "j48/probing"]})
    assert found.missing_clipped == {"Adult": 1} and {cell.split("/")[0] for cell in found.clipped} == {"breast"}


def test_no_clipped_losses_come_from_unequal_splits(store):
    predictions = store.folder / "predictions.bin"
    with predictions.open("r+b") as file:
        file.truncate(predictions.stat().st_size - 1)
    found = of(store)
    assert found.missing_clipped == {"Breast": 1} and {cell.split("/")[0] for cell in found.clipped} == {"adult"}
    note = "No clipped cross entropy for data sets whose stored predictions are gone or damaged: Breast (1 cell)."
    assert note in probcal("compare", store.folder).output


def test_output_counts_the_cells_not_run(store):
    write_rows(store.folder, stored_rows(store.folder)[:-1])
    assert "not run: 1 of 8 cells" in probcal("compare", store.folder).output
    assert "not run: 1 of 8 cells" in probcal("leaderboard", store.folder).output


def test_message_says_that_the_predictions_are_missing(store):
    (store.folder / "predictions.bin").unlink()
    assert of(store).missing_columns == {"Adult": ["j48/direct", "j48/probing"]}
    assert not (store.folder / FILE).exists()
    output = probcal("compare", store.folder).output
    assert "No test for Adult: it has one split, and the predictions of j48/direct, j48/probing are not" in output


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"rows": {}}', '{"rows": {}, "clipped": {"a": 1}}', '{"rows": {}, "clipped": {}, "more": 1}',
     '{"rows": {"adult": {"digests": {"j48/direct": "a"}, "samples": {"cxe": {"j48/direct": [1]}}}}, "clipped": {}}'],
)  # fmt: skip
def test_message_names_a_foreign_file_and_it_stays(store, text):
    (store.folder / FILE).write_text(text)
    with pytest.raises(StoreError, match="was not written by probcal compare; remove it"):
        of(store)
    assert (store.folder / FILE).read_text() == text


def test_a_pipe_in_place_of_the_file_is_rejected(store):
    import os

    os.mkfifo(store.folder / FILE)
    with pytest.raises(StoreError):
        of(store)


def test_columns_with_other_test_rows_are_not_compared(store):
    y = np.array([0, 1] * 40, dtype=np.int8)
    with store.writing("small"):
        store.add(
            CellResult("adult", 0, "j48", "direct", "done", "run2", 1.0, metrics={"cxe": 1.0}), y, np.full(80, 0.5)
        )
    assert of(store).missing_columns == {"Adult": []}
    output = probcal("compare", store.folder).output
    assert "No test for Adult: it has one split, and its columns have other test rows" in output


def _edit(store, change):
    path = store.folder / FILE
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def _lower_clipped_loss(content):
    content["clipped"]["breast/0/j48/direct"][1] = 0.001


def _shift_samples(content):
    samples = content["rows"]["adult"]["samples"]["cxe"]
    samples["j48/probing"] = [number - 30_000 for number in samples["j48/probing"]]


@pytest.mark.parametrize("change", [_lower_clipped_loss, _shift_samples])
def test_edited_file_changes_nothing_beside_predictions(store, change):
    before = probcal("compare", store.folder).output
    text = (store.folder / FILE).read_text()
    _edit(store, change)
    result = probcal("verify", store.folder)
    assert result.exit_code == 1 and "compare.json differs from the predictions of" in result.stdout
    assert probcal("compare", store.folder).output == before
    assert (store.folder / FILE).read_text() == text


@pytest.mark.parametrize("change", [_lower_clipped_loss, _shift_samples])
def test_impossible_numbers_without_predictions_are_refused(store, change):
    of(store)
    _edit(store, change)
    (store.folder / "predictions.bin").unlink()
    with pytest.raises(StoreError, match="which cannot be beside its metrics; remove it, and run probcal compare"):
        of(store)
