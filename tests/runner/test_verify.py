"""Test ``probcal verify``: it compares stored results with stored predictions and finds every edit."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest

from probcal.store.folder import Store
from tests.commands import contents, probcal, refused
from tests.stored_rows import stored_rows, write_rows

CONFIG = """
name: small
seed: 1
repeats: 2
datasets: [wine-first]
learners:
  tree: {params: {max_depth: 2}}
  nb: {type: gaussian_nb}
methods:
  direct:
  isotonic: {params: {holdout_size: 30}}
metrics: [rms, cxe, auc, errors, log10_loss, "cost(0.25)"]
stages: [c_emp, "cost(0.3)"]
curves: [roc]
"""
LETTERS = """
name: letters
title: Letters
task: multilabel
columns: {word1..word50: numeric, topics: target}
split: {kind: same}
expect: {rows: 300, columns: 50}
generator: {kind: documents, documents: 300, topics: 4, words: 50, mean_length: 20, exponent: 1, labels_drawn: 3}
"""
OTHER_KINDS = {
    "several classes": "datasets: [iris]\nlearners: {tree: {params: {max_depth: 2}}}\nmethods: [direct, probing]\n"
    'metrics: [rms, auc, errors, "cost(0.3)"]',
    "several labels with the truth": "datasets: [letters.yaml]\nmethods: [direct]\n"
    "metrics: [rms, l1, l1_trivial, l2, l_max]\n"
    "learners: {log: {type: sklearn.linear_model.LogisticRegression, encoding: native}}",
    "a protected stream": "datasets: [wine-first]\nlearners: {nb: {type: gaussian_nb}}\n"
    "methods: {protected: {params: {truncation: 0.01}}}\nmetrics: [rms, log10_loss, log10_martingale]\n"
    "curves: [martingale]",
}


def run(folder: Path, config: str) -> Path:
    (folder / "small.yaml").write_text(config, encoding="utf-8")
    done = probcal("run", folder / "small.yaml", "-o", folder / "results")
    assert done.exit_code == 0, done.output
    return folder / "results"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Run eight cells of two classes, once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROBCAL_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield run(tmp_path_factory.mktemp("verify"), CONFIG)


@pytest.fixture
def results(ran, tmp_path):
    """Return a copy of the results to edit."""
    return Path(shutil.copytree(ran, tmp_path / "results"))


def edit(folder, change, cell=("nb", "direct", 0)):
    """Write the results anew with one row changed in place."""
    rows = stored_rows(folder)
    [row] = [one for one in rows if (one["learner"], one["method"], one["repetition"]) == cell]
    change(row)
    write_rows(folder, rows)


def told(folder, *words):
    """Return the exit code and what ``-f json`` prints."""
    result = probcal("verify", folder, "-f", "json", *words)
    [found] = json.loads(result.stdout)
    assert found["ok"] == (result.exit_code == 0)
    return result.exit_code, found


def differing(folder):
    """Return the stored values of the metrics that differ. There is at least one."""
    code, found = told(folder)
    assert code == 1
    return {one["metric"]: one["stored"] for one in found["differences"]}


def test_unedited_results_agree_and_stay_unchanged(results):
    before = contents(results)
    done = probcal("verify", results)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1] == "8 rows agree with the stored predictions"
    assert contents(results) == before


@pytest.mark.parametrize("kind", OTHER_KINDS)
def test_every_kind_of_experiment_can_be_verified(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letters.yaml").write_text(LETTERS, encoding="utf-8")
    folder = run(tmp_path, f"name: small\nseed: 1\nrepeats: 1\n{OTHER_KINDS[kind]}\n")
    done = probcal("verify", folder)
    assert done.exit_code == 0
    if kind == "a protected stream":
        assert "  1 row has log10_martingale, which only the fitted method provides\n" in done.stdout
        assert "  1 row has the curve martingale, which only the fitted method provides\n" in done.stdout
    for row in stored_rows(folder):
        metrics = row["metrics"].keys() - {"log10_martingale", "cost(0.3)"}  # the second has no value here
        edited = dict.fromkeys(metrics, 0.123)
        edit(folder, lambda one, edited=edited: one["metrics"].update(edited), (row["learner"], row["method"], 0))
        assert differing(folder) == edited
        edit(folder, lambda one, row=row: one.update(row), (row["learner"], row["method"], 0))


METRICS = ("rms", "cxe", "auc", "c_emp", "ece", "ks", "c_emp_p", "errors", "log10_loss", "cost(0.25)")


@pytest.mark.parametrize("factor", [0.9, 1 + 1e-7])
def test_edited_metrics_are_found(results, factor):
    edit(results, lambda row: row["metrics"].update({name: row["metrics"][name] * factor + 1e-10 for name in METRICS}))
    assert differing(results).keys() == {*METRICS}


def test_a_row_that_differs_is_printed_with_both_numbers(results):
    edit(results, lambda row: row["metrics"].update(rms=0.5))
    result = probcal("verify", results)
    assert result.exit_code == 1
    [line] = [line.split() for line in result.stdout.splitlines() if line.startswith("  wine-first")]
    stored = Store(results).results_with_any_values()["wine-first/1/nb/direct"].metrics["rms"]
    assert line[:6] == ["wine-first", "0", "nb", "direct", "rms", "0.5"] and 0 < float(line[6]) < 0.5 != stored
    assert result.stdout.splitlines()[-1] == (
        "7 rows agree with the stored predictions; 1 row differs; the same command with --discard removes it, and then"
        " probcal run makes what is missing"
    )


@pytest.mark.parametrize("number", [7.5, "nan", "inf"])
def test_impossible_stored_number_is_found(results, number):
    edit(results, lambda row: row["metrics"].update(rms=number))
    assert differing(results) == {"rms": number}
    assert "but rms " in refused("check", results)


EDITS = {
    "a removed metric": (lambda row: row["metrics"].pop("auc"), {"auc": None}),
    "the last stage": (lambda row: row["stages"]["cost(0.3)"].append(0.2), {"cost(0.3) after the last stage": 0.2}),
    "the number of test rows": (lambda row: row.update(n_test=7), {"n_test": 7}),
    "a failed row marked done": (lambda row: row.update(error_type="ValueError", message="no"), {"status": "done"}),
    "a done row marked failed": (lambda row: row.update(status="failed"), {"status": "failed"}),
    "a row moved to an unplanned split": (lambda row: row.update(repetition=7), {"split": 7}),
    "the same in a key of first versions": (
        lambda row: row.update(repetition=7) or row["key"].update(code="another"),
        {"split": 7},
    ),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edited_row_is_found(results, what):
    change, expected = EDITS[what]
    edit(results, change, ("nb", "isotonic", 1))
    assert differing(results) == expected


def test_an_edited_roc_curve_is_found(results):
    edit(results, lambda row: row["curves"]["roc"][0]["y"].__setitem__(1, 0.77))
    assert list(differing(results)) == ["curve roc"]


def test_a_row_copied_to_another_cell_is_found(results):
    rows = stored_rows(results)
    [taken] = [one for one in rows if (one["learner"], one["method"], one["repetition"]) == ("nb", "direct", 0)]
    write_rows(results, [*rows, taken | {"method": "isotonic"}])
    _, found = told(results)
    assert {one["metric"]: one["recomputed"] for one in found["differences"]} == {
        "predictions": "those of wine-first/0/nb/direct"
    }
    assert "8 cells: 7 done, 1 stale" in probcal("status", results).stdout, "and its key is another cell's"


def test_row_of_a_formerly_planned_split_agrees(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path / "cache"))
    config = "name: small\nseed: 1\ndatasets: [wine-first]\nlearners: {nb: {type: gaussian_nb}}\nmethods: [direct]\n"
    run(tmp_path, f"{config}repeats: 3\n")
    folder = run(tmp_path, f"{config}repeats: 1\n")
    assert told(folder) == (0, told(folder)[1] | {"agree": 3, "stale": 0})


def test_edited_predictions_are_found(results):
    path = results / "predictions.bin"
    content = bytearray(path.read_bytes())
    content[20] ^= 1
    path.write_bytes(content)
    assert list(differing(results)) == ["predictions"]


def with_predictions(folder, change, cell="wine-first/0/nb/direct"):
    """Store changed predictions as ``Store.add`` does, so that place and digest are right."""
    store = Store(folder)
    result = store.results()[cell]
    y, p = change(*store.predictions(result))
    with store.writing("small"):
        store.add(result, y, p)


@pytest.mark.parametrize(
    ("change", "metric"),
    [
        (lambda y, p: (y, p[:, ::-1]), "rms"),
        (lambda y, p: (y, p + 1), "predictions"),
        (lambda y, p: (1 - y, p), "labels"),
    ],
)
def test_predictions_edited_with_their_digest_are_found(results, change, metric):
    with_predictions(results, change)
    assert metric in differing(results)


def test_predictions_with_one_column_are_verified(results):
    """Imitate versions before two columns, which stored P(positive) alone."""
    for cell in [cell for cell in Store(results).results() if cell.startswith("wine-first/1/")]:
        with_predictions(results, lambda y, p: (y, p[:, 1]), cell)
    assert told(results)[1]["differences"] == []


@pytest.mark.parametrize("how", ["the file is gone", "the row has no place"])
def test_rows_without_predictions_are_never_verified(results, how):
    if how == "the file is gone":
        (results / "predictions.bin").unlink()
    else:
        edit(results, lambda row: row.pop("predictions"))
    result = probcal("verify", results)
    assert result.exit_code == 1
    n = 8 if how == "the file is gone" else 1
    assert result.stdout.splitlines()[-1] == (
        f"{8 - n} rows agree with the stored predictions; {n} cannot be verified: no stored predictions"
    )
    assert told(results)[1]["not_verified"] == {"no stored predictions": n}


def test_selected_rows_can_be_verified(results):
    edit(results, lambda row: row["metrics"].update(rms=0.5))
    assert told(results, "-l", "tree")[1]["agree"] == 4
    assert told(results, "-m", "isotonic", "-l", "nb")[1]["agree"] == 2
    assert told(results, "-d", "wine-first", "-l", "nb")[1]["differ"] == 1
    assert 'there is no learner "nbb"; did you mean "nb"?' in refused("verify", results, "-l", "nbb")


def test_a_folder_without_a_done_row_is_not_verified(results):
    write_rows(results, [])
    result = probcal("verify", results)
    assert result.exit_code == 1 and "nothing was verified: no row is done" in result.stdout


def test_several_folders_are_verified_one_by_one(results, ran):
    edit(results, lambda row: row["metrics"].update(rms="nan"))
    result = probcal("verify", ran, results, "-f", "json")
    first, second = json.loads(result.stdout)
    assert (result.exit_code, first["ok"], second["ok"]) == (1, True, False)
    assert second["differences"][0]["stored"] == "nan" and math.isfinite(second["differences"][0]["recomputed"])


@pytest.mark.parametrize("log", [None, ""])
def test_a_table_without_its_digest_is_found(results, log):
    path = results / "cells.jsonl"
    path.unlink() if log is None else path.write_text(log)
    result = probcal("verify", results)
    assert result.exit_code == 1 and f"{path} has lost the digest of cells.parquet" in result.stdout
    assert probcal("convert", results).exit_code == probcal("verify", results).exit_code == 0


# --- results that are removed ----------------------------------------------------------------------


def test_discard_removes_only_the_rows_that_differ(results):
    kept = Store(results).results()
    edit(results, lambda row: row["metrics"].update(rms=0.5))
    edit(results, lambda row: row["metrics"].update(rms=7.5), ("tree", "direct", 1))
    result = probcal("verify", results, "--discard")
    assert result.exit_code == 1, "they differed"
    assert result.stderr == f"removed 2 results of {results}; repeat probcal run to make them again\n"
    assert result.stdout.splitlines()[-1] == "6 rows agree with the stored predictions; 2 rows differ"
    removed = {"wine-first/0/nb/direct", "wine-first/1/tree/direct"}
    assert Store(results).results() == {name: one for name, one in kept.items() if name not in removed}
    after = probcal("verify", results)
    assert (after.exit_code, after.stdout.splitlines()[-1]) == (0, "6 rows agree with the stored predictions")
    assert "8 cells: 6 done, 2 to run" in probcal("status", results).stdout


def test_discard_removes_impossible_numbers_without_predictions(results):
    (results / "predictions.bin").unlink()
    edit(results, lambda row: row["metrics"].update(rms=7.5))
    assert "but rms lies between 0 and 1" in refused("table", results)
    assert "removed 1 result of" in probcal("verify", results, "--discard").output
    assert len(Store(results).results()) == 7


def test_discard_changes_no_results_that_agree(results):
    before = contents(results)
    done = probcal("verify", results, "--discard")
    assert done.exit_code == 0 and "removed" not in done.output
    assert contents(results) == before


@pytest.mark.parametrize("number", [0.5, 7.5])
def test_discard_of_a_selection_keeps_all_other_rows(results, number):
    edit(results, lambda row: row["metrics"].update(rms=number))
    assert "removed" not in probcal("verify", results, "--discard", "-l", "tree").output
    assert len(Store(results).results_with_any_values()) == 8
    done = probcal("verify", results, "--discard", "-l", "nb", "-f", "json")
    assert "removed 1 result of" in done.stderr and json.loads(done.stdout)[0]["differ"] == 1
    assert len(Store(results).results()) == 7
