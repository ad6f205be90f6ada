"""Every published number against ours."""

from __future__ import annotations

from collections.abc import Iterator

from probcal.check.experiment import Checked
from probcal.check.finding import Finding, state_of
from probcal.show.agreement import held_against, verdict_of, why_no_verdict
from probcal.show.measured import published_number
from probcal.show.outline import Column, Row


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
        for finding in _finding(checked, row, column, metric)
    ]


def _finding(checked: Checked, row: Row, column: Column, metric: str) -> Iterator[Finding]:
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
