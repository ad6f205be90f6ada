"""Base class of the methods that fit a learner and calibrate its scores, on rows that the learner has not seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from probcal._learner_output import every_class_place, learner_probabilities, learns_nothing
from probcal._validation import Constraint, Rule, group_array, take_rows
from probcal.methods._base import SCORES, ProbabilityMethod, class_scores, drawn_seed, fit_weighted, fresh_copy
from probcal.methods.calibrators._calibration_rows import (
    FoldScores,
    Rows,
    check_folds,
    fitted,
    folds,
    held_out_rows,
    is_holdout_size,
    joined,
    label_text,
    prefers_fold_maps,
)
from probcal.methods.calibrators._calibrator import Calibrator, Input, one_blas_thread

Calibration = Literal["cross_val", "holdout", "train", "prefit"]
Ensemble = Literal["auto"] | bool


def _has_own_probabilities(method: CalibratedMethod) -> bool:
    """Return True if the learner predicts probabilities.

    Otherwise raise AttributeError, which explains more than False.
    """
    learner = getattr(method, "estimators_", [None])[0] or method._learner()
    if not hasattr(learner, "predict_proba"):
        raise AttributeError(f"{type(learner).__name__} has no predict_proba, so there is no stage before calibration")
    return True


class CalibratedMethod(ProbabilityMethod, ABC):
    """Fit a learner, and a calibrator on its scores of rows that it has not seen.

    Subclasses define ``_calibrator``. The parameters and fitted attributes are those of ``SigmoidClassifier``. A map of
    probabilities prefers the predicted probability where ``scores="auto"`` leaves the choice.
    """

    needs_one_of: tuple[str, ...] = ("decision_function", "predict_proba")
    constraints: ClassVar[dict[str, Constraint]] = {
        "scores": SCORES,
        "calibration": get_args(Calibration),
        "ensemble": ("auto", True, False),
        "holdout_size": Rule(is_holdout_size, "a share between 0 and 1 or a whole number of rows from 1"),
    }
    prefers = "decision_function"
    """What ``scores="auto"`` takes if the learner has both."""
    before_and_after = True
    """The stages of ``staged_predict_proba`` are two: before and after calibration."""
    estimators_: list[Any]
    calibrators_: list[Any]

    def __init__(
        self,
        estimator: Any,
        *,
        scores: Any = "auto",
        calibration: Calibration = "cross_val",
        ensemble: Ensemble = "auto",
        cv: Any = 5,
        holdout_size: float = 0.25,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.scores = scores
        self.calibration = calibration
        self.ensemble = ensemble
        self.cv = cv
        self.holdout_size = holdout_size
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, *, frequency_weights: bool = False
    ) -> Self:
        """Fit the classifiers and their maps.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to learn from. The classifier gets them unchanged. They may also be a sparse matrix or texts, if the
            classifier accepts these.
        y : array-like of shape (n_rows,)
            Labels of two classes or more.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, not negative. The classifiers and the maps use them. Only their ratios count: they are
            multiplied by a number that makes their mean 1. A row of weight 0 is left out. None means equal weights.
        groups : array-like of shape (n_rows,), default=None
            Group of each row, for ``calibration="cross_val"``. The rows of one group fall into one fold, and a splitter
            gets the groups.
        frequency_weights : bool, default=False
            Whether the weights are whole numbers that say how often each row occurs. A row of weight 2 then counts as
            two rows.

        Returns
        -------
        object
            This method, fitted.

        Raises
        ------
        ValueError
            If a parameter, the labels or the weights are invalid, or the estimator is no classifier.
            If a class is too rare for ``calibration``.
            If groups are given that would not be used: with another ``calibration`` than ``"cross_val"``, with a
            classifier that is fitted already, or with a list of pairs as ``cv``.
            If a group is missing, or the groups have several types or another number than the rows.
            If weights are given for a learner that takes none.
            If the learner has no scores, or a score is missing or infinite.
            If ``classes_`` of the learner is missing, or does not hold the labels of ``y``.
        NotFittedError
            If a classifier that must be fitted already is not.

        Warns
        -----
        UserWarning
            If a class has fewer rows (or groups) than ``cv``. There are then as many folds as the class has rows
            (or groups).
        """
        X, labels, weights = self._checked(X, y, sample_weight, frequency_weights)
        if groups is not None:
            self._refuse_unused_groups()
            groups = group_array(groups, len(labels))
        counted = np.full(len(labels), True) if weights is None else weights > 0
        # a splitter numbers all rows, so it gets them before those of weight 0 are left out
        make_folds = partial(folds, X, labels, self.cv, groups=groups, counted=None if counted.all() else counted)
        if weights is not None and not counted.all():
            X, labels, weights = take_rows(X, counted), labels[counted], weights[counted]
        random = np.random.default_rng(drawn_seed(self.random_state))
        learner_weights = self._weights_for_learner(weights)
        self.estimators_, rows, scores = self._held_out_scores(X, labels, learner_weights, make_folds, random)
        score_kind = scores[0][1]
        parts = [
            FoldScores(fold_scores, labels[fold], None if weights is None else weights[fold])
            for fold, (fold_scores, _) in zip(rows, scores, strict=True)
        ]
        self._require_every_class(joined(parts))
        if len(parts) > 1 and not self._has_map_for_each_fold(parts, score_kind, drawn_seed(random)):
            # One map of all folds has more rows, and its scores are those of learners that have not seen them.
            parts = [joined(parts)]
        for part in parts:
            self._require_every_class(part)
        maps = [fitted(self._calibrator(score_kind), part) for part in parts]
        # one map for the classifiers of all folds, or the maps of all folds for one classifier
        n = max(len(maps), len(self.estimators_))
        self.estimators_, self.calibrators_ = self.estimators_ * (n // len(self.estimators_)), maps * (n // len(maps))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        self._before_predicting(X)
        scores = [self._scores(learner, X)[0] for learner in self.estimators_]
        with one_blas_thread():
            predicted = [
                calibrator._mapped(calibrator._learner_matrix(of_learner))
                for calibrator, of_learner in zip(self.calibrators_, scores, strict=True)
            ]
        return predicted[0] if len(predicted) == 1 else np.asarray(np.mean(predicted, axis=0))

    @available_if(_has_own_probabilities)  # type: ignore[untyped-decorator]  # scikit-learn has no types
    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Predict the probabilities before and after calibration.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict, with the columns that ``fit`` got.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``. The first array is the mean of those of the classifiers. The
            second is what ``predict_proba`` returns.

        Raises
        ------
        AttributeError
            If the learner has no ``predict_proba``.
        NotFittedError
            If ``fit`` was not called.
        ValueError
            If ``X`` has other columns than ``fit`` got.
        """
        self._before_predicting(X)
        own = [learner_probabilities(learner, X, self.classes_) for learner in self.estimators_]
        yield own[0] if len(own) == 1 else np.mean(own, axis=0)
        yield self.predict_proba(X)

    @property
    def estimator_(self) -> Any:
        """Return the fitted classifier.

        Returns
        -------
        classifier
            The only element of ``estimators_``.

        Raises
        ------
        AttributeError
            If there is one classifier per fold. See ``estimators_``.
        """
        return self._only("estimators_")

    @property
    def calibrator_(self) -> Any:
        """Return the fitted map.

        Returns
        -------
        Calibrator
            The only map of ``calibrators_``.

        Raises
        ------
        AttributeError
            If there is one map per fold. See ``calibrators_``.
        """
        return self._only("calibrators_")

    def check_parameters(self) -> None:
        super().check_parameters()
        check_folds(self.cv)
        self._calibrator("probability").check_parameters()

    @abstractmethod
    def _calibrator(self, score_kind: Input) -> Calibrator:
        """Return an unfitted calibrator with the parameter ``input=score_kind``."""

    def _learner(self) -> Any:
        """Return the learner to copy and fit."""
        return self.estimator

    def _scores(self, learner: Any, X: Any) -> tuple[np.ndarray, Input]:
        """Return (scores, how the calibrator reads them)."""
        wanted = self.scores
        if wanted == "auto":
            first, second = "decision_function", "predict_proba"
            if self.prefers == "predict_proba":
                first, second = second, first
            if not hasattr(learner, first):
                first = second
                if not hasattr(learner, first):
                    raise ValueError(
                        f"{type(learner).__name__} has no decision_function and no predict_proba, so it has no scores "
                        "to calibrate; use a method that needs labels only, such as ProbingClassifier"
                    )
            if first == "predict_proba":
                return learner_probabilities(learner, X, self.classes_), "probability"
            wanted = "decision_function"
        return class_scores(learner, X, wanted, self.classes_), "score"

    def _held_out_scores(
        self,
        X: Any,
        labels: np.ndarray,
        weights: np.ndarray | None,
        make_folds: Callable[..., list[Rows]],
        random: np.random.Generator,
    ) -> tuple[list[Any], list[np.ndarray], list[tuple[np.ndarray, Input]]]:
        """Return the fitted learners, the rows to calibrate on, and their scores and how to read these.

        With ``calibration="cross_val"`` rows and scores have an element for each fold that ``make_folds`` returns for a
        seed.
        """
        all_rows = np.arange(len(labels))
        if self.calibration == "prefit" or learns_nothing(self.estimator):
            learner = self._fitted_already()
            return [learner], [all_rows], [self._scores(learner, X)]
        learner = fresh_copy(self._learner(), random)
        if self.calibration == "train":
            learner = fit_weighted(learner, X, labels, weights)
            return [learner], [all_rows], [self._scores(learner, X)]
        seed = drawn_seed(random)
        if self.calibration == "holdout":
            learn, rows = held_out_rows(labels, self.holdout_size, seed)
            learner = fit_weighted(learner, X, labels, weights, learn)
            return [learner], [rows], [self._scores(learner, take_rows(X, rows))]
        learners, parts, scores = [], [], []
        for learn, rows in make_folds(seed=seed):
            learners.append(fit_weighted(fresh_copy(self._learner(), random), X, labels, weights, learn))
            parts.append(rows)
            scores.append(self._scores(learners[-1], take_rows(X, rows)))
        if self.ensemble is False:
            learners = [fit_weighted(learner, X, labels, weights)]
        return learners, parts, scores

    def _refuse_unused_groups(self) -> None:
        """Raise ValueError if ``fit`` would not use the groups."""
        if self.calibration == "prefit" or learns_nothing(self.estimator):
            raise ValueError(
                "groups are for calibration='cross_val', and a classifier that is fitted already has no folds; give no "
                "groups, and calibrate on rows of groups that the classifier has not seen"
            )
        if self.calibration != "cross_val":
            reason = {"holdout": "draws single rows", "train": "makes no folds"}[self.calibration]
            raise ValueError(
                f"groups are for calibration='cross_val', because calibration='{self.calibration}' {reason}; use the "
                "former, or fit the classifier on some groups and calibrate a FrozenEstimator on others"
            )
        if isinstance(self.cv, list | tuple):
            raise ValueError("cv holds the rows of each fold, so groups would change nothing; give one of the two")

    def _has_map_for_each_fold(self, parts: list[FoldScores], score_kind: Input, seed: int) -> bool:
        if self.ensemble == "auto":
            return prefers_fold_maps(partial(self._calibrator, score_kind), parts, seed)
        return bool(self.ensemble)

    def _require_every_class(self, part: FoldScores) -> None:
        for label in np.setdiff1d(self.classes_, part.labels):
            raise ValueError(
                f"class {label_text(label)} has no row of positive weight among the {len(part.labels)} rows to "
                "calibrate on; give more rows of it, or leave it out"
            )

    def _fitted_already(self) -> Any:
        """Return the learner that is fitted. Raises ValueError if its classes are not those of ``y``."""
        check_is_fitted(self.estimator)
        every_class_place(self.estimator, self.classes_)
        return self.estimator

    def _only(self, name: str) -> Any:
        check_is_fitted(self)
        first, *others = getattr(self, name)
        if any(one is not first for one in others):
            raise AttributeError(f"there are {len(others) + 1}, one per fold: see {name}, or set ensemble=False")
        return first
