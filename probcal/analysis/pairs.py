"""Pairwise comparison of methods, for each data set and over all data sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from probcal.analysis.bootstrap import Bootstrap
from probcal.analysis.hypothesis_tests import corrected_t_test, holm, wilcoxon
from probcal.analysis.split_results import SplitValues, column_id, first_reading_rows, split_values
from probcal.store.cell_result import shown_metric
from probcal.store.outline import Outline, ResultColumn, Row

LEVEL = 0.95
_ENOUGH_INFINITE = 6
"""Number of splits that must all speak against one method. Its two-sided probability is 2 / 2^6 = .031."""
Verdict = Literal["better", "worse", "undecided"]
How = Literal["splits", "rows", "∞", "none"]


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
    how: How
    verdict: Verdict


@dataclass(frozen=True)
class Pair:
    """Hold the comparison of ``later`` with ``earlier`` by one metric.

    ``p`` comes from Wilcoxon's signed-rank test of the differences over the data sets.
    """

    earlier: ResultColumn
    later: ResultColumn
    metric: str
    tested: tuple[PairedTest, ...]
    p: float | None
    """None for fewer than two data sets."""
    p_holm: float | None = None
    """``p`` with Holm's correction for all pairs of this metric."""

    def count(self, verdict: Verdict) -> int:
        return sum(one.verdict == verdict for one in self.tested)

    @property
    def ahead(self) -> int:
        """Return the number of data sets in which the later column has the better mean."""
        sign = 1 if shown_metric(self.metric).larger_is_better else -1
        return sum(sign * one.difference > 0 for one in self.tested)


def pairs(drawn: Bootstrap, metric: str) -> list[Pair]:
    """Compare the later with the earlier of any two columns in one group.

    Where no group has two columns, all columns are compared. Holm's correction covers the data sets for the tests of
    one pair, and the pairs for Wilcoxon's test. The list is empty for a metric without a better end.
    """
    if shown_metric(metric).no_end:
        return []
    found = [_pair(drawn, metric, *two) for two in _column_pairs(drawn.checked.outline)]
    every = [one for one in found if one.tested]
    corrected = holm([one.p for one in every])
    return [replace(one, p_holm=p) for one, p in zip(every, corrected, strict=True)]


def _column_pairs(outline: Outline) -> Iterator[tuple[ResultColumn, ResultColumn]]:
    two = list(itertools.combinations(outline.columns, 2))
    within = [(a, b) for a, b in two if a.group == b.group]
    yield from within or two


def _pair(drawn: Bootstrap, metric: str, earlier: ResultColumn, later: ResultColumn) -> Pair:
    checked = drawn.checked
    rows = first_reading_rows(checked.outline)
    there = [split_values(checked.outline, checked.results, row, (earlier, later), metric) for row in rows]
    tested = [_tested(drawn, one, metric) for one in there if one is not None]
    corrected = holm([one.p for one in tested])
    decided = [_with_verdict(one, p, metric) for one, p in zip(tested, corrected, strict=True)]
    differences = [one.difference for one in decided]
    return Pair(earlier, later, metric, tuple(decided), wilcoxon(differences) if len(decided) > 1 else None)


def _tested(drawn: Bootstrap, there: SplitValues, metric: str) -> PairedTest:
    """Test one data set without Holm's correction. The verdict is already set where ∞ decides."""
    before, after = there.values
    difference = _difference(float(there.means[1]), float(there.means[0]))
    n = before.size
    nothing = PairedTest(there.row, n, difference, None, None, None, None, "none", "undecided")
    if n == 1:
        split_data = drawn.split_data.rows.get(there.row.name, {}).get(metric, {})
        rows = [split_data.get(column_id(one)) for one in there.columns]
        if rows[0] is None or rows[1] is None or there.planned > 1:
            return nothing
        return _row_bootstrap_test(nothing, np.array([_difference(b, a) for a, b in zip(*rows, strict=True)]))
    infinite = np.isinf(there.values).sum(axis=1)
    if infinite.any():
        decides = infinite.min() == 0 and infinite.max() >= max(n / 2, _ENOUGH_INFINITE)
        better: Verdict = "better" if infinite[1] == 0 else "worse"
        return replace(nothing, how="∞", verdict=better) if decides else nothing
    found = corrected_t_test((after - before).tolist(), there.test_share, LEVEL)
    return replace(nothing, low=found.low, high=found.high, p=found.p, how="splits")


def _row_bootstrap_test(nothing: PairedTest, drawn: npt.NDArray[np.float64]) -> PairedTest:
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    fewer = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    p = min(1.0, 2 * (fewer + 1) / (len(drawn) + 1))
    return replace(nothing, low=float(low), high=float(high), p=p, how="rows")


def _difference(later: float, earlier: float) -> float:
    """Return the difference. ∞ less ∞ is 0."""
    return 0.0 if later == earlier else later - earlier


def _with_verdict(one: PairedTest, p_holm: float | None, metric: str) -> PairedTest:
    if p_holm is None:
        return one
    if p_holm > 1 - LEVEL or one.difference == 0:
        return replace(one, p_holm=p_holm)
    larger = one.difference > 0
    return replace(one, p_holm=p_holm, verdict="better" if larger == shown_metric(metric).larger_is_better else "worse")


def p_text(p: float | None) -> str:
    if p is None or math.isnan(p):
        return "\N{EN DASH}"
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0") if p < 1 else "1"
