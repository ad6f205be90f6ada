"""Test the verdicts on claims of a paper, on its own tables and on small results of ours."""

import math

import pytest

from probcal.papers.check.findings import CheckedResults
from probcal.papers.check.judged_claims import MeasuredNumbers, PublishedNumbers, Tally, judge, published_tallies
from probcal.papers.published import Claim, PublishedPaper

NAME = "langford-zadrozny-2005"


@pytest.fixture
def paper():
    return PublishedPaper.read(NAME)


@pytest.fixture
def ours(small, paper):
    """Return ``ours({(dataset, column): [number, ...]})``: the cross entropies of our splits."""

    def ours(cells, **changes):
        splits = {dataset: len(numbers) for (dataset, _), numbers in cells.items()}
        store = small(paper=NAME, datasets=splits, **changes).write(
            {cell: [{"cxe": number} for number in numbers] for cell, numbers in cells.items()}
        )
        return MeasuredNumbers(CheckedResults.of(store))

    return ours


def claim(kind, *columns, **rest):
    return Claim(**{"label": "x", "quote": "x", "kind": kind, "columns": columns, "metrics": ("cxe",), **rest})


TWO = {"datasets": ("adult", "breast")}


@pytest.mark.parametrize(
    ("label", "metric", "tally"),
    [
        ("probing-beats-j48", "rms", Tally(14, 0, 0, 0)),
        ("probing-beats-bagging", "rms", Tally(8, 5, 2, 0)),
        ("probing-beats-svm-sigmoid", "cxe", Tally(7, 7, 1, 0)),
        ("sigmoid-keeps-the-auc", "auc", Tally(14, 1, 0, 0)),
        ("j48-is-infinite", "cxe", Tally(10, 5, 0, 0)),
        ("probing-wins-20", "", Tally(23, 22, 0, 0)),
        ("best-methods", "", Tally(43, 2, 0, 0)),
    ],
)
def test_published_tables_give_the_expected_tallies(paper, label, metric, tally):
    [one] = [one for one in paper.claims if one.label == label]
    assert judge(one, paper, PublishedNumbers(paper)).tallies[metric] == tally


def test_published_tables_contradict_two_claims_and_leave_one_undecided(paper):
    verdicts = {one.label: judge(one, paper, PublishedNumbers(paper)).verdict for one in paper.claims}
    assert {label for label, verdict in verdicts.items() if verdict == "not supported"} == {
        "probing-beats-svm-sigmoid",
        "sigmoid-keeps-the-auc",
    }
    assert [label for label, verdict in verdicts.items() if verdict == "undecided"] == ["converges-after-20"]


def test_claims_name_columns_and_data_sets_of_the_paper(paper):
    for one in paper.claims:
        assert set(one.columns) <= paper.columns.keys()
        assert {*one.datasets, *one.all_but} <= paper.titles.keys()
        assert set(one.metrics) <= paper.tables.keys()


@pytest.mark.parametrize(
    ("probing", "direct", "verdict"),
    [
        ([0.4, 0.5], [0.6, 0.4], "supported"),  # by the means
        ([0.4, 0.5], [0.4, 0.5009], "not supported"),  # the difference is below the rounding of printed numbers: a tie
        ([0.4, 0.5], [0.4, math.inf], "supported"),
        ([0.4, math.inf], [math.inf, 0.4], "not supported"),
    ],
)
def test_win_is_decided_by_the_mean_over_splits(ours, paper, probing, direct, verdict):
    numbers = ours({("breast", "j48.probing"): probing, ("breast", "j48.direct"): direct})
    assert judge(claim("beats", "ProbJ48", "J48", datasets=["breast"]), paper, numbers).verdict == verdict


def test_only_splits_of_both_columns_are_compared(ours, paper):
    cells = {("breast", "j48.probing"): [0.5, 9.0], ("breast", "j48.direct"): [0.6]}
    assert judge(claim("beats", "ProbJ48", "J48", datasets=["breast"]), paper, ours(cells)).verdict == "supported"


@pytest.mark.parametrize(
    ("at_least", "won", "verdict"),
    [("all", True, "undecided"), (1, True, "supported"), ("all", False, "not supported"), (1, False, "undecided")],
)
def test_claim_is_undecided_if_missing_data_sets_could_decide(ours, paper, at_least, won, verdict):
    cells = {("adult", "j48.probing"): [0.4 if won else 0.8], ("adult", "j48.direct"): [0.6]}
    judged = judge(claim("beats", "ProbJ48", "J48", at_least=at_least, **TWO), paper, ours(cells))
    assert judged.verdict == verdict
    assert judged.tallies["cxe"].not_run == 1


def test_infinite_needs_half_of_splits_and_finite_needs_all(ours, paper):
    numbers = ours({("breast", "j48.direct"): [0.5, math.inf], ("adult", "j48.direct"): [0.5]})
    assert judge(claim("infinite", "J48", **TWO), paper, numbers).tallies["cxe"] == Tally(1, 1, 0, 0)
    assert judge(claim("finite", "J48", **TWO), paper, numbers).tallies["cxe"] == Tally(1, 1, 0, 0)


def test_best_method_needs_every_column_and_may_tie(ours, paper, ten_columns):
    cells = {("adult", column): [0.5] for column in ten_columns} | {("breast", "j48.direct"): [0.1]}
    judged = judge(claim("best", "ProbLog", **TWO), paper, ours(cells, columns=ten_columns))
    assert judged.tallies[""] == Tally(1, 0, 0, 1)


def test_even_claim_is_decided_by_a_sign_test(paper):
    """Check 11 wins and 3 losses, p = .057, and 14 wins and no loss, p = .0001."""
    assert (
        judge(claim("even", "ProbLog", "Log", metrics=("auc",)), paper, PublishedNumbers(paper)).verdict == "supported"
    )
    clear = claim("even", "ProbJ48", "J48", metrics=("rms",), all_but=["mushroom"])
    assert judge(clear, paper, PublishedNumbers(paper)).verdict == "not supported"


def test_statement_of_a_claim_names_what_is_evaluated():
    assert claim("beats", "A", "B", all_but=["sick"]).statement() == "A better than B, all data sets but sick"
    assert claim("best", "A", "B", at_least=20).statement() == "A or B best, at least 20 entries"


def test_published_tallies_count_only_data_sets_with_results(paper, ours):
    infinite = claim("infinite", "J48", **TWO)
    few = ours({("adult", "j48.direct"): [math.inf], ("breast", "j48.direct"): [0.5]})
    assert published_tallies(infinite, paper, few) == {"cxe": Tally(2, 0, 0, 0)}
    assert published_tallies(infinite, paper, ours({("adult", "j48.direct"): [0.5]})) == {"cxe": Tally(1, 0, 0, 0)}
