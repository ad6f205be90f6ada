"""Web page of a trial: the ranking first, then charts in its order and under its names, and where it comes from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probcal.reporting.grid import Grid, Text
from probcal.reporting.html.page import render_charts, write_page
from probcal.reporting.html.sections import ExperimentSections
from probcal.store.folder import Store
from probcal.try_table.importance import HEADER as IMPORTANCE_HEADER
from probcal.try_table.importance import Importance
from probcal.try_table.measures import Measure, table_measures
from probcal.try_table.ranked_methods import RankedMethod, failures, legend, name_of, ranking_table
from probcal.try_table.unseen_result import HEADER, UnseenResult

_PARTS = {
    "found": "What was found",
    "test": "The test file",
    "importance": "What drives the winner",
    "charts": "Compare the methods",
    "reliability": "Reliability",
    "table": "The table",
    "failures": "Failed, stale, missing",
    "provenance": "Where the numbers come from",
    "again": "Run it again",
}


@dataclass(frozen=True)
class TrialFindings:
    """Hold what a trial found, as its page shows it."""

    methods: Sequence[RankedMethod]
    """The methods, the best first."""
    bound: float
    """The bound of the log loss."""
    verdict: str
    traps: Sequence[str]
    description: Sequence[str]
    """The lines that describe the table and the plan."""
    enriched: bool
    """Whether rare classes have more rows in the sample than in the table."""
    unseen: UnseenResult | None
    """What the winner reached on the file of ``--test``, if there is one."""
    importance: Importance | None = None
    """What drives the winner. None for the base rate."""


def write_trial_page(store: Store, findings: TrialFindings, path: Path) -> Path:
    """Write the page of a trial to ``path`` and return the path.

    Raises StoreError where the results cannot be read, and ReportError where the page cannot be written.
    """
    sections = ExperimentSections(store, "trial")
    lines = _reliability_lines(sections, findings.methods)
    is_shown = {"reliability": bool(lines), "test": findings.unseen is not None}
    is_shown["importance"] = findings.importance is not None
    text = render_charts(
        "trial.html",
        {"trial": {**_chart_data(sections, findings.methods), "reliability": lines}},
        title=sections.stored.title,
        one=sections,
        several=False,
        level=2,
        parts_shown=[(part, name) for part, name in _PARTS.items() if is_shown.get(part, True)],
        findings=findings,
        ranking=_grid(findings),
        unseen_header=HEADER,
        importance_header=IMPORTANCE_HEADER,
        has_reliability=bool(lines),
    )
    return write_page(text, path)


def _grid(findings: TrialFindings) -> Grid:
    header, rows = ranking_table(findings.methods)
    measure = findings.methods[0].measure
    return Grid(
        number=1,
        name="The ranking",
        explanation=f"in the order of the mean {measure.header}, the best first.",
        header=header,
        rows=[[Text(rank.rstrip("*"), rest="*" * rank.count("*")), *map(Text, cells)] for rank, *cells in rows],
        notes=[*legend(findings.methods, findings.bound), *failures(findings.methods)],
    )


def _chart_data(sections: ExperimentSections, methods: Sequence[RankedMethod]) -> dict[str, Any]:
    """Return the means of the ranking for the charts, with the names of the ranking in its order."""
    measures = table_measures(methods[0].measure)
    return {
        "paper": None,
        "metrics": [
            {"name": measure.about, "short": measure.header, "end": measure.metric.good_end,
             "larger": measure.larger_is_better} for measure in measures
        ],
        "datasets": [row.title for row in sections.stored.datasets],
        "columns": [{"label": name_of(method), "group": method.learner} for method in methods],
        "numbers": [
            [index, 0, column, _mean(method, measure), None, method.splits - method.n_failed, 0, None, None,
             method.interval if measure == method.measure else None]
            for index, measure in enumerate(measures)
            for column, method in enumerate(methods)
        ],
    }  # fmt: skip


def _mean(method: RankedMethod, measure: Measure) -> float | None:
    mean = method.means[measure.name]
    return None if math.isnan(mean) else mean


def _reliability_lines(sections: ExperimentSections, methods: Iterable[RankedMethod]) -> list[list[Any]]:
    rank_of = {(method.learner, method.method): rank for rank, method in enumerate(methods)}
    columns = [rank_of[column.learner, column.method] for column in sections.stored.columns]
    return sorted(
        ([row, columns[column], *rest] for row, column, *rest in sections.reliable.lines), key=lambda line: line[1]
    )
