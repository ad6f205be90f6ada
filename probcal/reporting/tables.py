"""All tables of an experiment, one CSV line per metric, data set and column, or one table of all metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, product
from typing import NamedTuple

from probcal._io import csv_number
from probcal.metrics.metric import Metric
from probcal.papers.check.comparison import published_number
from probcal.papers.check.findings import CheckedResults
from probcal.reporting.calibration_effects import calibration_tables
from probcal.reporting.grid import (
    CsvColumns,
    Grid,
    Text,
    csv_lines,
    footnotes,
    html_page,
    latex,
    markdown,
    number_tables,
    order_metrics,
    order_tables,
    override_notes,
)
from probcal.reporting.metric_table import (
    MOST_LINE_COLUMNS,
    MetricResults,
    best_method_table,
    has_best_methods,
    metric_table,
    splits_text,
)
from probcal.reporting.side_by_side import side_by_side_tables
from probcal.store.cell_result import resolve_metric
from probcal.store.folder import Store
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment
from probcal.store.summary import Summary, stale_ids, summarise


class _CsvLine(NamedTuple):
    """Hold what a line of the CSV file shows."""

    experiment: str
    row: Row
    column: ResultColumn
    metric: str
    summary: Summary
    n_stale: int
    published: float | None

    @property
    def difference(self) -> float | None:
        """Return our number less the published one, None unless both are finite."""
        if self.summary.mean is None or self.published is None:
            return None
        difference = self.summary.mean - self.published
        return difference if math.isfinite(difference) else None


_CSV_COLUMNS: CsvColumns[_CsvLine] = [
    ("experiment", lambda line: line.experiment),
    ("dataset", lambda line: line.row.name),
    ("learner", lambda line: line.column.learner),
    ("method", lambda line: line.column.method),
    ("label", lambda line: line.column.label),
    ("metric", lambda line: line.metric),
    ("mean", lambda line: csv_number(line.summary.mean)),
    ("sd", lambda line: csv_number(line.summary.sd)),
    ("n", lambda line: line.summary.n),
    ("failed", lambda line: line.summary.failed),
    ("stale", lambda line: line.n_stale),
    ("published", lambda line: csv_number(line.published)),
    ("difference", lambda line: csv_number(line.difference)),
]


def _csv_lines(store: Store) -> Iterator[_CsvLine]:
    experiment = CheckedResults.of(store)
    stored, results = experiment.stored, experiment.results
    for metric, row, column in product(order_metrics(stored.metrics), stored.datasets, stored.columns):
        yield _CsvLine(
            stored.name, row, column, metric,
            summarise(stored, results, row, column, metric), len(stale_ids(stored, results, row, column)),
            published_number(experiment.published, row, column, metric),
        )  # fmt: skip


_UP, _DOWN = "↑", "↓"


def has_method_rows(experiment: CheckedResults) -> bool:
    """Return whether tables of single metrics would each be one wide line, and the paper has no such tables."""
    stored, published = experiment.stored, experiment.published
    has_own_tables = published is not None and any(table.number is not None for table in published.tables.values())
    return len(stored.datasets) == 1 and len(stored.columns) > MOST_LINE_COLUMNS and not has_own_tables


def method_table(experiment: CheckedResults) -> Grid:
    """Return a table with a column per metric, its best in bold, and published numbers in brackets."""
    stored, published = experiment.stored, experiment.published
    all_results = [MetricResults(experiment, metric) for metric in order_metrics(stored.metrics)]
    names = [resolve_metric(one.metric) for one in all_results]
    [row] = stored.datasets
    columns = [one.line(row, name.decimals) for one, name in zip(all_results, names, strict=True)]
    ends = {_header(name)[-1] for name in names if not name.no_end}
    parts = [splits_text([stored])]
    parts += [f"{mark} {word} is better" for mark, word in ((_UP, "larger"), (_DOWN, "smaller")) if mark in ends]
    one_group = len({column.group for column in stored.columns}) == 1
    parts.append("best in bold" if one_group else "best of each learner in bold")
    tables = [one.table for one in all_results if one.table]
    if published and tables:
        places = [
            f"{table.place} of {published.short}" + ("" if table.seed is None else f" (only seed {table.seed})")
            for table in tables
        ]
        parts.append(f"in brackets {', '.join(dict.fromkeys(places))}")
    long_names = [(name, name.long.removeprefix(f"{name.short}: ")) for name in names if name.short != name.long]
    meanings = [
        f"{name.short}: {long[0].lower()}{long[1:]}" + (f", {name.no_end}" if name.no_end else "")
        for name, long in long_names
    ]
    return Grid(
        name=row.title,
        explanation="; ".join(parts) + ".",
        header=["", *map(_header, names)],
        rows=[[Text(column.label), *cells] for column, *cells in zip(stored.columns, *columns, strict=True)],
        notes=[
            *_agreement_notes(all_results),
            *footnotes([summary for one in all_results for summary in one.all_summaries], experiment.cell_counts),
            *override_notes(stored),
            *([f"{'; '.join(meanings)}."] if meanings else []),
        ],
    )


def _header(name: Metric) -> str:
    return name.short if name.no_end else f"{name.short} {_UP if name.larger_is_better else _DOWN}"


def _agreement_notes(all_results: Sequence[MetricResults]) -> list[str]:
    """Return the agreement of all metrics in one line, judged as ``probcal check`` does."""
    counts, restrictions = [], dict[str, None]()
    for one in all_results:
        # A table with a seed is compared with the repetition of that seed only.
        verdicts = [one.verdict(row, column) for row in one.stored.datasets for column in one.stored.columns]
        if hits := [verdict.in_band for verdict in verdicts if verdict is not None]:
            counts.append(f"{resolve_metric(one.metric).short} {sum(hits)} of {len(hits)}")
            if one.table and one.table.seed is not None:
                restrictions[f"only our run of seed {one.table.seed}, not the mean"] = None
    remark = f" ({', '.join(restrictions)})" if restrictions else ""
    return [f"Agreement with the published numbers{remark}: {', '.join(counts)}."] if counts else []


def tables_text(*stores: Store, format: str = "markdown", side_by_side: bool = False) -> str:
    """Return every table of the experiments in ``stores`` in one of ``probcal.reporting.FORMATS``.

    The experiments follow one another or stand ``side_by_side``. CSV is the same either way.

    Raises StoreError when a folder holds no experiment or a broken line, UnknownPaper for an unknown paper, and
    SideBySideError when experiments cannot stand side by side.
    """
    if format == "csv":
        return csv_lines(_CSV_COLUMNS, chain.from_iterable(map(_csv_lines, stores)))
    if side_by_side:
        experiments = [side_by_side_tables(*stores)]
    else:
        experiments = [(StoredExperiment.of(store).title, tables(store)) for store in stores]
    if format == "html":
        return html_page(experiments)
    return "\n".join({"markdown": markdown, "latex": latex}[format](*experiment) for experiment in experiments)


def tables(store: Store) -> list[Grid]:
    """Return CXE, RMS, AUC, the best methods, the other metrics and the effects of calibration.

    Raises as ``tables_text`` does. Where a data set stands alone under many columns, one table of all metrics
    replaces all but the last. The first table says which cells are skipped.
    """
    experiment = CheckedResults.of(store)
    if has_method_rows(experiment):
        return number_tables([method_table(experiment), *calibration_tables(experiment)])
    grids = order_tables(
        {metric: metric_table(experiment, metric) for metric in experiment.stored.metrics},
        best_method_table(experiment) if has_best_methods(experiment.stored) else None,
    )
    skip_notes = set(override_notes(experiment.stored, only_skips=True))
    # Once is enough: the same cells are skipped in every table.
    grids[1:] = [replace(grid, notes=[note for note in grid.notes if note not in skip_notes]) for grid in grids[1:]]
    return number_tables([*grids, *calibration_tables(experiment)])
