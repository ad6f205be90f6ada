"""Test ``probcal check`` on small results folders."""

import json
import math
import shutil
from dataclasses import replace

import pytest

from probcal.papers.check.checked_experiment import check
from probcal.papers.check.findings import CheckedResults
from probcal.papers.deviations import Deviation
from probcal.papers.published import PublishedPaper
from probcal.reporting.tables import tables_text
from tests.commands import probcal, refused
from tests.papers.check.changed import change, summary
from tests.stored_rows import unpack

NAME = "langford-zadrozny-2005"
COLUMNS = ("nb.direct", "nb.sigmoid")


@pytest.fixture
def as_printed(small):
    """Return NB and SigNB on Adult (one split, as printed) and Diabetes (ten splits around the printed number)."""

    def as_printed(**changes):
        paper = PublishedPaper.read(NAME)
        writer = small(paper=NAME, datasets={"adult": 1, "diabetes": 10}, columns=COLUMNS, **changes)
        return writer.write({
            (dataset, column): [_metrics(paper, dataset, column, split) for split in range(splits)]
            for dataset, splits in writer.datasets.items() for column in COLUMNS
        })  # fmt: skip

    return as_printed


def _metrics(paper, dataset, column, split):
    """Return the printed numbers, shifted by -.02 or +.02 if there are several splits, and SigNB by up to .001 more."""
    shift = 0 if dataset == "adult" else 0.02 if split % 2 else -0.02
    learner, method = column.upper().split(".")
    if shift and method == "SIGMOID":
        shift += (0.001, -0.001, 0, 0)[split % 4]
    return {metric: paper.number(dataset, learner, method.lower(), metric) + shift for metric in paper.tables}


def test_printed_numbers_are_all_in_band(as_printed):
    result = probcal("check", as_printed().folder)
    assert result.exit_code == 0
    assert summary(result).startswith("cells: 12 in band, 0 known deviations, 0 new, 0 not run (of 12)")
    assert "differences: 5 in band" in summary(result), "Diabetes has no difference by cross entropy: NB is infinite"
    assert summary(result).endswith("drift: nothing accepted yet (probcal check FOLDER --accept)")


def test_wrong_number_is_named_and_gives_exit_code_1(as_printed):
    store = as_printed()
    change(store, rms=0.355)  # printed .335, tolerance .005
    result = probcal("check", store.folder)
    assert result.exit_code == 1
    assert ["adult", "NB", "rms", "0.335", "0.355", "4.00"] in [line.split() for line in result.stdout.splitlines()]
    assert "11 in band, 0 known deviations, 1 new" in summary(result)


def test_difference_can_be_new_while_both_numbers_agree(as_printed):
    # The paper prints .335 and .332. Each of our numbers is within .005, but their difference is .009 larger.
    store = as_printed()
    change(store, rms=0.3395)
    change(store, column="nb.sigmoid", rms=0.3275)
    report = check(CheckedResults.of(store))
    assert report.numbers.new == []
    [one] = report.differences.new
    assert (one.label, one.published, one.distance) == ("SigNB − NB", -0.003, pytest.approx(0.009 / 0.0055))  # noqa: RUF001


def test_band_of_a_difference_uses_the_spread_of_differences(as_printed):
    store = as_printed()
    # NB is better by .005 on every split, less than the spread of NB, .02. The differences have an sd of .00082, and
    # the band is 4.09 * .00082 * sqrt(1 + 1/10) + .001 = .0045.
    for repetition in range(10):
        change(store, "diabetes", repetition=repetition, rms=0.455 + (0.02 if repetition % 2 else -0.02))
    report = check(CheckedResults.of(store), [])
    assert report.numbers.new == []
    assert [(one.dataset, one.metric) for one in report.differences.new] == [("diabetes", "rms")]


def test_table_and_check_give_the_same_counts(as_printed):
    store = as_printed()
    change(store, cxe=2.0)
    change(store, "diabetes", cxe=0.8)
    inside = sum(one.state == "in band" for one in check(CheckedResults.of(store)).numbers.all if one.metric == "cxe")
    assert "with one split, 1 of 2 means" in tables_text(store)
    assert "with random splits, 2 of 2 published numbers" in tables_text(store)
    assert inside == 3


KNOWN = Deviation(kind=["number"], datasets=["adult"], learner="NB", method="direct", metrics="rms", reason="because")


def marked_stale(store, cells, form):
    """Mark results as stale, as a run does or as versions before the table did."""
    path = store.folder / "experiment.json"
    marks = {"stale": {"run1": cells}} if form == "stale" else {"keys": dict.fromkeys(cells, "of other settings")}
    path.write_text(json.dumps(json.loads(path.read_text()) | marks))


@pytest.mark.parametrize("form", ["stale", "keys"])
@pytest.mark.parametrize(
    ("n_stale", "said"), [(1, "stale: 1 of"), (None, "nothing current was compared: all done cells are stale")]
)
def test_stale_results_give_exit_code_1(as_printed, form, n_stale, said):
    store = as_printed()
    marked_stale(store, [*store.results()][:n_stale], form)
    result = probcal("check", store.folder)
    assert result.exit_code == 1
    assert said in result.stdout


def test_known_deviation_is_not_new_and_has_its_reason(as_printed):
    store = as_printed()
    change(store, rms=0.339)
    assert [one.what for one in check(CheckedResults.of(store), [KNOWN]).outdated_deviations] == ["adult NB rms"]
    change(store, rms=0.342)
    report = check(CheckedResults.of(store), [KNOWN])
    assert [why.reason for _, why in report.numbers.known] == ["because"]
    assert report.numbers.new == []
    assert report.outdated_deviations == []


def test_vanished_deviation_is_reported_without_error(as_printed):
    report = check(CheckedResults.of(as_printed()), [KNOWN])
    assert report.ok
    assert [(one.what, one.reason) for one in report.outdated_deviations] == [("adult NB rms", "because")]


def test_unsupported_claim_is_new_unless_it_is_known(as_printed):
    store = as_printed()
    for repetition in range(10):
        change(store, "diabetes", "nb.sigmoid", repetition, auc=0.6)
    result = probcal("check", store.folder)
    assert "  not supported: sigmoid-keeps-the-auc" in result.stdout
    unknown = check(CheckedResults.of(store), [])
    assert [one.claim.label for one in unknown.claims if one.new] == ["sigmoid-keeps-the-auc"]


def test_only_failed_cells_give_exit_code_1(small, cxe):
    store = small(paper=NAME, columns=COLUMNS).write({("adult", "nb.direct"): cxe(0.949)})
    assert probcal("check", store.folder).exit_code == 0
    assert "1 in band, 0 known deviations, 0 new, 5 not run (of 6)" in probcal("check", store.folder).stdout
    store = small(paper=NAME, columns=COLUMNS).write({("adult", "nb.sigmoid"): ["out of memory"]})
    result = probcal("check", store.folder)
    assert result.exit_code == 1
    assert "adult/0/nb/sigmoid: ValueError: out of memory" in result.stdout


def test_folder_without_finished_cells_gives_exit_code_1(small):
    store = small(paper=NAME, columns=COLUMNS).write({})
    result = probcal("check", store.folder)
    assert result.exit_code == 1
    assert "nothing was compared: no cell is done; probcal run with the experiment's config" in result.stdout


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"paper": None}, "no learner in the config names its counterpart in the paper; add `paper: J48`"),
        ({"metrics": ["c_emp"]}, "has no table of c_emp; measure one of cxe, rms, auc"),
        ({"dataset": "sonar"}, "none of our columns has a published counterpart; langford-zadrozny-2005 has J48,"),
    ],
)
def test_check_without_comparable_columns_gives_exit_code_1(small, changes, why):
    writer = small(paper=NAME, columns=COLUMNS, metrics=changes.get("metrics", ("cxe",)),
                   datasets={changes.get("dataset", "adult"): 1})  # fmt: skip
    store = writer.write({(changes.get("dataset", "adult"), "nb.direct"): [{"cxe": 0.5, "c_emp": 0.1}]})
    if "paper" in changes:
        written = json.loads((store.folder / "experiment.json").read_text(encoding="utf-8"))
        for column in written["columns"]:
            column["paper_learner"] = None
        (store.folder / "experiment.json").write_text(json.dumps(written), encoding="utf-8")
    result = probcal("check", store.folder)
    assert result.exit_code == 1
    assert why in result.stdout
    assert "(of 0)" in summary(result)


@pytest.mark.parametrize("place", ["cells.parquet", "cells.jsonl:3"])
@pytest.mark.parametrize("command", ["check", "table", "compare", "report", "audit", "plot"])
def test_every_reading_command_rejects_an_impossible_number(as_printed, command, place):
    store = as_printed()
    change(store, "diabetes", rms=7.5)
    if place != "cells.parquet":
        unpack(store.folder)
    first, advice = refused(command, store.folder).splitlines()
    assert first == f"{store.folder / place}: diabetes/0/nb/direct: rms is 7.5, but rms lies between 0 and 1"
    assert advice.startswith(f"probcal verify {store.folder} --discard removes these results; then repeat probcal run")


def test_impossible_number_of_a_repeated_cell_is_ignored(as_printed):
    store = as_printed()
    change(store, "diabetes", rms=7.5)
    with store.writing("small"):
        store.add(store.results_with_any_values()["diabetes/1/nb/direct"])
        store.add(replace(store.results_with_any_values()["diabetes/1/nb/direct"], repetition=0))
    assert probcal("check", store.folder).exit_code == 0


def test_finished_cells_without_a_number_are_counted(as_printed):
    store = as_printed(metrics=("cxe", "rms", "auc"))
    change(store, auc=math.nan)
    assert "(of 12), 1 done without auc; differences:" in summary(probcal("check", store.folder))


# --- numbers that cannot be judged -------------------------------------------------------------------------


def two_splits(small, splits=2, kind=None, planned=None):
    """Return SigNB on Diabetes: the printed CXE is .550, and ours is .9 or more."""
    writer = small(paper=NAME, datasets={"diabetes": planned or splits}, columns=COLUMNS, metrics=("cxe",))
    store = writer.write({("diabetes", "nb.sigmoid"): [{"cxe": 0.9 + 0.001 * split} for split in range(splits)]})
    if kind:
        experiment = store.experiment()
        experiment["datasets"][0]["split"] = kind
        store.write_experiment(experiment)
    return store


@pytest.mark.parametrize("splits", [2, 3, 4])
def test_few_splits_cannot_be_judged(small, splits):
    result = probcal("check", two_splits(small, splits).folder)
    assert f"  {splits} splits: diabetes SigNB cxe" in result.stdout.splitlines()
    assert "cells: 0 in band, 0 known deviations, 0 new, 1 not run, 1 cannot be judged (of 2)" in summary(result)
    assert "nothing was compared" in result.stdout and result.exit_code == 1


def test_five_splits_can_give_a_new_deviation(small):
    assert "1 new, 1 not run (of 2)" in summary(probcal("check", two_splits(small, 5).folder))


def test_one_random_split_is_not_judged_by_the_tolerance(small):
    store = two_splits(small, 1, kind="holdout")
    assert "0 new, 1 not run, 1 cannot be judged (of 2)" in summary(probcal("check", store.folder))
    assert "1 cannot be judged, with too few splits or no spread" in tables_text(store)
    assert "1 new, 1 not run (of 2)" in summary(probcal("check", two_splits(small, 1, kind="standard").folder))


def test_json_has_the_reason_for_a_number_not_judged(small):
    [told] = json.loads(probcal("check", two_splits(small, 2).folder, "-f", "json").stdout)
    assert [(one["state"], one["why_not_judged"], one["distance"]) for one in told["numbers"]] == [
        ("not run", None, None), ("cannot be judged", "2 splits", None)
    ]  # fmt: skip


def test_distance_above_ten_is_printed_as_above_ten(as_printed):
    store = as_printed()
    change(store, rms=0.9)
    assert ["adult", "NB", "rms", "0.335", "0.900", ">10"] in [
        line.split() for line in probcal("check", store.folder).stdout.splitlines()
    ]
    out = [one["distance"] for one in json.loads(probcal("check", store.folder, "-f", "json").stdout)[0]["numbers"]]
    assert max(one for one in out if one is not None) == pytest.approx(113)


def test_several_folders_give_one_json_list(accepted, as_printed, tmp_path):
    shutil.copytree(accepted.folder, tmp_path / "copy")
    shutil.rmtree(accepted.folder)
    store = as_printed()
    change(store, cxe=math.inf, rms=0.342)
    result = probcal("check", tmp_path / "copy", store.folder, "-f", "json")
    first, second = json.loads(result.stdout)
    assert (result.exit_code, first["ok"], second["ok"]) == (1, True, False)
    wrong = {one["metric"]: one for one in second["numbers"] if one["state"] == "out of band"}
    assert {metric: one["mean"] for metric, one in wrong.items()} == {"rms": 0.342, "cxe": "inf"}
    assert {(one["dataset"], one["column"]) for one in wrong.values()} == {("adult", "NB")}
