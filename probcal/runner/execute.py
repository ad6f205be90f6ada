"""One cell: fit on the training rows, estimate on the test rows, measure.

The metrics of a cell once more, from the predictions that were kept: no fit is needed for that.
"""

from __future__ import annotations

import math
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from probcal.config.components import import_class, parameter_names
from probcal.config.experiment import Component
from probcal.data.card import Card
from probcal.data.encode import ENCODERS
from probcal.data.load import load
from probcal.data.sources.generated import generated
from probcal.data.splits import split_rows, stream_seed
from probcal.errors import DataError, StoreError
from probcal.methods._fitting import SharedFits, fresh_copy
from probcal.metrics import ABOUT_METHODS, all_metrics, means_over_labels, roc_curve
from probcal.runner.plan import Cell, Planned
from probcal.store.cell_result import curves_fault
from probcal.store.folder import CellResult, Store

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
        rows = _rows_of(cell)
        row |= {"n_train": len(rows.y_train), "n_test": len(rows.y_test)}
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            if rows.y_test.ndim == 1:
                found = _estimated(cell, rows)
            else:  # each label by itself; what one estimator tells besides its estimates is not taken
                found = _Found(np.stack([_estimated(cell, one).p for one in rows.each_label()], axis=1))
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
    return _rows_of(cell).truth if cell.card.generator else None


@dataclass(frozen=True)
class _Found:
    """The estimates of the test rows, and what the experiment asks for besides."""

    p: np.ndarray
    stages: dict[str, list[float]] = field(default_factory=dict)
    measures: dict[str, float] = field(default_factory=dict)
    """What only the method itself can measure."""
    curves: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


def _estimated(cell: Cell, rows: _Rows) -> _Found:
    estimator, X_test, stages = _fitted(cell, rows), _untouched(rows.X_test), {}  # type: ignore[var-annotated]
    if cell.stages and hasattr(estimator, "staged_predict_proba"):
        p, stages = _stages(estimator, rows, cell.stages)
    elif getattr(estimator, "online", False):  # it learns each label once the row's estimate is made
        p = _estimates(estimator.predict_proba_online(X_test, rows.y_test), rows)
    else:
        p = _estimates(estimator.predict_proba(X_test), rows)
    return _Found(p, stages, _told(estimator, "measures", X_test, cell.asked), _curves(cell, estimator, rows, p))


def _curves(cell: Cell, estimator: Any, rows: _Rows, p: np.ndarray) -> dict[str, list[dict[str, Any]]]:
    found = _told(estimator, "curves", _untouched(rows.X_test), cell.curves)
    if "roc" in cell.curves and p.shape[1] == 2 and len(np.unique(rows.y_test)) == 2:
        x, y = roc_curve(rows.y_test, p[:, 1])
        found["roc"] = [{"x": x.tolist(), "y": y.tolist()}]
    short = {name: [_shortened(line) for line in lines] for name, lines in found.items()}
    if fault := curves_fault(short):  # of a method of the user's; kept, it would be a broken line of the results
        raise ValueError(fault)
    return short


def _shortened(line: dict[str, Any]) -> dict[str, Any]:
    return {**line, **{axis: np.round(line[axis], _DIGITS).tolist() for axis in ("x", "y")}}


def _told(estimator: Any, what: str, X: Any, asked: tuple[str, ...]) -> dict[str, Any]:
    """What ``estimator`` tells of itself, as far as it was asked for."""
    tell = getattr(estimator, what, None)
    return {name: one for name, one in tell(X).items() if name in asked} if asked and tell else {}


def _fitted(cell: Cell, rows: _Rows) -> Any:
    seed = stream_seed(cell.seed, "fit", cell.id) % 2**31
    method, method_class = cell.column.method, import_class(cell.column.method.path)
    learner, params = _build(cell.column.learner), method.params
    if _draws(method_class):
        params = {"random_state": seed, **params}
    else:  # a meta-estimator that draws nothing itself: the learner's own draws are all that need a seed
        learner = fresh_copy(learner, np.random.default_rng(seed))
    if cell.column.learner.shared_seed:
        learner.set_params(random_state=(cell.seed + cell.repetition) % 2**32)
    estimator = method_class(learner, **params)
    more = {"X_test": _untouched(rows.X_test)} if getattr(estimator, "needs_test_rows", False) else {}
    X_train = _untouched(rows.X_train)
    with rows.fits.of_rows(X_train, rows.y_train):
        return estimator.fit(X_train, rows.y_train, **more)


def _stages(estimator: Any, rows: _Rows, metrics: tuple[str, ...]) -> tuple[np.ndarray, dict[str, list[float]]]:
    """(the estimates of the last stage, which are the method's own; metric -> its value after every stage)."""
    course: dict[str, list[float]] = {metric: [] for metric in metrics}
    for estimates in estimator.staged_predict_proba(_untouched(rows.X_test)):
        p = _estimates(estimates, rows)
        values = all_metrics(rows.y_test, p, also=metrics)
        for metric in metrics:
            course[metric].append(values.get(metric, math.nan))
    return p, course


def _estimates(estimates: Any, rows: _Rows) -> np.ndarray:
    """Return the predictions as float64, (n_test, n_classes).

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
    return estimates  # type: ignore[no-any-return]


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
    """A split: inputs with n_train and n_test rows, int8 labels, and what classes there are.

    Of several labels, ``y_train``, ``y_test`` and ``truth`` have a column for each.
    """

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    seen: np.ndarray
    """The classes that the training rows have, sorted."""
    n_classes: int
    """How many the data set has: a random split may leave a rare class out of its training rows."""
    fits: SharedFits
    """Those of the training rows, for all cells."""
    truth: np.ndarray | None = None
    """The true probabilities of the test rows, where they are known."""

    def each_label(self) -> Iterator[_Rows]:
        """The same rows once for each label, with two classes."""
        for y_train, y_test in zip(self.y_train.T, self.y_test.T, strict=True):
            yield self._replace(y_train=y_train, y_test=y_test, seen=np.unique(y_train))


def _rows_of(cell: Cell) -> _Rows:
    return _rows(cell.card, cell.repetition, cell.seed, cell.max_rows, cell.column.learner.encoding)


@lru_cache(maxsize=2)
def _rows(card: Card, repetition: int, seed: int, max_rows: int | None, encoding: str) -> _Rows:
    """The rows of a split; an encoding is learned on the training rows alone."""
    drawn = card.generator is not None
    dataset = generated(card, stream_seed(seed, "draw", card.name, repetition)) if drawn else load(card)
    train, test = (rows[:max_rows] for rows in split_rows(card, len(dataset.y), repetition, seed))
    X_train, X_test = _safe_indexing(dataset.X, train), _safe_indexing(dataset.X, test)
    if encoding in ENCODERS:
        if issparse(X_train):
            raise DataError(f'{card.name}: is sparse numbers already; write "encoding: native" for the learner')
        encoder = ENCODERS[encoding]().fit(X_train)  # type: ignore[attr-defined]
        X_train, X_test = encoder.transform(X_train), encoder.transform(X_test)
    y_train = dataset.y[train]
    truth = None if dataset.truth is None else dataset.truth[test]
    n_classes = int(dataset.y.max()) + 1
    rows = _Rows(X_train, y_train, X_test, dataset.y[test], np.unique(y_train), n_classes, SharedFits(), truth)
    for part in rows:
        if isinstance(part, np.ndarray):
            part.flags.writeable = False  # shared between cells: none may change what the next one sees
    return rows


def _untouched(X: Any) -> Any:
    """``X`` as every cell of the split gets it: a frame's copy shares its values until one is written."""
    if issparse(X):
        return X.copy()
    return X if isinstance(X, np.ndarray) else X.copy(deep=False)


def measured_again(planned: Planned, store: Store, run: str) -> Outcome | None:
    """The outcome when only the metrics changed; None when the cell has to be fitted again."""
    if planned.kept is None:
        return None
    told = {name: planned.kept.metrics.get(name) for name in planned.cell.asked if name in ABOUT_METHODS}
    if None in told.values():  # only the fitted method can tell
        return None
    try:
        metrics = measured(*store.predictions(planned.kept), truth_of(planned.cell), planned.cell.asked)
    except (StoreError, ValueError):
        return None
    metrics |= told  # type: ignore[arg-type]  # none is None, as was just asked
    return Outcome(replace(planned.kept, metrics=metrics, stages={}, curves={}, key=planned.key, run=run))
