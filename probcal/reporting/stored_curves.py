"""Stages and curves that cells store, as arrays for the figures of papers.

Stages are metrics by number of stages (Langford & Zadrozny 2005, Figure 1). Curves are martingales, ROC curves and
sweeps over class weights. They come from the first repetition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from probcal.store.cell_result import Results
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment
from probcal.store.summary import done_cells, done_stages, first_cell, planned_ids, stale_ids, summarise


@dataclass(frozen=True)
class StageCurve:
    """Hold one metric by stage on one data set, over its splits."""

    title: str
    mean: np.ndarray
    """(n_stages,) means, infinite where a split is."""
    sd: np.ndarray | None
    """(n_stages,) with n - 1 in the denominator, NaN where the mean is infinite. None for one split."""
    n_splits: int


@dataclass(frozen=True)
class CurvePanel:
    """Hold the curves of one metric under one column."""

    metric: str
    column: ResultColumn
    curves: list[StageCurve]


def stage_panels(stored: StoredExperiment, results: Results) -> list[list[CurvePanel]]:
    """Return one row of panels per metric and one panel per column, for those with stages. Empty without any."""
    column_stages = [
        (column, [(row.title, done_stages(stored, results, row, column)) for row in stored.datasets])
        for column in stored.columns
        if not column.before_and_after  # their two stages are no rounds
    ]
    column_stages = [(column, rows) for column, rows in column_stages if any(cells for _, cells in rows)]
    metrics = dict.fromkeys(
        metric for _, rows in column_stages for _, cells in rows for stages in cells for metric in stages
    )
    panels: list[list[CurvePanel]] = []
    for metric in metrics:
        panels.append([])
        for column, rows in column_stages:
            splits = [(title, [stages[metric] for stages in cells if metric in stages]) for title, cells in rows]
            panels[-1].append(CurvePanel(metric, column, [_stage_curve(title, one) for title, one in splits if one]))
    return panels


def _stage_curve(title: str, splits: list[list[float]]) -> StageCurve:
    n_stages = max(map(len, splits))
    # a method that stops early keeps its last value
    values = np.array([split + split[-1:] * (n_stages - len(split)) for split in splits])
    # The spread of infinite values is NaN, which the figure leaves out.
    with np.errstate(invalid="ignore"):
        sd = values.std(axis=0, ddof=1) if len(values) > 1 else None
    return StageCurve(title, values.mean(axis=0), sd, len(values))


def shortfalls(stored: StoredExperiment, results: Results, panels: list[list[CurvePanel]]) -> list[str]:
    """Return notes on what the figure does not show: missing, stale or infinite cells."""
    notes = missing_cells(stored, results, [panel.column for panel in panels[0]], stages=True)
    for panel in (panel for row in panels for panel in row):
        titles = [curve.title for curve in panel.curves if not np.isfinite(curve.mean).all()]
        if titles:
            notes.append(f"{panel.metric} of {panel.column.label} is not finite at every stage: {', '.join(titles)}")
    return notes


def missing_cells(
    stored: StoredExperiment, results: Results, columns: Sequence[ResultColumn], stages: bool = False
) -> list[str]:
    """Return notes on cells of ``columns`` without a result, or without ``stages``, and on stale ones."""
    pairs = [(row, column) for row in stored.datasets for column in columns]
    n_planned = sum(len(planned_ids(stored, *pair)) for pair in pairs)
    cells = [cell for pair in pairs for cell in done_cells(stored, results, *pair) if cell.stages or not stages]
    n_stale = sum(len(stale_ids(stored, results, *pair)) for pair in pairs)
    notes = []
    if n_missing := n_planned - len(cells):
        problem = "failed, were not run or have no stages" if stages else "failed or were not run"
        notes.append(f"{n_missing} of {n_planned} cells {problem}")
    if n_stale:
        notes.append(f"{n_stale} of {n_planned} cells are stale; probcal run renews them")
    return notes


MARTINGALE, ROC = "martingale", "roc"


@dataclass(frozen=True)
class StoredCurve:
    """Hold one line: that of a data set's first repetition under one column."""

    column: ResultColumn
    x: list[float]
    y: list[float]
    auc: float
    """AUC of the same predictions. NaN where it was not computed."""

    @property
    def method(self) -> tuple[str, str]:
        """Return the learner and the method entry without its variant. Lines of the same method look alike."""
        return self.column.learner, self.column.entry


@dataclass(frozen=True)
class Panels:
    """Hold the panels that stand side by side.

    ``variant`` is that of the methods with martingales here, empty where they have none.
    """

    row: Row
    variant: str
    martingales: list[StoredCurve]
    rocs: list[StoredCurve]


def stored_panels(stored: StoredExperiment, results: Results) -> list[Panels]:
    """Return the martingales and ROC curves of each data set, separately for each variant with martingales.

    The ROC curves of other variants, and of methods without any, are repeated beside each of them.
    """
    all_panels = []
    for row in stored.datasets:
        martingales, rocs = (
            [
                StoredCurve(column, line["x"], line["y"], auc)
                for column in stored.columns
                for line, auc in _curve_lines(stored, results, row, column, name)
            ]
            for name in (MARTINGALE, ROC)
        )
        variants = list(dict.fromkeys(curve.column.variant for curve in martingales))
        for variant in variants or [""]:
            other_variants = {name for name in variants if name != variant}
            panels = Panels(
                row,
                variant,
                [curve for curve in martingales if curve.column.variant == variant],
                [curve for curve in rocs if curve.column.variant not in other_variants],
            )
            all_panels += [panels] if panels.martingales or panels.rocs else []
    return all_panels


def missing_curves(stored: StoredExperiment, results: Results) -> list[str]:
    """Return notes on what the figure does not show: columns without a line, and stale cells."""
    pairs = [(row, column) for row in stored.datasets for column in stored.columns]
    pairs = [pair for pair in pairs if planned_ids(stored, *pair)]
    # methods that bet along the stream; others never have a martingale
    entries = {
        column.entry
        for row, column in pairs
        if summarise(stored, results, row, column, "log10_martingale").n
        or _curve_lines(stored, results, row, column, MARTINGALE)
    }
    notes = []
    for name, title, candidates in (
        (MARTINGALE, "martingale", [pair for pair in pairs if pair[1].entry in entries]),
        (ROC, "ROC curve", pairs),
    ):
        columns = {pair[1] for pair in candidates if _curve_lines(stored, results, *pair, name)}
        labels = [
            f"{column.label} on {row.title}" if column in columns else column.label
            for row, column in candidates
            if not _curve_lines(stored, results, row, column, name)
        ]
        if columns and labels:
            notes.append(f"no {title} for {', '.join(dict.fromkeys(labels))}")
    stale_labels = [
        pair[1].label for pair in pairs if planned_ids(stored, *pair)[0] in stale_ids(stored, results, *pair)
    ]
    if stale_labels:
        notes.append(f"{', '.join(dict.fromkeys(stale_labels))}: stale; probcal run renews them")
    return notes


def _curve_lines(
    stored: StoredExperiment, results: Results, row: Row, column: ResultColumn, name: str
) -> list[tuple[dict[str, Any], float]]:
    cell = first_cell(stored, results, row, column)
    return [(line, cell.metrics.get("auc", math.nan)) for line in cell.curves.get(name, ())] if cell else []


Box = tuple[np.ndarray, np.ndarray]
"""Lower left and upper right corner, (2,) each."""


@dataclass(frozen=True)
class Sweep:
    """Hold one column on one data set."""

    row: Row
    column: ResultColumn
    borders: dict[float, list[np.ndarray]]
    """Level -> its lines, (n, 2) each, with the positive side on the left, by rising level.

    A level without lines has the same label everywhere. Only two numeric columns have lines.
    """
    positive_levels: frozenset[float]
    """Levels without lines that are positive everywhere."""
    corners: np.ndarray
    """(n, 2) lower left corner of the box in which lines were sought, repeated for each level without lines."""
    classes: dict[str, np.ndarray]
    """Class -> (n, 2) points, all or some of the rows of the sweep. The second class is the positive one."""
    scores: np.ndarray | None
    """(n, 2) rising raw scores and their predictions, or None where the learner has no scores."""
    crossings: float | None
    """Pairs of levels that contradict each other on a test row, or None where that was not computed."""
    equal_columns: list[ResultColumn] = field(default_factory=list)
    """Columns of the same sweep, which are not drawn."""

    @property
    def lines(self) -> list[np.ndarray]:
        return [line for lines in self.borders.values() for line in lines]


def bounding_box(sweeps: Sequence[Sweep]) -> Box:
    """Return the box in which the lines of ``sweeps`` were sought. All are of one data set and one encoding.

    A side on which no line ends is as far out as a line or a row lies.
    """
    lines = [line for sweep in sweeps for line in [*sweep.lines, *(corner[None] for corner in sweep.corners)]]
    rows = [points for sweep in sweeps for points in sweep.classes.values()]
    ends = np.concatenate([line[[0, -1]] for line in lines or rows])
    low, high = (edge(np.concatenate(lines or rows), axis=0) for edge in (np.min, np.max))
    low = np.where(ends.min(axis=0) <= low, low, np.concatenate([low[None], *rows]).min(axis=0))
    high = np.where(ends.max(axis=0) >= high, high, np.concatenate([high[None], *rows]).max(axis=0))
    # A single point still needs axes of some width.
    return low, np.where(high > low, high, low + 1)


def stored_sweeps(stored: StoredExperiment, results: Results) -> list[Sweep]:
    """Return the sweeps of each data set, in the order of columns.

    Methods around one learner that differ only in ``answer`` are one sweep, since ``answer`` moves no line. The first
    of them is used.
    """
    sweeps: list[Sweep] = []
    for row in stored.datasets:
        for column in stored.columns:
            cell = first_cell(stored, results, row, column)
            if cell is None or not (cell.curves.get("iso_probability") or cell.curves.get("scores")):
                continue
            sweep = _build_sweep(row, column, cell.curves, cell.metrics.get("crossings"))
            for candidate in sweeps:
                if _includes(candidate, sweep):
                    candidate.equal_columns.append(column)
                    break
            else:
                sweeps.append(sweep)
    return sweeps


def undrawn_columns(sweeps: Sequence[Sweep]) -> list[str]:
    """Return which columns have no picture of their own, and why."""
    notes = []
    for sweep in sweeps:
        if sweep.equal_columns:
            settings = sweep.column.settings  # not stored by earlier versions
            reason = "and only the answer differs" if settings else "and other settings are unknown without a new run"
            labels = ", ".join(column.label for column in sweep.equal_columns)
            notes.append(f"{labels}: not drawn; learner, rows and levels are those of {sweep.column.label}, {reason}")
    return list(dict.fromkeys(notes))


def _build_sweep(
    row: Row, column: ResultColumn, curves: Mapping[str, list[dict[str, Any]]], crossings: float | None
) -> Sweep:
    borders: dict[float, list[np.ndarray]] = {}
    entries = sorted(curves.get("iso_probability", ()), key=lambda line: line["level"])
    for line in entries:
        borders.setdefault(line["level"], []).extend([_points(line)] if len(line["x"]) > 1 else [])
    corners = [_points(line) for line in entries if len(line["x"]) == 1]
    scores = curves.get("scores")
    return Sweep(
        row,
        column,
        borders,
        frozenset(line["level"] for line in entries if line.get("positive")),
        np.concatenate([np.empty((0, 2)), *corners]),
        {line["label"]: _points(line) for line in curves.get("training_rows", [])},
        _points(scores[0]) if scores else None,
        crossings,
    )


def _includes(first: Sweep, second: Sweep) -> bool:
    """Return whether ``first`` has all lines of ``second``, apart from the randomness of a learner."""

    def settings(column: ResultColumn) -> dict[str, Any]:
        # ``answer`` chooses between levels at one place and moves no line.
        params = {name: value for name, value in column.settings.get("params", {}).items() if name != "answer"}
        return {**column.settings, "params": params}

    return (
        (first.row, first.column.learner) == (second.row, second.column.learner)
        and settings(first.column) == settings(second.column)
        and second.borders.keys() <= first.borders.keys()
        and first.classes.keys() == second.classes.keys()
        and all(np.array_equal(first.classes[name], second.classes[name]) for name in first.classes)
    )


def _points(line: Mapping[str, Any]) -> np.ndarray:
    return np.column_stack([line["x"], line["y"]]).astype(np.float64)
