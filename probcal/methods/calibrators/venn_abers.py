"""Venn-Abers predictors with the package venn-abers (needs ``pip install 'probcal[calibrators]'``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from probcal._validation import check_choices, take_rows
from probcal.methods._base import SCORES, ProbabilityMethod, Scores, class_scores, combine_classes, scored_classes
from probcal.methods._fitting import drawn_seed, fresh_copy
from probcal.methods.calibrators._calibrator import (
    check_folds,
    check_holdout_size,
    fit_on_rows,
    folds,
    held_out_rows,
    optional_class,
    silenced,
    unmet_class,
)

_PACKAGE = "venn_abers", "VennAbers"
_DIGITS = 10
"""Digits kept of the largest score.

p0 and p1 jump at every calibration row's score. The last digits of a matrix product depend on how many rows are
predicted at once. Without rounding, equal rows could fall on two sides of a jump.
"""

_MOST_ROWS = 10_000_000
"""The package repeats a row of weight k k times. This many rows take some gigabytes."""


@dataclass(frozen=True, eq=False)
class _Predictor:
    """Hold a ``venn_abers.VennAbers``, fitted on scores. Only their order counts."""

    fitted: Any
    scale: float

    @classmethod
    def fit(cls, scores: np.ndarray, positive: np.ndarray) -> _Predictor:
        """Fit the predictor. ``scores`` and ``positive`` (bool) are (n,)."""
        package, scale = optional_class(*_PACKAGE)(), float(np.abs(scores).max()) or 1.0
        with silenced():
            return cls(package.fit(_score_columns(scores / scale), positive.astype(np.float64)), scale)

    def interval(self, scores: np.ndarray) -> np.ndarray:
        """Return p0 and p1, (n, 2), of (n,) scores."""
        with silenced():
            intervals: np.ndarray = self.fitted.predict_proba(_score_columns(scores / self.scale))[1]
            return intervals


class VennAbersClassifier(ProbabilityMethod):
    """Calibrate with Venn-Abers predictors (Vovk, Petej & Fedorova 2015), which include the predicted row.

    The row is added to the calibration rows once as negative and once as positive. Isotonic regression then gives it p0
    and p1. The predicted probability is p1 / (1 - p0 + p1), the minimax choice for log loss.

    Two classes have one predictor, for the second class. Several classes have one for each class against the rest, and
    each row is divided by its sum.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``.
    scheme : ``"inductive"`` trains the classifier on a part of the rows and the predictor on the others. ``"cross"``
        calibrates a classifier trained on all other folds with the rows of each fold. It merges the folds by geometric
        means, GM(p1) / (GM(1 - p0) + GM(p1)).
    scores : ``"decision_function"``, ``"log_odds"``, ``"probability"``, or ``"auto"``, the first of these that the
        classifier offers. Only their order counts, so ``"probability"`` is read as its log-odds. Scores that agree to
        ten digits of the largest are equal.
    holdout_size : for ``"inductive"``: the share or the number of rows that calibrate.
    cv : for ``"cross"``: number of stratified shuffled folds, a splitter of scikit-learn, or a list of (rows to learn
        from, rows to calibrate on).
    random_state : seed of the classifiers and of the split.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimators_ : the fitted classifiers: one, or one per fold.
    """

    needs_one_of = ("decision_function", "predict_proba")

    def __init__(
        self,
        estimator: Any,
        *,
        scheme: Literal["inductive", "cross"] = "inductive",
        scores: Scores = "auto",
        holdout_size: float = 0.25,
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.scheme = scheme
        self.scores = scores
        self.holdout_size = holdout_size
        self.cv = cv
        self.random_state = random_state

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return the install command if venn-abers is missing, and None otherwise."""
        return unmet_class(*_PACKAGE)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifiers and the predictors.

        Parameters
        ----------
        X : rows, (n_rows, n_columns), passed to the classifier unchanged.
        y : labels, (n_rows,).
        sample_weight : whole numbers, (n_rows,), or None: how often each row counts. A Venn-Abers predictor counts
            rows.

        Raises
        ------
        ValueError
            For an invalid parameter, invalid labels or weights, weights that are not whole, a class too rare, weights
            for a classifier that takes none, and scores that are missing or infinite.
        CalibratorMissing
            If venn-abers is not installed. It is an ImportError.
        """
        X, labels, weights = self._begin(X, y, sample_weight)
        if weights is not None and (weights % 1).any():
            raise ValueError(
                "a Venn-Abers predictor counts rows, so sample_weight must be whole numbers here; for other weights "
                "use isotonic calibration"
            )
        if weights is not None and weights.sum() > _MOST_ROWS:
            raise ValueError(f"sample_weight counts rows: {weights.sum():g} are more than {_MOST_ROWS:,}; divide it")
        for_learner = self._weights_for_learner(weights)
        random = np.random.default_rng(drawn_seed(self.random_state))
        first = fresh_copy(self.estimator, random)
        seed = drawn_seed(random)
        if self.scheme == "inductive":
            learners, parts = [first], [held_out_rows(labels, self.holdout_size, seed)]
        else:
            parts = folds(X, labels, self.cv, seed)
            learners = [first, *(fresh_copy(self.estimator, random) for _ in parts[1:])]
        times = np.ones(len(labels), dtype=np.int64) if weights is None else weights.astype(np.int64)
        self.estimators_ = [
            fit_on_rows(learner, X, labels, for_learner, learn)
            for learner, (learn, _) in zip(learners, parts, strict=True)
        ]
        self._predictors = [
            self._calibrated(learner, X, labels, np.repeat(calibrate, times[calibrate]))
            for learner, (_, calibrate) in zip(self.estimators_, parts, strict=True)
        ]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return (n_rows, n_classes) probabilities in the order of ``classes_``. None of them is 0 or 1."""
        return combine_classes([upper / (1 - lower + upper) for lower, upper in self._merged(X)])

    def predict_interval(self, X: Any) -> np.ndarray:
        """Return p0 and p1 of the second of two classes, (n_rows, 2), with p0 <= p1. The probability lies between them.

        With several folds they are 1 - GM(1 - p0) and GM(p1), the smaller first. The former can be the larger, if folds
        differ by more than their p0 and p1 do. Raises ValueError for more than two classes.
        """
        merged = self._merged(X)
        if len(merged) > 1:
            raise ValueError(f"predict_interval is for two classes only, and y had {len(self.classes_)}")
        return np.sort(np.column_stack(merged[0]), axis=1)

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        check_choices(self, {"scheme": ("inductive", "cross"), "scores": SCORES})
        check_holdout_size(self.holdout_size)
        check_folds(self.cv)

    def _calibrated(self, learner: Any, X: Any, labels: np.ndarray, rows: np.ndarray) -> list[_Predictor]:
        """Return the predictor of each mapped class."""
        if not len(rows):
            raise ValueError("no row to calibrate on has a weight above 0")
        scores = self._scores(learner, take_rows(X, rows))
        if not np.isfinite(scores).all():
            raise ValueError("Venn-Abers needs finite scores; the learner gave infinite or missing ones")
        return [
            _Predictor.fit(scores[:, column], labels[rows] == label)
            for column, label in enumerate(scored_classes(self.classes_))
        ]

    def _scores(self, learner: Any, X: Any) -> np.ndarray:
        # log-odds have the order of the probabilities, and rounding does not merge those near 0 and 1
        wanted: Scores = "log_odds" if self.scores == "probability" else self.scores
        return class_scores(learner, X, wanted, len(self.classes_))

    def _merged(self, X: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return (1 - GM(1 - p0), GM(p1)) of each mapped class, (n_rows,) each. GM is taken over the folds."""
        self._before_predicting(X)
        scored = [self._scores(learner, X) for learner in self.estimators_]
        merged = []
        for column, of_folds in enumerate(zip(*self._predictors, strict=True)):
            intervals = [one.interval(scores[:, column]) for one, scores in zip(of_folds, scored, strict=True)]
            p0, p1 = np.moveaxis(np.stack(intervals), -1, 0)
            merged.append((1 - _geometric_mean(1 - p0), _geometric_mean(p1)))
        return merged


def _score_columns(scores: np.ndarray) -> np.ndarray:
    """Return the scores in the second of two columns, where the package reads them."""
    rounded = np.round(scores, _DIGITS)
    return np.column_stack([-rounded, rounded])


def _geometric_mean(of_folds: np.ndarray) -> np.ndarray:
    """Return the mean (n_rows,) of (n_folds, n_rows)."""
    mean: np.ndarray = of_folds[0] if len(of_folds) == 1 else np.exp(np.log(of_folds).mean(axis=0))
    return mean
