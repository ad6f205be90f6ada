"""Test that numbers on the folds of a paper are compared within its tolerance."""

from __future__ import annotations

import pytest

from probcal.papers.check.comparison import has_paper_rows, judge_number
from probcal.papers.published import PublishedTable
from probcal.reporting.metric_table import agreement_text
from probcal.store.summary import Summary

FOLDS = "legacy_stratified_k_fold"
TABLE = PublishedTable(None, 1e-6, {}, runs=10, splits=FOLDS, decimals=4)
PLACE = "kull-iris", "nbayes", "isotonic"


def ours(split: str = FOLDS, n: int = 10) -> Summary:
    """Return results of mean .5, of which half are .4 and half .6."""
    values = tuple(0.4 + 0.2 * (number % 2) for number in range(n))
    return Summary(values, planned=10, failed=0, undefined=0, random_splits=True, split=split)


@pytest.mark.parametrize(("published", "agrees"), [(0.5, True), (0.5000009, True), (0.500002, False)])
def test_means_on_the_papers_folds_have_its_tolerance(published, agrees):
    assert has_paper_rows(ours(), TABLE)
    assert judge_number(ours(), published, TABLE, PLACE).in_band == agrees


@pytest.mark.parametrize("other", [ours("stratified_k_fold"), ours(n=8)])
def test_means_on_other_or_incomplete_folds_have_a_band(other):
    assert not has_paper_rows(other, TABLE)
    assert judge_number(other, 0.55, TABLE, PLACE).in_band and not judge_number(other, 1.5, TABLE, PLACE).in_band


def test_paper_without_known_folds_has_a_band():
    table = PublishedTable(None, 1e-6, {}, runs=10)
    assert not has_paper_rows(ours(), table) and judge_number(ours(), 0.55, table, PLACE).in_band


def test_table_counts_means_within_tolerance_on_the_same_folds():
    said = agreement_text([(ours(), 0.5, PLACE), (ours(), 0.6, PLACE)], TABLE)
    assert said is not None and "with the paper's folds, 1 of 2 means are within 1e-06" in said
