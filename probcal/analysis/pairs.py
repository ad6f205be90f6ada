"""Every two methods of a learner: data set by data set, and over all data sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from probcal.analysis.bootstrap import Drawn
from probcal.analysis.hypothesis_tests import corrected_t_test, holm, wilcoxon
from probcal.analysis.split_results import Measured, column_id, measured, one_reading_each
from probcal.metrics.registry import metric_named
from probcal.store.outline import Column, Outline, Row

LEVEL = 0.95
_ENOUGH_INFINITE = 6
"""So many splits that all speak against one method are not by a coin, two-sided: 2 / 2^6 is .031."""
Verdict = Literal["better", "worse", "undecided"]
How = Literal["splits", "rows", "∞", "none"]


@dataclass(frozen=True)
class Tested:
    """One data set. ``difference`` is that of the means, the later column less the earlier, and may be infinite.

    ``how``: by the corrected t-test over ``splits``, by a bootstrap of test ``rows``, because one of the two is ``∞``
    on half of the splits or more, six at least, and the other on none, or by ``none``: one split without its
    predictions, ∞ on some.
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
    """``later`` against ``earlier`` by one metric. ``p``: Wilcoxon's signed ranks of the data sets' differences."""

    earlier: Column
    later: Column
    metric: str
    tested: tuple[Tested, ...]
    p: float | None
    """None for fewer than two data sets."""
    p_holm: float | None = None
    """Of the family of all pairs of this metric."""

    def count(self, verdict: Verdict) -> int:
        return sum(one.verdict == verdict for one in self.tested)

    @property
    def ahead(self) -> int:
        """In how many data sets the later column has the better mean."""
        sign = 1 if metric_named(self.metric).larger_is_better else -1
        return sum(sign * one.difference > 0 for one in self.tested)


def pairs(drawn: Drawn, metric: str) -> list[Pair]:
    """Every two columns of one group, the later against the earlier; every two at all where no group has two.

    Holm's correction is over the data sets for the tests of one pair, and over the pairs for Wilcoxon's. Empty for a
    metric without a better end.
    """
    if metric_named(metric).no_end:
        return []
    found = [_pair(drawn, metric, *two) for two in _every_two(drawn.checked.outline)]
    every = [one for one in found if one.tested]
    corrected = holm([one.p for one in every])
    return [replace(one, p_holm=p) for one, p in zip(every, corrected, strict=True)]


def _every_two(outline: Outline) -> Iterator[tuple[Column, Column]]:
    two = list(itertools.combinations(outline.columns, 2))
    within = [(a, b) for a, b in two if a.group == b.group]
    yield from within or two


def _pair(drawn: Drawn, metric: str, earlier: Column, later: Column) -> Pair:
    checked = drawn.checked
    rows = one_reading_each(checked.outline)
    there = [measured(checked.outline, checked.results, row, (earlier, later), metric) for row in rows]
    tested = [_tested(drawn, one, metric) for one in there if one is not None]
    corrected = holm([one.p for one in tested])
    decided = [_decided(one, p, metric) for one, p in zip(tested, corrected, strict=True)]
    differences = [one.difference for one in decided]
    return Pair(earlier, later, metric, tuple(decided), wilcoxon(differences) if len(decided) > 1 else None)


def _tested(drawn: Drawn, there: Measured, metric: str) -> Tested:
    """Before Holm's correction; the verdict is given where ∞ decides."""
    before, after = there.values
    difference = _less(float(there.means[1]), float(there.means[0]))
    n = before.size
    nothing = Tested(there.row, n, difference, None, None, None, None, "none", "undecided")
    if n == 1:
        rows = [drawn.kept.rows.get(there.row.name, {}).get(metric, {}).get(column_id(one)) for one in there.columns]
        if rows[0] is None or rows[1] is None or there.planned > 1:
            return nothing
        return _of_rows(nothing, np.array([_less(b, a) for a, b in zip(*rows, strict=True)]))
    infinite = np.isinf(there.values).sum(axis=1)
    if infinite.any():
        decides = infinite.min() == 0 and infinite.max() >= max(n / 2, _ENOUGH_INFINITE)
        better: Verdict = "better" if infinite[1] == 0 else "worse"
        return replace(nothing, how="∞", verdict=better) if decides else nothing
    found = corrected_t_test((after - before).tolist(), there.test_share, LEVEL)
    return replace(nothing, low=found.low, high=found.high, p=found.p, how="splits")


def _of_rows(nothing: Tested, drawn: npt.NDArray[np.float64]) -> Tested:
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
    fewer = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    p = min(1.0, 2 * (fewer + 1) / (len(drawn) + 1))
    return replace(nothing, low=float(low), high=float(high), p=p, how="rows")


def _less(later: float, earlier: float) -> float:
    """∞ less ∞ is no difference."""
    return 0.0 if later == earlier else later - earlier


def _decided(one: Tested, p_holm: float | None, metric: str) -> Tested:
    if p_holm is None:
        return one
    if p_holm > 1 - LEVEL or one.difference == 0:
        return replace(one, p_holm=p_holm)
    larger = one.difference > 0
    return replace(one, p_holm=p_holm, verdict="better" if larger == metric_named(metric).larger_is_better else "worse")


def said_p(p: float | None) -> str:
    if p is None or math.isnan(p):
        return "\N{EN DASH}"
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0") if p < 1 else "1"
