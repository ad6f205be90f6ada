"""Test that views with -d, -l or -m show only the selected rows and columns."""

from __future__ import annotations

import csv
import io
import json

import pytest

from probcal.store.stored_experiment import Selection, StoredExperiment
from tests.commands import contents, probcal, refused

COLUMNS = ("j48.direct", "j48.probing", "log.direct", "nb.sigmoid")


@pytest.fixture
def store(small):
    """Write two data sets under four columns. One cell of Breast failed, and an override concerns NB on Adult."""
    exception = {"datasets": ["adult"], "columns": [("nb", "sigmoid")], "what": "params", "why": "since the text says"}
    rms = {name: [{"rms": 0.3 + split / 10} for split in range(3)] for name in COLUMNS}
    cells = {(dataset, column): list(rms[column]) for dataset in ("adult", "breast") for column in COLUMNS}
    cells["breast", "nb.sigmoid"] = ["it broke"]
    written = small(datasets={"adult": 3, "breast": 3}, columns=COLUMNS, metrics=("rms",), exceptions=(exception,))
    return written.write(cells)


def table(store, *words):
    done = probcal("table", store.folder, *words)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.parametrize("format", ["markdown", "latex", "html"])
def test_table_shows_only_the_selected_data_sets(store, format):
    said = table(store, "-f", format, "-d", "breast")
    assert "Breast" in said and "Adult" not in said


def test_table_shows_only_the_selected_columns(store):
    said = table(store, "-l", "j48", "-m", "probing")
    assert "ProbJ48" in said and "Log" not in said and "NB" not in said
    assert "| J48" not in said


@pytest.mark.parametrize("words", [("-d", "breast"), ("-l", "j48"), ("-m", "direct")])
def test_notes_concern_only_the_selected_results(store, words):
    assert "since the text says" in table(store)
    assert "since the text says" not in table(store, *words)


def test_failures_are_counted_among_the_selected_cells(store):
    assert "failed: 1 of 24 cells" in table(store)
    assert "failed" not in table(store, "-d", "adult")
    assert "failed: 1 of 3 cells" in table(store, "-d", "breast", "-l", "nb")


def test_csv_holds_only_the_selected_rows(store):
    lines = list(csv.DictReader(io.StringIO(table(store, "-f", "csv", "-d", "adult", "-m", "direct"))))
    assert [(line["dataset"], line["learner"], line["method"]) for line in lines] == [
        ("adult", "j48", "direct"), ("adult", "log", "direct")
    ]  # fmt: skip


def test_compare_uses_only_the_selected_results(store):
    done = probcal("compare", store.folder, "-l", "j48", "-d", "adult", "-f", "csv")
    assert done.exit_code == 0, done.output
    lines = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {(line["later"], line["earlier"], line["dataset"]) for line in lines} == {
        ("j48/probing", "j48/direct", "adult")
    }


def test_compare_of_a_selection_changes_no_stored_file(store):
    probcal("compare", store.folder)
    before = contents(store.folder)
    probcal("compare", store.folder, "-l", "j48")
    assert contents(store.folder) == before


@pytest.mark.parametrize("command", ["table", "compare", "status", "plot"])
def test_unknown_names_are_rejected_with_a_suggestion(store, command):
    assert 'there is no data set "brest"; did you mean "breast"?' in refused(command, store.folder, "-d", "brest")


def test_experiments_without_selected_results_are_left_out(store, small):
    other = small("other", datasets={"sick": 1}, columns=("log.direct",), metrics=("rms",), title="Another one")
    other.write({("sick", "log.direct"): [{"rms": 0.1}]})
    assert table(store, "-d", "adult") == probcal("table", store.folder.parent, "-d", "adult").stdout


def test_a_named_folder_without_selected_results_is_told(store, small):
    other = small("other", datasets={"other-form": 1}, columns=("log.direct",), metrics=("rms",), title="Another one")
    other.write({("other-form", "log.direct"): [{"rms": 0.1}]})
    path = other.folder / "experiment.json"
    content = json.loads(path.read_text())
    content["datasets"][0]["reading_of"] = "adult"
    path.write_text(json.dumps(content))
    said = probcal("table", store.folder, other.folder, "-d", "adult").stderr
    assert f"note: {other.folder} is left out, as it has none of these cells; -d other-form selects its form" in said
    assert "left out" not in probcal("table", store.folder.parent, "-d", "adult").stderr


def test_empty_selection_keeps_all_results(store):
    assert Selection().select_stores([store]) == [store]
    [selected] = Selection(datasets=("adult",)).select_stores([store])
    assert [row.name for row in StoredExperiment.of(selected).datasets] == ["adult"]


def test_a_selection_has_skips_of_its_own(small):
    skipped = {"datasets": ["adult"], "columns": [("j48", "direct")], "skip": True, "what": "", "why": ""}
    stored = StoredExperiment.of(small(exceptions=(skipped,)).write({}))
    row, column = stored.datasets[0], stored.columns[0]
    assert stored.skips(row, column)
    assert not stored.model_copy(update={"exceptions": []}).skips(row, column)
