"""Comparison of one published number with the summary of our results, as tables and ``probcal check`` judge it.

Also the numbers of one cell that claims are about and that are no metric: loss ratio and steepest growth.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from probcal.metrics.losses import ratio_of
from probcal.metrics.registry import loss_parameter
from probcal.papers.bands import SIGMAS, Band, DrawDistribution, Verdict
from probcal.papers.published import PublishedPaper, PublishedTable
from probcal.store.cell_result import CellResult
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment
from probcal.store.summary import Summary

PublishedKey = tuple[str, str, str]
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


def published_key(row: Row, column: ResultColumn) -> PublishedKey:
    """Return the key of the published number that stands beside ours."""
    return row.paper_dataset, column.paper_learner or "", column.paper_method or ""


def draw_distribution(summary: Summary, table: PublishedTable, key: PublishedKey) -> DrawDistribution | None:
    """Return the distribution of a drawn number on the paper's own split, None elsewhere and for other numbers."""
    same_split = summary.planned == 1 and summary.split in PUBLISHED_SPLITS
    return table.distributions.get(key) if same_split else None


def published_band(summary: Summary, table: PublishedTable, sigmas: float | None = None) -> Band:
    """Return the band of published numbers of the ``table`` that agree with our ``summary``.

    It has the tolerance of the table on the paper's own split and over the paper's own folds. Several planned splits,
    or random ones, have a band by their spread, of ``sigmas`` standard deviations if they are given.
    """
    tolerance = table.tolerance if has_paper_rows(summary, table) else None
    return Band(summary.values, tolerance, table.rounding, table.runs, sigmas)


def judge_number(
    summary: Summary, number: float, table: PublishedTable, key: PublishedKey, band: Band | None = None
) -> Verdict | None:
    """Compare one published number with ours, or return None when it cannot be judged.

    On the paper's own split, the distribution over our draws judges a drawn number. The ``band`` judges the others; by
    default it is that of ``published_band``. ``summary`` has all our repetitions, or only the one with the table's
    seed.
    """
    band = band or published_band(summary, table)
    if band.no_verdict_reason(number):
        return None
    if distribution := draw_distribution(summary, table, key):
        return distribution.verdict(summary.values[0], number, 0.5 / 10 ** table.printed_decimals[key])
    return band.compare(number)


def ranking_verdict(summary: Summary, number: float, table: PublishedTable) -> Verdict | None:
    """Compare one published number with ours for a ranking, with a band of ``SIGMAS`` sd for any number of splits.

    Returns None when there are too few splits for a distance.
    """
    band = published_band(summary, table, SIGMAS)
    return band.compare(number) if band.has_enough_values(number) else None


def has_paper_rows(summary: Summary, table: PublishedTable) -> bool:
    """Return whether our results are of the paper's rows: those of one split that is not random, or of its folds."""
    return summary.is_published_split or table.matches_folds(summary.split, summary.n)


Stages = Mapping[str, Sequence[float]]
"""Metric -> its value at every stage."""
LOSS_RATIO = "loss_ratio"
"""Name in claims for the mean loss ratio over the loss parameters, loss after calibration over loss before."""
STEEPEST_GROWTH = "steepest_growth"
"""Name in claims for the start of the tenth of a stream in which log10 S grows most."""
LOG10_MARTINGALE = "log10_martingale"
_TENTH = 0.1


def cell_number(cell: CellResult, metric: str, stage: int | None) -> float:
    """Return the number of a metric, or after a ``stage``, or of a name above. NaN where the cell has none."""
    if metric == LOSS_RATIO:
        return mean_loss_ratio(cell.stages)
    if metric == STEEPEST_GROWTH:
        return steepest_growth(cell.curves)
    if stage is None:
        return cell.metrics.get(metric, math.nan)
    course = cell.stages.get(metric, [])
    # A method that stops early keeps its last number.
    return course[min(stage, len(course)) - 1] if course else math.nan


def mean_loss_ratio(stages: Stages) -> float:
    """Return the mean loss ratio of one cell over its loss parameters. NaN where it has none with two stages."""
    ratios = loss_ratios(stages)
    return statistics.fmean(ratios.values()) if ratios else math.nan


def loss_ratios(stages: Stages) -> dict[float, float]:
    """Return loss parameter -> loss after calibration over loss before, of stages that have both."""
    return {
        parameter: ratio_of(*values)
        for name, values in stages.items()
        if (parameter := loss_parameter(name)) is not None and len(values) == 2 and not any(map(math.isnan, values))
    }


def steepest_growth(curves: Mapping[str, Sequence[Mapping[str, Any]]]) -> float:
    """Return where the tenth of the stream with the steepest growth begins, from 0 (the first row) to .9.

    It uses the first line of ``martingale``, which is straight between its points. NaN without such a line, or where
    its points do not rise along the stream.
    """
    lines = curves.get("martingale", ())
    if not lines:
        return math.nan
    x, y = (np.asarray(lines[0][axis], dtype=float) for axis in "xy")
    if len(x) < 2 or not (np.diff(x) > 0).all():
        return math.nan
    rows = (x - x[0]) / (x[-1] - x[0])
    last = 1 - _TENTH
    # the growth is linear between these, so it is largest at one of them
    starts = np.unique(np.clip(np.concatenate([rows, rows - _TENTH]), 0, last))
    growth = np.interp(starts + _TENTH, rows, y) - np.interp(starts, rows, y)
    return float(starts[growth.argmax()])


def largest_gap(
    base: Mapping[int, float], protected: Mapping[int, float], log10_s: Mapping[int, float], rounding: float
) -> tuple[float, int]:
    """Return the largest gap between the log10 loss gained and log10 S, as a share of log10 S, and the repetitions.

    The gain is the log10 loss of ``base`` less that of ``protected``. Only repetitions that all three have are counted.
    ``rounding`` is the largest rounding error of the three together.
    """
    repetitions = base.keys() & protected.keys() & log10_s.keys()
    gaps = [_gap(base[repetition] - protected[repetition], log10_s[repetition], rounding) for repetition in repetitions]
    return max(gaps, default=math.nan), len(gaps)


def _gap(gain: float, log10_s: float, rounding: float) -> float:
    miss = max(0.0, abs(gain - log10_s) - rounding)
    return miss / abs(log10_s) if log10_s else (math.inf if miss else 0.0)
