"""Pairwise comparison of methods, for each data set and over all data sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from probcal.analysis.hypothesis_tests import corrected_t_test, holm, wilcoxon
from probcal.reporting.comparison.bootstrap import Bootstrap
from probcal.reporting.comparison.split_results import SplitValues, column_id, first_reading_rows, split_values
from probcal.store.cell_result import resolve_metric
from probcal.store.outline import Outline, ResultColumn, Row

LEVEL = 0.95
_FEWEST_INFINITE = 6
"""Number of splits that must all speak against one method. Its two-sided probability is 2 / 2^6 = .031."""
Verdict = Literal["better", "worse", "undecided"]
TestKind = Literal["splits", "rows", "∞", "none"]


@dataclass(frozen=True)
class PairedTest:
    """Hold the test of one data set.

    ``difference`` is the mean of the later column less that of the earlier, and may be infinite. ``how`` names the
    test. ``splits`` is the corrected t-test and ``rows`` a bootstrap of the test rows. ``∞`` means that one of the
    two is infinite on at least half of the splits and on at least six, and the other on none. ``none`` means no test:
    one split without its predictions, or some infinite splits.
    """

    row: Row
    n_splits: int
    difference: float
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    how: TestKind
    verdict: Verdict


@dataclass(frozen=True)
class Pair:
    """Hold the comparison of ``later`` with ``earlier`` by one metric.

    ``p`` comes from Wilcoxon's signed-rank test of the differences over the data sets.
    """

    earlier: ResultColumn
    later: ResultColumn
    metric: str
    tests: tuple[PairedTest, ...]
    p: float | None
    """None for fewer than two data sets."""
    p_holm: float | None = None
    """``p`` with Holm's correction for all pairs of this metric."""

    def count(self, verdict: Verdict) -> int:
        return sum(test.verdict == verdict for test in self.tests)

    @property
    def n_ahead(self) -> int:
        """Return the number of data sets in which the later column has the better mean."""
        sign = 1 if resolve_metric(self.metric).larger_is_better else -1
        return sum(sign * test.difference > 0 for test in self.tests)


def compare_pairs(bootstrap: Bootstrap, metric: str) -> list[Pair]:
    """Compare the later with the earlier of any two columns in one group.

    Where no group has two columns, all columns are compared. Holm's correction covers the data sets for the tests of
    one pair, and the pairs for Wilcoxon's test. The list is empty for a metric without a better end.
    """
    if resolve_metric(metric).no_end:
        return []
    all_pairs = [_compare_pair(bootstrap, metric, *columns) for columns in _column_pairs(bootstrap.experiment.outline)]
    tested_pairs = [pair for pair in all_pairs if pair.tests]
    p_values = holm([pair.p for pair in tested_pairs])
    return [replace(pair, p_holm=p) for pair, p in zip(tested_pairs, p_values, strict=True)]


def _column_pairs(outline: Outline) -> Iterator[tuple[ResultColumn, ResultColumn]]:
    column_pairs = list(itertools.combinations(outline.columns, 2))
    same_group = [(a, b) for a, b in column_pairs if a.group == b.group]
    yield from same_group or column_pairs


def _compare_pair(bootstrap: Bootstrap, metric: str, earlier: ResultColumn, later: ResultColumn) -> Pair:
    experiment = bootstrap.experiment
    rows = first_reading_rows(experiment.outline)
    row_splits = [split_values(experiment.outline, experiment.results, row, (earlier, later), metric) for row in rows]
    tests = [_test_row(bootstrap, splits, metric) for splits in row_splits if splits is not None]
    p_values = holm([test.p for test in tests])
    paired_tests = [_add_verdict(test, p, metric) for test, p in zip(tests, p_values, strict=True)]
    differences = [test.difference for test in paired_tests]
    return Pair(earlier, later, metric, tuple(paired_tests), wilcoxon(differences) if len(paired_tests) > 1 else None)


def _test_row(bootstrap: Bootstrap, splits: SplitValues, metric: str) -> PairedTest:
    """Test one data set without Holm's correction. The verdict is already set where ∞ decides."""
    earlier, later = splits.values
    difference = _difference(float(splits.means[1]), float(splits.means[0]))
    n = earlier.size
    no_test = PairedTest(splits.row, n, difference, None, None, None, None, "none", "undecided")
    if n == 1:
        split_data = bootstrap.split_data.rows.get(splits.row.name, {}).get(metric, {})
        rows = [split_data.get(column_id(column)) for column in splits.columns]
        if rows[0] is None or rows[1] is None or splits.planned > 1:
            return no_test
        return _row_bootstrap_test(no_test, np.array([_difference(b, a) for a, b in zip(*rows, strict=True)]))
    n_infinite = np.isinf(splits.values).sum(axis=1)
    if n_infinite.any():
        is_decisive = n_infinite.min() == 0 and n_infinite.max() >= max(n / 2, _FEWEST_INFINITE)
        verdict: Verdict = "better" if n_infinite[1] == 0 else "worse"
        return replace(no_test, how="∞", verdict=verdict) if is_decisive else no_test
    test = corrected_t_test((later - earlier).tolist(), splits.test_share, LEVEL)
    return replace(no_test, low=test.low, high=test.high, p=test.p, how="splits")


def _row_bootstrap_test(test: PairedTest, differences: npt.NDArray[np.float64]) -> PairedTest:
    low, high = np.quantile(differences, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    n_tail = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    p = min(1.0, 2 * (n_tail + 1) / (len(differences) + 1))
    return replace(test, low=float(low), high=float(high), p=p, how="rows")


def _difference(later: float, earlier: float) -> float:
    """Return the difference. ∞ less ∞ is 0."""
    return 0.0 if later == earlier else later - earlier


def _add_verdict(test: PairedTest, p_holm: float | None, metric: str) -> PairedTest:
    if p_holm is None:
        return test
    if p_holm > 1 - LEVEL or test.difference == 0:
        return replace(test, p_holm=p_holm)
    is_larger = test.difference > 0
    return replace(
        test, p_holm=p_holm, verdict="better" if is_larger == resolve_metric(metric).larger_is_better else "worse"
    )


def p_text(p: float | None) -> str:
    if p is None or math.isnan(p):
        return "\N{EN DASH}"
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0") if p < 1 else "1"
