"""Test the verdicts on claims about mean ranks over the data sets."""

from __future__ import annotations

import dataclasses

import pytest
from pydantic import ValidationError
from scipy.stats import friedmanchisquare

from probcal.papers.check.judged_claims import PublishedNumbers, Tally, judge, published_rank_text
from probcal.papers.published import Claim, PublishedPaper
from tests.commands import probcal

PAPER = PublishedPaper.read("kull-silva-filho-flach-2017")
LUNG = "kull-lung-cancer"


def claim(kind, *columns, **rest):
    return Claim(**{"label": "x", "quote": "x", "kind": kind, "columns": columns, "metrics": ("log_loss",), **rest})


def judged(one, paper=PAPER):
    return judge(one, paper, PublishedNumbers(paper))


def test_mean_ranks_in_the_claimed_order_support_the_claim():
    found = judged(claim("ranked", "NB beta", "NB sigmoid", "NB isotonic", "NB", all_but=(LUNG,)))
    assert found.verdict == "supported"
    assert found.said == "mean ranks NB beta 1.32, NB sigmoid 2.25, NB isotonic 2.62, NB 3.80"
    assert found.tallies == {"log_loss": Tally(wins=28, losses=12, ties=0, not_run=0)}


def test_mean_ranks_in_another_order_reject_the_claim():
    assert judged(claim("ranked", "NB sigmoid", "NB beta")).verdict == "not supported"


def test_larger_accuracy_has_the_better_rank():
    assert judged(claim("ranked", "NB beta", "NB", metrics=("accuracy",))).verdict == "supported"


@pytest.mark.parametrize(
    ("columns", "verdict"),
    [
        (("NB beta", "NB sigmoid", "NB", "NB isotonic"), "supported"),
        (("NB sigmoid", "NB isotonic", "NB", "NB beta"), "not supported"),  # difference .37, critical difference .74
        (("NB sigmoid", "NB beta", "NB", "NB isotonic"), "not supported"),  # the ranks differ in the other direction
    ],
)
def test_ranks_differ_only_beyond_the_critical_difference(columns, verdict):
    assert judged(claim("ranks_apart", *columns)).verdict == verdict


def test_ranks_do_not_differ_without_a_significant_friedman_test():
    columns = ("LR isotonic", "LR", "LR sigmoid", "LR beta")
    numbers = [[PAPER.number(name, *PAPER.columns[one], "accuracy") for name in PAPER.titles] for one in columns]
    assert friedmanchisquare(*numbers).pvalue > 0.5
    assert judged(claim("ranks_apart", *columns, metrics=("accuracy",))).verdict == "not supported"


def test_data_set_without_results_leaves_ranks_undecided():
    table = PAPER.tables["log_loss"]
    fewer = {place: number for place, number in table.numbers.items() if place[0] != LUNG}
    paper = dataclasses.replace(PAPER, tables={"log_loss": dataclasses.replace(table, numbers=fewer)})
    one = claim("ranked", "NB beta", "NB sigmoid")
    assert judged(one, paper).verdict == "undecided" and judged(one, paper).tallies["log_loss"].not_run == 1
    assert judged(one.model_copy(update={"all_but": (LUNG,)}), paper).verdict == "supported"


def test_rank_claim_needs_two_columns():
    with pytest.raises(ValidationError, match="ranked takes two columns or more"):
        claim("ranked", "NB")


def test_statement_of_a_rank_claim_names_the_columns():
    assert claim("ranked", "NB", "LR").statement() == "mean ranks in the order NB, LR, all data sets"
    apart = claim("ranks_apart", "NB", "LR", "AdaO").statement()
    assert apart == "NB ranks better than LR by Nemenyi's test at 5 %, among NB, LR, AdaO, all data sets"


class OnTwoSets(PublishedNumbers):
    """Provide the numbers of the paper on two data sets."""

    def splits(self, dataset, column, metric, stage=None):
        return super().splits(dataset, column, metric, stage) if dataset in ("kull-iris", "kull-zoo") else {}


def test_published_ranks_use_only_data_sets_with_results():
    said = published_rank_text(claim("ranked", "LR", "LR sigmoid"), PAPER, OnTwoSets(PAPER))
    assert said == "mean ranks LR 2.00, LR sigmoid 1.00"
    assert published_rank_text(claim("beats", "LR", "LR sigmoid"), PAPER, OnTwoSets(PAPER)) == ""
    assert published_rank_text(claim("ranked", "LR", "LR sigmoid"), PAPER, PublishedNumbers(PAPER)).startswith(
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
