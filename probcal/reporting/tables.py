"""All tables of an experiment, one CSV line per metric, data set and column, or one table of all metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from probcal._io import csv_text
from probcal.metrics.registry import Metric
from probcal.papers.check.comparison import attach_paper, published_number
from probcal.papers.published import PublishedPaper
from probcal.reporting.calibration_effects import calibration_tables
from probcal.reporting.grid import (
    Grid,
    Text,
    footnotes,
    html_page,
    latex,
    markdown,
    number_grids,
    omission_notes,
    order_metrics,
    override_notes,
)
from probcal.reporting.metric_table import (
    MOST_LINE_COLUMNS,
    MetricResults,
    best_method_table,
    has_best_methods,
    metric_table,
    splits_text,
    verdicts,
)
from probcal.reporting.side_by_side import side_by_side_tables
from probcal.store.cell_result import Results, resolve_metric
from probcal.store.folder import Store
from probcal.store.outline import Outline, ResultColumn, Row
from probcal.store.summary import census, stale_ids, summarise

HEADER = [
    "experiment", "dataset", "learner", "method", "label", "metric",
    "mean", "sd", "n", "failed", "stale", "published", "difference",
]  # fmt: skip


def tidy_csv(outline: Outline, results: Results, metrics: list[str], published: PublishedPaper | None) -> str:
    """Return the lines under ``HEADER``, without the header.

    ``difference`` is our number less the published one, empty unless both are finite. Infinity is ``inf``.
    """
    return csv_text(
        _tidy_line(outline, results, row, column, metric, published)
        for metric in metrics
        for row in outline.datasets
        for column in outline.columns
    )


def _tidy_line(
    outline: Outline, results: Results, row: Row, column: ResultColumn, metric: str, published: PublishedPaper | None
) -> list[str | int]:
    summary = summarise(outline, results, row, column, metric)
    number = published_number(published, row, column, metric)
    difference = None if summary.mean is None or number is None else summary.mean - number
    if difference is not None and not math.isfinite(difference):
        difference = None
    n_stale = len(stale_ids(outline, results, row, column))
    return [
        outline.name, row.name, column.learner, column.method, column.label, metric,
        _number_text(summary.mean), _number_text(summary.sd), summary.n, summary.failed, n_stale,
        _number_text(number), _number_text(difference),
    ]  # fmt: skip


def _number_text(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"


_UP, _DOWN = "↑", "↓"


def has_method_rows(outline: Outline, published: PublishedPaper | None) -> bool:
    """Return whether tables of single metrics would each be one wide line, and the paper has no such tables."""
    has_own_tables = published is not None and any(table.number is not None for table in published.tables.values())
    return len(outline.datasets) == 1 and len(outline.columns) > MOST_LINE_COLUMNS and not has_own_tables


def method_table(number: int, outline: Outline, results: Results, published: PublishedPaper | None) -> Grid:
    """Return table ``number`` with a column per metric, its best in bold, and published numbers in brackets."""
    metrics = order_metrics(outline.metrics)
    all_results = [MetricResults(outline, results, metric, published) for metric in metrics]
    names = [resolve_metric(metric) for metric in metrics]
    [row] = outline.datasets
    columns = [metric_results.line(row, name.decimals) for metric_results, name in zip(all_results, names, strict=True)]
    return Grid(
        number=number,
        name=outline.datasets[0].title,
        explanation=_explanation(outline, names, all_results),
        header=["", *map(_header, names)],
        rows=[[Text(column.label), *cells] for column, *cells in zip(outline.columns, *columns, strict=True)],
        notes=[
            *_agreement_notes(names, all_results),
            *_footnotes(all_results, outline, results),
            *_abbreviations(names),
        ],
    )


def _header(name: Metric) -> str:
    return name.short if name.no_end else f"{name.short} {_UP if name.larger_is_better else _DOWN}"


def _explanation(outline: Outline, names: Sequence[Metric], all_results: Sequence[MetricResults]) -> str:
    ends = {_header(name)[-1] for name in names if not name.no_end}
    parts = [splits_text([outline])]
    parts += [f"{mark} {word} is better" for mark, word in ((_UP, "larger"), (_DOWN, "smaller")) if mark in ends]
    one_group = len({column.group for column in outline.columns}) == 1
    parts.append("best in bold" if one_group else "best of each learner in bold")
    places = dict.fromkeys(
        f"{metric_results.table.place} of {metric_results.published.short}" + _seed_text(metric_results.table.seed)
        for metric_results in all_results
        if metric_results.table and metric_results.published
    )
    return "; ".join(parts + ([f"in brackets {', '.join(places)}"] if places else [])) + "."


def _seed_text(seed: int | None) -> str:
    return "" if seed is None else f" (only seed {seed})"


def _agreement_notes(names: Sequence[Metric], all_results: Sequence[MetricResults]) -> list[str]:
    """Return the agreement of all metrics in one line, judged as ``probcal check`` does.

    A table with a seed is compared with the repetition of that seed only.
    """
    counts, restrictions = [], dict[str, None]()
    for name, metric_results in zip(names, all_results, strict=True):
        if metric_results.table and (
            judgements := verdicts(metric_results.pairs(metric_results.table), metric_results.table)
        ):
            counts.append(f"{name.short} {sum(verdict.in_band for verdict in judgements)} of {len(judgements)}")
            if metric_results.table.seed is not None:
                restrictions[f"only our run of seed {metric_results.table.seed}, not the mean"] = None
    remark = f" ({', '.join(restrictions)})" if restrictions else ""
    return [f"Agreement with the published numbers{remark}: {', '.join(counts)}."] if counts else []


def _footnotes(all_results: Sequence[MetricResults], outline: Outline, results: Results) -> list[str]:
    summaries = [summary for metric_results in all_results for summary in metric_results.all_summaries]
    return [*footnotes(summaries, census(outline, results)), *override_notes(outline)]


def _abbreviations(names: Sequence[Metric]) -> list[str]:
    """Return what the headings mean."""
    pairs = [(name, name.long.removeprefix(f"{name.short}: ")) for name in names if name.short != name.long]
    meanings = [
        f"{name.short}: {long[0].lower()}{long[1:]}" + (f", {name.no_end}" if name.no_end else "")
        for name, long in pairs
    ]
    return [f"{'; '.join(meanings)}."] if meanings else []


FORMATS = ("markdown", "latex", "html", "csv")


def tables_text(*stores: Store, format: str = "markdown", side_by_side: bool = False) -> str:
    """Return every table of the experiments in ``stores`` in one of ``FORMATS``.

    The experiments follow one another or stand ``side_by_side``. CSV is the same either way.

    Raises StoreError when a folder holds no experiment or a broken line, UnknownPaper for an unknown paper, and
    SideBySideError when experiments cannot stand side by side.
    """
    if format == "csv":
        return csv_text([HEADER]) + "".join(_store_csv(store) for store in stores)
    if side_by_side:
        experiments = [side_by_side_tables(*stores)]
    else:
        experiments = [(Outline.of(store).title, tables(store)) for store in stores]
    if format == "html":
        return html_page(experiments)
    return "\n".join({"markdown": markdown, "latex": latex}[format](*experiment) for experiment in experiments)


def _store_csv(store: Store) -> str:
    outline, published = attach_paper(Outline.of(store))
    return tidy_csv(outline, store.results(), order_metrics(outline.metrics), published)


def tables(store: Store) -> list[Grid]:
    """Return CXE, RMS, AUC, the best methods, the other metrics and the effects of calibration.

    Raises as ``tables_text`` does. Where a data set stands alone under many columns, one table of all metrics
    replaces all but the last. The first table says which cells are skipped.
    """
    outline, published = attach_paper(Outline.of(store))
    results = store.results()
    if has_method_rows(outline, published):
        return [method_table(1, outline, results, published), *calibration_tables(2, outline, results, published)]
    full_census = census(outline, results)

    def best_grid(number: int) -> Grid:
        return best_method_table(number, outline, results, published, full_census)

    grids = number_grids(
        outline.metrics,
        lambda number, metric: metric_table(number, outline, results, metric, published, full_census),
        best_grid if has_best_methods(outline) else None,
    )
    skip_notes = set(omission_notes(outline))
    grids[1:] = [replace(grid, notes=[note for note in grid.notes if note not in skip_notes]) for grid in grids[1:]]
    return grids + calibration_tables(len(grids) + 1, outline, results, published)
