"""Test the check of printed digits: units between two numbers, and exact columns on the published splits."""

import math
from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np
import pytest

from probcal.papers.bands import difference_in_units
from probcal.papers.check.checked_experiment import check
from probcal.papers.check.findings import CheckedResults
from probcal.papers.deviations import Deviation, misprints
from probcal.papers.published import PublishedPaper
from tests.commands import probcal
from tests.papers.check.changed import change, summary

NAME = "langford-zadrozny-2005"
COLUMNS = ("nb.direct", "nb.probing")


@pytest.fixture
def as_printed(small):
    """Return NB, an exact column, and ProbNB, a drawn column, on the standard split of Adult, as printed."""

    def as_printed(split="standard", repetitions=1, column="nb.direct", **numbers):
        paper = PublishedPaper.read(NAME)
        store = small(
            paper=NAME, columns=COLUMNS, datasets={"adult": repetitions}, splits={"adult": split}
        ).write({
            ("adult", one): [_metrics(paper, one)] * repetitions for one in COLUMNS
        })  # fmt: skip
        if numbers:
            change(store, column=column, **numbers)
        return check(CheckedResults.of(store), []), store

    return as_printed


def _metrics(paper, column):
    learner, method = column.upper().split(".")
    return {metric: paper.number("adult", learner, method.lower(), metric) for metric in paper.tables}


@pytest.mark.parametrize(
    ("ours", "published", "decimals", "units"),
    [
        (0.4743, 0.474, 3, 0),
        (0.4592, 0.460, 3, 1),
        (0.7034, 0.704, 3, 1),
        (0.3380, 0.335, 3, 3),
        (1.0701, 1.07, 2, 0),
        (1.0761, 1.07, 2, 1),
        (2.4454, 2.45, 2, 0),
        (math.inf, math.inf, 0, 0),
        (math.inf, 0.499, 3, math.inf),
        (0.593, math.inf, 0, math.inf),
    ],
)
def test_units_are_counted_between_printed_digits(ours, published, decimals, units):
    assert abs(difference_in_units(ours, published, decimals)) == units


def test_units_agree_with_decimal_arithmetic():
    for ours, published in np.random.default_rng(0).uniform(0, 2, (200, 2)):
        for decimals in (2, 3, 4):
            unit = Decimal(1).scaleb(-decimals)
            a, b = (Decimal(float(one)).quantize(unit, ROUND_HALF_EVEN) for one in (ours, published))
            assert difference_in_units(ours, published, decimals) == (a - b) / unit


def test_published_numbers_have_their_printed_number_of_decimals():
    cxe = PublishedPaper.read(NAME).tables["cxe"]
    assert cxe.printed_decimals["breast", "Log", "direct"] == 2, "1.07"
    assert cxe.printed_decimals["hepatitis", "Log", "direct"] == 2, "2.45"
    assert cxe.printed_decimals["adult", "Log", "probing"] == 3, ".460"


def test_exact_column_must_be_within_one_unit(as_printed):
    report, _ = as_printed(rms=0.3362)  # printed .335
    assert [one.distance for one in report.digits.all] == [0, 1, 0]
    assert report.ok
    report, store = as_printed(rms=0.3371)
    assert [(one.label, one.metric, one.distance) for one in report.digits.new] == [("NB", "rms", 2)]
    assert report.numbers.new == [], "the tolerance is .005"
    assert not report.ok
    result = probcal("check", store.folder)
    assert result.exit_code == 1
    assert "NEW deviations, digits:" in result.stdout
    assert "digits: 2 in band, 0 known deviations, 1 new, 0 not run (of 3)" in summary(result)


def test_drawn_column_is_not_checked_by_digits(as_printed):
    report, _ = as_printed(column="nb.probing", rms=0.3225)  # printed .320
    assert report.ok


@pytest.mark.parametrize(("split", "repetitions"), [("holdout", 1), ("holdout", 3), ("standard", 3), (None, 1)])
def test_digits_are_checked_on_the_published_split_only(as_printed, split, repetitions):
    assert as_printed(split, repetitions, rms=0.3371)[0].digits.all == []


def test_digits_are_checked_on_published_rows(as_printed):
    assert len(as_printed("rows")[0].digits.all) == 3


def test_deviation_of_digits_does_not_excuse_numbers_out_of_band(as_printed):
    _, store = as_printed(rms=0.342)
    why = Deviation(kind=["digits"], datasets=["adult"], learner="NB", method="direct", metrics="rms", reason="because")
    report = check(CheckedResults.of(store), [why])
    assert [(finding.distance, one.reason) for finding, one in report.digits.known] == [(7, "because")]
    assert [one.metric for one in report.numbers.new] == ["rms"]


def test_misprint_counts_neither_as_agreement_nor_as_deviation(as_printed):
    _, store = as_printed(rms=0.8)
    why = Deviation(kind=["misprint"], datasets=["adult"], learner="NB", method="direct", metrics="rms", reason="odd")
    report = check(CheckedResults.of(store), [why])
    assert [one.state for one in report.numbers.all if one.metric == "rms"] == ["misprint", "in band"]
    assert (report.digits.new, report.numbers.new, report.differences.new) == ([], [], [])
    assert report.agreement.misprints == 1
    assert report.agreement.numbers == 5


def test_only_misprints_violate_the_log_loss_bound_from_rms():
    # The minimum of -log2(1 - d) / d^2 is 3.54, at d = .715. So the log loss in bits is at least 3.54 times the mean
    # squared error. The rounding error of a printed number is at most half a unit of its last digit.
    least = min(-math.log2(1 - d / 1000) / (d / 1000) ** 2 for d in range(1, 1000))
    paper = PublishedPaper.read(NAME)
    cxe, rms = paper.tables["cxe"], paper.tables["rms"]
    impossible = {
        (*place, "cxe")
        for place, number in cxe.numbers.items()
        if number + 0.0005 < least * max(0, rms.numbers[place] - 0.0005) ** 2
    }
    assert impossible == misprints(NAME)
