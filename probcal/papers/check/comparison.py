"""Comparison of one published number with the summary of our results, as tables and ``probcal check`` judge it."""

from __future__ import annotations

from probcal.papers.bands import SIGMAS, Band, Verdict
from probcal.papers.draw_distribution import DrawDistribution
from probcal.papers.published import PublishedPaper, PublishedTable
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment
from probcal.store.summary import Summary

Place = tuple[str, str, str]
"""(data set, learner, method) of a published number, by the paper's names."""
PUBLISHED_SPLITS = ("standard", "rows")
"""Kinds of splits whose training and test rows are those of the paper."""


def attach_paper(stored: StoredExperiment) -> tuple[StoredExperiment, PublishedPaper | None]:
    """Return the experiment with the row titles of its paper, and the paper. None where it follows no paper.

    Raises UnknownPaper.
    """
    if not stored.paper:
        return stored, None
    published = PublishedPaper.read(stored.paper)
    return stored.with_titles(published.titles), published


def published_number(published: PublishedPaper | None, row: Row, column: ResultColumn, metric: str) -> float | None:
    if published is None or column.paper_learner is None or column.paper_method is None:
        return None
    return published.number(row.paper_dataset, column.paper_learner, column.paper_method, metric)


def place_of(row: Row, column: ResultColumn) -> Place:
    """Return the place of the published number that stands beside ours."""
    return row.paper_dataset, column.paper_learner or "", column.paper_method or ""


def distribution_of(summary: Summary, table: PublishedTable, place: Place) -> DrawDistribution | None:
    """Return the distribution of a drawn number on the paper's own split, None elsewhere and for other numbers."""
    same_split = summary.planned == 1 and summary.split in PUBLISHED_SPLITS
    return table.distributions.get(place) if same_split else None


def band_of(summary: Summary, table: PublishedTable, sigmas: float | None = None) -> Band:
    """Return the band of published numbers of the ``table`` that agree with our ``summary``.

    It has the tolerance of the table on the paper's own split and over the paper's own folds. Several planned splits,
    or random ones, have a band by their spread, of ``sigmas`` standard deviations if they are given.
    """
    tolerance = table.tolerance if has_paper_rows(summary, table) else None
    return Band(summary.values, tolerance, table.rounding, table.runs, sigmas)


def verdict_of(
    summary: Summary, number: float, table: PublishedTable, place: Place, band: Band | None = None
) -> Verdict | None:
    """Compare one published number with ours, or return None when it cannot be judged.

    On the paper's own split, the distribution over our draws judges a drawn number. The ``band`` judges the others;
    it is ``band_of`` the summary if it is not given. ``summary`` has all our repetitions, or only the one with the
    table's seed.
    """
    band = band or band_of(summary, table)
    if band.no_verdict_reason(number):
        return None
    if distribution := distribution_of(summary, table, place):
        return distribution.verdict(summary.values[0], number, 0.5 / 10 ** table.printed_decimals[place])
    return band.compare(number)


def ranking_verdict(summary: Summary, number: float, table: PublishedTable) -> Verdict | None:
    """Compare one published number with ours for a ranking, with a band of ``SIGMAS`` sd for any number of splits.

    Returns None when there are too few splits for a distance.
    """
    band = band_of(summary, table, SIGMAS)
    return band.compare(number) if band.has_enough_values(number) else None


def has_paper_rows(summary: Summary, table: PublishedTable) -> bool:
    """Return whether our results are of the paper's rows: those of one split that is not random, or of its folds."""
    return summary.is_published_split or table.matches_folds(summary.split, summary.n)
