"""Venn-Abers predictors, by the package venn-abers (needs ``pip install 'probcal[calibrators]'``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from probcal._validation import refuse_other_choices, take_rows
from probcal.methods._base import SCORES, ProbabilityMethod, Scores, class_scores, one_against_rest, scored_classes
from probcal.methods._fitting import drawn_seed, fresh_copy
from probcal.methods.calibrators._calibrator import (
    contained,
    fit_on_rows,
    folds,
    held_out_rows,
    optional_class,
    refuse_no_folds,
    refuse_no_holdout_size,
    unmet_class,
)

_PACKAGE = "venn_abers", "VennAbers"
_DIGITS = 10
"""Of the largest score. p0 and p1 jump at every calibration row's score, and the last digits of a matrix product
depend on how many rows are asked about at once: equal rows must not find themselves on two sides of a jump."""

_MOST_ROWS = 10_000_000
"""A row of weight k is k rows to the package: these take some gigabytes."""


@dataclass(frozen=True, eq=False)
class _Predictor:
    """A ``venn_abers.VennAbers``, fitted on scores of which only the order counts."""

    fitted: Any
    scale: float

    @classmethod
    def fit(cls, scores: np.ndarray, positive: np.ndarray) -> _Predictor:
        """``scores`` and ``positive`` (bool): (n,)."""
        package, scale = optional_class(*_PACKAGE)(), float(np.abs(scores).max()) or 1.0
        with contained():
            return cls(package.fit(_two_columns_of(scores / scale), positive.astype(np.float64)), scale)

    def interval(self, scores: np.ndarray) -> np.ndarray:
        """(n, 2) p0 and p1 of (n,) scores."""
        with contained():
            return self.fitted.predict_proba(_two_columns_of(scores / self.scale))[1]


class VennAbersClassifier(ProbabilityMethod):
    """Venn-Abers predictors (Vovk, Petej & Fedorova 2015): isotonic regression with the row asked about in it.

    The row is added to the calibration rows once as negative and once as positive; p0 and p1 are what isotonic
    regression gives it then. The probability reported is p1 / (1 - p0 + p1), the minimax for log loss.

    Two classes have one predictor, of the second class. More have one for each class against the rest, and each row of
    estimates is divided by its sum.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``.
    scheme : ``"inductive"``: the classifier is trained on a part of the rows and the predictor on the others;
        ``"cross"``: the rows of each fold calibrate a classifier trained on the other folds, and the folds are merged
        by geometric means, GM(p1) / (GM(1 - p0) + GM(p1)).
    scores : ``"decision_function"``, ``"log_odds"``, ``"probability"``, or ``"auto"``, the first of these that the
        classifier offers. Only their order counts, so ``"probability"`` is read as its log-odds; scores that agree to
        ten digits of the largest are equal.
    holdout_size : for ``"inductive"``: the share of rows that calibrate, or their number.
    cv : for ``"cross"``: number of stratified shuffled folds, a splitter of scikit-learn, or a list of
        (rows to learn from, rows to calibrate on).
    random_state : seed of the classifiers and of the split.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimators_ : the fitted classifiers: one, or one a fold.
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
        """Return what to install first; None when venn-abers is there."""
        return unmet_class(*_PACKAGE)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit classifiers and predictors. Test rows have no part in it.

        X: (n_rows, n_columns), handed to the classifier as it is; y: (n_rows,) labels; sample_weight: (n_rows,)
        whole numbers or None: how often a row counts, for a Venn-Abers predictor counts rows.

        Raises ValueError for a parameter that is not as documented, labels or weights that are no labels or weights,
        weights that are not whole, a class too rare, a classifier that takes no weights where some are given, and
        scores that are missing or infinite. Raises CalibratorMissing, an ImportError, when venn-abers is not
        installed.
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
        """(n_rows, n_classes) probabilities of ``classes_``; none is 0 or 1."""
        return one_against_rest([upper / (1 - lower + upper) for lower, upper in self._merged(X)])

    def predict_interval(self, X: Any) -> np.ndarray:
        """(n_rows, 2): p0 and p1 of the second of two classes, p0 <= p1; the probability lies between them.

        Of several folds, 1 - GM(1 - p0) and GM(p1), the smaller first: where folds differ by more than their p0 and
        p1 do, the former is the larger. Raises ValueError for more than two classes.
        """
        merged = self._merged(X)
        if len(merged) > 1:
            raise ValueError(f"an interval is of two classes; there are {len(self.classes_)}")
        return np.sort(np.column_stack(merged[0]), axis=1)

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        refuse_other_choices(self, {"scheme": ("inductive", "cross"), "scores": SCORES})
        refuse_no_holdout_size(self.holdout_size)
        refuse_no_folds(self.cv)

    def _calibrated(self, learner: Any, X: Any, labels: np.ndarray, rows: np.ndarray) -> list[_Predictor]:
        """The predictor of each mapped class."""
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
        # the log-odds have the order of the probabilities, and keep those next to 0 and 1 apart when rounded
        wanted: Scores = "log_odds" if self.scores == "probability" else self.scores
        return class_scores(learner, X, wanted, len(self.classes_))

    def _merged(self, X: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """(1 - GM(1 - p0), GM(p1)) of each mapped class, (n_rows,) each; GM is over the folds."""
        self._before_predicting(X)
        scored = [self._scores(learner, X) for learner in self.estimators_]
        merged = []
        for column, of_folds in enumerate(zip(*self._predictors, strict=True)):
            intervals = [one.interval(scores[:, column]) for one, scores in zip(of_folds, scored, strict=True)]
            p0, p1 = np.moveaxis(intervals, -1, 0)  # type: ignore[type-var]  # which takes lists
            merged.append((1 - _geometric_mean(1 - p0), _geometric_mean(p1)))
        return merged


def _two_columns_of(scores: np.ndarray) -> np.ndarray:
    """The package reads scores from the second of two columns."""
    rounded = np.round(scores, _DIGITS)
    return np.column_stack([-rounded, rounded])


def _geometric_mean(of_folds: np.ndarray) -> np.ndarray:
    """(n_rows,) of (n_folds, n_rows)."""
    return of_folds[0] if len(of_folds) == 1 else np.exp(np.log(of_folds).mean(axis=0))
