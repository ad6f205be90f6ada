"""The tables of an experiment: the metrics in the paper's layout, and which method did best."""

from __future__ import annotations

from dataclasses import replace

from probcal.csv_text import csv_text
from probcal.errors import ProbcalError, did_you_mean
from probcal.paper.published import Published
from probcal.show.best import best_methods, has_a_best
from probcal.show.by_method import by_method, reads_by_method
from probcal.show.calibration_tables import calibration_tables
from probcal.show.grid import Grid
from probcal.show.measured import measured
from probcal.show.notes import skipped
from probcal.show.order import in_order, numbered
from probcal.show.outline import Outline
from probcal.show.render import latex, markdown, page
from probcal.show.tidy import HEADER, tidy
from probcal.show.together import together
from probcal.store import Store

FORMATS = ("markdown", "latex", "html", "csv")


class UnknownFormat(ProbcalError):
    """There is no such format of a table."""


def tables_text(*stores: Store, format: str = "markdown", side_by_side: bool = False) -> str:
    """Every table of the experiments in ``stores``, one after the other or ``side_by_side``, in one of ``FORMATS``.

    CSV is the same either way. Raises UnknownFormat, StoreError when a folder holds no experiment or a broken
    line, UnknownPaper when an experiment follows a paper that probcal does not have, and NotTogether when
    experiments cannot stand side by side.
    """
    if format not in FORMATS:
        raise UnknownFormat(
            f'there is no table format "{format}"{did_you_mean(format, FORMATS)} (there are: {", ".join(FORMATS)})'
        )
    if format == "csv":
        return csv_text([HEADER]) + "".join(_tidy(store) for store in stores)
    if side_by_side:
        experiments = [together(*stores)]
    else:
        experiments = [(Outline.of(store).title, tables(store)) for store in stores]
    if format == "html":
        return page(experiments)
    return "\n".join({"markdown": markdown, "latex": latex}[format](*experiment) for experiment in experiments)


def _tidy(store: Store) -> str:
    outline = Outline.of(store)
    return tidy(outline, store.results(), in_order(outline.metrics), _paper(outline))


def tables(store: Store) -> list[Grid]:
    """CXE, RMS, AUC, the best methods, the other metrics, what calibration changed; raises as ``tables_text`` does.

    Where a data set stands alone under many columns, one table of all metrics instead of those before the last. The
    first table says which cells are skipped.
    """
    outline, results = Outline.of(store), store.results()
    published = _paper(outline)
    if published:
        outline = outline.titled(published.titles)
    if reads_by_method(outline, published):
        return [by_method(1, outline, results, published), *calibration_tables(2, outline, results, published)]
    grids = numbered(
        outline.metrics,
        lambda number, metric: measured(number, outline, results, metric, published),
        (lambda number: best_methods(number, outline, results, published)) if has_a_best(outline) else None,
    )
    once = set(skipped(outline))
    grids[1:] = [replace(one, notes=[note for note in one.notes if note not in once]) for one in grids[1:]]
    return grids + calibration_tables(len(grids) + 1, outline, results, published)


def _paper(outline: Outline) -> Published | None:
    return Published.read(outline.paper) if outline.paper else None
