"""Pairwise comparison of methods, for each data set and over all data sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from probcal.analysis.hypothesis_tests import Floats, corrected_t_tests, holm, holm_families, wilcoxon_tests
from probcal.reporting.comparison.bootstrap import Bootstrap
from probcal.reporting.comparison.split_results import (
    LEVEL,
    SAMPLES,
    UNKNOWN_TEST_SHARE,
    Progress,
    SplitNumbers,
    column_id,
    first_reading_rows,
)
from probcal.store.cell_result import resolve_metric
from probcal.store.stored_experiment import ResultColumn, Row

_FEWEST_INFINITE = 6
"""Number of splits that must all speak against one method. Its two-sided probability is 2 / 2^6 = .031."""
Verdict = Literal["better", "worse", "undecided"]
TestKind = Literal["splits", "rows", "∞", "none"]
_BATCH_SIZE = 1024
"""Number of pairs that are tested together. With 200 splits they take some MB."""


class PairedTest(NamedTuple):
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


@dataclass(frozen=True, eq=False)
class Pair:
    """Hold the comparison of ``later`` with ``earlier`` by one metric.

    ``p`` comes from Wilcoxon's signed-rank test of the differences over the data sets.
    """

    earlier: ResultColumn
    later: ResultColumn
    metric: str
    batch: _TestedBatch
    index: int
    """Index of the pair in ``batch``, which holds the tests of many pairs as arrays."""
    p: float | None
    """None for fewer than two data sets."""
    p_holm: float | None
    """``p`` with Holm's correction for all pairs of this metric."""

    @property
    def n_tests(self) -> int:
        """Return the number of data sets on which both columns have a common split."""
        return int(self.batch.n_tests[self.index])

    @cached_property
    def tests(self) -> tuple[PairedTest, ...]:
        """Return the tests. They are made when they are shown, because most of a hundred thousand pairs never are."""
        return self.batch.paired_tests(self.index)

    def count(self, verdict: Verdict) -> int:
        return sum(test.verdict == verdict for test in self.tests)

    @property
    def n_ahead(self) -> int:
        """Return the number of data sets in which the later column has the better mean."""
        sign = 1 if resolve_metric(self.metric).larger_is_better else -1
        return sum(sign * test.difference > 0 for test in self.tests)


def compare_pairs(bootstrap: Bootstrap, metric: str, progress: Progress = iter) -> list[Pair]:
    """Compare the later with the earlier of any two columns in one group.

    Where no group has two columns, all columns are compared. Holm's correction covers the data sets for the tests of
    one pair, and the pairs for Wilcoxon's test. The list is empty for a metric without a better end. ``progress``
    yields the batches of pairs one by one, and may show the progress.
    """
    stored = bootstrap.experiment.stored
    rows = [
        _RowNumbers.with_samples(bootstrap, row, metric)
        for row in first_reading_rows(stored)
        if stored.repetitions[row.name]
    ]
    if resolve_metric(metric).no_end or not rows:
        return []
    groups = [column.group for column in stored.columns]
    all_pairs = list(itertools.combinations(range(len(groups)), 2))
    same_group = [(a, b) for a, b in all_pairs if groups[a] == groups[b]]
    column_pairs = np.array(same_group or all_pairs, dtype=np.int64).reshape(-1, 2)
    batches = [column_pairs[start : start + _BATCH_SIZE] for start in range(0, len(column_pairs), _BATCH_SIZE)]
    found = [entry for batch in progress(batches) for entry in _compare_batch(rows, metric, batch)]
    p_holm = holm([p for *_, p in found])
    return [
        Pair(stored.columns[earlier], stored.columns[later], metric, batch, index, p, p_of_all)
        for (earlier, later, batch, index, p), p_of_all in zip(found, p_holm, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _RowNumbers(SplitNumbers):
    """Hold one metric of all columns of one data set. NaN stands for a missing number."""

    samples: Floats | None
    """(n_columns, n_samples): bootstrap samples of the test rows of the only split, where it is stored."""

    @classmethod
    def with_samples(cls, bootstrap: Bootstrap, row: Row, metric: str) -> _RowNumbers:
        stored, results = bootstrap.experiment.stored, bootstrap.experiment.results
        numbers, samples = SplitNumbers.of(stored, results, row, stored.columns, metric), None
        if numbers.values.shape[1] == 1 and (by_column := bootstrap.split_data.rows.get(row.name, {}).get(metric)):
            missing = np.full(SAMPLES, math.nan)
            samples = np.array([by_column.get(column_id(column), missing) for column in stored.columns])
        return cls(row, numbers.values, numbers.test_shares, samples)

    def test_pairs(self, column_pairs: npt.NDArray[np.int64]) -> _RowTests:
        """Test each pair on the splits that both columns have."""
        tests = _RowTests.empty(len(column_pairs))
        # Pairs with the same splits are tested in one step: hundreds of columns have a hundred thousand pairs.
        patterns, pattern_of = self._patterns
        pair_codes = pattern_of[column_pairs] @ np.array([len(patterns), 1])
        for code in np.unique(pair_codes).tolist():
            first, second = divmod(code, len(patterns))
            splits = np.flatnonzero(patterns[first] & patterns[second])
            if splits.size:
                self._test_group(tests, np.flatnonzero(pair_codes == code), column_pairs, splits)
        return tests

    @cached_property
    def _patterns(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """Return the different sets of splits that columns have, and which of them each column has."""
        patterns, pattern_of = np.unique(~np.isnan(self.values), axis=0, return_inverse=True)
        return patterns, pattern_of.ravel()

    def _test_group(
        self, tests: _RowTests, group: npt.NDArray[np.int64], column_pairs: npt.NDArray[np.int64],
        splits: npt.NDArray[np.int64],
    ) -> None:  # fmt: skip
        """Test the pairs of ``group``, whose columns have the same ``splits`` in common."""
        earlier, later = (self.values[np.ix_(column_pairs[group, side], splits)] for side in (0, 1))
        tests.n_splits[group] = n = splits.size
        tests.differences[group] = _differences(later.mean(axis=1), earlier.mean(axis=1))
        if n == 1:
            if self.samples is not None:
                self._test_rows(tests, group, column_pairs)
            return
        n_infinite = np.column_stack([np.isinf(earlier).sum(axis=1), np.isinf(later).sum(axis=1)])
        is_decisive = (n_infinite.min(axis=1) == 0) & (n_infinite.max(axis=1) >= max(n / 2, _FEWEST_INFINITE))
        tests.how[group[is_decisive]] = "∞"
        tests.verdicts[group[is_decisive]] = np.where(n_infinite[is_decisive, 1] == 0, "better", "worse")
        is_finite = ~n_infinite.any(axis=1)
        if is_finite.any():
            shares = [self.test_shares[column_pairs[group[is_finite], side], splits[0]] for side in (0, 1)]
            share = np.where(np.isnan(shares[0]), shares[1], shares[0])
            share = np.where(np.isnan(share), UNKNOWN_TEST_SHARE, share)
            found = corrected_t_tests(later[is_finite] - earlier[is_finite], share, LEVEL)
            tests.set(group[is_finite], "splits", found.low, found.high, found.p)

    def _test_rows(self, tests: _RowTests, group: npt.NDArray[np.int64], column_pairs: npt.NDArray[np.int64]) -> None:
        """Test the pairs of ``group`` by the bootstrap samples of the test rows, where both columns have them."""
        assert self.samples is not None
        has_samples = ~np.isnan(self.samples[:, 0])
        sampled = group[has_samples[column_pairs[group]].all(axis=1)]
        if not sampled.size:
            return
        differences = _differences(self.samples[column_pairs[sampled, 1]], self.samples[column_pairs[sampled, 0]])
        # The bounds are samples, because a bound between a finite and an infinite one has no value.
        low, high = np.quantile(differences, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=1, method="inverted_cdf")
        n_tail = np.minimum((differences <= 0).sum(axis=1), (differences >= 0).sum(axis=1))
        # One more in both counts, so that no p of a finite number of samples is 0.
        tests.set(sampled, "rows", low, high, np.minimum(1.0, 2 * (n_tail + 1) / (differences.shape[1] + 1)))


@dataclass(frozen=True, eq=False)
class _RowTests:
    """Hold the tests of one data set without Holm's correction, (n_pairs,) each. NaN stands for None.

    A pair without a common split has 0 splits. A verdict is set only where ∞ decides.
    """

    n_splits: npt.NDArray[np.int64]
    differences: Floats
    low: Floats
    high: Floats
    p: Floats
    how: npt.NDArray[np.object_]
    verdicts: npt.NDArray[np.object_]

    @classmethod
    def empty(cls, n: int) -> _RowTests:
        difference, low, high, p = (np.full(n, math.nan) for _ in range(4))
        how, verdicts = np.full(n, "none", object), np.full(n, "undecided", object)
        return cls(np.zeros(n, dtype=np.int64), difference, low, high, p, how, verdicts)

    def set(self, pairs: npt.NDArray[np.int64], how: TestKind, low: Floats, high: Floats, p: Floats) -> None:
        self.how[pairs], self.low[pairs], self.high[pairs], self.p[pairs] = how, low, high, p


def _differences(later: Floats, earlier: Floats) -> Floats:
    """Return the differences. ∞ less ∞ is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(later == earlier, 0.0, later - earlier)


@dataclass(frozen=True, eq=False)
class _TestedBatch:
    """Hold the tests of many pairs on all data sets, (n_pairs, n_rows) each."""

    rows: list[Row]
    n_splits: npt.NDArray[np.int64]
    differences: Floats
    low: Floats
    high: Floats
    p: Floats
    p_holm: Floats
    how: npt.NDArray[np.object_]
    verdicts: npt.NDArray[np.object_]

    @cached_property
    def n_tests(self) -> npt.NDArray[np.int64]:
        return np.asarray(np.count_nonzero(self.n_splits, axis=1))

    def paired_tests(self, index: int) -> tuple[PairedTest, ...]:
        """Return the tests of one pair, on the data sets with a common split."""
        numbers = [
            [None if math.isnan(number) else number for number in field[index].tolist()]
            for field in (self.low, self.high, self.p, self.p_holm)
        ]
        fields = (
            self.n_splits[index].tolist(), self.differences[index].tolist(), *numbers,
            self.how[index].tolist(), self.verdicts[index].tolist(),
        )  # fmt: skip
        tests = (PairedTest(*values) for values in zip(self.rows, *fields, strict=True))
        return tuple(test for test in tests if test.n_splits)


def _compare_batch(
    rows: Sequence[_RowNumbers], metric: str, column_pairs: npt.NDArray[np.int64]
) -> Iterator[tuple[int, int, _TestedBatch, int, float | None]]:
    """Yield the earlier and the later column of each pair that has a test, its index in the batch, and its p."""
    row_tests = [row.test_pairs(column_pairs) for row in rows]
    n_splits, differences, low, high, p, how, verdicts = (
        np.column_stack([getattr(tests, field.name) for tests in row_tests]) for field in fields(_RowTests)
    )
    p_holm = holm_families(p)
    is_better = (differences > 0) == resolve_metric(metric).larger_is_better
    is_significant = (p_holm <= 1 - LEVEL) & (differences != 0)
    verdicts = np.where(is_significant, np.where(is_better, "better", "worse").astype(object), verdicts)
    batch = _TestedBatch([row.row for row in rows], n_splits, differences, low, high, p, p_holm, how, verdicts)
    p_values = wilcoxon_tests(differences).tolist()
    for index, (n_tests, pair_p) in enumerate(zip(batch.n_tests.tolist(), p_values, strict=True)):
        if n_tests:
            earlier, later = column_pairs[index].tolist()
            yield earlier, later, batch, index, pair_p if n_tests > 1 else None


def p_text(p: float | None) -> str:
    if p is None or math.isnan(p):
        return "\N{EN DASH}"
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0") if p < 1 else "1"
