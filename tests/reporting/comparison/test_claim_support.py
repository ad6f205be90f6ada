"""Test whether bootstrap draws support the claims of a paper, with small results and missing data sets."""

from dataclasses import replace

import numpy as np
import pytest

from probcal.papers.check.findings import CheckedResults
from probcal.papers.published import PublishedPaper
from probcal.reporting.comparison.bootstrap import Bootstrap, first_places
from probcal.reporting.comparison.claim_support import supported_claims
from probcal.reporting.comparison.pairs import compare_pairs
from probcal.reporting.comparison.split_results import ComparisonData

NAME = "langford-zadrozny-2005"
PAPER = PublishedPaper.read(NAME)
NOISE = np.random.default_rng(3).normal(0, 0.02, (15, 10)).tolist()


@pytest.fixture
def survival(small):
    """Return ``survival(label, gain, n)``: ProbJ48 is better than J48 by ``gain`` and noise on ``n`` data sets."""

    def survival(label, gain, n=15, columns=("j48.direct", "j48.probing")):
        cells = {}
        names = list(PAPER.titles)[:n]
        for dataset, noise in zip(names, NOISE, strict=False):
            cells[dataset, columns[0]] = [dict.fromkeys(("cxe", "rms"), 0.5) | {"auc": 0.5} for _ in noise]
            cells[dataset, columns[1]] = [
                dict.fromkeys(("cxe", "rms"), 0.5 - gain + one) | {"auc": 0.5 + gain - one} for one in noise
            ]
        store = small(paper=NAME, datasets=dict.fromkeys(names, 10), columns=columns).write(cells)
        paper = replace(PAPER, claims=tuple(one for one in PAPER.claims if one.label == label))
        drawn = Bootstrap(replace(CheckedResults.of(store), published=paper), ComparisonData())
        every = [one for metric in ("cxe", "rms", "auc") for one in compare_pairs(drawn, metric)]
        [found] = supported_claims(drawn, every, first_places(drawn))
        return found

    return survival


def test_a_clear_difference_on_every_data_set_is_supported(survival):
    found = survival("probing-beats-j48", 0.1)
    assert found.verdict == "supported"
    count = found.counts["cxe"]
    assert (count.wins, count.known, count.splits, count.datasets) == (14, 14, (14, 14), (14, 14))
    assert (count.better, count.worse) == (14, 0)
    assert count.wilcoxon < 0.001


def test_the_opposite_difference_is_not_supported(survival):
    found = survival("probing-beats-j48", -0.1)
    assert (found.verdict, found.counts["auc"].worse) == ("not supported", 14)


def test_an_uncertain_count_is_undecided_although_the_means_decide(survival):
    found = survival("probing-beats-bagging", 0.002, columns=("j48.bagging", "j48.probing"))
    assert found.means_verdict.verdict != "undecided"
    assert found.verdict == "undecided"
    low, high = found.counts["cxe"].splits
    assert low < found.counts["cxe"].wins < high
    assert sum(found.shares.values()) == pytest.approx(1)


def test_missing_data_sets_can_make_a_claim_undecided(survival):
    found = survival("probing-beats-j48", 0.1, n=11)
    assert found.verdict == "undecided"
    assert found.counts["cxe"].on_all == pytest.approx((14, 14, 14), abs=0.1)
    assert survival("probing-beats-bagging", 0.1, n=11, columns=("j48.bagging", "j48.probing")).verdict == "supported"


@pytest.mark.slow
def test_a_claim_is_also_judged_on_data_sets_run(survival):
    assert survival("probing-beats-j48", 0.1).partial_verdict is None
    found = survival("probing-beats-j48", 0.1, n=11)
    assert (found.verdict, found.partial_verdict.verdict) == ("undecided", "supported")
    assert survival("probing-beats-j48", -0.1, n=11).partial_verdict.verdict == "not supported"
    close = survival("probing-beats-bagging", 0.002, n=11, columns=("j48.bagging", "j48.probing"))
    assert close.partial_verdict.shares["supported"] == pytest.approx(0.5, abs=0.49)


def test_the_required_number_scales_with_the_data_sets_run():
    [claim] = [one for one in PAPER.claims if one.label == "probing-wins-20"]
    assert [claim.partial_claim(("adult",), share).at_least for share in (1, 36 / 45, 1 / 45, 1 / 46)] == [20, 16, 1, 1]
    [most] = [one for one in PAPER.claims if one.label == "probing-beats-bagging"]
    assert most.partial_claim(("adult", "sick"), 2 / 15).required_count(2) == 2


def test_claims_about_missing_columns_are_not_judged(survival):
    with pytest.raises(ValueError):
        survival("probing-beats-nb", 0.1)


def every_claim(small, columns, spread):
    """Return all supported claims for random numbers that differ between splits by ``spread``."""
    random = np.random.default_rng(11)
    numbers = {
        (dataset, column): [
            {"cxe": one, "rms": one / 2, "auc": 1 - one}
            for one in 0.5 + random.normal(0, 0.1) + random.normal(0, spread, 4)
        ]
        for dataset in list(PAPER.titles)[:6]
        for column in sorted(columns)
    }
    store = small(
        name=f"s{columns[0][:2]}", paper=NAME, datasets=dict.fromkeys(list(PAPER.titles)[:6], 4), columns=columns
    )
    drawn = Bootstrap(CheckedResults.of(store.write(numbers)), ComparisonData())
    every = [one for metric in ("cxe", "rms", "auc") for one in compare_pairs(drawn, metric)]
    return {one.claim.label: one for one in supported_claims(drawn, every, first_places(drawn))}


@pytest.mark.slow
def test_without_spread_the_means_give_the_verdict(small, ten_columns):
    found = every_claim(small, ten_columns, 0.0)
    assert len(found) > 15
    for one in found.values():
        assert one.verdict == one.means_verdict.verdict
        for count in one.counts.values():
            assert count.splits == (count.wins, count.wins)


def test_first_places_are_shared_at_three_decimals(small, ten_columns):
    numbers = dict.fromkeys(ten_columns, 0.5) | {"j48.probing": 0.4001, "nb.probing": 0.3999}
    cells = {("adult", column): [{"cxe": number}] * 4 for column, number in numbers.items()}
    store = small(paper=NAME, datasets={"adult": 4}, columns=ten_columns, metrics=("cxe",)).write(cells)
    [place] = first_places(Bootstrap(CheckedResults.of(store), ComparisonData()))
    assert place.shares == {"ProbJ48": 1.0, "ProbNB": 1.0}
    assert (place.winners, place.published_winner) == (("ProbJ48", "ProbNB"), "ProbJ48")


def test_one_split_without_rows_gives_no_drawn_place(small, ten_columns):
    cells = {(name, one): [{"cxe": 0.5}] * n for name, n in (("adult", 1), ("sick", 2)) for one in ten_columns}
    store = small(paper=NAME, datasets={"adult": 1, "sick": 2}, columns=ten_columns, metrics=("cxe",)).write(cells)
    places = first_places(Bootstrap(CheckedResults.of(store), ComparisonData()))
    assert [place.has_draws for place in places] == [False, True]


def test_probing_wins_are_counted_over_the_first_places(small, ten_columns):
    cells = {
        (dataset, column): [dict.fromkeys(("cxe", "rms"), 0.3 if column == "j48.probing" else 0.5) | {"auc": 0.5}] * 3
        for dataset in PAPER.titles
        for column in ten_columns
    }
    store = small(paper=NAME, datasets=dict.fromkeys(PAPER.titles, 3), columns=ten_columns).write(cells)
    paper = replace(PAPER, claims=tuple(one for one in PAPER.claims if one.label == "probing-wins-20"))
    drawn = Bootstrap(replace(CheckedResults.of(store), published=paper), ComparisonData())
    [found] = supported_claims(drawn, [], first_places(drawn))
    assert (found.verdict, found.counts[""].wins, found.counts[""].total) == ("supported", 45, 45)
