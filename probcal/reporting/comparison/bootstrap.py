"""Bootstrap of stored results, joint for all columns and metrics of a data set, and how often each method is the best.

With several splits, the splits are resampled with replacement. Their means are then stretched around our mean,
until their middle 95 % is as wide as the corrected t-interval, since splits that share rows are not independent.
With one split, its test rows are resampled. That says nothing about other training sets.
"""

from __future__ import annotations

import functools
import math
import zlib
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from probcal.analysis.hypothesis_tests import variance_inflation
from probcal.metrics.metric import DECIMALS
from probcal.papers.check.findings import CheckedResults, Splits
from probcal.reporting.comparison.ranks import unique_labels
from probcal.reporting.comparison.split_results import SAMPLES, ComparisonData, Progress, column_id, share_of_test_rows
from probcal.reporting.metric_table import rankable_metrics
from probcal.store.cell_result import resolve_metric
from probcal.store.stored_experiment import ResultColumn, Row
from probcal.store.summary import best_names, summarise

_NORMAL_QUANTILE = 1.959964
"""Half the width of the middle 95 % of a standard normal distribution."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Draws:
    """Hold ``SAMPLES`` bootstrap draws of one mean.

    ``infinite`` is the share of infinite splits in each draw.
    """

    finite: Floats
    """Mean of the finite splits in each draw. NaN where a draw has none."""
    infinite: Floats

    @functools.cached_property
    def means(self) -> Floats:
        """Return the mean of each draw as the tables print it: infinite as soon as one split is."""
        return np.where(self.infinite > 0, np.inf, self.finite)


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Draw the results of an experiment again and keep the draws.

    ``split_data`` holds the draws for data sets with one split. Without them such a result stays as it is.
    """

    experiment: CheckedResults
    split_data: ComparisonData
    _cached_draws: dict[tuple[str, str, str, int | None], list[Splits]] = field(default_factory=dict)

    def splits_of_draws(self, dataset: str, column: str, metric: str, stage: int | None) -> list[Splits]:
        """Return one set of splits per draw for a published data set and column, or an empty list without results.

        It has as many splits as are needed to say whether any, or half, of them are infinite.
        """
        name = (dataset, column, metric, stage)
        if name not in self._cached_draws:
            found = self.experiment.row_and_column(dataset, column)
            draws = self.draws(*found, metric, stage) if found else None
            shares = zip(draws.finite.tolist(), draws.infinite.tolist(), strict=True) if draws else ()
            self._cached_draws[name] = [
                {0: math.inf} if share >= 0.5 else {0: mean} if share == 0 else {0: math.inf, 1: mean, 2: mean}
                for mean, share in shares
            ]
        return self._cached_draws[name]

    def draws(self, row: Row, column: ResultColumn, metric: str, stage: int | None = None) -> Draws | None:
        """Return the draws of one result, or None without a result.

        Columns of a data set with the same splits are resampled together.
        """
        rows = self.split_data.rows.get(row.name, {}).get(metric, {})
        if stage is None and column_id(column) in rows:
            numbers = rows[column_id(column)]
            return Draws(np.where(np.isinf(numbers), np.nan, numbers), np.isinf(numbers).astype(float))
        splits = self.experiment.splits(row, column, metric, stage)
        cells = self.experiment.done_cells(row, column)
        return _resample_splits(row, splits, share_of_test_rows(row, cells)) if splits else None

    def has_draws(self, row: Row, column: ResultColumn, metric: str) -> bool:
        """Return whether the result varies between draws. With one split and no test rows it does not."""
        rows = self.split_data.rows.get(row.name, {}).get(metric, {})
        return column_id(column) in rows or len(self.experiment.splits(row, column, metric)) > 1


def _resample_splits(row: Row, splits: Splits, share: float) -> Draws:
    values = np.array([splits[split] for split in sorted(splits)])
    n, infinite = len(values), np.isinf(values)
    weights = _weights(row.name, n)
    finite_weights = weights[:, ~infinite]
    # A draw may have no finite split. Its mean is NaN.
    with np.errstate(invalid="ignore", divide="ignore"):
        means = finite_weights @ values[~infinite] / finite_weights.sum(axis=1)
    middle = values[~infinite].mean() if (~infinite).any() else math.nan
    return Draws(middle + _stretch_factor(n, share) * (means - middle), weights[:, infinite].sum(axis=1) / n)


@functools.cache
def _weights(name: str, n: int) -> Floats:
    """Return (SAMPLES, n): how often each split is drawn. They are the same for all columns of the data set."""
    # Not Python's hash of the name, which differs in every process.
    random = np.random.default_rng(zlib.crc32(name.encode()))
    return np.array([np.bincount(random.integers(n, size=n), minlength=n) for _ in range(SAMPLES)], dtype=np.float64)


@functools.cache
def _stretch_factor(n: int, share: float) -> float:
    """Return the factor that makes the middle 95 % of resampled means as wide as the corrected t-interval."""
    if n == 1:
        return 1.0
    # Imported late, because it is slow to import and one split needs no factor.
    from scipy import stats

    # The means of n resampled values have the variance (n - 1)/n^2 s^2.
    scale = math.sqrt(variance_inflation(n, share) * n**2 / (n - 1))
    return scale * float(stats.t.ppf(0.975, n - 1)) / _NORMAL_QUANTILE


@dataclass(frozen=True, eq=False)
class BootstrapDraw:
    """Present one draw in the form in which claims read results."""

    bootstrap: Bootstrap
    draw: int

    def splits(self, dataset: str, column: str, metric: str, stage: int | None = None) -> Splits:
        draws = self.bootstrap.splits_of_draws(dataset, column, metric, stage)
        return draws[self.draw] if draws else {}

    def rounding(self, metric: str) -> float:
        return 0.0


Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FirstPlace:
    """Hold how often each method is the best for one data set and metric.

    ``first_flags`` is (n_draws, n_columns): whether the column has or shares the first place in each draw.
    """

    row: Row
    metric: str
    columns: tuple[ResultColumn, ...]
    labels: tuple[str, ...]
    """Labels of the columns."""
    winners: tuple[str, ...]
    """Labels of the best methods by our means, as ``probcal table`` prints them."""
    published_winner: str | None
    """Best method as printed in the paper."""
    first_flags: Flags
    has_draws: bool
    """False where a column has one split and no test rows to draw from. Then all shares are 0 or 1 and mean nothing."""

    @property
    def shares(self) -> dict[str, float]:
        """Return label -> share of the draws in which it is among the best, the largest share first."""
        shares = self.first_flags.mean(axis=0)
        order = sorted(range(len(self.labels)), key=lambda index: -shares[index])
        return {self.labels[index]: float(shares[index]) for index in order if shares[index] > 0}


def first_places(bootstrap: Bootstrap, progress: Progress = iter) -> list[FirstPlace]:
    """Return the first places for each data set and metric that has a better end.

    A data set is left out where one of its columns has no number. With fewer than two columns the list is empty.
    ``progress`` yields the data sets one by one, and may show the progress.
    """
    experiment = bootstrap.experiment
    stored, columns = experiment.stored, experiment.stored.columns
    places = []
    labels = unique_labels(stored)
    for row in progress([*stored.datasets] if len(columns) > 1 else []):
        for metric in rankable_metrics(stored.metrics):
            draws = [draw.means for column in columns if (draw := bootstrap.draws(row, column, metric)) is not None]
            if len(draws) < len(columns):
                continue
            # equal in the printed decimals, columns share the place, and an infinite mean is never first
            sign = -1 if resolve_metric(metric).larger_is_better else 1
            numbers = np.round(sign * np.array(draws).T, DECIMALS)
            first_flags = (numbers == numbers.min(axis=1, keepdims=True)) & np.isfinite(numbers)
            means = [summarise(stored, experiment.results, row, column, metric).mean for column in columns]
            best = best_names(dict(enumerate(means)), metric)
            places.append(
                FirstPlace(
                    row, metric, tuple(columns), tuple(labels), tuple(labels[index] for index in sorted(best)),
                    experiment.published.best_method(row.paper_dataset, metric) if experiment.published else None,
                    first_flags, all(bootstrap.has_draws(row, column, metric) for column in columns),
                )
            )  # fmt: skip
    return places
