"""Test the leaderboards of the page with their filters, and its provenance with run records of any content."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.reporting.comparison.leaderboard_tables import ALL_TABLES, page_boards
from probcal.reporting.html import write_report
from probcal.reporting.html.sections import group_faults, provenance
from probcal.store.folder import CellResult
from probcal.store.stored_experiment import StoredExperiment
from tests.reporting.html.conftest import RUN
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


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5))
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=5,
)
RESULTS = {"a": CellResult("adult", 0, "j48", "direct", "done", "run1", 1.0)}


@settings(max_examples=100, deadline=None, derandomize=True)
@given(name=st.sampled_from(sorted(RUN)), value=ANYTHING)
def test_any_value_in_a_run_record_is_accepted(name, value):
    found = provenance({"run1": {**RUN, name: value}}, RESULTS)
    assert [line[1] for line in found.runs] == ["1"] and found.unknown == 0


def test_versions_of_both_runs_are_listed():
    other = {**RUN, "run": "run2", "versions": {"scikit-learn": "1.8.0"}}
    results = {**RESULTS, "b": CellResult("adult", 1, "j48", "direct", "done", "run2", 1.0)}
    found = provenance({"run1": RUN, "run2": other}, results)
    assert found.versions == {"probcal": ["0.1.0"], "scikit-learn": ["1.9.1", "1.8.0"]}


def test_unused_runs_are_omitted_and_unknown_runs_counted():
    found = provenance({"other": RUN}, RESULTS)
    assert (found.runs, found.unknown) == ([], 1)


def test_most_frequent_fault_is_first_and_tracebacks_are_cut():
    failed = [
        CellResult(
            "adult",
            n,
            "j48",
            "direct",
            "failed",
            "r",
            1.0,
            error_type="E",
            message=str(min(n, 69)),
            traceback="x" * 10**5,
        )
        for n in range(80)
    ]
    found = group_faults(failed)
    assert (len(found), found[0].message, len(found[0].cells)) == (70, "69", 11)
    assert all(len(one.traceback) < 10**4 for one in found)
