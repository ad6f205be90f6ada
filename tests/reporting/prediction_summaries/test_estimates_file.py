"""Test ``estimates.json``, which gives the same figures without the stored predictions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.errors import StoreError
from probcal.reporting.prediction_curves import cost_curve, read_stored_predictions
from probcal.reporting.prediction_summaries import Entry, PredictionFigure, estimates_file_faults, pictures_of
from probcal.store.folder import CellResult
from probcal.store.stored_experiment import StoredExperiment
from tests.reporting.small_estimates import drawn, estimates, folder_of

GONE = "the predictions are no longer stored; fetch its predictions.bin, or run the experiment into another folder (-o)"


def found_in(store, keep=False):
    stored = StoredExperiment.of(store)
    found = pictures_of(store, stored, store.results(), keep)
    return found.figures, found.notes(stored)


def numbers(pictures):
    """Return all numbers that are drawn."""
    return [
        (
            one.column.label, one.entry.splits, one.entry.top_label, *map(list, vars(one.reliability).values()),
            *map(list, one.score_histogram), one.roc and [list(one.roc.x), list(one.roc.y)],
        )
        for one in pictures
    ]  # fmt: skip


def first_estimates(store):
    stored = StoredExperiment.of(store)
    return read_stored_predictions(store, stored, store.results(), stored.datasets[0], stored.columns[0])


def without_predictions(store):
    """Remove the stored predictions of ``store`` and return it."""
    (store.folder / "predictions.bin").unlink()
    return store


def test_predictions_of_all_splits_are_concatenated(tmp_path):
    store = folder_of(tmp_path / "small")
    first = first_estimates(store)
    y, p = zip(drawn(0), drawn(1), strict=True)
    assert (first.column.label, first.n_splits) == ("tree.direct", 2)
    assert first.y.tolist() == np.concatenate(y).tolist() and first.p.tolist() == np.concatenate(p).tolist()


def test_figures_from_the_file_equal_those_from_predictions(tmp_path):
    store = folder_of(tmp_path / "small")
    before, notes = found_in(store, keep=True)
    written = (store.folder / "estimates.json").read_bytes()
    after, later_notes = found_in(without_predictions(store), keep=True)
    assert numbers(after) == numbers(before) and len(before) == 4
    assert notes == later_notes == []
    assert (store.folder / "estimates.json").read_bytes() == written


def test_file_is_written_only_on_request_with_predictions(tmp_path):
    store = folder_of(tmp_path / "small")
    found_in(store)
    found_in(without_predictions(store), keep=True)
    assert not (store.folder / "estimates.json").exists()


def test_file_of_other_predictions_is_not_drawn(tmp_path):
    store = folder_of(tmp_path / "small")
    found_in(store, keep=True)
    with store.writing("small"):
        cell = ("wine", 1, "tree", "direct", "done", "run2", 1.0)
        store.add(CellResult(*cell, metrics={"auc": 0.7}), *drawn(99))
    pictures, notes = found_in(without_predictions(store))
    assert [one.column.label for one in pictures] == ["tree.probing", "nb.direct", "nb.probing"]
    assert notes == [
        "Wine tree.direct: estimates.json belongs to other predictions than the results; fetch its predictions.bin, or"
        " run the experiment into another folder (-o)"
    ]


def test_file_without_a_later_split_is_stale(tmp_path):
    cells = {("wine", "nb.direct", 0): drawn(0)}
    store = folder_of(tmp_path / "small", cells, columns=("nb.direct",))
    found_in(store, keep=True)
    with store.writing("small"):
        store.add(CellResult("wine", 1, "nb", "direct", "done", "run2", 1.0), *drawn(1))
    assert found_in(without_predictions(store))[0] == []


def test_only_predictions_stored_before_are_noted_as_missing(tmp_path):
    store = without_predictions(folder_of(tmp_path / "small"))
    assert found_in(store) == ([], [f"Wine tree.direct, Wine tree.probing, Wine nb.direct and 1 more: {GONE}"])
    never = folder_of(tmp_path / "never", {})
    with never.writing("small"):
        never.add(CellResult("wine", 0, "nb", "direct", "done", "run1", 1.0))
    assert found_in(never) == ([], [])


def test_partly_stored_predictions_are_drawn_but_not_written(tmp_path):
    cells = {("wine", "nb.direct", 0): drawn(0), ("wine", "nb.direct", 1): drawn(1)}
    store = folder_of(tmp_path / "small", cells, columns=("nb.direct",))
    path = store.folder / "predictions.bin"
    path.write_bytes(path.read_bytes()[: 40 * 9])
    [one], [note] = found_in(store, keep=True)
    assert one.entry.splits == 1 and sum(one.reliability.counts) == 40
    assert note.endswith("the predictions of some splits are no longer stored: the figures show the others")
    assert json.loads((store.folder / "estimates.json").read_text())["estimates"] == []


def test_several_classes_are_drawn_by_their_top_label(tmp_path):
    y = np.array([0, 1, 2, 2])
    p = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
    store = folder_of(tmp_path / "small", {("wine", "nb.direct", 0): (y, p)})
    store_cells = {("wine", "nb.direct", 0): (y, p)}
    one = first_estimates(folder_of(tmp_path / "one", store_cells, columns=("nb.direct",)))
    assert one.top_label and (one.y.tolist(), one.p.tolist()) == ([1, 0, 1, 0], [0.5, 0.5, 0.7, 0.6])
    [picture], _ = found_in(store)
    assert picture.roc is None and picture.costs is None and picture.entry.top_label


def test_rows_with_several_labels_are_left_out_with_note(tmp_path):
    labels = np.array([[0, 1], [1, 1]]), np.array([[0.2, 0.3], [0.4, 0.5]])
    store = folder_of(tmp_path / "small", {("wine", "nb.direct", 0): labels})
    assert found_in(store) == ([], ["Wine nb.direct: there are no figures for rows with several labels"])


@pytest.mark.parametrize("p", [[0.5, np.nan], [0.5, 1.5], [-0.1, 0.5]])
def test_invalid_probabilities_are_not_drawn(tmp_path, p):
    store = folder_of(tmp_path / "small", {("wine", "nb.direct", 0): (np.array([0, 1]), np.array(p))})
    assert found_in(store) == ([], [f"Wine nb.direct: {GONE}"])


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (lambda text: text[:-20], "cannot be read"),
        (lambda text: text.replace('"version": 1', '"version": 7'), "version: Input should be 1"),
        (lambda text: text.replace('"splits":2', '"splits":-2'), "splits: Input should be greater than"),
        (lambda text: text.replace('"appearances":', '"appearances":1e999,"a":'), "appearances: Input should be"),
        (lambda text: text.replace('"counts":[', '"counts":[1,'), "are not equally long"),
        (lambda text: '{"version": 1, "estimates": 3}', "estimates: Input should be a valid"),
        (lambda text: "[" * 100_000, "cannot be read"),
        (lambda text: "\x00", "cannot be read"),
    ],
)
def test_broken_file_is_noted_and_replaced(tmp_path, broken, said):
    store = folder_of(tmp_path / "small")
    found_in(store, keep=True)
    path = store.folder / "estimates.json"
    whole = path.read_text()
    path.write_text(broken(whole))
    pictures, [note] = found_in(store, keep=True)
    assert len(pictures) == 4 and said in note and str(path) in note
    assert path.read_text() == whole, "it is written anew"
    path.write_text(broken(whole))
    assert found_in(without_predictions(store))[0] == []


def test_inconsistent_entry_is_rejected():
    good = Entry.of(estimates(*drawn(1)), "x").model_dump()
    for name, value in (
        ("positive", [one + 1 for one in good["counts"]]), ("counts", [0] * len(good["counts"])),
        ("scores", [[1], [1, 2]]), ("roc", [[0, 1], [0, 1]]), ("roc", [[0, 0], [1, 1]]), ("mean", [2.0]),
        ("roc", [[10**400], [1]]), ("counts", []),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            Entry.model_validate_json(json.dumps(good | {name: value}))
    Entry.model_validate_json(json.dumps(good))


def test_file_is_not_written_through_an_outside_link(tmp_path):
    store = folder_of(tmp_path / "small")
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (store.folder / "estimates.json.new").symlink_to(precious)
    with pytest.raises(StoreError, match="leads out of the folder"):
        found_in(store, keep=True)
    assert precious.read_text() == "precious"


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just(10**400), st.just(-1)
)
ANYTHING = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3), max_leaves=5)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(name=st.sampled_from(sorted(Entry.model_fields)), value=ANYTHING)
def test_changed_entry_is_rejected_or_gives_finite_numbers(name, value):
    good = Entry.of(estimates(*drawn(1)), "x").model_dump()
    try:
        entry = Entry.model_validate_json(json.dumps(good | {name: value}))
    except ValueError:
        return
    figure = PredictionFigure(None, None, entry)
    bars, roc = figure.reliability, figure.roc
    assert all(np.isfinite(one).all() for one in (bars.mean, bars.observed, bars.low, bars.high, bars.n))
    assert roc is None or np.isfinite([*roc.x, *roc.y, *cost_curve(roc).x, *cost_curve(roc).y]).all()


def _change_entry(store, **changes):
    path = store.folder / "estimates.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["estimates"][0].update(changes)
    path.write_text(json.dumps(content), encoding="utf-8")


def test_edited_file_is_found_beside_predictions_and_not_drawn(tmp_path):
    store = folder_of(tmp_path / "small")
    before, _ = found_in(store, keep=True)
    assert estimates_file_faults(store) == []
    _change_entry(store, mean=[0.5] * len(before[0].reliability.mean))
    [fault] = estimates_file_faults(store)
    assert "estimates.json differs from the predictions of wine tree.direct; remove it" in fault
    assert numbers(found_in(store)[0]) == numbers(before)


def test_file_with_other_numbers_of_rows_is_not_drawn(tmp_path):
    store = folder_of(tmp_path / "small")
    found_in(store, keep=True)
    _change_entry(store, mean=[0.5], counts=[7], positive=[3])
    _, [note] = found_in(without_predictions(store))
    assert "Wine tree.direct: estimates.json has other numbers of rows than the results" in note


def test_unwritable_folder_is_drawn_without_the_file(tmp_path, monkeypatch):
    store = folder_of(tmp_path / "small")

    def refuse(path, text):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("probcal.reporting.prediction_summaries.write_atomic", refuse)
    assert len(found_in(store, keep=True)[0]) == 4
    assert not (store.folder / "estimates.json").exists()
