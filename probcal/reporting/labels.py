"""Order and numbers of an experiment's tables, and their footnotes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from probcal._io import visible
from probcal.reporting.grid import INCOMPLETE, INFINITY, NOT_RUN, Grid
from probcal.store.cell_result import CellResult
from probcal.store.outline import Outline, ResultOverride
from probcal.store.summary import Census, Summary

TABLES_1_TO_3 = ("cxe", "rms", "auc")


def in_order(metrics: Iterable[str]) -> list[str]:
    """Return the metrics, each once, with those of Tables 1 to 3 first."""
    every = list(dict.fromkeys(metrics))
    first = [metric for metric in TABLES_1_TO_3 if metric in every]
    return first + [metric for metric in every if metric not in first]


def numbered(
    metrics: Iterable[str], of_metric: Callable[[int, str], Grid], best: Callable[[int], Grid] | None
) -> list[Grid]:
    """Return the numbered tables: CXE, RMS, AUC, the ``best`` methods unless None, then the other metrics."""
    ordered = in_order(metrics)
    first = [metric for metric in ordered if metric in TABLES_1_TO_3]
    grids = [of_metric(number, metric) for number, metric in enumerate(first, 1)]
    if best:
        grids.append(best(len(grids) + 1))
    for metric in ordered[len(first) :]:
        grids.append(of_metric(len(grids) + 1, metric))
    return grids


UNDEFINED = "n/a"
_LONGEST_REASON = 120


def footnotes(summaries: Sequence[Summary], found: Census) -> list[str]:
    """Return footnotes for the marks in the table. Failed and missing cells are counted over the experiment."""
    notes = []
    if any(0 < one.infinite < one.n for one in summaries):
        notes.append(f"{INFINITY} (k/n): k of n splits are {INFINITY}, so the mean is {INFINITY}.")
    if partial := sum(one.partial for one in summaries):
        notes.append(f"{INCOMPLETE} mean over fewer splits than planned ({partial} in this table).")
    if undefined := sum(one.undefined for one in summaries):
        notes.append(f"{UNDEFINED}: the metric has no value ({undefined} finished cells).")
    return notes + troubles(found)


def troubles(found: Census) -> list[str]:
    notes = []
    if found.failed:
        first = found.failed[0]
        notes.append(f"failed: {len(found.failed)} of {found.planned} cells; the first is {first.id}: {_reason(first)}")
    if found.failed_since:
        first = found.failed_since[0]
        notes.append(
            f"failed when run again: {len(found.failed_since)} of {found.planned} cells. Their last finished results "
            f"are shown; the first is {first.id}: {_reason(first)}"
        )
    if found.not_run:
        of_empty = f"; none for {', '.join(found.empty)}" if found.empty else ""
        notes.append(f"{NOT_RUN} not run: {found.not_run} of {found.planned} cells{of_empty}.")
    if found.stale:
        notes.append(
            f"stale: {found.stale.total()} of {found.planned} cells have other settings, data or code than the last "
            f"run, or data that changed since ({_by_column(found.stale)}); probcal run renews them."
        )
    for kind, columns in sorted(found.warned.items()):
        notes.append(f"{visible(kind)} in {columns.total()} of {found.planned} cells: {_by_column(columns)}.")
    return notes


def exceptions(outline: Outline) -> list[str]:
    """Return each override of the experiment with its reason."""
    return [_exception(outline, one) for one in outline.exceptions]


def skipped(outline: Outline) -> list[str]:
    """Return those of ``exceptions`` that leave cells out."""
    return [_exception(outline, one) for one in outline.exceptions if one.skip]


def _exception(outline: Outline, departure: ResultOverride) -> str:
    titles = {row.name: row.title for row in outline.datasets}
    where = ", ".join(titles[name] for name in departure.datasets if name in titles)
    return f"{where}, {_columns(outline, departure)} ({departure.what}): {departure.why}"


def _columns(outline: Outline, departure: ResultOverride) -> str:
    """Return the labels of the columns that an override applies to, or the group's label for a whole group."""
    named = []
    for group in dict.fromkeys(column.group for column in outline.columns):
        columns = [column for column in outline.columns if column.group == group]
        about = [column.label for column in columns if (column.learner, column.method) in departure.columns]
        named += [group] if len(about) == len(columns) else about
    return ", ".join(named)


def _by_column(counts: Counter[str]) -> str:
    return ", ".join(f"{label} {n}" for label, n in counts.most_common())


def _reason(result: CellResult) -> str:
    first_line = ((result.message or "").strip().splitlines() or [""])[0]
    said = visible(": ".join(filter(None, [result.error_type, first_line]))) or f"{result.status}, without a message"
    return said if len(said) <= _LONGEST_REASON else said[: _LONGEST_REASON - 1] + "…"
