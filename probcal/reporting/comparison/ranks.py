"""Mean ranks of methods over data sets, Friedman's test, and groups of methods that are not significantly different.

J. Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probcal.analysis.rankings import critical_difference, friedman, p_of_friedman, rank_table
from probcal.reporting.comparison.split_results import LEVEL, SplitNumbers, first_reading_rows
from probcal.store.cell_result import Results, resolve_metric
from probcal.store.stored_experiment import StoredExperiment

_EPSILON = 1e-9


@dataclass(frozen=True)
class Ranks:
    """Hold the mean ranks of one metric.

    ``labels`` and ``mean_ranks`` are parallel and start with the best. Rank 1 is the best of a data set.
    """

    metric: str
    labels: tuple[str, ...]
    mean_ranks: tuple[float, ...]
    n_datasets: int
    left_out: tuple[str, ...]
    """Titles of the data sets in which a column has no number."""
    chi_square: float
    """Friedman's chi-square with the correction for ties."""
    f: float
    """Iman & Davenport's F with k - 1 and (k - 1)(n - 1) degrees of freedom. Infinite where all data sets agree."""
    p: float
    """p-value of Friedman's test from ``f``, or from permuted ranks with fewer than ten data sets."""
    permuted: bool
    critical_difference: float
    """Nemenyi's critical difference. Closer mean ranks are not significantly different."""
    level: float
    groups: tuple[tuple[str, ...], ...]
    """Largest groups of labels that are not significantly different. A single group without ``has_difference``."""

    @property
    def has_difference(self) -> bool:
        """Return whether Friedman's test finds a significant difference."""
        return self.p <= 1 - self.level


def rank_methods(stored: StoredExperiment, results: Results, metric: str) -> Ranks | None:
    """Rank the methods by their means over the splits that all columns have.

    ∞ ranks last, and equal means share their ranks. Of several readings of a data set the first counts. Returns None
    with fewer than two columns or complete data sets, and for a metric without a better end.
    """
    columns = stored.columns
    if resolve_metric(metric).no_end or len(columns) < 2:
        return None
    rows = first_reading_rows(stored)
    row_means = [SplitNumbers.of(stored, results, row, columns, metric).common_means for row in rows]
    missing_titles = [row.title for row, means in zip(rows, row_means, strict=True) if means is None]
    means = [means for means in row_means if means is not None]
    if len(means) < 2:
        return None
    return rank_columns(np.array(means), unique_labels(stored), metric, missing_titles)


def unique_labels(stored: StoredExperiment) -> list[str]:
    """Return the labels of the columns, with learner and method where two labels are equal."""
    labels = [column.label for column in stored.columns]
    return [
        column.label if labels.count(column.label) == 1 else f"{column.label} ({column.learner} {column.method})"
        for column in stored.columns
    ]


def rank_columns(
    numbers: npt.NDArray[np.float64],
    labels: Sequence[str],
    metric: str,
    left_out: Sequence[str] = (),
) -> Ranks:
    """Rank the columns of ``numbers``, (n_datasets, n_columns). Infinity is the worst of a loss.

    Raises ValueError for NaN, and for fewer than two data sets or columns.
    """
    n, k = numbers.shape
    if n < 2 or k < 2 or np.isnan(numbers).any():
        raise ValueError("ranks need at least two data sets and two columns, without missing numbers")
    table = rank_table(numbers, resolve_metric(metric).larger_is_better)
    mean_ranks = table.mean(axis=0)
    chi_square, f = friedman(table)
    p, permuted = p_of_friedman(table)
    critical = critical_difference(k, n, LEVEL)
    order = sorted(range(k), key=lambda index: (mean_ranks[index], labels[index]))
    names, values = [labels[index] for index in order], [float(mean_ranks[index]) for index in order]
    groups = [tuple(names)] if p > 1 - LEVEL else _groups(names, values, critical)
    return Ranks(
        metric, tuple(names), tuple(values), n, tuple(left_out), chi_square, f, p, permuted, critical, LEVEL,
        tuple(groups),
    )  # fmt: skip


def _groups(names: list[str], values: list[float], critical: float) -> list[tuple[str, ...]]:
    """Return the longest runs of neighbours whose first and last are not significantly different."""
    groups: list[tuple[str, ...]] = []
    last_end = 0
    for start, first in enumerate(values):
        end = max(index for index, value in enumerate(values) if value - first <= critical + _EPSILON) + 1
        if end > last_end and end - start > 1:
            groups.append(tuple(names[start:end]))
        last_end = max(end, last_end)
    return groups
