"""Claims about mean ranks over the data sets."""

from __future__ import annotations

import dataclasses

import pytest
from pydantic import ValidationError
from scipy.stats import friedmanchisquare

from probcal.papers.check.judged_claims import Printed, Tally, judge
from probcal.papers.published import Claim, Published

PAPER = Published.read("kull-silva-filho-flach-2017")
LUNG = "kull-lung-cancer"


def claim(kind, *columns, **rest):
    return Claim(**{"label": "x", "quote": "x", "kind": kind, "columns": columns, "metrics": ("log_loss",), **rest})


def judged(one, paper=PAPER):
    return judge(one, paper, Printed(paper))


def test_mean_ranks_in_the_order_of_the_columns_support_a_claim():
    found = judged(claim("ranked", "NB beta", "NB sigmoid", "NB isotonic", "NB", all_but=(LUNG,)))
    assert found.verdict == "supported"
    assert found.said == "mean ranks NB beta 1.32, NB sigmoid 2.25, NB isotonic 2.62, NB 3.80"
    assert found.tallies == {"log_loss": Tally(wins=28, losses=12, ties=0, not_run=0)}


def test_another_order_does_not_support_it():
    assert judged(claim("ranked", "NB sigmoid", "NB beta")).verdict == "not supported"


def test_a_larger_accuracy_has_the_better_rank():
    assert judged(claim("ranked", "NB beta", "NB", metrics=("accuracy",))).verdict == "supported"


@pytest.mark.parametrize(
    ("columns", "verdict"),
    [
        (("NB beta", "NB sigmoid", "NB", "NB isotonic"), "supported"),
        (("NB sigmoid", "NB isotonic", "NB", "NB beta"), "not supported"),  # .37 apart, the critical difference is .74
        (("NB sigmoid", "NB beta", "NB", "NB isotonic"), "not supported"),  # apart the other way
    ],
)
def test_ranks_are_apart_beyond_the_critical_difference(columns, verdict):
    assert judged(claim("ranks_apart", *columns)).verdict == verdict


def test_ranks_are_not_apart_where_friedmans_test_finds_nothing():
    columns = ("LR isotonic", "LR", "LR sigmoid", "LR beta")
    numbers = [[PAPER.number(name, *PAPER.columns[one], "accuracy") for name in PAPER.titles] for one in columns]
    assert friedmanchisquare(*numbers).pvalue > 0.5
    assert judged(claim("ranks_apart", *columns, metrics=("accuracy",))).verdict == "not supported"


def test_a_data_set_without_results_leaves_ranks_undecided():
    table = PAPER.tables["log_loss"]
    fewer = {place: number for place, number in table.numbers.items() if place[0] != LUNG}
    paper = dataclasses.replace(PAPER, tables={"log_loss": dataclasses.replace(table, numbers=fewer)})
    one = claim("ranked", "NB beta", "NB sigmoid")
    assert judged(one, paper).verdict == "undecided" and judged(one, paper).tallies["log_loss"].not_run == 1
    assert judged(one.model_copy(update={"all_but": (LUNG,)}), paper).verdict == "supported"


def test_ranks_need_two_columns():
    with pytest.raises(ValidationError, match="ranked takes two columns or more"):
        claim("ranked", "NB")


def test_a_claim_says_what_is_ranked():
    assert claim("ranked", "NB", "LR").statement() == "mean ranks in the order NB, LR, all data sets"
    apart = claim("ranks_apart", "NB", "LR", "AdaO").statement()
    assert apart == "NB ranks better than LR by Nemenyi's test at 5 %, among NB, LR, AdaO, all data sets"
