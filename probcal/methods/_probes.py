"""Fit the classifiers of thresholds, and predict with many of them: one by one, in batches, or from a single fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import validate_data

from probcal._learner_output import predicted_classes
from probcal._validation import count_rows, take_rows
from probcal.fast_paths.fast_path import FastPath, make_fast_path, transform_rows
from probcal.fast_paths.prior_shift import PriorShift
from probcal.methods._executors import InProcesses, InThreads, SpeculativeFits, Step, learns_in_threads

# Scores of linear classifiers, and margins of others, that are held at once. So memory does not grow with the number of
# rows times classifiers.
_SCORES_PER_BLOCK = 2**22
_MARGINS_PER_BLOCK = 2**20
_TRUSTED_PACKAGES = ("sklearn", "probcal")
# Predicting for a larger share of the rows than this saves less than finding the distinct rows costs.
_MAX_DISTINCT_SHARE = 0.9


Train = Callable[[float], Any]
"""Train the classifier of a threshold. The result must not depend on when, where or after what it is fitted."""


@runtime_checkable
class TrainAtClassWeights(Protocol):
    """Train under weights of the two classes, which a fast path can do for many thresholds at once."""

    def __call__(self, p: float, /) -> Any: ...

    @property
    def weighs_classes(self) -> bool:
        """Return whether the learner's weights are exactly class weights times row weights."""
        ...

    def fit_batch(self, fast_path: FastPath, thresholds: list[float]) -> Any:
        """Return the classifiers of ``thresholds`` that ``fast_path`` makes, with None where it makes none."""
        ...


def predicts_rows_independently(estimator: Any) -> bool:
    """Return whether the prediction of ``estimator`` for a row depends on that row only.

    That is assumed for learners made only of parts from scikit-learn and probcal. The exception is FunctionTransformer,
    whose function may look at all rows. Other learners can declare it by an attribute ``predicts_rows_independently``.
    """
    for name in ("predicts_rows_independently", "answers_row_by_row"):  # the second is the earlier name
        if hasattr(estimator, name):
            return bool(getattr(estimator, name))
    # A Pipeline or a search is as trustworthy as its parts, so all of them are looked at.
    parts = [estimator, *(part for part in estimator.get_params(deep=True).values() if hasattr(part, "get_params"))]
    kinds = [type(part) for part in parts]
    return all(kind.__module__.split(".")[0] in _TRUSTED_PACKAGES and kind is not FunctionTransformer for kind in kinds)


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Hold rows to predict for. ``positions``, (n_rows,), is the row of ``X`` of each original row, None if equal."""

    X: Any
    positions: np.ndarray | None = None

    def predicted(self, classifier: Any, classes: np.ndarray) -> np.ndarray:
        """Return the position in ``classes`` of the label predicted for each original row, (n_rows,) int."""
        predicted = predicted_classes(classifier, self.X, classes)
        return predicted if self.positions is None else predicted[self.positions]


def distinct_rows(X: Any) -> DistinctRows:
    """Return each distinct row of a frame or a numeric array once, and all rows of any other ``X``."""
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf":
        frame = pd.DataFrame(X)
    elif isinstance(X, pd.DataFrame):
        frame = X
    else:
        return DistinctRows(X)
    try:
        hashes = pd.util.hash_pandas_object(frame, index=False).to_numpy()
    except TypeError:  # some cells cannot be hashed
        return DistinctRows(X)
    _, first, positions = np.unique(hashes, return_index=True, return_inverse=True)
    # two rows may share a hash, so the rows themselves decide
    few = len(first) <= _MAX_DISTINCT_SHARE * len(frame)
    if not few or not frame.equals(frame.take(first[positions]).set_axis(frame.index)):
        return DistinctRows(X)
    return DistinctRows(take_rows(X, first), positions)


def batch_margins(fast_path: FastPath, classifiers: list[Any], X: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the margins, (n, k), of blocks of rows for k classifiers that ``fast_path`` made, and their errors.

    Raises ValueError if these do not have matching shapes.
    """
    X = transform_rows(fast_path, classifiers, X)
    n_rows, kind = count_rows(X), type(fast_path).__name__
    step = max(1, _MARGINS_PER_BLOCK // max(len(classifiers), 1))
    # one block even without rows, because the callers join the blocks
    for start in range(0, max(n_rows, 1), step):
        block = X if n_rows <= step else take_rows(X, slice(start, start + step))
        output, expected = fast_path.margins(classifiers, block), (count_rows(block), len(classifiers))
        # a user may have written the fast path
        if not isinstance(output, tuple) or len(output) != 2:
            raise ValueError(f"the fast path {kind} must return (margins, errors of the margins), not {output!r}")
        margins, error = map(np.asarray, output)
        if margins.shape != expected:
            raise ValueError(
                f"the fast path {kind} gave margins of shape {margins.shape}; {expected} (rows, classifiers) is needed"
            )
        try:
            fits = np.broadcast_shapes(error.shape, expected) == expected
        except ValueError:
            fits = False
        if not fits or (error < 0).any():
            raise ValueError(
                f"the fast path {kind} gave errors of shape {error.shape}, or below 0; give errors from 0: one number, "
                f"or one per margin, {expected}, per row, ({expected[0]}, 1), or per classifier, (1, {expected[1]})"
            )
        yield margins, error


def has_plain_scores(classifier: Any, classes: np.ndarray) -> bool:
    """Return whether the labels of a classifier of two ``classes`` are the signs of ``X @ coef_ + intercept_``."""
    kind = type(classifier)
    is_plain = (
        isinstance(classifier, LinearClassifierMixin)
        and getattr(kind, "predict", None) is LinearClassifierMixin.predict
        and getattr(kind, "decision_function", None) is LinearClassifierMixin.decision_function
        and np.array_equal(getattr(classifier, "classes_", ()), classes)
    )
    coefficients = getattr(classifier, "coef_", None)
    return is_plain and type(coefficients) is np.ndarray and coefficients.ndim == 2 and len(coefficients) == 1


def linear_labels(classifiers: list[Any], X: Any) -> Iterator[np.ndarray]:
    """Yield whether each classifier predicts the second class, for blocks of rows: (n_block, n_classifiers) bool.

    All ``classifiers`` have plain scores (``has_plain_scores``) and were fitted with the same columns.
    """
    # Most of the time of ``predict`` for one row goes into checks of the same row, so the rows are checked once here.
    # A product of matrices may round in another way than a product with one vector, which matters only for a score next
    # to 0. The classifiers of such scores predict for themselves, so each label is that of ``predict``.
    X = validate_data(classifiers[0], X, accept_sparse="csr", reset=False)
    coefficients = np.concatenate([one.coef_ for one in classifiers])
    intercepts = np.concatenate([np.ravel(one.intercept_) for one in classifiers])
    # a sum of n products is off by at most n eps of their sizes, in each of the two ways to compute it
    rounding = (2 * coefficients.shape[1] + 8) * np.finfo(coefficients.dtype).eps
    if X.dtype.kind == "f":
        rounding = max(rounding, (2 * coefficients.shape[1] + 8) * float(np.finfo(X.dtype).eps))
    step = max(1, _SCORES_PER_BLOCK // len(classifiers))
    for start in range(0, X.shape[0], step):
        rows = X[start : start + step]
        # an overflow leaves a score that is not sure, so its classifier predicts for itself
        with np.errstate(over="ignore", invalid="ignore"):
            scores = safe_sparse_dot(rows, coefficients.T, dense_output=True) + intercepts
            sizes = safe_sparse_dot(abs(rows), abs(coefficients).T, dense_output=True) + abs(intercepts)
            is_sure = abs(scores) > rounding * sizes
        labels = scores > 0
        for index in np.flatnonzero(~is_sure.all(axis=0)):
            labels[:, index] = classifiers[index].decision_function(rows) > 0
        yield labels


@dataclass(frozen=True, eq=False)
class ProbePredictor:
    """Predict with the classifiers of one problem.

    Those that ``fast_path`` made predict in batches, and so do linear ones of scikit-learn. The others predict in
    ``n_threads`` threads, with ``deduplicate_rows`` only once for equal rows.
    """

    fast_path: FastPath | None
    deduplicate_rows: bool
    n_threads: int = 1

    def labels(self, classifiers: list[Any], batched: np.ndarray, classes: np.ndarray, X: Any) -> np.ndarray:
        """Return whether each classifier predicts the second class, (n_rows, n) bool."""
        labels = np.empty((count_rows(X), len(classifiers)), dtype=bool)
        for start, columns, block in self._blocks(classifiers, batched, classes, X):
            labels[start : start + len(block), columns] = block
        return labels

    def votes(self, classifiers: list[Any], batched: np.ndarray, classes: np.ndarray, X: Any) -> np.ndarray:
        """Return how many classifiers predict the second class, (n_rows,) int64, without holding all labels."""
        votes = np.zeros(count_rows(X), dtype=np.int64)
        for start, _, block in self._blocks(classifiers, batched, classes, X):
            votes[start : start + len(block)] += block.sum(axis=1)
        return votes

    def _blocks(
        self, classifiers: list[Any], batched: np.ndarray, classes: np.ndarray, X: Any
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield (first row, k numbers of classifiers, (n_block, k) bool) until each classifier predicted each row."""
        is_linear = [
            not made and has_plain_scores(one, classes) for one, made in zip(classifiers, batched, strict=True)
        ]
        linear = np.array(is_linear, dtype=bool)
        batches: list[tuple[np.ndarray, Iterator[np.ndarray]]] = []
        if self.fast_path is not None and batched.any():
            columns = np.flatnonzero(batched)
            margins = batch_margins(self.fast_path, [classifiers[index] for index in columns], X)
            batches.append((columns, (values > 0 for values, _ in margins)))
        if linear.any():
            columns = np.flatnonzero(linear)
            batches.append((columns, linear_labels([classifiers[index] for index in columns], X)))
        for columns, blocks in batches:
            start = 0
            for block in blocks:
                yield start, columns, block
                start += len(block)
        separate = np.flatnonzero(~(batched | linear))
        # a single classifier predicts all rows in less time than the equal ones are found
        rows = distinct_rows(X) if self.deduplicate_rows and len(separate) > 1 else DistinctRows(X)
        predict = partial(rows.predicted, classes=classes)
        waiting = [classifiers[index] for index in separate]
        with nullcontext() if self.n_threads == 1 else InThreads(predict, self.n_threads) as threads:
            predicted = map(predict, waiting) if threads is None else threads.map(waiting)
            for index, codes in zip(separate, predicted, strict=True):
                yield 0, np.array([index]), (codes == 1)[:, None]


class Probe(NamedTuple):
    """Hold a fitted probe. ``batched`` is True if a fast path made it and can predict for it in a batch."""

    classifier: Any
    batched: bool


class Probes(ABC):
    """Fit the classifier of each threshold once, and return its predictions for the rows that weigh the intervals.

    ``predictor`` predicts with all classifiers later. ``classes`` are the two labels, of which the second is positive.
    """

    def __init__(self, classes: np.ndarray, predictor: ProbePredictor) -> None:
        self.classes, self.predictor = classes, predictor

    @abstractmethod
    def fit_and_predict(self, p: float) -> tuple[Probe, np.ndarray]:
        """Return the probe of threshold ``p`` and whether it predicts the positive class, (n_rows,) bool."""

    def fit_ahead(self, steps: Iterator[Step]) -> None:  # noqa: B027  # a hint that a subclass may use
        """Learn the next thresholds, before every ``fit_and_predict``. The first one is taken next."""

    def close(self) -> None:  # noqa: B027
        """Drop what was not taken."""


class SeparateProbes(Probes):
    """Fit each threshold separately, or start the next ones early in ``n_workers`` threads or processes.

    Early fitting is safe because a probe depends only on its threshold, not on earlier fits. A probe that nobody takes
    is dropped.
    """

    def __init__(
        self, train: Train, rows: DistinctRows, classes: np.ndarray, predictor: ProbePredictor,
        n_workers: int = 1, *, in_threads: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(classes, predictor)
        self._fit = partial(_fit_and_predict, train, rows, classes)
        workers = InThreads if in_threads else InProcesses
        self._speculative = SpeculativeFits(workers(self._fit, n_workers)) if n_workers > 1 else None

    def fit_ahead(self, steps: Iterator[Step]) -> None:
        if self._speculative is not None:
            self._speculative.start(steps)

    def fit_and_predict(self, p: float) -> tuple[Probe, np.ndarray]:
        classifier, positive = self._fit(p) if self._speculative is None else self._speculative.take(p)
        return Probe(classifier, batched=False), positive

    def close(self) -> None:
        if self._speculative is not None:
            self._speculative.close()


def _fit_and_predict(train: Train, rows: DistinctRows, classes: np.ndarray, p: float) -> tuple[Any, np.ndarray]:
    """Fit and predict in one call, so that a process sends back the labels with the classifier."""
    classifier = train(p)
    return classifier, rows.predicted(classifier, classes) == 1


class _FastProbes(Probes):
    """Fit by ``fast_path``. The learner itself is fitted where the fast path cannot guarantee the labels."""

    def __init__(
        self, train: TrainAtClassWeights, rows: Any, classes: np.ndarray, predictor: ProbePredictor, fast_path: FastPath
    ) -> None:
        super().__init__(classes, predictor)
        self._train, self._rows, self._fast_path = train, rows, fast_path
        self._slow = SeparateProbes(train, DistinctRows(rows), classes, predictor)


class BatchProbes(_FastProbes):
    """Fit the thresholds that are sure to be needed next in one batch."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._ready: dict[float, tuple[Probe, np.ndarray]] = {}

    def fit_ahead(self, steps: Iterator[Step]) -> None:
        first = next(steps)
        if first.p in self._ready:
            return
        sure = [first.p, *(step.p for step in takewhile(lambda step: not step.guessed, steps))]
        self._ready.update(self._fit_batch([p for p in dict.fromkeys(sure) if p not in self._ready]))

    def fit_and_predict(self, p: float) -> tuple[Probe, np.ndarray]:
        if p not in self._ready:
            self._ready.update(self._fit_batch([p]))
        return self._ready.pop(p)

    def close(self) -> None:
        self._ready.clear()

    def _fit_batch(self, thresholds: list[float]) -> dict[float, tuple[Probe, np.ndarray]]:
        classifiers = self._train.fit_batch(self._fast_path, thresholds)
        if not isinstance(classifiers, list) or len(classifiers) != len(thresholds):
            raise ValueError(
                f"fit of the fast path {type(self._fast_path).__name__} must give a list of {len(thresholds)}"
                f" classifiers, one for each row of class_weights, or None in place of one; it gave {classifiers!r}"
            )
        made = {
            p: classifier
            for p, classifier in zip(thresholds, classifiers, strict=True)
            # in another order, its margins may be those of the first class
            if classifier is not None and np.array_equal(getattr(classifier, "classes_", self.classes), self.classes)
        }
        ready = {}
        if made:
            blocks, sure = [], np.ones(len(made), dtype=bool)
            for margins, error in batch_margins(self._fast_path, list(made.values()), self._rows):
                blocks.append(margins > 0)
                # where an error could decide the label of a training row, the learner itself is fitted
                sure &= (np.abs(margins) > error).all(axis=0)  # False for a margin that is not a number
            columns = np.concatenate(blocks).T.copy()
            for (p, classifier), column, is_sure in zip(made.items(), columns, sure, strict=True):
                if is_sure:
                    ready[p] = Probe(classifier, batched=True), column
        return ready | {p: self._slow.fit_and_predict(p) for p in thresholds if p not in ready}


class ShiftedProbes(_FastProbes):
    """Fit once for all thresholds, where class weights only shift the learner's log-odds."""

    _fast_path: PriorShift
    _log_odds: _LogOdds | None = None

    def fit_and_predict(self, p: float) -> tuple[Probe, np.ndarray]:
        (shifted,) = self._train.fit_batch(self._fast_path, [p])
        if shifted is not None:
            if self._log_odds is None:
                self._log_odds = _LogOdds(*self._fast_path.log_odds(shifted.base, self._rows))
            if self._log_odds.all_on_one_side(-shifted.shift):
                return Probe(shifted, batched=True), self._log_odds.values > -shifted.shift
        return self._slow.fit_and_predict(p)


class _LogOdds:
    """Hold (n_rows,) log-odds ``values`` in nats, each within ``error`` of the true value."""

    def __init__(self, values: np.ndarray, error: np.ndarray | float) -> None:
        self.values = values
        # sorted once, so that a threshold costs two searches and no pass over the rows
        self._lows, self._highs = np.sort(values - error), np.sort(values + error)

    def all_on_one_side(self, point: float) -> bool:
        """Return whether every value lies on one side of ``point`` for certain. False if any value is NaN."""
        from_below = np.searchsorted(self._lows, point, side="right")
        return bool(from_below == np.searchsorted(self._highs, point) and not np.isnan(self._highs[-1]))


def make_probes(
    estimator: Any, train: Train, X: Any, classes: np.ndarray, n_jobs: int | None, *, shortcuts: bool
) -> Probes:
    """Return the fastest exact way to fit the thresholds of one problem. ``X`` are the rows that weigh the intervals.

    Without ``shortcuts`` each threshold is fitted separately and predicts every row.
    """
    n_workers, in_threads = effective_n_jobs(n_jobs), learns_in_threads(estimator)
    deduplicate = shortcuts and predicts_rows_independently(estimator)
    n_threads = n_workers if in_threads else 1
    if shortcuts and isinstance(train, TrainAtClassWeights) and train.weighs_classes:
        fast_path = make_fast_path(estimator)
        if fast_path is not None:
            # predictions later get a fast path of their own, because the one that fits keeps the training rows
            predictor = ProbePredictor(make_fast_path(estimator), deduplicate, n_threads)
            if isinstance(fast_path, PriorShift):
                return ShiftedProbes(train, X, classes, predictor, fast_path)
            return BatchProbes(train, X, classes, predictor, fast_path)
    rows = distinct_rows(X) if deduplicate else DistinctRows(X)
    predictor = ProbePredictor(None, deduplicate, n_threads)
    return SeparateProbes(train, rows, classes, predictor, n_workers, in_threads=in_threads)
