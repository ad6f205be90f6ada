"""One number that was held against another.

Every published number against ours.

Differences between two columns on the same splits, which vary far less than the columns do.

Compared are every two published columns of one learner, the later less the earlier. Ours come from one learner
of ours too; where that has no such column, from the only other one that stands for it.

Why a check had nothing to compare, and what to do: agreement with nothing is no agreement.
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
from probcal.reporting.metric_table import held_against, published_number, verdict_of, why_no_verdict
from probcal.store.outline import Column, Row
from probcal.store.summary import planned_ids

FARTHEST = 10.0
"""A distance beyond this, ∞ too, is printed as beyond it and counts as this in a median."""

State = Literal["in band", "out of band", "not run", "cannot be judged", "no finite difference"]


@dataclass(frozen=True)
class Finding:
    """``what`` names our column, or both columns of a difference; ``columns`` are the paper's, (learner, method)."""

    kind: Literal["number", "difference"]
    dataset: str
    of: str
    """The paper's data set that it is held against, of which ``dataset`` may be another reading."""
    what: str
    metric: str
    columns: tuple[tuple[str, str], ...]
    published: float
    values: tuple[float, ...]
    """Ours, one number of each split."""
    planned: int
    state: State
    distance: float | None = None
    """|published - mean| over half the width of the band: 1 at its edge; None where nothing was compared."""
    why: str | None = None
    """Why it cannot be judged, where that is so: ``2 splits``."""

    @property
    def mean(self) -> float | None:
        """Of the finite splits, which are what is compared; ∞ where there are none, None without splits."""
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
    """With n - 1 in the denominator; None for fewer than two finite ones."""
    finite = [value for value in values if math.isfinite(value)]
    return statistics.stdev(finite) if len(finite) > 1 else None


def paper_column(column: Column) -> tuple[str, str]:
    """(learner, method) of the published column beside ours; both empty where there is none."""
    return column.paper_learner or "", column.paper_method or ""


def numbers(checked: Checked) -> list[Finding]:
    """One finding a data set, column of ours with a published one, and metric; ``table`` judges them alike."""
    return [
        finding
        for metric in checked.paper_metrics
        for row in checked.outline.datasets
        for column in checked.planned(row)
        for finding in _number_finding(checked, row, column, metric)
    ]


def _number_finding(checked: Checked, row: Row, column: Column, metric: str) -> Iterator[Finding]:
    published = published_number(checked.published, row, column, metric)
    if published is None or checked.published is None:
        return
    table = checked.published.tables[metric]
    ours = held_against(table, checked.outline, checked.results, row, column, metric)
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
    """One finding a data set, pair of columns and metric; pairs with a published ∞ have no difference."""
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


def _pairs(paper: Published, ours: list[Column]) -> Iterator[tuple[Column, Column]]:
    for first, second in itertools.combinations(paper.columns.values(), 2):
        if first[0] != second[0]:
            continue
        earlier = [column for column in ours if paper_column(column) == first]
        for later in ours:
            if paper_column(later) == second:
                own = [column for column in earlier if column.learner == later.learner]
                yield from ((one, later) for one in own or (earlier if len(earlier) == 1 else []))


def _difference_findings(
    checked: Checked, paper: Published, row: Row, earlier: Column, later: Column, metric: str
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
    # Two rounded numbers; on the paper's own split each may be off by the tolerance, which here both together may.
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
