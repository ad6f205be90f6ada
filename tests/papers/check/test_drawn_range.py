"""Drawn columns on the paper's own splits are judged by the distribution over our draws, and not by a tolerance."""

import pytest

from probcal.papers.check.checked_experiment import check
from probcal.papers.check.findings import CheckedResults
from probcal.papers.draw_distribution import DrawDistribution
from probcal.papers.published import Published

NAME = "langford-zadrozny-2005"
COLUMNS = ("log.direct", "log.probing")
RANGE = "range of our draws, drawn columns on published splits"
DRAWN = DrawDistribution(smallest=0.1, low=0.2, median=0.4, high=0.5, largest=0.7)


@pytest.fixture
def hepatitis(small):
    """Log, which is exact and as printed, and ProbLog of one split of Hepatitis."""

    def hepatitis(split="rows", repetitions=1, **ours):
        tables = Published.read(NAME).tables
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


def test_a_published_number_must_be_in_the_middle_of_the_draws():
    assert DRAWN.verdict(0.4, 0.45, 0.0).distance == pytest.approx(1 / 2)
    assert DRAWN.verdict(0.4, 0.5, 0.0).in_band
    assert not DRAWN.verdict(0.4, 0.51, 0.0005).in_band
    assert DRAWN.verdict(0.4, 0.5004, 0.0005).in_band, "it is rounded"
    assert not DRAWN.verdict(0.4, 0.19, 0.0).in_band
    assert DRAWN.verdict(0.4, float("inf"), 0.0).distance == float("inf")


def test_our_own_draw_must_be_between_the_ends():
    assert DRAWN.verdict(0.69, 0.4, 0.0).in_band
    assert not DRAWN.verdict(0.71, 0.4, 0.0).in_band
    assert DRAWN.verdict(0.05, 0.4, 0.0).distance == pytest.approx(0.35 / 0.3)


def test_a_difference_to_a_number_that_is_not_drawn_is_as_wide():
    shifted = DRAWN.minus(0.1)
    assert (shifted.low, shifted.median, shifted.largest) == pytest.approx((0.1, 0.3, 0.6))


def test_the_range_of_the_draws_judges_a_drawn_column(hepatitis):
    # 95 % of the draws: CXE .627 to .699 [1.21], RMS .372 to .394 [.449], AUC .629 to .709 [.667]
    report = hepatitis(cxe=0.66, rms=0.384, auc=0.68)
    assert [(one.what, one.metric) for one in report.numbers.new] == [("ProbLog", "cxe"), ("ProbLog", "rms")]
    assert [one.metric for one in report.differences.new] == ["cxe", "rms"]
    [gate] = [one for one in report.gates if one.name == RANGE]
    assert (gate.numbers, gate.ours) == (3, pytest.approx(1 / 3))


def test_a_draw_of_ours_beyond_all_draws_is_new(hepatitis):
    names = [(one.what, one.metric) for one in hepatitis(cxe=0.66, rms=0.384, auc=0.72).numbers.new]
    assert ("ProbLog", "auc") in names


@pytest.mark.parametrize(("split", "repetitions"), [("holdout", 10), ("rows", 10), (None, 1)])
def test_other_splits_have_no_such_range(hepatitis, split, repetitions):
    assert RANGE not in [one.name for one in hepatitis(split, repetitions).gates]


def test_every_distribution_is_of_a_published_number_that_is_drawn():
    paper = Published.read(NAME)
    for table in paper.tables.values():
        assert len(table.drawn) == 15
        for place, one in table.drawn.items():
            assert place in table.numbers
            assert place[1:] not in paper.exact
            assert one.smallest <= one.low <= one.median <= one.high <= one.largest
