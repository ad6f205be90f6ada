"""Test the check of drawn columns on published splits, which uses the distribution over our draws."""

import pytest

from probcal.papers.bands import DrawDistribution
from probcal.papers.check.checked_experiment import check
from probcal.papers.check.findings import CheckedResults
from probcal.papers.published import PublishedPaper

NAME = "langford-zadrozny-2005"
COLUMNS = ("log.direct", "log.probing")
RANGE = "range of our draws, drawn columns on published splits"
DRAWN = DrawDistribution(smallest=0.1, low=0.2, median=0.4, high=0.5, largest=0.7)


@pytest.fixture
def hepatitis(small):
    """Return Log, an exact column as printed, and ProbLog on one split of Hepatitis."""

    def hepatitis(split="rows", repetitions=1, **ours):
        tables = PublishedPaper.read(NAME).tables
        store = small(
            paper=NAME, columns=COLUMNS, datasets={"hepatitis": repetitions}, splits={"hepatitis": split}
        ).write({
            ("hepatitis", f"log.{method}"): [
                {metric: table.numbers["hepatitis", "Log", method] for metric, table in tables.items()}
                | (ours if method == "probing" else {})
            ] * repetitions
            for method in ("direct", "probing")
        })  # fmt: skip
        return check(CheckedResults.of(store), [])

    return hepatitis


def test_published_number_must_lie_in_the_central_range():
    assert DRAWN.verdict(0.4, 0.45, 0.0).distance == pytest.approx(1 / 2)
    assert DRAWN.verdict(0.4, 0.5, 0.0).in_band
    assert not DRAWN.verdict(0.4, 0.51, 0.0005).in_band
    assert DRAWN.verdict(0.4, 0.5004, 0.0005).in_band, "it is rounded"
    assert not DRAWN.verdict(0.4, 0.19, 0.0).in_band
    assert DRAWN.verdict(0.4, float("inf"), 0.0).distance == float("inf")


def test_our_draw_must_lie_between_smallest_and_largest():
    assert DRAWN.verdict(0.69, 0.4, 0.0).in_band
    assert not DRAWN.verdict(0.71, 0.4, 0.0).in_band
    assert DRAWN.verdict(0.05, 0.4, 0.0).distance == pytest.approx(0.35 / 0.3)


def test_difference_to_an_exact_number_shifts_the_distribution():
    shifted = DRAWN.minus(0.1)
    assert (shifted.low, shifted.median, shifted.largest) == pytest.approx((0.1, 0.3, 0.6))


def test_drawn_column_is_judged_by_the_range_of_draws(hepatitis):
    # 95 % of the draws: CXE .627 to .699 [1.21], RMS .372 to .394 [.449], AUC .629 to .709 [.667]
    report = hepatitis(cxe=0.66, rms=0.384, auc=0.68)
    assert [(one.label, one.metric) for one in report.numbers.new] == [("ProbLog", "cxe"), ("ProbLog", "rms")]
    assert [one.metric for one in report.differences.new] == ["cxe", "rms"]
    [gate] = [one for one in report.gates if one.name == RANGE]
    assert (gate.numbers, gate.ours) == (3, pytest.approx(1 / 3))


def test_result_outside_all_draws_is_new(hepatitis):
    names = [(one.label, one.metric) for one in hepatitis(cxe=0.66, rms=0.384, auc=0.72).numbers.new]
    assert ("ProbLog", "auc") in names


@pytest.mark.parametrize(("split", "repetitions"), [("holdout", 10), ("rows", 10), (None, 1)])
def test_other_splits_are_not_judged_by_the_range(hepatitis, split, repetitions):
    assert RANGE not in [one.name for one in hepatitis(split, repetitions).gates]


def test_every_distribution_belongs_to_a_drawn_published_number():
    paper = PublishedPaper.read(NAME)
    for table in paper.tables.values():
        assert len(table.distributions) == 15
        for place, one in table.distributions.items():
            assert place in table.numbers
            assert place[1:] not in paper.exact_columns
            assert one.smallest <= one.low <= one.median <= one.high <= one.largest
