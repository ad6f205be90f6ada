"""One cell: fit on the training rows, estimate on the test rows, measure."""

from __future__ import annotations

import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from probcal.components import import_class, parameter_names
from probcal.config import Component
from probcal.data.card import Card
from probcal.data.encode import NumericEncoder
from probcal.data.load import load
from probcal.data.splits import split_rows, stream_seed
from probcal.methods.fitting import fresh_copy
from probcal.metrics import all_metrics
from probcal.run.plan import Cell
from probcal.store import CellResult


@dataclass(frozen=True)
class Outcome:
    """The result of a cell with the labels and estimates behind it, None if it failed.

    ``y``: (n_test,) int8. ``p``: (n_test,) estimates of P(y = 1), or (n_test, n_classes) where there are more
    than two classes.
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
        rows = _rows(cell.card, cell.repetition, cell.seed, cell.max_rows, cell.column.learner.encoding)
        row |= {"n_train": len(rows.y_train), "n_test": len(rows.y_test)}
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            estimator = _fitted(cell, rows)
            if cell.stages and hasattr(estimator, "staged_predict_proba"):
                p, row["stages"] = _stages(estimator, rows, cell.stages)
            else:
                p = _estimates(estimator.predict_proba(_untouched(rows.X_test)), rows)
        row["seconds"] = _since(start)
        metrics = all_metrics(rows.y_test, p, also=cell.costs)
        result = CellResult(status="done", metrics=metrics, warnings=_counted(given), **row)
        return Outcome(result, rows.y_test, p)
    except (Exception, SystemExit) as error:
        row |= {"error_type": type(error).__name__, "message": str(error), "traceback": traceback.format_exc()}
        row["seconds"] = _since(start)
        return Outcome(CellResult(status="failed", warnings=_counted(given), **row))


def _fitted(cell: Cell, rows: _Rows) -> Any:
    seed = stream_seed(cell.seed, "fit", cell.id) % 2**31
    method, method_class = cell.column.method, import_class(cell.column.method.path)
    learner, params = _build(cell.column.learner), method.params
    if _draws(method_class):
        params = {"random_state": seed, **params}
    else:  # a meta-estimator that draws nothing itself: the learner's own draws are all that need a seed
        learner = fresh_copy(learner, np.random.default_rng(seed))
    estimator = method_class(learner, **params)
    more = {"X_test": _untouched(rows.X_test)} if getattr(estimator, "needs_test_rows", False) else {}
    estimator.fit(_untouched(rows.X_train), rows.y_train, **more)
    return estimator


def _stages(estimator: Any, rows: _Rows, metrics: tuple[str, ...]) -> tuple[np.ndarray, dict[str, list[float]]]:
    """(the estimates of the last stage, which are the method's own; metric -> its value after every stage)."""
    measured: dict[str, list[float]] = {metric: [] for metric in metrics}
    for estimates in estimator.staged_predict_proba(_untouched(rows.X_test)):
        p = _estimates(estimates, rows)
        values = all_metrics(rows.y_test, p, also=metrics)
        for metric in metrics:
            measured[metric].append(values[metric])
    return p, measured


def _estimates(estimates: Any, rows: _Rows) -> np.ndarray:
    """float64: (n_test,) of the positive class, or (n_test, n_classes) where there are more than two.

    Raises ValueError for another shape than (n_test, n_classes of the training rows).
    """
    estimates = np.asarray(estimates, dtype=np.float64)
    expected = len(rows.y_test), len(rows.seen)
    if estimates.shape != expected:
        raise ValueError(
            f"predict_proba gave an array of shape {estimates.shape}, not {expected}: a row for each test row and"
            " a column for each class of the training rows"
        )
    if expected[1] < rows.n_classes:  # a class that no training row has is held impossible
        of_those_seen, estimates = estimates, np.zeros((expected[0], rows.n_classes))
        estimates[:, rows.seen] = of_those_seen
    return estimates[:, 1] if rows.n_classes == 2 else estimates


@cache
def _draws(method: type) -> bool:
    return "random_state" in parameter_names(method)


def _build(learner: Component) -> Any:
    return import_class(learner.path)(**learner.params)


def _counted(given: list[warnings.WarningMessage]) -> dict[str, int]:
    return dict(Counter(warning.category.__name__ for warning in given))


def _since(start: float) -> float:
    return round(time.perf_counter() - start, 6)


class _Rows(NamedTuple):
    """A split: inputs with n_train and n_test rows, int8 labels, and what classes there are."""

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    seen: np.ndarray
    """The classes that the training rows have, sorted."""
    n_classes: int
    """How many the data set has: a random split may leave a rare class out of its training rows."""


@lru_cache(maxsize=2)
def _rows(card: Card, repetition: int, seed: int, max_rows: int | None, encoding: str) -> _Rows:
    """The rows of a split; an encoding is learned on the training rows alone."""
    dataset = load(card)
    train, test = (rows[:max_rows] for rows in split_rows(card, len(dataset.y), repetition, seed))
    X_train, X_test = _safe_indexing(dataset.X, train), _safe_indexing(dataset.X, test)
    if encoding == "numeric":
        encoder = NumericEncoder().fit(X_train)
        X_train, X_test = encoder.transform(X_train), encoder.transform(X_test)
    y_train = dataset.y[train]
    rows = _Rows(X_train, y_train, X_test, dataset.y[test], np.unique(y_train), int(dataset.y.max()) + 1)
    for part in rows:
        if isinstance(part, np.ndarray):
            part.flags.writeable = False  # shared between cells: none may change what the next one sees
    return rows


def _untouched(X: Any) -> Any:
    """``X`` as every cell of the split gets it: a frame's copy shares its values until one is written."""
    return X if isinstance(X, np.ndarray) else X.copy(deep=False)
