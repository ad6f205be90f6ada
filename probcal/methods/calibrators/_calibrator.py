"""Base class of the calibrators, the choice of their calibration rows, and the import of optional packages."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Literal, Self

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv, train_test_split

from probcal._validation import available_if, check_choices, is_count, take_rows
from probcal.errors import ProbcalError
from probcal.methods._base import ProbabilityMethod, class_scores, combine_classes, scored_classes
from probcal.methods._fitting import drawn_seed, fit_weighted, fresh_copy

Rows = tuple[np.ndarray, np.ndarray]
"""Row numbers: (to learn from, to calibrate on)."""


def held_out_rows(labels: np.ndarray, size: float, seed: int) -> Rows:
    """Return a stratified split of the rows. ``size`` is the share or number of rows to calibrate on.

    The rows are those of scikit-learn's ``train_test_split(stratify=labels)``. Raises ValueError when a class would be
    missing from either part.
    """
    classes, counts = np.unique(labels, return_counts=True)
    n_rows = len(labels)
    n_held_out = int(size) if is_count(size) else math.ceil(size * n_rows)
    if counts.min() < 2:
        raise ValueError(
            f"class {label_text(classes[counts.argmin()])} has 1 row, and two are needed: one to learn from and one to "
            "calibrate on; give more rows of it, leave it out, or use calibration='train' where the method has that"
        )
    if not len(classes) <= n_held_out <= n_rows - len(classes):
        raise ValueError(
            f"holdout_size={size} keeps {n_held_out} of {n_rows} rows to calibrate on; each part needs one row of each "
            f"of {len(classes)} classes at least, so keep between {len(classes)} and {n_rows - len(classes)} rows"
        )
    learn, calibrate = train_test_split(np.arange(n_rows), test_size=n_held_out, stratify=labels, random_state=seed)
    for rows, purpose, advice in ((learn, "learn from", "lower"), (calibrate, "calibrate on", "raise")):
        for label in np.setdiff1d(classes, labels[rows]):
            raise ValueError(
                f"class {label_text(label)} has {int((labels == label).sum())} of the rows, and none is among the rows "
                f"to {purpose}; {advice} holdout_size, or give more rows of that class"
            )
    return learn, calibrate


def folds(X: Any, labels: np.ndarray, cv: Any, seed: int) -> list[Rows]:
    """Return the rows of each fold: ``cv`` stratified shuffled folds, or those of a splitter or list of pairs.

    Raises ValueError when a class has fewer rows than there are folds, or when a fold has no row of it to learn from.
    """
    classes, counts = np.unique(labels, return_counts=True)
    if not is_count(cv):
        pairs = [(np.asarray(learn), np.asarray(calibrate)) for learn, calibrate in check_cv(cv).split(X, labels)]
    elif counts.min() < cv:
        raise ValueError(
            f"class {label_text(classes[counts.argmin()])} has {counts.min()} of the rows, too few for one in each of "
            f"cv={cv} folds; lower cv, give more rows of it, or leave it out"
        )
    else:
        pairs = list(StratifiedKFold(cv, shuffle=True, random_state=seed).split(np.zeros(len(labels)), labels))
    if not pairs:
        raise ValueError("cv holds no fold")
    for number, (learn, _) in enumerate(pairs, 1):
        for label in np.setdiff1d(classes, labels[learn]):
            raise ValueError(
                f"class {label_text(label)} is missing from the rows to learn from in fold {number} of {len(pairs)}; "
                "use stratified folds, such as cv=5"
            )
    return pairs


def check_holdout_size(size: Any) -> None:
    """Raise ValueError unless ``size`` is a share between 0 and 1 or a number of rows."""
    is_share = isinstance(size, float | np.floating) and 0 < size < 1
    if not is_share and not is_count(size):
        raise ValueError(f"holdout_size must be a share between 0 and 1 or a whole number of rows from 1, not {size!r}")


def check_folds(cv: Any) -> None:
    """Raise ValueError unless ``cv`` is a number of folds from 2, a splitter, or a list of pairs of row numbers."""
    if is_count(cv) and cv >= 2:
        return
    if (not hasattr(cv, "split") and not isinstance(cv, list | tuple)) or isinstance(cv, str):
        raise ValueError(f"cv must be a whole number of folds from 2, or a splitter of scikit-learn, not {cv!r}")


def label_text(label: Any) -> str:
    """Return a label as text for a message."""
    return repr(label.item() if isinstance(label, np.generic) else label)


Calibration = Literal["train", "holdout", "cross_val"]
Map = Callable[[np.ndarray], np.ndarray]
"""From (n,) scores to (n,) probabilities p. A map that computes 1 - p with more digits has the method ``complement``.
"""


def _has_own_probabilities(method: CalibratingMethod) -> bool:
    """Return True if the learner predicts probabilities.

    Otherwise raise AttributeError, which explains more than False.
    """
    learner = getattr(method, "estimator_", None) or method._learner()
    if not hasattr(learner, "predict_proba"):
        raise AttributeError(f"{type(learner).__name__} has no predict_proba, so there is no stage before calibration")
    return True


class CalibratingMethod(ProbabilityMethod, ABC):
    """Fit one learner on all classes, and one map per class from its scores to probabilities.

    Two classes have one map, for the second class. Several classes have one map for each class against the rest, and
    each row is divided by its sum (Zadrozny & Elkan 2002, and scikit-learn's CalibratedClassifierCV).

    Subclasses define ``_fit_map`` and the parameters ``calibration``, ``holdout_size``, ``cv`` and ``random_state``.
    """

    calibration: Calibration
    holdout_size: float
    cv: Any
    random_state: int | np.random.RandomState | None
    scores: Any
    before_and_after = True
    """The stages of ``staged_predict_proba`` are two: before and after calibration."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the learner and the maps.

        Parameters
        ----------
        X : rows, (n_rows, n_columns), passed to the learner unchanged.
        y : labels, (n_rows,).
        sample_weight : weights, (n_rows,), or None. The learner and the maps use them. A row of weight 2 counts as two
            rows.

        Raises
        ------
        ValueError
            For an invalid parameter, invalid labels or weights, a class too rare for ``calibration``, weights for a
            learner that takes none, and scores that are missing or infinite.
        """
        X, labels, weights = self._begin(X, y, sample_weight)
        self.estimator_, rows, scores = self._learner_and_scores(X, labels, self._weights_for_learner(weights))
        if not np.isfinite(scores).all():
            raise ValueError("a map needs finite scores; the learner gave infinite or missing ones")
        row_weights = None
        if weights is not None:
            counts = weights[rows] > 0
            rows, scores = rows[counts], scores[counts]
            row_weights = weights[rows]
        for label in np.setdiff1d(self.classes_, labels[rows]):
            raise ValueError(
                f"class {label_text(label)} has no row of positive weight among the {len(rows)} rows to calibrate on; "
                "give more rows of it, or leave it out"
            )
        self.maps_ = [
            self._fit_map(scores[:, column], labels[rows] == label, row_weights)
            for column, label in enumerate(scored_classes(self.classes_))
        ]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return (n_rows, n_classes) probabilities in the order of ``classes_``.

        A row that every map gives 0 becomes uniform.
        """
        self._before_predicting(X)
        scores = self._scores(self.estimator_, X)
        if len(self.maps_) == 1 and hasattr(one := self.maps_[0], "complement"):
            return np.column_stack([one.complement(scores[:, 0]), one(scores[:, 0])])
        return combine_classes([one(scores[:, column]) for column, one in enumerate(self.maps_)])

    @available_if(_has_own_probabilities)
    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Yield (n_rows, n_classes) probabilities: the learner's own, then those of ``predict_proba``.

        Both come from ``estimator_``. Raises AttributeError if the learner has no ``predict_proba``.
        """
        self._before_predicting(X)
        yield np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        yield self.predict_proba(X)

    def check_parameters(self) -> None:
        check_choices(self, {"calibration": ("train", "holdout", "cross_val")})
        check_holdout_size(self.holdout_size)
        check_folds(self.cv)

    @abstractmethod
    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Map:
        """Fit the map of one class. ``scores``, ``positive`` (bool) and ``weights`` (above 0, or None) are (n,)."""

    def _learner(self) -> Any:
        """Return the learner to copy and fit."""
        return self.estimator

    def _scores(self, learner: Any, X: Any) -> np.ndarray:
        return class_scores(learner, X, self.scores, len(self.classes_))

    def _learner_and_scores(
        self, X: Any, labels: np.ndarray, weights: np.ndarray | None
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return (the fitted learner, the rows to calibrate on, their scores)."""
        random = np.random.default_rng(drawn_seed(self.random_state))
        learner = fresh_copy(self._learner(), random)
        if self.calibration == "train":
            learner = fit_weighted(learner, X, labels, weights)
            return learner, np.arange(len(labels)), self._scores(learner, X)
        seed = drawn_seed(random)
        if self.calibration == "holdout":
            learn, rows = held_out_rows(labels, self.holdout_size, seed)
            learner = fit_on_rows(learner, X, labels, weights, learn)
            return learner, rows, self._scores(learner, take_rows(X, rows))
        scored = []
        for learn, rows in folds(X, labels, self.cv, seed):
            blind = fit_on_rows(fresh_copy(self._learner(), random), X, labels, weights, learn)
            scored.append((rows, self._scores(blind, take_rows(X, rows))))
        rows, scores = (np.concatenate(parts) for parts in zip(*scored, strict=True))
        return fit_weighted(learner, X, labels, weights), rows, scores


def fit_on_rows(learner: Any, X: Any, labels: np.ndarray, weights: np.ndarray | None, rows: np.ndarray) -> Any:
    """Fit ``learner`` on some of the rows of ``X``."""
    return fit_weighted(learner, take_rows(X, rows), labels[rows], None if weights is None else weights[rows])


INSTALL = "pip install 'probcal[calibrators]'"


class CalibratorMissing(ProbcalError, ImportError):
    """A package that a method needs is not installed."""


@contextmanager
def silenced() -> Iterator[None]:
    """Ignore warnings and numpy's floating-point errors inside the block, and restore all filters after it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def unmet_class(module: str, name: str) -> str | None:
    """Return why ``optional_class`` would fail, or None."""
    try:
        optional_class(module, name)
    except CalibratorMissing as error:
        return str(error)
    return None


def optional_class(module: str, name: str) -> Any:
    """Return the class ``name`` of an optional ``module``. Raises CalibratorMissing with the install command."""
    try:
        with silenced():
            return getattr(import_module(module), name)
    except ImportError as error:
        raise CalibratorMissing(f"this method needs {module} ({error}); install it with: {INSTALL}") from None
