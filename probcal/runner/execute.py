"""Run one cell: fit and predict, measure, and record what came out.

Nothing here changes a prediction, so that no result is stale when it changes. See ``probcal.runner.fit_predict``.
"""

from __future__ import annotations

import math
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from probcal.errors import StoreError
from probcal.metrics import METHOD_METRICS, all_metrics, means_over_labels, roc_curve
from probcal.runner.cells import Cell
from probcal.runner.fit_predict import SplitRows, copy_view, fitted, has_stages, predictions, rows_of
from probcal.runner.plan import Planned
from probcal.store.cell_result import CellResult, curves_fault
from probcal.store.folder import Store

_DIGITS = 6
"""Of the places of a curve: more than a figure can show."""


@dataclass(frozen=True)
class Outcome:
    """The result of a cell with the labels and estimates behind it, None if it failed.

    ``y``: (n_test,) int8. ``p``: (n_test, n_classes) predictions. With several labels ``y`` is (n_test, n_labels) and
    ``p`` (n_test, n_labels, 2).
    """

    result: CellResult
    y: np.ndarray | None = None
    p: np.ndarray | None = None


def execute(cell: Cell, key: dict[str, str], run: str) -> Outcome:
    """Run one cell. Whatever it raises becomes a failed result with the traceback kept.

    The seconds are those of fitting and estimating: reading the data falls on whichever cell comes first.
    """
    start = time.perf_counter()
    row: dict[str, Any] = {
        "dataset": cell.dataset,
        "repetition": cell.repetition,
        "learner": cell.column.learner.name,
        "method": cell.column.method.name,
        "key": key,
        "run": run,
    }
    given: list[warnings.WarningMessage] = []
    try:
        rows = rows_of(cell)
        row |= {"n_train": len(rows.y_train), "n_test": len(rows.y_test)}
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            if rows.y_test.ndim == 1:
                found = _predict(cell, rows)
            else:  # each label by itself; only the predictions of its estimator are taken
                found = _Prediction(np.stack([_predict(cell, one).p for one in rows.each_label()], axis=1))
        row["seconds"] = _since(start)
        metrics = {**measured(rows.y_test, found.p, rows.truth, cell.asked), **found.measures}
        row |= {"stages": found.stages, "curves": found.curves}
        result = CellResult(status="done", metrics=metrics, warnings=_counted(given), **row)
        return Outcome(result, rows.y_test, found.p)
    except (Exception, SystemExit) as error:
        row |= {"error_type": type(error).__name__, "message": str(error), "traceback": traceback.format_exc()}
        row["seconds"] = _since(start)
        return Outcome(CellResult(status="failed", warnings=_counted(given), **row))


def measured(y: np.ndarray, p: np.ndarray, truth: np.ndarray | None, asked: tuple[str, ...]) -> dict[str, float]:
    """The metrics of a cell; of several labels their means.

    ``truth``: see ``Dataset``, of the test rows; ``asked``: what is measured only where asked for.
    """
    measure = all_metrics if y.ndim == 1 else means_over_labels
    return measure(y, p, true_p=truth, also=asked)


def truth_of(cell: Cell) -> np.ndarray | None:
    """The true probabilities of a cell's test rows, where they are known: only of generated rows."""
    return rows_of(cell).truth if cell.card.generator else None


@dataclass(frozen=True)
class _Prediction:
    """The predictions of the test rows, and what the experiment asks for besides."""

    p: np.ndarray
    stages: dict[str, list[float]] = field(default_factory=dict)
    measures: dict[str, float] = field(default_factory=dict)
    """What only the method itself can measure."""
    curves: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def _predict(cell: Cell, rows: SplitRows) -> _Prediction:
    estimator = fitted(cell, rows)
    stages: dict[str, list[float]] = {}
    for p in predictions(cell, estimator, rows):
        if has_stages(cell, estimator):
            values = all_metrics(rows.y_test, p, also=cell.stages)
            for metric in cell.stages:
                stages.setdefault(metric, []).append(values.get(metric, math.nan))
    measures = _asked_of(estimator, "measures", rows.X_test, cell.asked)
    return _Prediction(p, stages, measures, _curves(cell, estimator, rows, p))


def _curves(cell: Cell, estimator: Any, rows: SplitRows, p: np.ndarray) -> dict[str, list[dict[str, Any]]]:
    found = _asked_of(estimator, "curves", rows.X_test, cell.curves)
    if "roc" in cell.curves and p.shape[1] == 2 and len(np.unique(rows.y_test)) == 2:
        x, y = roc_curve(rows.y_test, p[:, 1])
        found["roc"] = [{"x": x.tolist(), "y": y.tolist()}]
    short = {name: [_shortened(line) for line in lines] for name, lines in found.items()}
    if fault := curves_fault(short):  # of a method of the user's; kept, it would be a broken line of the results
        raise ValueError(fault)
    return short


def _shortened(line: dict[str, Any]) -> dict[str, Any]:
    return {**line, **{axis: np.round(line[axis], _DIGITS).tolist() for axis in ("x", "y")}}


def _asked_of(estimator: Any, what: str, X: Any, asked: tuple[str, ...]) -> dict[str, Any]:
    """Return those of the estimator's own ``measures`` or ``curves`` that the experiment asks for."""
    tell = getattr(estimator, what, None)
    return {name: one for name, one in tell(copy_view(X)).items() if name in asked} if asked and tell else {}


def _counted(given: list[warnings.WarningMessage]) -> dict[str, int]:
    return dict(Counter(warning.category.__name__ for warning in given))


def _since(start: float) -> float:
    return round(time.perf_counter() - start, 6)


def measured_again(planned: Planned, store: Store, run: str) -> Outcome | None:
    """Return the outcome where only metrics have to be measured; None when the cell has to be fitted again."""
    kept = planned.kept
    if kept is None:
        return None
    by_method = {name: number for name, number in kept.metrics.items() if name in METHOD_METRICS}
    if planned.lacking & set(METHOD_METRICS):  # only the fitted method can measure them
        return None
    try:
        metrics = measured(*store.predictions(kept), truth_of(planned.cell), planned.cell.asked)
    except (StoreError, ValueError):
        return None
    return Outcome(replace(kept, metrics=metrics | by_method, key=planned.key, run=run))
