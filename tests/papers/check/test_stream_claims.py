"""Test the verdicts on claims about protected streams: the gain is log10 S, and the place of its steepest growth."""

import numpy as np
import pytest

from probcal.papers.check.comparison import steepest_growth
from probcal.papers.check.findings import CheckedResults
from probcal.papers.check.judged_claims import MeasuredNumbers, PublishedNumbers, judge
from probcal.papers.claims import Claim
from probcal.papers.published import PublishedPaper
from tests.commands import probcal
from tests.reporting.streams import write

NAME = "vovk-petej-gammerman-2021"
PAPER = PublishedPaper.read(NAME)


def claim(kind, *columns, **rest):
    return Claim(**{"label": "x", "quote": "x", "kind": kind, "columns": columns, "metrics": ("log10_loss",), **rest})


@pytest.fixture
def judged(tmp_path):
    def judged(one, cells, curves=None):
        store = write(tmp_path / "small", cells, curves, paper=NAME)
        return judge(one, PAPER, MeasuredNumbers(CheckedResults.of(store)))

    return judged


def cells(*gains, log10_s=(100.0, 50.0)):
    return {
        "base.0.1": [{"log10_loss": 1000.0}, {"log10_loss": 900.0}][: len(gains)],
        "jumper.0.1": [
            {"log10_loss": loss - gain, "log10_martingale": s}
            for loss, gain, s in zip((1000.0, 900.0), gains, log10_s, strict=False)
        ],
    }


GAINS = claim("gains", "Base .1", "Simple .1", within=1e-9)


@pytest.mark.parametrize(
    ("gains", "verdict"),
    [
        ((100.0, 50.0), "supported"),
        ((100.0, 50.0 + 4e-8), "supported"),
        ((100.0, 50.0 + 6e-8), "not supported"),  # one of two splits differs by more than 1e-9 of 50
        ((99.0, 51.0), "not supported"),  # the means agree, but no split agrees
        ((100.0,), "supported"),  # only one split has results
        ((), "undecided"),
    ],
)
def test_gain_must_equal_log10_s_on_every_split(judged, gains, verdict):
    assert judged(GAINS, cells(*gains)).verdict == verdict


def test_gain_over_an_infinite_base_loss_is_not_supported(judged):
    infinite = {**cells(100.0), "base.0.1": [{"log10_loss": float("inf")}]}
    assert judged(GAINS, infinite).verdict == "not supported"


def test_printed_losses_may_differ_by_their_rounding():
    # 7185.1167 - 3953.371 = 3231.7457 where 3231.7454 is printed
    assert (
        judge(claim("gains", "Base .01", "Slipped .01", within=1e-9), PAPER, PublishedNumbers(PAPER)).verdict
        == "supported"
    )


def course(*y):
    return {"martingale": [{"x": [100 * i for i in range(len(y))], "y": list(y)}]}


def test_steepest_growth_is_the_start_of_the_best_tenth():
    flat_then_steep = course(*[0.0] * 8, 10.0, 11.0, 12.0)  # 10 parts; the 8th, from .7, gains 10
    assert steepest_growth(flat_then_steep) == pytest.approx(0.7)
    between = {"martingale": [{"x": [0, 45, 55, 100], "y": [0, 0, 9, 9]}]}
    assert steepest_growth(between) == pytest.approx(0.45)
    assert steepest_growth(course(*range(10), 99)) == pytest.approx(0.9)


@pytest.mark.parametrize("x", [[5], [5, 5], [0, 9, 3]])
@pytest.mark.filterwarnings("error")
def test_growth_of_points_without_increasing_x_is_nan(x):
    assert np.isnan(steepest_growth({"martingale": [{"x": x, "y": [1.0] * len(x)}]}))


@pytest.mark.parametrize(("kept", "verdict"), [((0, 0, 0, 9), "supported"), ((0, 9, 9, 9), "not supported")])
def test_growth_claim_is_judged_by_its_range(judged, kept, verdict):
    grows = claim("grows_most", "Simple .1", between=(0.6667, 1.0))
    one = judged(grows, {"jumper.0.1": [{}]}, {"jumper.0.1": course(*kept)})
    assert one.verdict == verdict
    assert "begins after" in one.said


def test_growth_claim_without_a_curve_is_undecided(judged):
    assert judged(claim("grows_most", "Simple .1", between=(0.6, 1.0)), {"jumper.0.1": [{}]}).verdict == "undecided"


def test_published_numbers_of_a_run_are_judged_with_its_seed(tmp_path):
    base = [{"auc": 0.6917, "errors": 4814}, {"auc": 0.75, "errors": 4900}]
    for seed, counts in ((2021, "cells: 2 in band"), (2020, "cells: 0 in band")):
        store = write(tmp_path / str(seed), {"base.untruncated": base}, paper=NAME, seed=seed)
        assert counts in probcal("check", store.folder).output
