"""Fit one cell's method on its training rows and predict its test rows.

The rows come from ``probcal.runner.cell_rows``, and ``probcal.runner.execute`` measures, records and times the cell.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from probcal._learner_output import in_class_order
from probcal.components.classes import import_class, parameter_names
from probcal.data.splits import stream_seed
from probcal.methods._base import fresh_copy
from probcal.runner.cell_rows import SplitRows, copy_view

if TYPE_CHECKING:
    from probcal.runner.cell import Cell

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def limit_blas_threads() -> None:
    """Use one thread for linear algebra, so that the number of processes never changes the order of a sum."""
    threadpool_limits(1)
    os.environ.update(dict.fromkeys(_THREADS, "1"))  # for libraries that a learner loads later


def seed_shared_generators(cell: Cell) -> None:
    """Seed the process-wide generators of ``random`` and numpy from the cell's own seed."""
    # numpy's old generator takes seeds below 2**32 only.
    seed = stream_seed(cell.seed, "shared", cell.id) % 2**32
    random.seed(seed)
    np.random.seed(seed)


def fit_cell(cell: Cell, rows: SplitRows) -> Any:
    method, method_class = cell.column.method, import_class(cell.column.method.path)
    # Authors count their seeds up from one run to the next, so that repetition r is their run of seed + r.
    shared = (cell.seed + cell.repetition) % 2**32
    # From the name of the cell and not its place: a selection, or a method more, changes no other cell.
    seed = shared if method.shared_seed else stream_seed(cell.seed, "fit", cell.id) % 2**31
    learner = import_class(cell.column.learner.path)(**cell.column.learner.params)
    params = method.params
    if _draws(method_class):
        params = {"random_state": seed, **params}
    else:  # the meta-estimator draws nothing itself, so only the learner needs a seed
        learner = fresh_copy(learner, np.random.default_rng(seed))
    if cell.column.learner.shared_seed:
        learner.set_params(random_state=shared)
    estimator = method_class(learner, **params)
    more = {"X_test": copy_view(rows.X_test)} if getattr(estimator, "needs_test_rows", False) else {}
    if rows.train_weight is not None:
        more["sample_weight"] = rows.train_weight
    X_train = copy_view(rows.X_train)
    with rows.fits.of_rows(X_train, rows.y_train):
        return estimator.fit(X_train, rows.y_train, **more)


def has_stages(cell: Cell, estimator: Any) -> bool:
    """Return whether the experiment asks for stages and the method has them."""
    return bool(cell.stages) and hasattr(estimator, "staged_predict_proba")


def predictions(cell: Cell, estimator: Any, rows: SplitRows) -> Iterator[np.ndarray]:
    """Yield the predictions of the test rows after each stage. The last are the method's own.

    A method without stages yields once, and so does one of which no stages are asked for.
    """
    X_test = copy_view(rows.X_test)
    if has_stages(cell, estimator):
        for p in estimator.staged_predict_proba(X_test):
            yield _checked(p, estimator, rows)
    elif getattr(estimator, "online", False):  # it learns each label after it has predicted the row
        yield _checked(estimator.predict_proba_online(X_test, rows.y_test), estimator, rows)
    else:
        yield _checked(estimator.predict_proba(X_test), estimator, rows)


def _checked(estimates: Any, estimator: Any, rows: SplitRows) -> np.ndarray:
    """Return the predictions as float64, (n_test, n_classes), with the columns in sorted order of the classes.

    Raises ValueError for another shape than (n_test, n_classes of the training rows), and for other ``classes_``.
    """
    # As they are stored, so that probcal verify measures the very same numbers again.
    estimates = np.asarray(estimates, dtype=np.float64)
    expected = len(rows.y_test), len(rows.seen)
    if estimates.shape != expected:
        raise ValueError(
            f"predict_proba gave an array of shape {estimates.shape}, not {expected}: a row for each test row and"
            " a column for each class of the training rows"
        )
    if hasattr(estimator, "classes_"):  # a user's own method may have them in another order
        estimates = in_class_order(estimator, estimates, rows.seen)
    if expected[1] < rows.n_classes:  # a class without training rows gets probability 0
        of_those_seen, estimates = estimates, np.zeros((expected[0], rows.n_classes))
        estimates[:, rows.seen] = of_those_seen
    return np.asarray(estimates)


@cache
def _draws(method: type) -> bool:
    return "random_state" in parameter_names(method)
