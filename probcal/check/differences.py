"""Differences between two columns on the same splits, which vary far less than the columns do.

Compared are every two published columns of one learner, the later less the earlier. Ours come from one learner
of ours too; where that has no such column, from the only other one that stands for it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from probcal.check.experiment import Checked
from probcal.check.finding import Finding, state_of
from probcal.check.numbers import paper_column
from probcal.paper.bands import ROUNDING, compare, why_not_judged
from probcal.paper.published import Published
from probcal.show.outline import Column, Row
from probcal.show.summary import planned_ids

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
        for finding in _finding(checked, paper, row, earlier, later, metric)
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


def _finding(
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
