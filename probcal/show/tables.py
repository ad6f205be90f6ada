"""The tables of one experiment: the metrics in the paper's layout, and which method did best."""

from __future__ import annotations

from probcal.errors import ProbcalError, did_you_mean
from probcal.paper.published import Published
from probcal.show.best import best_methods
from probcal.show.grid import Grid
from probcal.show.measured import measured
from probcal.show.metric_names import TABLES_1_TO_3
from probcal.show.outline import Outline
from probcal.show.render import latex, markdown, page
from probcal.show.tidy import HEADER, tidy
from probcal.store import Store

FORMATS = ("markdown", "latex", "html", "csv")


class UnknownFormat(ProbcalError):
    """There is no such format of a table."""


def tables_text(*stores: Store, format: str = "markdown") -> str:
    """Every table of the experiments in ``stores``, one after the other, in one of ``FORMATS``.

    Raises UnknownFormat, StoreError when a folder holds no experiment or a broken line, and
    UnknownPaper when an experiment follows a paper that probcal does not have.
    """
    if format not in FORMATS:
        raise UnknownFormat(
            f'there is no table format "{format}"{did_you_mean(format, FORMATS)} (there are: {", ".join(FORMATS)})'
        )
    if format == "csv":
        return ",".join(HEADER) + "\n" + "".join(_tidy(store) for store in stores)
    experiments = [(Outline.of(store).title, tables(store)) for store in stores]
    if format == "html":
        return page(experiments)
    return "\n".join({"markdown": markdown, "latex": latex}[format](*experiment) for experiment in experiments)


def _tidy(store: Store) -> str:
    outline = Outline.of(store)
    return tidy(outline, store.results(), _in_order(outline.metrics), _paper(outline))


def tables(store: Store) -> list[Grid]:
    """CXE, RMS, AUC, the best methods, then the other metrics; raises as ``tables_text`` does."""
    outline, results = Outline.of(store), store.results()
    published = _paper(outline)
    if published:
        outline = outline.titled(published.titles)
    metrics = _in_order(outline.metrics)
    first = [metric for metric in metrics if metric in TABLES_1_TO_3]
    grids = [measured(number, outline, results, metric, published) for number, metric in enumerate(first, 1)]
    if len(outline.columns) > 1:
        grids.append(best_methods(len(grids) + 1, outline, results, published))
    for metric in metrics[len(first):]:
        grids.append(measured(len(grids) + 1, outline, results, metric, published))
    return grids


def _in_order(metrics: list[str]) -> list[str]:
    first = [metric for metric in TABLES_1_TO_3 if metric in metrics]
    return first + [metric for metric in metrics if metric not in first]


def _paper(outline: Outline) -> Published | None:
    return Published.read(outline.paper) if outline.paper else None
