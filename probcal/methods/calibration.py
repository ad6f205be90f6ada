"""A learner whose scores a map turns into probabilities, and the rows that the map is fitted on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Literal, Self

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if

from probcal.methods.estimator import ProbabilityMethod
from probcal.methods.fitting import drawn_seed, fit_weighted, fresh_copy
from probcal.methods.held_out import folds, held_out_rows, refuse_no_folds, refuse_no_holdout_size, told
from probcal.methods.parameters import refuse_other_choices
from probcal.methods.probabilities import one_against_rest
from probcal.methods.scores import class_scores, scored_classes

Calibration = Literal["train", "holdout", "cross_val"]
Map = Callable[[np.ndarray], np.ndarray]
"""From (n,) scores to (n,) probabilities p. One that computes 1 - p with more digits has the method ``complement``."""


def _has_estimates_before(method: CalibratingMethod) -> bool:
    """AttributeError, which says more than False, where the learner gives scores alone."""
    learner = getattr(method, "estimator_", None) or method._learner()
    if not hasattr(learner, "predict_proba"):
        raise AttributeError(f"{type(learner).__name__} has no predict_proba, so there are no estimates before")
    return True


class CalibratingMethod(ProbabilityMethod, ABC):
    """One learner, fitted on all classes, and a map from its scores to probabilities for each class.

    Two classes have one map, of the second class. More have one map for each class against the rest, and each row of
    estimates is divided by its sum (Zadrozny & Elkan 2002, as scikit-learn's CalibratedClassifierCV).

    Children have ``_fit_map`` and the parameters ``calibration``, ``holdout_size``, ``cv`` and ``random_state``.
    """

    calibration: Calibration
    holdout_size: float
    cv: Any
    random_state: int | np.random.RandomState | None
    scores: Any
    before_and_after = True
    """That the stages of ``staged_predict_proba`` are two, before and after calibration."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the learner and the maps. Test rows have no part in it.

        X: (n_rows, n_columns), handed to the learner as it is; y: (n_rows,) labels; sample_weight: (n_rows,) or
        None, given to the learner and to the maps, where a row of weight 2 counts as two rows.

        Raises ValueError for a parameter that is not as documented, labels or weights that are no labels or weights,
        a class too rare for ``calibration``, a learner that takes no weights where some are given, and scores that are
        missing or infinite.
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
                f"class {told(label)} has no row of positive weight among the {len(rows)} rows to calibrate on; "
                "give more rows of it, or leave it out"
            )
        self.maps_ = [
            self._fit_map(scores[:, column], labels[rows] == label, row_weights)
            for column, label in enumerate(scored_classes(self.classes_))
        ]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_rows, n_classes) probabilities of ``classes_``; a row that every map gives 0 says all are as likely."""
        self._before_predicting(X)
        scores = self._scores(self.estimator_, X)
        if len(self.maps_) == 1 and hasattr(one := self.maps_[0], "complement"):
            return np.column_stack([one.complement(scores[:, 0]), one(scores[:, 0])])
        return one_against_rest([one(scores[:, column]) for column, one in enumerate(self.maps_)])

    @available_if(_has_estimates_before)  # type: ignore[untyped-decorator]
    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """(n_rows, n_classes) probabilities: the learner's own, then those of ``predict_proba``.

        Both come from one fitted learner, ``estimator_``. AttributeError where it has no ``predict_proba``.
        """
        self._before_predicting(X)
        yield np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        yield self.predict_proba(X)

    def check_parameters(self) -> None:
        refuse_other_choices(self, {"calibration": ("train", "holdout", "cross_val")})
        refuse_no_holdout_size(self.holdout_size)
        refuse_no_folds(self.cv)

    @abstractmethod
    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Map:
        """The map of one class. ``scores``, ``positive`` (bool) and ``weights`` (above 0, or None) are (n,)."""

    def _learner(self) -> Any:
        """What is copied and fitted."""
        return self.estimator

    def _scores(self, learner: Any, X: Any) -> np.ndarray:
        return class_scores(learner, X, self.scores, len(self.classes_))

    def _learner_and_scores(
        self, X: Any, labels: np.ndarray, weights: np.ndarray | None
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """(the learner, the rows to calibrate on, their scores)."""
        random = np.random.default_rng(drawn_seed(self.random_state))
        learner = fresh_copy(self._learner(), random)
        if self.calibration == "train":
            learner = fit_weighted(learner, X, labels, weights)
            return learner, np.arange(len(labels)), self._scores(learner, X)
        seed = drawn_seed(random)
        if self.calibration == "holdout":
            learn, rows = held_out_rows(labels, self.holdout_size, seed)
            learner = fit_on_rows(learner, X, labels, weights, learn)
            return learner, rows, self._scores(learner, _safe_indexing(X, rows))
        scored = []
        for learn, rows in folds(X, labels, self.cv, seed):
            blind = fit_on_rows(fresh_copy(self._learner(), random), X, labels, weights, learn)
            scored.append((rows, self._scores(blind, _safe_indexing(X, rows))))
        rows, scores = (np.concatenate(parts) for parts in zip(*scored, strict=True))
        return fit_weighted(learner, X, labels, weights), rows, scores


def fit_on_rows(learner: Any, X: Any, labels: np.ndarray, weights: np.ndarray | None, rows: np.ndarray) -> Any:
    """``learner`` fitted on some of the rows of an ``X`` that can be indexed."""
    return fit_weighted(learner, _safe_indexing(X, rows), labels[rows], None if weights is None else weights[rows])
