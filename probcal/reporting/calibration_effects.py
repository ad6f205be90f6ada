"""Effects of calibration: c_emp and loss before and after it, and the tables of them.

They come from cells whose method has two stages: the learner's own predictions and the calibrated ones.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from probcal.metrics.metric import format_number
from probcal.papers.check.comparison import LOSS_RATIO, Stages, loss_ratios
from probcal.papers.check.findings import CheckedResults
from probcal.papers.published import PublishedPaper
from probcal.reporting.grid import NOT_RUN, Grid, Text, group_by, span_text
from probcal.reporting.metric_table import PAPER, minor_lines
from probcal.store.cell_result import Results
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment
from probcal.store.summary import done_stages

ERROR_METRIC = "c_emp"


@dataclass(frozen=True)
class CalibrationEffect:
    """Hold the effect of one column on one data set.

    ``parameters`` is (n_parameters,), in rising order.
    """

    row: Row
    column: ResultColumn
    name: str
    """Name of the column. It is the learner's name where only this method calibrates the learner."""
    parameters: np.ndarray
    ratios: np.ndarray
    """(n_splits, n_parameters): loss after calibration over loss before."""
    errors: np.ndarray
    """(n_splits, 2): c_emp before and after calibration. No rows where c_emp was not computed."""

    @property
    def mean_ratios(self) -> np.ndarray:
        """Return (n_splits,): the mean over the loss parameters."""
        return np.asarray(self.ratios.mean(axis=1))


def measure_effects(stored: StoredExperiment, results: Results) -> list[CalibrationEffect]:
    """Return the effects of each data set, in the order of columns, where any result has stages."""
    pairs = [(row, column) for row in stored.datasets for column in stored.columns if column.before_and_after]
    groups = Counter(column.group for column in stored.columns if column.before_and_after)
    effects = [
        _build_effect(
            row,
            column,
            column.group if groups[column.group] == 1 else column.label,
            done_stages(stored, results, row, column),
        )
        for row, column in pairs
    ]
    return [effect for effect in effects if effect.ratios.size or effect.errors.size]


def _build_effect(row: Row, column: ResultColumn, name: str, cell_stages: Sequence[Stages]) -> CalibrationEffect:
    all_ratios = [loss_ratios(stages) for stages in cell_stages]
    # The parameters that all splits have, so that each mean is over the same splits.
    parameters = sorted(set.intersection(*map(set, all_ratios))) if all_ratios else []
    ratios = [[cell_ratios[parameter] for parameter in parameters] for cell_ratios in all_ratios]
    errors = [stages[ERROR_METRIC] for stages in cell_stages if len(stages.get(ERROR_METRIC, ())) == 2]
    return CalibrationEffect(
        row,
        column,
        name,
        np.array(parameters, dtype=float),
        np.array(ratios, dtype=float).reshape(len(cell_stages), len(parameters)),
        np.array(errors, dtype=float).reshape(-1, 2),
    )


def calibration_tables(experiment: CheckedResults) -> list[Grid]:
    """Return the tables, or none where no method has stages before and after calibration."""
    effects = measure_effects(experiment.stored, experiment.results)
    errors = [effect for effect in effects if len(effect.errors)]
    ratios = [effect for effect in effects if effect.ratios.size]
    grids = []
    if errors:
        explanation = f"before calibration, from the same fits; smaller is better; {_splits_text(errors)}."
        rows = _effect_rows(errors, lambda effect: effect.errors[:, 0])
        grids.append(Grid("c_emp before", explanation, ["", *_effect_names(errors)], rows))
    if ratios:
        grids.append(_ratio_grid(ratios, experiment.published))
    return grids


def _ratio_grid(effects: list[CalibrationEffect], published: PublishedPaper | None) -> Grid:
    parameters = np.unique(np.concatenate([effect.parameters for effect in effects]))
    explanation = (
        f"loss after calibration over loss before, mean over the {len(parameters)} loss parameters from "
        f"{parameters[0]:g} to {parameters[-1]:g}; below 1 calibration has helped; {_splits_text(effects)}."
    )
    rows = _effect_rows(effects, lambda effect: effect.mean_ratios)
    columns = group_by(effects, lambda effect: effect.name)
    means = [[statistics.fmean(effect.mean_ratios) for effect in group] for group in columns.values()]
    if len(rows) > 1 and all(len(column_means) == len(rows) for column_means in means):
        rows.append([Text("mean"), *(Text(format_number(statistics.fmean(column_means))) for column_means in means)])
    texts = [_published_ratio(published, group[0].column) for group in columns.values()] if published else []
    notes = [f"in brackets the average in the text of {published.short}."] if published and any(texts) else []
    return Grid("Loss ratio", explanation, ["", *columns], rows + minor_lines(PAPER, texts), notes)


def _published_ratio(published: PublishedPaper, column: ResultColumn) -> str:
    """Return the published loss ratio, 1 less the saving that the paper's text states."""
    names = (column.paper_learner or "", column.paper_method or "")
    for claim in published.claims:
        if claim.kind == "saves" and claim.metrics == (LOSS_RATIO,) and published.columns[claim.columns[0]] == names:
            ends = dict.fromkeys(format_number(1 - saving) for saving in reversed(claim.between))
            return f"[{' to '.join(ends)}]"
    return ""


def _effect_rows(
    effects: Sequence[CalibrationEffect], values_of: Callable[[CalibrationEffect], np.ndarray]
) -> list[list[Text]]:
    """Return one row per data set, with mean and sd of each column."""
    texts = {}
    for effect in effects:
        values = values_of(effect)
        has_sd = len(values) > 1 and np.isfinite(values).all()
        spread = f" ± {format_number(statistics.stdev(values))}" if has_sd else ""
        texts[effect.row.name, effect.name] = format_number(statistics.fmean(values)) + spread
    titles = {effect.row.name: effect.row.title for effect in effects}
    return [
        [Text(title), *(Text(texts.get((row, name), NOT_RUN)) for name in _effect_names(effects))]
        for row, title in titles.items()
    ]


def _effect_names(effects: Sequence[CalibrationEffect]) -> list[str]:
    return list(dict.fromkeys(effect.name for effect in effects))


def _splits_text(effects: Sequence[CalibrationEffect]) -> str:
    counts = {max(len(effect.ratios), len(effect.errors)) for effect in effects}
    return "one split" if counts == {1} else f"mean ± sd over {span_text(counts)} random splits"
