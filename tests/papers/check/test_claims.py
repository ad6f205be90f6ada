"""Test the verdicts on claims of a paper: wins, mean ranks, and protected streams."""

from __future__ import annotations

import dataclasses
import math

import pytest
from pydantic import ValidationError
from scipy.stats import friedmanchisquare

from probcal.papers.check.findings import CheckedResults
from probcal.papers.check.judged_claims import (
    MeasuredNumbers,
    PublishedNumbers,
    Tally,
    judge,
    published_rank_text,
    published_tallies,
)
from probcal.papers.claims import Claim
from probcal.papers.published import PublishedPaper
from tests.commands import probcal

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


PAPER = PublishedPaper.read("kull-silva-filho-flach-2017")
LUNG = "kull-lung-cancer"


def rank_claim(kind, *columns, **rest):
    return Claim(**{"label": "x", "quote": "x", "kind": kind, "columns": columns, "metrics": ("log_loss",), **rest})


def judged(one, paper=PAPER):
    return judge(one, paper, PublishedNumbers(paper))


def test_mean_ranks_in_the_claimed_order_support_the_claim():
    found = judged(rank_claim("ranked", "NB beta", "NB sigmoid", "NB isotonic", "NB", all_but=(LUNG,)))
    assert found.verdict == "supported"
    assert found.said == "mean ranks NB beta 1.32, NB sigmoid 2.25, NB isotonic 2.62, NB 3.80"
    assert found.tallies == {"log_loss": Tally(wins=28, losses=12, ties=0, not_run=0)}


def test_mean_ranks_in_another_order_reject_the_claim():
    assert judged(rank_claim("ranked", "NB sigmoid", "NB beta")).verdict == "not supported"


def test_larger_accuracy_has_the_better_rank():
    assert judged(rank_claim("ranked", "NB beta", "NB", metrics=("accuracy",))).verdict == "supported"


@pytest.mark.parametrize(
    ("columns", "verdict"),
    [
        (("NB beta", "NB sigmoid", "NB", "NB isotonic"), "supported"),
        (("NB sigmoid", "NB isotonic", "NB", "NB beta"), "not supported"),  # difference .37, critical difference .74
        (("NB sigmoid", "NB beta", "NB", "NB isotonic"), "not supported"),  # the ranks differ in the other direction
    ],
)
def test_ranks_differ_only_beyond_the_critical_difference(columns, verdict):
    assert judged(rank_claim("ranks_apart", *columns)).verdict == verdict


def test_ranks_do_not_differ_without_a_significant_friedman_test():
    columns = ("LR isotonic", "LR", "LR sigmoid", "LR beta")
    numbers = [[PAPER.number(name, *PAPER.columns[one], "accuracy") for name in PAPER.titles] for one in columns]
    assert friedmanchisquare(*numbers).pvalue > 0.5
    assert judged(rank_claim("ranks_apart", *columns, metrics=("accuracy",))).verdict == "not supported"


def test_data_set_without_results_leaves_ranks_undecided():
    table = PAPER.tables["log_loss"]
    fewer = {place: number for place, number in table.numbers.items() if place[0] != LUNG}
    paper = dataclasses.replace(PAPER, tables={"log_loss": dataclasses.replace(table, numbers=fewer)})
    one = rank_claim("ranked", "NB beta", "NB sigmoid")
    assert judged(one, paper).verdict == "undecided" and judged(one, paper).tallies["log_loss"].not_run == 1
    assert judged(one.model_copy(update={"all_but": (LUNG,)}), paper).verdict == "supported"


def test_rank_claim_needs_two_columns():
    with pytest.raises(ValidationError, match="ranked takes two columns or more"):
        rank_claim("ranked", "NB")


def test_statement_of_a_rank_claim_names_the_columns():
    assert rank_claim("ranked", "NB", "LR").statement() == "mean ranks in the order NB, LR, all data sets"
    apart = rank_claim("ranks_apart", "NB", "LR", "AdaO").statement()
    assert apart == "NB ranks better than LR by Nemenyi's test at 5 %, among NB, LR, AdaO, all data sets"


class OnTwoSets(PublishedNumbers):
    """Provide the numbers of the paper on two data sets."""

    def splits(self, dataset, column, metric, stage=None):
        return super().splits(dataset, column, metric, stage) if dataset in ("kull-iris", "kull-zoo") else {}


def test_published_ranks_use_only_data_sets_with_results():
    said = published_rank_text(rank_claim("ranked", "LR", "LR sigmoid"), PAPER, OnTwoSets(PAPER))
    assert said == "mean ranks LR 2.00, LR sigmoid 1.00"
    assert published_rank_text(rank_claim("beats", "LR", "LR sigmoid"), PAPER, OnTwoSets(PAPER)) == ""
    assert published_rank_text(rank_claim("ranked", "LR", "LR sigmoid"), PAPER, PublishedNumbers(PAPER)).startswith(
        "mean ranks LR 1."
    )


def folds_of_autos(small, **moved):
    """Check results of all fifty folds of one data set: the published means of two columns plus ``moved``."""
    means = {
        one: PAPER.number("kull-autos", "logistic", one, "log_loss") + moved.get(one, 0) for one in ("none", "beta")
    }
    store = small(
        paper="kull-silva-filho-flach-2017",
        columns=("logistic.none", "logistic.beta"),
        datasets={"kull-autos": 50},
        splits={"kull-autos": "legacy_stratified_k_fold"},
        metrics=("log_loss",),
    ).write(
        {
            ("kull-autos", f"logistic.{one}"): [{"log_loss": mean + (-1) ** fold * 0.01} for fold in range(50)]
            for one, mean in means.items()
        }
    )
    return probcal("check", store.folder, "--power").output, probcal("check", store.folder).output


def test_all_folds_of_the_paper_are_judged_by_tolerance(small):
    power, text = folds_of_autos(small)
    assert "tolerance on the paper's own folds" in power
    assert "cells: 2 in band, 0 known deviations, 0 new" in text
    assert "ours 40 not run / the paper's own tables mean ranks NB beta 1.32" in text


def test_deviation_in_the_fifth_decimal_is_printed_with_eight_decimals(small):
    _, text = folds_of_autos(small, none=1e-5)
    published = PAPER.number("kull-autos", "logistic", "none", "log_loss")
    [line] = [
        one
        for one in text.splitlines()
        if "kull-autos  " in one and "logistic none " in one and "\N{MINUS SIGN}" not in one
    ]
    assert f"{published:.8f}" in line and f"{published + 1e-5:.8f}" in line
