"""Test the figures of agreement with a paper, for our, shuffled and plain columns, against hand calculations."""

import itertools
import math
import statistics

import pytest
from scipy.stats import somersd

from probcal.papers.check.agreement import (
    OrderFigures,
    _count_other_datasets,
    build_blocks,
    measure_agreement,
    measured_number,
)
from probcal.papers.check.checked_experiment import check
from probcal.papers.check.findings import CheckedResults
from probcal.papers.published import PublishedPaper
from tests.papers.check.four_columns import OURS, PUBLISHED, four_columns  # noqa: F401

NAME = "langford-zadrozny-2005"
LOG = ("Log", "direct")


@pytest.fixture
def found(four_columns):  # noqa: F811
    return check(CheckedResults.of(four_columns()), []).agreement


def test_figures_of_our_columns_agree_with_hand_calculation(found):
    assert (found.numbers, found.misprints, found.plain) == (4, 0, "Log")
    assert found.ours.identical == 2 / 4, "NB and Log"
    assert found.ours.within_one_unit == 3 / 4, "SigNB too"
    assert found.ours.median_difference == {"rms": pytest.approx((0.0002 + 0.0009) / 2)}
    assert found.ours.pairs_kept == pytest.approx(5 / 6), "ProbNB and Log change places"
    assert found.ours.tau == pytest.approx((5 - 1) / 6)
    assert found.ours.in_band == 3 / 4, "ProbNB is .0063 away, and the tolerance is .005"


def test_figures_of_the_plain_column_agree_with_hand_calculation(found):
    assert (found.wrong.identical, found.wrong.within_one_unit, found.wrong.in_band) == (1 / 4, 2 / 4, 2 / 4)
    assert found.wrong.median_difference == {"rms": pytest.approx((0.0008 + 0.0112) / 2)}
    assert (found.wrong.tau, found.wrong.pairs_kept) == (0, 0), "equal numbers have no order"


def test_shuffled_figures_approach_the_mean_over_all_orders(found):
    published, orders = list(PUBLISHED.values()), list(itertools.permutations(OURS.values()))

    def mean(figure):
        return statistics.fmean(figure(order) for order in orders)

    def share(order, agrees):
        return sum(map(agrees, order, published)) / 4

    shuffled = found.shuffled
    assert shuffled.identical == pytest.approx(
        mean(lambda o: share(o, lambda a, b: f"{a:.3f}" == f"{b:.3f}")), abs=0.02
    )
    assert shuffled.in_band == pytest.approx(mean(lambda o: share(o, lambda a, b: abs(a - b) <= 0.005)), abs=0.03)
    differences = mean(lambda o: statistics.median(abs(a - b) for a, b in zip(o, published, strict=True)))
    assert shuffled.median_difference["rms"] == pytest.approx(differences, abs=0.0004)
    assert shuffled.tau == pytest.approx(mean(lambda o: somersd(published, o).statistic), abs=0.06)
    assert shuffled.within_one_unit == pytest.approx(4 / 16, abs=0.03)


def test_infinity_is_identical_to_infinity_only(small, cxe):
    store = small(paper=NAME, columns=("nb.direct", "log.direct"), metrics=("cxe",)).write({
        ("adult", "nb.direct"): cxe(math.inf),  # printed .949
        ("adult", "log.direct"): cxe(math.inf),  # printed ∞
    })  # fmt: skip
    found = check(CheckedResults.of(store), []).agreement
    assert found.ours.identical == 1 / 2
    assert found.ours.median_difference == {"cxe": math.inf}
    assert found.ours.pairs_kept == 0, "NB is smaller as printed, and ours are equal"


@pytest.mark.parametrize(
    ("values", "number"),
    [((0.5,), 0.5), ((0.5, 0.6, math.inf), 0.55), ((0.5, math.inf), math.inf), ((math.inf,), math.inf)],
)
def test_number_is_infinite_if_half_of_splits_are(values, number):
    assert measured_number(values) == number


def test_shuffling_of_a_data_set_ignores_other_data_sets(four_columns):  # noqa: F811
    checked = CheckedResults.of(four_columns(datasets={"adult": 1, "diabetes": 1}))
    both = build_blocks(checked, frozenset())
    assert measure_agreement(both, LOG) == measure_agreement(both[::-1], LOG)
    alone = [one for one in both if one.row.name == "adult"]
    report = check(CheckedResults.of(four_columns("again")), [])
    assert measure_agreement(alone, LOG).shuffled == report.agreement.shuffled


def test_experiment_without_the_plain_column_has_no_wrong_figures(small, cxe):
    store = small(paper=NAME, columns=("nb.direct",), metrics=("cxe",)).write({("adult", "nb.direct"): cxe(0.949)})
    found = check(CheckedResults.of(store), []).agreement
    assert (found.wrong, found.plain) == (None, None)
    assert (found.ours.identical, found.ours.tau, found.ours.pairs_kept) == (1, None, None), "one column has no order"


def test_experiment_without_results_has_no_agreement(small):
    assert check(CheckedResults.of(small(paper=NAME).write({})), []).agreement is None
    assert check(CheckedResults.of(small("other").write({})), []).agreement is None


def test_order_of_other_data_sets_is_that_of_mean_ranks(small):
    columns = ("nb.direct", "nb.sigmoid", "log.direct")  # printed on Adult: .335, .332, .321
    numbers = {
        "adult": (0.3, 0.2, 0.1),
        "diabetes": (0.1, 0.2, 0.3),
        "breast": (0.2, 0.1, 0.3),
        "liver": (0.2, 0.1, 0.3),
    }
    store = small(
        paper=NAME, columns=columns, metrics=("rms",), datasets=dict.fromkeys(numbers, 1),
        splits=dict.fromkeys(numbers, "standard"),
    ).write({
        (dataset, column): [{"rms": number}]
        for dataset, values in numbers.items() for column, number in zip(columns, values, strict=True)
    })  # fmt: skip
    blocks = build_blocks(CheckedResults.of(store), frozenset())
    adult = [block for block in blocks if block.row.name == "adult"]
    others = [block for block in blocks if block.row.name != "adult"]
    # The mean ranks on the others are 5/3, 4/3 and 3. So only the pair of NB and SigNB is as printed on Adult.
    kept = _count_other_datasets(adult[0], [*adult, *others])
    assert kept == (1, 2, 3)
    assert measure_agreement(adult, LOG).other_datasets == OrderFigures(None, None), "there is no other data set"


def test_one_split_is_compared_with_the_mean_of_the_others(small):
    columns = ("nb.direct", "nb.sigmoid")
    splits = {"nb.direct": (0.30, 0.31, 0.40), "nb.sigmoid": (0.32, 0.33, 0.30)}
    store = small(
        paper=NAME, columns=columns, metrics=("rms",), datasets={"liver": 3}, splits={"liver": "holdout"}
    ).write({("liver", column): [{"rms": value} for value in values] for column, values in splits.items()})  # fmt: skip
    figures = check(CheckedResults.of(store), []).agreement.one_split
    # Means of the other splits: (.355, .315), (.35, .31) and (.305, .325). The order of no split is theirs.
    assert figures == OrderFigures(-1, 0)


def test_one_split_alone_has_no_other_split(found):
    assert found.one_split == OrderFigures(None, None)


def test_paper_names_its_plain_and_exact_columns():
    paper = PublishedPaper.read(NAME)
    assert paper.plain_column == LOG
    assert {title for title, column in paper.columns.items() if column in paper.exact_columns} == {
        "J48", "BagJ48", "SigSVM", "NB", "SigNB", "Log",
    }  # fmt: skip
