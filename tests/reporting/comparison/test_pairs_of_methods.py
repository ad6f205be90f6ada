"""Test the comparison of two methods of a learner on each data set, with undecided cases."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.analysis.hypothesis_tests import corrected_t_test
from probcal.papers.check.findings import CheckedResults
from probcal.reporting.comparison.bootstrap import Bootstrap
from probcal.reporting.comparison.pairs import compare_pairs, p_text
from probcal.reporting.comparison.split_results import ComparisonData

INF = math.inf


@pytest.fixture
def pair(small):
    """Return ``pair({data set: (numbers of J48, numbers of ProbJ48)})``, which compares the pair by cross entropy."""

    def pair(numbers, rows=None, metric="cxe", columns=("j48.direct", "j48.probing")):
        cells = {
            (dataset, column): [None if one is None else {metric: one} for one in found]
            for dataset, both in numbers.items()
            for column, found in zip(("j48.direct", "j48.probing"), both, strict=True)
        }
        datasets = {dataset: len(both[0]) for dataset, both in numbers.items()}
        store = small(datasets=datasets, columns=columns, metrics=(metric,)).write(cells)
        [one] = compare_pairs(Bootstrap(CheckedResults.of(store), ComparisonData(rows or {})), metric)
        return one

    return pair


def test_a_pair_has_corrected_t_tests_and_holm_correction(pair):
    before, after = [0.5, 0.6, 0.55, 0.52], [0.4, 0.45, 0.41, 0.43]
    one = pair({"adult": (before, after), "breast": (before, before[::-1])})
    found = one.tests[0]
    known = corrected_t_test(np.subtract(after, before).tolist(), 0.25)
    assert (found.p, found.low, found.high) == pytest.approx((known.p, known.low, known.high))
    assert (found.how, found.verdict) == ("splits", "better")
    assert found.p_holm == pytest.approx(2 * known.p)
    assert one.tests[1].verdict == "undecided"


def test_better_depends_on_the_direction_of_the_metric(pair):
    numbers = {"adult": ([0.5, 0.5, 0.51], [0.9, 0.9, 0.91])}
    assert pair(numbers).tests[0].verdict == "worse"
    assert pair(numbers, metric="auc").tests[0].verdict == "better"


@pytest.mark.parametrize(
    ("before", "after", "how", "verdict"),
    [
        ([INF] * 6 + [0.5] * 6, [0.4] * 12, "∞", "better"),
        ([0.4] * 6, [INF] * 6, "∞", "worse"),
        ([INF] * 6 + [0.5] * 7, [0.4] * 13, "none", "undecided"),  # on less than half of the splits
        ([INF] * 5, [0.4] * 5, "none", "undecided"),  # a fair coin gives five of five with p = .06
        ([INF, INF, 0.5], [INF, 0.4, 0.4], "none", "undecided"),
        ([INF, INF, INF], [INF, INF, INF], "none", "undecided"),
    ],
)
def test_infinite_losses_of_one_method_replace_the_t_test(pair, before, after, how, verdict):
    found = pair({"adult": (before, after)}).tests[0]
    assert (found.how, found.verdict, found.p) == (how, verdict, None)


def test_one_split_has_no_test_without_its_rows(pair):
    assert pair({"adult": ([0.5], [0.4])}).tests[0].how == "none"


@pytest.mark.parametrize(("shift", "verdict"), [(-0.1, "better"), (0.1, "worse"), (0.0, "undecided")])
def test_one_split_is_tested_by_its_rows(pair, shift, verdict):
    noise = np.random.default_rng(1).normal(0, 0.01, 1000)
    rows = {"adult": {"cxe": {"j48/direct": np.full(1000, 0.5), "j48/probing": 0.5 + shift + noise}}}
    found = pair({"adult": ([0.5], [0.5 + shift])}, rows).tests[0]
    assert (found.how, found.verdict) == ("rows", verdict)
    if shift:
        assert found.p == pytest.approx(2 / 1001)
        assert (found.low, found.high) == pytest.approx((shift - 0.0196, shift + 0.0196), abs=2e-3)


def test_infinite_loss_in_both_is_no_difference(pair):
    rows = {"adult": {"cxe": {"j48/direct": np.full(1000, INF), "j48/probing": np.full(1000, INF)}}}
    found = pair({"adult": ([INF], [INF])}, rows).tests[0]
    assert (found.difference, found.p, found.verdict) == (0.0, 1.0, "undecided")


def test_only_splits_of_both_methods_are_compared(pair):
    found = pair({"adult": ([0.5, 0.6, None, 0.7], [0.4, None, 0.1, 0.6])}).tests[0]
    assert found.n_splits == 2
    assert found.difference == pytest.approx(-0.1)


def test_a_data_set_of_only_one_method_is_omitted(pair):
    one = pair({"adult": ([0.5, 0.6], [0.4, 0.5]), "sick": ([0.5, 0.6], [None, None])})
    assert [tested.row.name for tested in one.tests] == ["adult"]
    assert one.p is None  # one data set has no signed ranks


SPLITS = st.lists(st.sampled_from([0.1, 0.11, 0.2, 0.3, 0.35, INF]), min_size=6, max_size=6)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=30)
@given(st.lists(SPLITS, min_size=4, max_size=4))
def test_column_order_only_changes_the_sign(tmp_path_factory, numbers):
    from tests.reporting.conftest import Written

    data = {"adult": numbers[:2], "sick": numbers[2:]}
    found = []
    for columns in (("j48.direct", "j48.probing"), ("j48.probing", "j48.direct")):
        folder = tmp_path_factory.mktemp("x") / "small"
        cells = {
            (dataset, column): [{"cxe": one} for one in both[place]]
            for dataset, both in data.items()
            for place, column in enumerate(("j48.direct", "j48.probing"))
        }
        store = Written(folder, datasets={"adult": 6, "sick": 6}, columns=columns).write(cells)
        [one] = compare_pairs(Bootstrap(CheckedResults.of(store), ComparisonData()), "cxe")
        found.append(one)
    one, other = found
    turned = {"better": "worse", "worse": "better", "undecided": "undecided"}
    assert [turned[tested.verdict] for tested in one.tests] == [tested.verdict for tested in other.tests]
    assert [tested.p_holm for tested in one.tests] == pytest.approx([tested.p_holm for tested in other.tests])
    assert one.p == pytest.approx(other.p)


def test_columns_of_different_learners_are_all_paired(small, cxe):
    columns = ("j48.direct", "nb.direct", "log.direct")
    store = small(datasets={"adult": 2}, columns=columns).write({("adult", one): cxe(0.5, 0.6) for one in columns})
    assert len(compare_pairs(Bootstrap(CheckedResults.of(store), ComparisonData()), "cxe")) == 3


def test_p_values_have_a_fixed_format():
    assert [p_text(one) for one in (None, 0.0004, 0.0314, 1.0)] == ["\N{EN DASH}", "< .001", ".031", "1"]
