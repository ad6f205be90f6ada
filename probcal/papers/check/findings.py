"""Comparison of published numbers with ours, and of differences between columns on the same splits.

Differences vary far less than the columns themselves. Any two published columns of one learner are compared, the
later less the earlier. Ours come from one learner of ours. Where that learner has no such column, the only other
column that stands for the published one is used.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from probcal.papers.bands import ROUNDING, Verdict, compare, why_not_judged
from probcal.papers.check.measured_results import Checked
from probcal.papers.published import Published
from probcal.reporting.metric_table import compared_summary, published_number, verdict_of, why_no_verdict
from probcal.store.outline import ResultColumn, Row
from probcal.store.summary import planned_ids

FARTHEST = 10.0
"""Largest distance that is printed. Larger ones, also ∞, are printed as beyond it and count as this in a median."""

State = Literal["in band", "out of band", "not run", "cannot be judged", "no finite difference"]


@dataclass(frozen=True)
class Finding:
    """Hold the comparison of one published number with ours.

    ``what`` names our column, or both columns of a difference. ``columns`` are the paper's (learner, method).
    """

    kind: Literal["number", "difference"]
    dataset: str
    of: str
    """Data set of the paper that it is compared with. ``dataset`` may be another reading of it."""
    what: str
    metric: str
    columns: tuple[tuple[str, str], ...]
    published: float
    values: tuple[float, ...]
    """Our numbers, one per split."""
    planned: int
    state: State
    distance: float | None = None
    """|published - mean| over half the width of the band. It is 1 at the edge, and None where nothing was compared."""
    why: str | None = None
    """Reason why it cannot be judged, such as ``2 splits``."""

    @property
    def mean(self) -> float | None:
        """Return the mean of the finite splits. It is ∞ where none is finite, and None without splits."""
        return mean_of_finite(self.values)

    @property
    def sd(self) -> float | None:
        return sd_of_finite(self.values)

    @property
    def infinite(self) -> int:
        return sum(math.isinf(value) for value in self.values)


def state_of(values: Sequence[float], verdict: Verdict | None) -> State:
    if verdict is not None:
        return "in band" if verdict.in_band else "out of band"
    return "cannot be judged" if values else "not run"


def mean_of_finite(values: Sequence[float]) -> float | None:
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return math.inf if values else None
    return statistics.fmean(finite)


def sd_of_finite(values: Sequence[float]) -> float | None:
    """Return the sd with n - 1 in the denominator, or None for fewer than two finite values."""
    finite = [value for value in values if math.isfinite(value)]
    return statistics.stdev(finite) if len(finite) > 1 else None


def paper_column(column: ResultColumn) -> tuple[str, str]:
    """Return (learner, method) of the published column that ours is compared with, or two empty texts without one."""
    return column.paper_learner or "", column.paper_method or ""


def numbers(checked: Checked) -> list[Finding]:
    """Return one finding per data set, column with a published one, and metric. ``probcal table`` judges them alike."""
    return [
        finding
        for metric in checked.paper_metrics
        for row in checked.outline.datasets
        for column in checked.planned(row)
        for finding in _number_finding(checked, row, column, metric)
    ]


def _number_finding(checked: Checked, row: Row, column: ResultColumn, metric: str) -> Iterator[Finding]:
    published = published_number(checked.published, row, column, metric)
    if published is None or checked.published is None:
        return
    table = checked.published.tables[metric]
    ours = compared_summary(table, checked.outline, checked.results, row, column, metric)
    verdict = verdict_of(ours, published, table)
    state = state_of(ours.values, verdict)
    yield Finding(
        kind="number",
        dataset=row.name,
        of=row.published,
        what=column.label,
        metric=metric,
        columns=(paper_column(column),),
        published=published,
        values=ours.values,
        planned=ours.planned,
        state=state,
        distance=verdict.distance if verdict else None,
        why=why_no_verdict(ours, published, table) if state == "cannot be judged" else None,
    )


_MINUS = "\N{MINUS SIGN}"


def differences(checked: Checked) -> list[Finding]:
    """Return one finding per data set, pair of columns and metric. Pairs with a published ∞ have no difference."""
    paper = checked.published
    if paper is None:
        return []
    return [
        finding
        for metric in checked.paper_metrics
        for row in checked.outline.datasets
        for earlier, later in _pairs(paper, checked.planned(row))
        for finding in _difference_findings(checked, paper, row, earlier, later, metric)
    ]


def _pairs(paper: Published, ours: list[ResultColumn]) -> Iterator[tuple[ResultColumn, ResultColumn]]:
    for first, second in itertools.combinations(paper.columns.values(), 2):
        if first[0] != second[0]:
            continue
        earlier = [column for column in ours if paper_column(column) == first]
        for later in ours:
            if paper_column(later) == second:
                own = [column for column in earlier if column.learner == later.learner]
                yield from ((one, later) for one in own or (earlier if len(earlier) == 1 else []))


def _difference_findings(
    checked: Checked, paper: Published, row: Row, earlier: ResultColumn, later: ResultColumn, metric: str
) -> Iterator[Finding]:
    subtracted, number = (paper.number(row.published, *paper_column(column), metric) for column in (earlier, later))
    if subtracted is None or number is None or math.isinf(subtracted) or math.isinf(number):
        return
    published, seed = round(number - subtracted, 6), paper.tables[metric].seed
    before, after = (checked.splits(row, column, metric, seed=seed) for column in (earlier, later))
    both = sorted(before.keys() & after.keys())
    values = tuple(
        after[split] - before[split] for split in both if math.isfinite(before[split]) and math.isfinite(after[split])
    )
    planned = len(planned_ids(checked.outline, row, later, seed))
    # Both published numbers are rounded. On the paper's own split the difference gets the tolerance of one number.
    own_split = planned == 1 and not (seed is None and row.random)
    tolerance = paper.tables[metric].tolerance + ROUNDING if own_split else None
    why = why_not_judged(values, published, tolerance)
    verdict = None if why else compare(values, published, tolerance, rounding=2 * ROUNDING)
    state = "no finite difference" if both and not values else state_of(values, verdict)
    yield Finding(
        kind="difference",
        dataset=row.name,
        of=row.published,
        what=f"{later.label} {_MINUS} {earlier.label}",
        metric=metric,
        columns=(paper_column(earlier), paper_column(later)),
        published=published,
        values=values,
        planned=planned,
        state=state,
        distance=verdict.distance if verdict else None,
        why=why if state == "cannot be judged" else None,
    )
