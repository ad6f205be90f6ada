"""What the sentences of docs/reproduction.md take for granted of the numbers beside them, which could change.

Where one of these fails after a run the numbers are right and the sentence is to be written anew.
"""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def ask():
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(ROOT / "benchmarks"))
        from reproduction_blocks import asked

        yield lambda words, folder="uci": asked(folder, words)
    for name in ("reproduction_blocks", "reproduction_tables"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def page():
    return " ".join((ROOT / "docs/reproduction.md").read_text(encoding="utf-8").split())


def first(said):
    """``16`` of ``16 of 36``."""
    return int(said.split()[0])


def says(page, sentence):
    assert sentence in page, "the sentence is another: change or remove its test"


@pytest.mark.slow
def test_the_published_20_is_within_the_interval_of_what_all_data_sets_would_give(ask, page):
    says(page, "The published 20 lies well within that")
    low, high = map(int, ask("on-all probing-wins-20").split("(")[1].rstrip(")").split(" to "))
    assert low + 2 <= 20 <= high - 2
    says(page, "a clear majority or as a third")
    assert low <= 15
    assert high >= 25


@pytest.mark.parametrize("dataset", ["hepatitis", "coil", "mushroom", "liver"])
def test_each_data_set_of_which_it_tells_what_did_not_come_back_has_such_numbers(ask, page, dataset):
    says(page, "## What did not")
    assert first(ask(f"out-of-band {dataset}")) > 0


def test_bagging_is_infinite_where_it_says(ask, page):
    says(page, "Bagging mends the infinite cross entropy**: not always")
    assert ask("infinite-on adult j48/bagging") == "1 of 1"
    assert ask("verdict bagging-is-finite") == "not supported"


def test_the_mean_ranks_differ_and_few_methods_are_told_apart(ask, page):
    says(page, "the mean ranks differ (Friedman)")
    says(page, "few are told apart")
    assert ask("told-apart cxe ProbJ48") != "none"
    assert len(ask("told-apart cxe ProbJ48").replace(" and ", ", ").split(", ")) < 5


def test_the_tables_come_back_and_fewer_conclusions_are_sure_than_hold_by_the_means(ask, page):
    says(page, "So the tables come back.")
    assert first(ask("share-in-band")) > 85
    says(page, "fewer are sure")
    assert first(ask("verdicts-there supported")) < first(ask("by-the-means-there supported"))


def test_clipping_takes_nothing_of_the_lead_over_a_single_tree(ask, page):
    says(page, "With every estimate clipped to [.001, .999], as Probing has its own, the test over the data sets has p")
    assert ask("pair-p cxe_clipped ProbJ48 J48") < ".05" or "&lt;" in ask("pair-p cxe_clipped ProbJ48 J48")


def test_between_probing_and_bagging_no_difference_shows(ask, page):
    says(page, "That neither is better is not shown either")
    for metric in ("cxe", "rms", "auc"):
        assert ask(f"wilcoxon probing-beats-bagging {metric}") > ".05"
