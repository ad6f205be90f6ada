"""Run one cell: fit and predict, measure, and record the result, also where the cell fails.

``probcal.runner.fit_predict`` makes the predictions. Nothing here changes one. A cell fails in one of three ways. Each
gives an ``Outcome`` of status ``failed`` or ``timeout``, and the run stores it like a done one (``Store.add``):

- It raises. ``execute`` makes the traceback a part of the result.
- It raises something that cannot be caught or described here, or returns what cannot be stored.
  ``probcal.runner.worker_process.run_isolated_cell`` catches this.
- Its worker dies, or it takes too long. ``probcal.runner.pool.worker_outcome`` says so, in the process of the run.

A stored failure never replaces a done result: the store appends it, and ``store.folder`` keeps the done one when it
reads, with the failure as its ``later_failure``. The plan (``probcal.runner.plan``) has the state "failed" for both
statuses. A run leaves such a cell alone until ``--retry-failed`` or ``--refit``, or until something changes that
decides its numbers.
"""

from __future__ import annotations

import math
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from probcal.components.nested import instances, paths
from probcal.methods._shared_fits import SharedFits
from probcal.metrics import METHOD_METRICS, means_over_labels, roc_curve
from probcal.metrics.metric import Prediction
from probcal.metrics.metric_values import metrics_of
from probcal.metrics.plugins import find_metric
from probcal.runner.cell import Cell, PlannedCell
from probcal.runner.cell_rows import SplitRows, copy_view, load_rows, with_calibration_rows
from probcal.runner.fit_predict import fit_cell, has_stages, predictions
from probcal.store.cell_result import CellResult, curves_fault, refuse_impossible_values
from probcal.store.folder import Store

_DIGITS = 6
"""Decimal places of the points of a curve, more than a figure can show."""
_LONGEST_NAME, _LONGEST_MESSAGE, _LONGEST_TRACEBACK = 200, 2_000, 20_000
"""Largest numbers of characters. Longer texts are cut in the middle."""


@dataclass(frozen=True)
class Outcome:
    """Hold the result of a cell with its labels and predictions, which are None if it failed.

    ``y`` has shape (n_test,), int8. ``p`` has shape (n_test, n_classes). With several labels ``y`` has shape (n_test,
    n_labels) and ``p`` has shape (n_test, n_labels, 2).
    """

    result: CellResult
    y: np.ndarray | None = None
    p: np.ndarray | None = None
    weight: np.ndarray | None = None
    """(n_test,) weights of the test rows. None if the data set has none."""

    @classmethod
    def failed(
        cls,
        planned: PlannedCell,
        run_id: str,
        seconds: float,
        error: tuple[str, str],
        *,
        status: Literal["failed", "timeout"] = "failed",
        traceback: str | None = None,
    ) -> Outcome:
        """Return the outcome of a cell without numbers. ``error`` is its type and message."""
        error_type, message = error
        result = CellResult(
            **planned.cell.names,
            status=status,
            run=run_id,
            seconds=round(seconds, 6),
            key=planned.key,
            error_type=error_type,
            message=message,
            traceback=traceback,
        )
        return cls(result)

    def with_short_texts(self) -> Outcome:
        """Return the outcome with a message and a traceback of limited length and plain characters.

        Raises ValueError or TypeError when the result could not be read again, for example a metric that is no number.
        """
        result = self.result
        if result.status != "done":
            result = replace(
                result,
                error_type=_shorten(result.error_type or "", _LONGEST_NAME),
                message=_shorten(result.message or "", _LONGEST_MESSAGE),
                traceback=_shorten(result.traceback or "", _LONGEST_TRACEBACK),
            )
        # Through JSON once, so that a value that no file can hold fails here, where it is still this cell's fault.
        return replace(self, result=CellResult.from_json(result.to_json()))

    def with_output(self, output: str) -> Outcome:
        """Return a failed outcome with the last output of its cell after the traceback."""
        if not output.strip():
            return self
        text = f"{self.result.traceback or ''}\nThe last output:\n{output}".lstrip("\n")
        return replace(self, result=replace(self.result, traceback=text))


def _shorten(text: str, limit: int) -> str:
    # Letter by letter, because a pipe would rebuild a subclass of str from the code of its module.
    text = "".join(str.__iter__(text))
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]}\n[{len(text) - limit:,} characters left out]\n{text[-(limit // 2) :]}"


def execute(cell: Cell, key: dict[str, str], run: str) -> Outcome:
    """Run one cell. Any exception becomes a failed result with its traceback.

    The recorded seconds cover fitting and predicting. Reading the data is not included, because the first cell of a
    split does it for all. Nor are fits that an earlier cell made: ``shared_seconds`` holds their time.
    """
    start = time.perf_counter()
    timer = _SharedFitTimer()
    row: dict[str, Any] = {**cell.names, "key": key, "run": run}
    messages: list[warnings.WarningMessage] = []
    try:
        rows = load_rows(cell)
        row |= {"n_train": len(rows.y_train), "n_test": len(rows.y_test)}
        # Begun anew, because the first cell of a split reads the data for all.
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as messages, timer.measure(rows.fits):
            # Every warning is counted, and by default Python gives a repeated one once.
            warnings.simplefilter("always")
            if rows.y_test.ndim == 1:
                prediction = _predict(cell, rows)
            else:  # predict each label separately, without stages and curves
                prediction = _CellPrediction(np.stack([_predict(cell, part).p for part in rows.each_label()], axis=1))
        row |= {"seconds": _seconds_since(start), "shared_seconds": round(timer.seconds, 6)}
        metrics = {**measure(rows.y_test, prediction.p, rows.truth, cell.extra_metrics, rows.test_weight)}
        metrics |= prediction.measures
        row |= {"stages": prediction.stages, "curves": prediction.curves}
        result = CellResult(status="done", metrics=metrics, warnings=_warning_counts(messages), **row)
        return Outcome(result, rows.y_test, prediction.p, rows.test_weight)
    except (Exception, SystemExit) as error:
        row |= {"error_type": type(error).__name__, "message": str(error), "traceback": traceback.format_exc()}
        row["seconds"] = _seconds_since(start)
        return Outcome(CellResult(status="failed", warnings=_warning_counts(messages), **row))


class _SharedFitTimer:
    """Add up the seconds of the fits that a cell takes over from earlier cells of its split."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def measure(self, fits: SharedFits) -> Iterator[None]:
        """Measure within the block. The time of each fit is stored with ``fits`` for the cells that follow."""
        times: dict[int, float] = vars(fits).setdefault("_seconds_of_fits", {})
        original = fits.fitted

        def timed(estimator: Any, *rows: Any) -> Any:
            start, old_seconds = time.perf_counter(), self.seconds
            result = original(estimator, *rows)
            if result is estimator:
                times[id(result)] = time.perf_counter() - start + self.seconds - old_seconds
            else:
                self.seconds += times.get(id(result), 0.0)
            return result

        fits.fitted = timed  # type: ignore[method-assign, assignment]  # put back below
        try:
            yield
        finally:
            del fits.fitted


def measure(
    y: np.ndarray, p: np.ndarray, truth: np.ndarray | None, names: tuple[str, ...], weight: np.ndarray | None = None
) -> dict[str, float]:
    """Return the metrics of a cell, or their means over several labels.

    ``truth`` holds the true probabilities of the test rows, see ``Dataset``. ``names`` holds additional metrics.
    ``weight``, (n_test,), are the weights of the test rows.
    """
    _import_metrics(names)
    if y.ndim > 1:
        return means_over_labels(y, p, true_p=truth, also=names)
    return metrics_of(Prediction(y, p, weight, truth), also=names)


def _import_metrics(names: tuple[str, ...]) -> None:
    # A new process does not know the metrics of plugins yet.
    for name in names:
        find_metric(name)


def load_truth(cell: Cell) -> np.ndarray | None:
    """Return the true probabilities of a cell's test rows, which are known only for generated rows."""
    return load_rows(cell).truth if cell.card.generator else None


@dataclass(frozen=True)
class _CellPrediction:
    """Hold the predictions of the test rows, with stages, measures and curves that the experiment asks for."""

    p: np.ndarray
    stages: dict[str, list[float]] = field(default_factory=dict)
    measures: dict[str, float] = field(default_factory=dict)
    """Metrics that only the method itself can measure."""
    curves: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def _predict(cell: Cell, rows: SplitRows) -> _CellPrediction:
    cell = _fresh_cell(cell.as_seeded())
    if rows.train_keys is not None:
        cell = with_calibration_rows(cell, rows.y_train, rows.train_keys)
    estimator = fit_cell(cell, rows)
    stages: dict[str, list[float]] = {}
    _import_metrics(cell.stages)
    for p in predictions(cell, estimator, rows):
        if has_stages(cell, estimator):
            values = metrics_of(Prediction(rows.y_test, p, rows.test_weight), also=cell.stages)
            for metric in cell.stages:
                stages.setdefault(metric, []).append(values.get(metric, math.nan))
    measures = _requested_values(estimator, "measures", rows.X_test, cell.extra_metrics)
    return _CellPrediction(p, stages, measures, _curves(cell, estimator, rows, p))


def _fresh_cell(cell: Cell) -> Cell:
    """Return the cell with new instances in place of the components that are nested in its parameters."""
    column = cell.column
    parts = (column.learner, column.method)
    if not any(paths(part.params) for part in parts):
        return cell
    learner, method = (replace(part, params=instances(part.params)) if paths(part.params) else part for part in parts)
    return replace(cell, column=replace(column, learner=learner, method=method))


def _curves(cell: Cell, estimator: Any, rows: SplitRows, p: np.ndarray) -> dict[str, list[dict[str, Any]]]:
    curves = _requested_values(estimator, "curves", rows.X_test, cell.curves)
    if "roc" in cell.curves and p.shape[1] == 2 and len(np.unique(rows.y_test)) == 2:
        x, y = roc_curve(rows.y_test, p[:, 1])
        curves["roc"] = [{"x": x.tolist(), "y": y.tolist()}]
    short_curves = {
        name: [{**line, **{axis: np.round(line[axis], _DIGITS).tolist() for axis in ("x", "y")}} for line in lines]
        for name, lines in curves.items()
    }
    # An invalid curve of a user's method would make the stored result unreadable.
    if fault := curves_fault(short_curves):
        raise ValueError(fault)
    return short_curves


def _requested_values(estimator: Any, attribute: str, X: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return those of the estimator's own ``measures`` or ``curves`` that the experiment asks for."""
    function = getattr(estimator, attribute, None)
    if not names or not function:
        return {}
    return {name: value for name, value in function(copy_view(X)).items() if name in names}


def _warning_counts(messages: list[warnings.WarningMessage]) -> dict[str, int]:
    return dict(Counter(warning.category.__name__ for warning in messages)) if messages else {}


def _seconds_since(start: float) -> float:
    return round(time.perf_counter() - start, 6)


def remeasure(planned: PlannedCell, store: Store, run: str) -> Outcome | None:
    """Return the outcome where only metrics have to be measured, or None when the cell must be fitted again."""
    result = planned.old_result
    if result is None:
        return None
    own_metrics = {name: number for name, number in result.metrics.items() if name in METHOD_METRICS}
    if planned.missing_metrics & set(METHOD_METRICS):  # only the fitted method can measure them
        return None
    try:
        truth, weight = load_truth(planned.cell), store.weights(result)
        metrics = measure(*store.predictions(result), truth, planned.cell.extra_metrics, weight)
        refuse_impossible_values(metrics, {})
    except Exception:
        # Predictions are lost, or a plugin's metric fails. A worker tries again, and reports what fails there.
        return None
    return Outcome(replace(result, metrics=metrics | own_metrics, key=planned.key, run=run))
