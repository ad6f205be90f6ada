"""What calibration changed: the error before and after, and the loss after over that before.

From cells whose method has two stages, the learner's own estimates and the calibrated ones.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from probcal.cell_result import CellResult
from probcal.metrics.costs import ratio_of
from probcal.metrics.names import loss_parameter
from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results, planned_ids

Stages = Mapping[str, Sequence[float]]
"""Metric -> its value at every stage."""
LOSS_RATIO = "loss_ratio"
"""By this name claims speak of the mean over the loss parameters of the loss after over that before."""
ERROR = "c_emp"


@dataclass(frozen=True)
class Effect:
    """Of one column on one data set. ``parameters``: (n_parameters,), rising."""

    row: Row
    column: Column
    name: str
    """Of the column: its learner's where no other method calibrates that, for before calibration there is no method."""
    parameters: np.ndarray
    ratios: np.ndarray
    """(n_splits, n_parameters): loss after over loss before."""
    errors: np.ndarray
    """(n_splits, 2): c_emp before and after; no rows where it was not taken."""

    @property
    def mean_ratios(self) -> np.ndarray:
        """(n_splits,): the mean over the loss parameters."""
        return np.asarray(self.ratios.mean(axis=1))


def effects_of(outline: Outline, results: Results) -> list[Effect]:
    """Data set by data set, in the order of columns; of those alone of which any cell tells of before and after."""
    pairs = [(row, column) for row in outline.datasets for column in outline.columns if column.before_and_after]
    groups = Counter(column.group for column in outline.columns if column.before_and_after)
    found = [
        _effect(
            row,
            column,
            column.group if groups[column.group] == 1 else column.label,
            _stages(outline, results, row, column),
        )
        for row, column in pairs
    ]
    return [one for one in found if one.ratios.size or one.errors.size]


def n_missing(outline: Outline, results: Results) -> tuple[int, int]:
    """(planned cells without a number before and after, planned cells) of the columns that calibrate."""
    pairs = [(row, column) for row in outline.datasets for column in outline.columns if column.before_and_after]
    planned = sum(len(planned_ids(outline, *pair)) for pair in pairs)
    return planned - sum(len(_stages(outline, results, *pair)) for pair in pairs), planned


def mean_loss_ratio(stages: Stages) -> float:
    """Of one cell, over its loss parameters; NaN where it has none with two stages."""
    ratios = _loss_ratios(stages)
    return statistics.fmean(ratios.values()) if ratios else math.nan


def _effect(row: Row, column: Column, name: str, every: list[Stages]) -> Effect:
    of_splits = [_loss_ratios(stages) for stages in every]
    parameters = sorted(set.intersection(*map(set, of_splits))) if of_splits else []
    ratios = [[one[parameter] for parameter in parameters] for one in of_splits]
    errors = [stages[ERROR] for stages in every if len(stages.get(ERROR, ())) == 2]
    return Effect(
        row,
        column,
        name,
        np.array(parameters, dtype=float),
        np.array(ratios, dtype=float).reshape(len(every), len(parameters)),
        np.array(errors, dtype=float).reshape(-1, 2),
    )


def _loss_ratios(stages: Stages) -> dict[float, float]:
    return {
        parameter: ratio_of(*values)
        for name, values in stages.items()
        if (parameter := loss_parameter(name)) is not None and len(values) == 2 and not any(map(math.isnan, values))
    }


def _stages(outline: Outline, results: Results, row: Row, column: Column) -> list[Stages]:
    cells: Iterable[CellResult | None] = (results.get(one) for one in planned_ids(outline, row, column))
    return [one.stages for one in cells if one and one.status == "done" and one.stages]
