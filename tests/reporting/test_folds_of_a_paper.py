"""Numbers of a paper whose folds can be drawn again have to come back within their tolerance."""

from __future__ import annotations

import pytest

from probcal.papers.published import PublishedTable
from probcal.reporting.metric_table import agreement, has_own_rows, verdict_of
from probcal.store.summary import Summary

FOLDS = "legacy_stratified_k_fold"
TABLE = PublishedTable(None, 1e-6, {}, runs=10, splits=FOLDS, decimals=4)
PLACE = "kull-iris", "nbayes", "isotonic"


def ours(split: str = FOLDS, n: int = 10) -> Summary:
    """Return results of mean .5, of which half are .4 and half .6."""
    values = tuple(0.4 + 0.2 * (number % 2) for number in range(n))
    return Summary(values, planned=10, failed=0, undefined=0, random_splits=True, split=split)


@pytest.mark.parametrize(("published", "agrees"), [(0.5, True), (0.5000009, True), (0.500002, False)])
def test_on_the_folds_of_the_paper_a_mean_has_its_tolerance(published, agrees):
    assert has_own_rows(ours(), TABLE)
    assert verdict_of(ours(), published, TABLE, PLACE).in_band == agrees


@pytest.mark.parametrize("other", [ours("stratified_k_fold"), ours(n=8)])
def test_on_other_folds_or_not_all_of_them_it_has_a_band(other):
    assert not has_own_rows(other, TABLE)
    assert verdict_of(other, 0.55, TABLE, PLACE).in_band and not verdict_of(other, 1.5, TABLE, PLACE).in_band


def test_a_paper_without_such_folds_has_a_band():
    table = PublishedTable(None, 1e-6, {}, runs=10)
    assert not has_own_rows(ours(), table) and verdict_of(ours(), 0.55, table, PLACE).in_band


def test_a_table_says_how_near_the_means_on_the_same_folds_are():
    said = agreement([(ours(), 0.5, PLACE), (ours(), 0.6, PLACE)], TABLE)
    assert said is not None and "with the paper's folds, 1 of 2 means are within 1e-06" in said
