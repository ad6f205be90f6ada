"""The results drawn again: what the means could have been, jointly for all columns and metrics of a data set.

Where there are several splits these are drawn again with replacement, and their mean is moved away from ours so far
that its middle 95 % is as wide as the corrected t-interval: splits that share rows say less than their number. Where
there is one split its test rows are drawn again, which tells nothing of other training sets.

The table of best methods with how sure each first place is.
"""

from __future__ import annotations

import functools
import math
import zlib
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from probcal.analysis.hypothesis_tests import inflation
from probcal.analysis.ranks import labels_of
from probcal.analysis.split_results import SAMPLES, Kept, column_id, finished, share_of_test_rows
from probcal.metrics.registry import metric_named
from probcal.papers.check.findings import paper_column
from probcal.papers.check.measured_results import Checked, Splits
from probcal.reporting.best_methods import best_of, in_the_order_of_table_4
from probcal.reporting.grid import DECIMALS
from probcal.store.outline import Column, Row
from probcal.store.summary import summarise

_NORMAL = 1.959964
"""Half the middle 95 % of a normal distribution of sd 1."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Course:
    """One number, drawn ``SAMPLES`` times. ``infinite``: the share of splits that gave ∞ in each draw."""

    finite: Floats
    """The mean of the finite splits; NaN where there are none."""
    infinite: Floats

    @functools.cached_property
    def means(self) -> Floats:
        """As the tables have them: infinite as soon as one split is."""
        return np.where(self.infinite > 0, np.inf, self.finite)


@dataclass(frozen=True, eq=False)
class Drawn:
    """``kept``: of the data sets with one split; without it those stay as they are."""

    checked: Checked
    kept: Kept
    _every: dict[tuple[str, str, str, int | None], list[Splits]] = field(default_factory=dict)

    def every(self, dataset: str, column: str, metric: str, stage: int | None = None) -> list[Splits]:
        """What each draw says of a published data set and column; empty where ours has no number of it."""
        name = (dataset, column, metric, stage)
        if name not in self._every:
            place = self.place_of(dataset, column)
            course = self.course(*place, metric, stage) if place else None
            self._every[name] = _as_splits(course) if course else []
        return self._every[name]

    def place_of(self, dataset: str, column: str) -> tuple[Row, Column] | None:
        """The first row and column of ours that stand for the published ones."""
        paper = self.checked.published
        for row in [one for one in self.checked.outline.datasets if one.published == dataset][:1]:
            for ours in self.checked.planned(row):
                if paper and paper_column(ours) == paper.columns[column]:
                    return row, ours
        return None

    def course(self, row: Row, column: Column, metric: str, stage: int | None = None) -> Course | None:
        """None without a number. Columns of a data set are drawn together where they have the same splits."""
        rows = self.kept.rows.get(row.name, {}).get(metric, {})
        if stage is None and column_id(column) in rows:
            numbers = rows[column_id(column)]
            return Course(np.where(np.isinf(numbers), np.nan, numbers), np.isinf(numbers).astype(float))
        splits = self.checked.splits(row, column, metric, stage)
        return _resampled(row, splits, self._share(row, column)) if splits else None

    def is_drawn(self, row: Row, column: Column, metric: str) -> bool:
        """Not where one split has no test rows to draw of: its course is one number a thousand times."""
        rows = self.kept.rows.get(row.name, {}).get(metric, {})
        return column_id(column) in rows or len(self.checked.splits(row, column, metric)) > 1

    def _share(self, row: Row, column: Column) -> float:
        return share_of_test_rows(row, [*finished(self.checked.outline, self.checked.results, row, column).values()])


def _resampled(row: Row, splits: Splits, share: float) -> Course:
    values = np.array([splits[one] for one in sorted(splits)])
    n, infinite = len(values), np.isinf(values)
    weights = _weights(row.name, n)
    finite_weights = weights[:, ~infinite]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = finite_weights @ values[~infinite] / finite_weights.sum(axis=1)
    middle = values[~infinite].mean() if (~infinite).any() else math.nan
    return Course(middle + _stretch(n, share) * (means - middle), weights[:, infinite].sum(axis=1) / n)


@functools.cache
def _weights(name: str, n: int) -> Floats:
    """(SAMPLES, n): how often each split is drawn; the same for all columns of the data set."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    return np.array([np.bincount(random.integers(n, size=n), minlength=n) for _ in range(SAMPLES)], dtype=np.float64)


@functools.cache
def _stretch(n: int, share: float) -> float:
    """What makes the middle 95 % of the means of n draws, of variance (n - 1)/n^2 s^2, the corrected t-interval's."""
    if n == 1:
        return 1.0
    from scipy import stats

    return math.sqrt(inflation(n, share) * n**2 / (n - 1)) * float(stats.t.ppf(0.975, n - 1)) / _NORMAL


@dataclass(frozen=True, eq=False)
class OneDraw:
    """One draw as the claims read results: as many splits as say whether any, or half, of them are infinite."""

    drawn: Drawn
    draw: int

    def splits(self, dataset: str, column: str, metric: str, stage: int | None = None) -> Splits:
        every = self.drawn.every(dataset, column, metric, stage)
        return every[self.draw] if every else {}

    def rounding(self, metric: str) -> float:
        return 0.0


def _as_splits(course: Course) -> list[Splits]:
    return [
        {0: math.inf} if share >= 0.5 else {0: mean} if share == 0 else {0: math.inf, 1: mean, 2: mean}
        for mean, share in zip(course.finite.tolist(), course.infinite.tolist(), strict=True)
    ]


Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FirstPlace:
    """Of one data set and metric. ``first``: (n_draws, n_columns), who has, or shares, the first place in each draw."""

    row: Row
    metric: str
    columns: tuple[Column, ...]
    labels: tuple[str, ...]
    """Of the columns."""
    winners: tuple[str, ...]
    """Labels of the best by our means, as ``probcal table`` has them."""
    printed: str | None
    """The paper's entry."""
    first: Flags
    drawn: bool
    """False where a column has one split and nothing to draw of: the shares are 0 and 1 and say nothing."""

    @property
    def shares(self) -> dict[str, float]:
        """Label -> in how many of the draws it is among the best, the surest first."""
        shares = self.first.mean(axis=0)
        order = sorted(range(len(self.labels)), key=lambda one: -shares[one])
        return {self.labels[one]: float(shares[one]) for one in order if shares[one] > 0}


def first_places(drawn: Drawn) -> list[FirstPlace]:
    """One a data set and metric with a better end, where all columns have numbers and there are two or more."""
    checked = drawn.checked
    outline, columns = checked.outline, checked.outline.columns
    found = []
    for row in outline.datasets if len(columns) > 1 else ():
        for metric in in_the_order_of_table_4(outline.metrics):
            courses = [drawn.course(row, column, metric) for column in columns]
            known = [one for one in courses if one is not None]
            if len(known) < len(columns):
                continue
            means = [summarise(outline, checked.results, row, column, metric).mean for column in columns]
            best = best_of(dict(enumerate(means)), metric)
            labels = labels_of(outline)
            found.append(
                FirstPlace(
                    row, metric, tuple(columns), tuple(labels), tuple(labels[one] for one in sorted(best)),
                    checked.published.best(row.published, metric) if checked.published else None,
                    _first(np.array([one.means for one in known]).T, metric),
                    all(drawn.is_drawn(row, column, metric) for column in columns),
                )
            )  # fmt: skip
    return found


def _first(means: npt.NDArray[np.float64], metric: str) -> Flags:
    """``means``: (n_draws, n_columns). Equal in the printed decimals is a shared place; ∞ has none."""
    rounded = np.round(-means if metric_named(metric).larger_is_better else means, DECIMALS)
    return np.asarray((rounded == rounded.min(axis=1, keepdims=True)) & np.isfinite(rounded))
