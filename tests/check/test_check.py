"""``probcal check`` as a user calls it, on small results folders."""

import csv
import json
import math
import shutil

import pytest

from probcal.check.experiment import Checked
from probcal.check.report import check
from probcal.paper.deviations import Deviation
from probcal.paper.published import Published
from probcal.show.tables import tables_text
from probcal.store import CellResult
from tests.commands import probcal, refused

NAME = "langford-zadrozny-2005"
COLUMNS = ("nb.direct", "nb.sigmoid")


@pytest.fixture
def as_printed(small):
    """NB and SigNB of Adult (one split, as printed) and of Diabetes (ten about the printed number)."""

    def as_printed(**changes):
        paper = Published.read(NAME)
        writer = small(paper=NAME, datasets={"adult": 1, "diabetes": 10}, columns=COLUMNS, **changes)
        return writer.write({
            (dataset, column): [_metrics(paper, dataset, column, split) for split in range(splits)]
            for dataset, splits in writer.datasets.items() for column in COLUMNS
        })  # fmt: skip

    return as_printed


def _metrics(paper, dataset, column, split):
    """The printed numbers, shifted by -.02 or +.02 where there are several splits."""
    shift = 0 if dataset == "adult" else 0.02 if split % 2 else -0.02
    learner, method = column.upper().split(".")
    return {metric: paper.number(dataset, learner, method.lower(), metric) + shift for metric in paper.tables}


def change(store, dataset="adult", column="nb.direct", repetition=0, **metrics):
    """One cell run again with other numbers."""
    learner, method = column.split(".")
    before = store.results()[f"{dataset}/{repetition}/{learner}/{method}"].metrics
    with store.writing("small"):
        cell = (dataset, repetition, learner, method, "done", "run2", 1.0)
        store.add(CellResult(*cell, metrics={**before, **metrics}))


def summary(result):
    return result.stdout.splitlines()[-1]


def test_the_printed_numbers_themselves_are_all_in_band(as_printed):
    result = probcal("check", as_printed().folder)
    assert result.exit_code == 0
    assert summary(result).startswith("cells: 12 in band, 0 known deviations, 0 new, 0 not run (of 12)")
    assert "differences: 5 in band" in summary(result), "Diabetes has no difference by cross entropy: NB is infinite"
    assert summary(result).endswith("drift: nothing accepted yet (probcal check FOLDER --accept)")


def test_an_injected_wrong_number_makes_exit_1_and_is_named(as_printed):
    store = as_printed()
    change(store, rms=0.355)  # printed .335, tolerance .005
    result = probcal("check", store.folder)
    assert result.exit_code == 1
    assert ["adult", "NB", "rms", "0.335", "0.355", "4.00"] in [line.split() for line in result.stdout.splitlines()]
    assert "11 in band, 0 known deviations, 1 new" in summary(result)


def test_a_difference_is_sharper_than_its_two_numbers(as_printed):
    # .335 and .332 printed; each of ours is inside .005, the two are .009 further apart.
    store = as_printed()
    change(store, rms=0.3395)
    change(store, column="nb.sigmoid", rms=0.3275)
    report = check(Checked.of(store))
    assert report.numbers.new == []
    [one] = report.differences.new
    assert (one.what, one.published, one.distance) == ("SigNB − NB", -0.003, pytest.approx(0.009 / 0.0055))  # noqa: RUF001


def test_a_difference_over_random_splits_has_the_spread_of_the_differences(as_printed):
    store = as_printed()
    for repetition in range(10):  # NB better by .005 on every split: well inside the spread of NB, .02
        change(store, "diabetes", repetition=repetition, rms=0.455 + (0.02 if repetition % 2 else -0.02))
    report = check(Checked.of(store))
    assert report.numbers.new == []
    assert [(one.dataset, one.metric) for one in report.differences.new] == [("diabetes", "rms")]


def test_table_and_check_count_alike(as_printed):
    store = as_printed()
    change(store, cxe=2.0)
    change(store, "diabetes", cxe=0.8)
    inside = sum(one.state == "in band" for one in check(Checked.of(store)).numbers.all if one.metric == "cxe")
    assert "with one split, 1 of 2 means" in tables_text(store)
    assert "with random splits, 2 of 2 published numbers" in tables_text(store)
    assert inside == 3


KNOWN = Deviation(kind=["number"], datasets=["adult"], learner="NB", method="direct", metrics="rms", reason="because")


def test_a_known_deviation_is_no_new_one_and_comes_with_its_reason(as_printed):
    store = as_printed()
    change(store, rms=0.339)
    assert [one.what for one in check(Checked.of(store), [KNOWN]).agreeing] == ["adult NB rms"]
    change(store, rms=0.342)
    report = check(Checked.of(store), [KNOWN])
    assert [why.reason for _, why in report.numbers.known] == ["because"]
    assert report.numbers.new == []
    assert report.agreeing == []


def test_a_deviation_that_vanished_is_said_and_is_no_error(as_printed):
    report = check(Checked.of(as_printed()), [KNOWN])
    assert report.ok
    assert [(one.what, one.reason) for one in report.agreeing] == [("adult NB rms", "because")]


def test_an_unsupported_claim_is_new_unless_it_is_known(as_printed):
    store = as_printed()
    for repetition in range(10):
        change(store, "diabetes", "nb.sigmoid", repetition, auc=0.6)
    result = probcal("check", store.folder)
    assert "  not supported: sigmoid-keeps-the-auc" in result.stdout
    unknown = check(Checked.of(store), [])
    assert [one.claim.label for one in unknown.claims if one.new] == ["sigmoid-keeps-the-auc"]


def test_a_failed_cell_makes_exit_1_and_one_not_run_does_not(small, cxe):
    store = small(paper=NAME, columns=COLUMNS).write({("adult", "nb.direct"): cxe(0.949)})
    assert probcal("check", store.folder).exit_code == 0
    assert "1 in band, 0 known deviations, 0 new, 5 not run (of 6)" in probcal("check", store.folder).stdout
    store = small(paper=NAME, columns=COLUMNS).write({("adult", "nb.sigmoid"): ["out of memory"]})
    result = probcal("check", store.folder)
    assert result.exit_code == 1
    assert "adult/0/nb/sigmoid: ValueError: out of memory" in result.stdout


# --- drift -------------------------------------------------------------------------------------


@pytest.fixture
def accepted(small):
    """Five splits without a paper, accepted."""
    store = small(datasets={"breast": 5}, columns=("j48.direct", "j48.probing")).write({
        ("breast", "j48.direct"): [{"cxe": math.inf if s == 2 else 0.5 + s / 7, "rms": 0.3} for s in range(5)],
        ("breast", "j48.probing"): [{"cxe": 0.4 + s / 7, "rms": 0.3} for s in range(5)],
    })  # fmt: skip
    result = probcal("check", store.folder, "--accept")
    assert result.exit_code == 0
    assert "accepted 4 numbers" in result.stderr
    return store


def test_what_was_accepted_comes_back(accepted):
    result = probcal("check", accepted.folder)
    assert (result.exit_code, summary(result)) == (0, "drift: 0 of 4 numbers")
    lines = list(csv.DictReader((accepted.folder / "accepted.csv").open(encoding="utf-8")))
    assert [(line["method"], line["metric"]) for line in lines] == [
        ("direct", "cxe"), ("direct", "rms"), ("probing", "cxe"), ("probing", "rms"),
    ]  # fmt: skip
    assert lines[1] | {"dataset": "breast", "n": "5", "mean": "0.3", "sd": "0"} == lines[1]
    assert lines[0]["values"].split()[2] == "inf"


@pytest.mark.parametrize(("rms", "code"), [(0.3 + 0.0099, 0), (0.3 + 0.0101, 1)])  # a mean of five: .00198, .00202
def test_a_mean_may_drift_by_two_thousandths(accepted, rms, code):
    change(accepted, "breast", "j48.probing", rms=rms)
    assert probcal("check", accepted.folder).exit_code == code


def test_infinity_that_went_is_drift(accepted):
    change(accepted, "breast", "j48.direct", 2, cxe=0.7)
    result = probcal("check", accepted.folder)
    assert result.exit_code == 1
    assert "∞ 1/5" in result.stdout


def test_fewer_splits_are_compared_with_the_same_ones(accepted, small):
    folder = accepted.folder
    kept = (folder / "accepted.csv").read_text(encoding="utf-8")
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "accepted.csv").write_text(kept, encoding="utf-8")
    fewer = small(datasets={"breast": 2}, columns=("j48.probing",)).write({
        ("breast", "j48.probing"): [{"cxe": 0.4 + s / 7, "rms": 0.3} for s in range(2)]
    })  # fmt: skip
    result = probcal("check", fewer.folder)
    assert (result.exit_code, summary(result)) == (0, "drift: 0 of 2 numbers, 2 accepted ones not there now")


def test_a_broken_line_of_accepted_numbers_is_named(accepted):
    with (accepted.folder / "accepted.csv").open("a", encoding="utf-8") as file:
        file.write("breast,j48\n")
    assert "accepted.csv:6: is not a line of accepted numbers" in refused("check", accepted.folder)


def test_an_empty_folder_has_nothing_to_accept(small):
    assert "no finished cell" in refused("check", small().write({}).folder, "--accept")


def test_several_folders_make_one_json(accepted, as_printed, tmp_path):
    shutil.copytree(accepted.folder, tmp_path / "copy")
    shutil.rmtree(accepted.folder)
    store = as_printed()
    change(store, cxe=math.inf)
    result = probcal("check", tmp_path / "copy", store.folder, "-f", "json")
    first, second = json.loads(result.stdout)
    assert (result.exit_code, first["ok"], second["ok"]) == (1, True, False)
    [wrong] = [one for one in second["numbers"] if one["state"] == "out of band"]
    assert (wrong["dataset"], wrong["column"], wrong["mean"]) == ("adult", "NB", "inf")


def test_a_folder_without_results_is_refused(tmp_path):
    assert "holds no results" in refused("check", tmp_path)
