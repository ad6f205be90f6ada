"""Test the leaderboards of the page and the filters that choose among them."""

import pytest

from probcal.reporting.comparison.leaderboard_tables import ALL_TABLES, page_boards
from probcal.reporting.html.page import write_report
from probcal.store.stored_experiment import StoredExperiment
from tests.reporting.html.pages import parsed

DATASETS = dict.fromkeys(("adult", "sick", "liver", "iris", "wine"), 1)
COLUMNS = ("j48.direct", "j48.bagging", "j48.probing", "nb.direct", "nb.sigmoid", "nb.probing")


@pytest.fixture
def store(small, cxe):
    cells = {
        (dataset, column): cxe(0.5 + 0.01 * place * (1 + number))
        for number, dataset in enumerate(DATASETS)
        for place, column in enumerate(COLUMNS)
    }
    return small(datasets=DATASETS, columns=COLUMNS, metrics=("cxe",)).write(cells)


def test_leaderboards_exist_for_all_and_for_each_learner(store):
    found = page_boards(StoredExperiment.of(store), store.results(), 7)
    assert [one.group for one in found] == [ALL_TABLES, "learner: j48", "learner: nb"]
    assert [one.grid.number for one in found] == [7, 8, 9]


def test_few_data_sets_have_no_leaderboard(store):
    stored = StoredExperiment.of(store)
    stored = stored.model_copy(update={"datasets": stored.datasets[:4]})
    assert page_boards(stored, store.results(), 1) == []


def test_each_combination_of_filters_has_its_table(store, tmp_path):
    root = parsed(write_report([store], tmp_path / "report.html"))
    [section] = [one for one in root.iter("section") if one.get("data-boards") is not None]
    metrics, groups = ([option.text for option in one.iter("option")] for one in section.iter("select"))
    shown = [one.get("data-board") for one in section.iter("div") if one.get("data-board")]
    assert shown == [f"{metric}|{group}" for metric in metrics for group in groups]
