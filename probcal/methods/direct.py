"""Methods without calibration: the learner's own probabilities, and its scores rescaled to [0, 1]."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone

from probcal._validation import check_choices, check_clip
from probcal.config.components import unmet_need
from probcal.methods._base import ProbabilityMethod, class_scores, clipped_rows, combine_classes
from probcal.methods._fitting import drawn_seed, fit_weighted, fresh_copy

Kept = Literal["both", "positive", "predicted"]


class DirectClassifier(ProbabilityMethod):
    """Predict the learner's own probabilities, with the interface of the other methods.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``.
    clip : predicted probabilities are clipped to this range. Vovk, Petej & Gammerman (2021) truncate those of a forest
        like this, because a certain and wrong prediction costs an infinite loss. ``(0, 1)`` changes nothing.
    kept : which probability of two classes is kept. The other class has 1 minus it, which is 0 where it rounds to 1.
        ``"both"``: each class keeps its own. ``"positive"``: that of the second class, as in programs that store one
        number for each row. ``"predicted"``: the larger one, as in Weka's printed predictions (``-p``).
    random_state : seed of the classifier.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimator_ : the fitted classifier.
    n_features_in_, feature_names_in_ : number and names of the columns of X, if it has them.
    """

    needs_one_of = ("predict_proba",)
    kept: Kept = "both"  # the default for subclasses without this parameter

    def __init__(
        self,
        estimator: Any,
        *,
        clip: tuple[float, float] = (0.0, 1.0),
        kept: Kept = "both",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.clip = clip
        self.kept = kept
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the learner.

        Parameters
        ----------
        X : rows, (n_rows, n_columns).
        y : labels, (n_rows,).
        sample_weight : weights, (n_rows,), not negative, or None.

        Raises
        ------
        ValueError
            For an invalid parameter, invalid labels or weights, weights for a learner that takes none, and a learner
            without ``predict_proba``.
        """
        X, labels, weights = self._begin(X, y, sample_weight)
        copy = fresh_copy(self.estimator, np.random.default_rng(drawn_seed(self.random_state)))
        self.estimator_ = fit_weighted(copy, X, labels, self._weights_for_learner(weights))
        if needed := unmet_need(type(self), self.estimator_):
            raise ValueError(f"{type(self.estimator).__name__} has no {needed}, and {type(self).__name__} needs it")
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return (n_rows, n_classes) probabilities in the order of ``classes_``."""
        self._before_predicting(X)
        p = clipped_rows(self.estimator_.predict_proba(X), self.clip)
        if self.kept == "both" or len(self.classes_) != 2:
            return p
        first = (p[:, 0] > p[:, 1]) & (self.kept == "predicted")
        return np.column_stack([np.where(first, p[:, 0], 1 - p[:, 1]), np.where(first, 1 - p[:, 0], p[:, 1])])

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        check_clip(self.clip)
        check_choices(self, {"kept": ("both", "positive", "predicted")})

    def predict(self, X: Any) -> np.ndarray:
        """Return the learner's own predicted labels, (n_rows,)."""
        self._before_predicting(X)
        labels: np.ndarray = self.estimator_.predict(X)
        return labels


class RescaledClassifier(ProbabilityMethod):
    """Rescale the scores to [0, 1]: (score - min) / (max - min), with the min and max of the training rows.

    Niculescu-Mizil & Caruana (2005) use this as the uncalibrated prediction of support vector machines and boosting.
    Gao, Parameswaran & Peng (2017, footnote 5) follow them. The scores are the decision function or, if there is none,
    the log-odds of the predicted probability. Scores outside the range become 0 or 1.

    Only the range of these numbers makes them look like probabilities. ``predict`` returns the second class above 1/2,
    wherever the learner has its own threshold.

    With several classes, each has its own minimum and maximum, and each row is divided by its sum. If all training rows
    have the same score, the prediction for that score is 1/2.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``. It uses its own ``random_state``.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimator_ : the fitted classifier.
    least_, greatest_ : (n_columns,) scores that become 0 and 1. There is one column for two classes, and otherwise one
        per class.
    """

    needs_one_of = ("decision_function", "predict_proba")

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the learner and the range of its scores.

        Rows of weight 0 do not count for the minimum and maximum.

        Parameters
        ----------
        X : rows, (n_rows, n_columns).
        y : labels, (n_rows,).
        sample_weight : weights for the learner, (n_rows,), or None.

        Raises
        ------
        ValueError
            For invalid labels or weights, weights for a learner that takes none, and scores that are missing or
            infinite.
        """
        X, labels, weights = self._begin(X, y, sample_weight)
        self.estimator_ = fit_weighted(clone(self.estimator), X, labels, self._weights_for_learner(weights))
        scores = self._scores(X)
        if not np.isfinite(scores).all():
            raise ValueError("only finite scores can be rescaled; the learner gave infinite or missing ones")
        if weights is not None:
            scores = scores[weights > 0]
        self.least_, self.greatest_ = scores.min(axis=0), scores.max(axis=0)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return (n_rows, n_classes) rescaled scores in the order of ``classes_``."""
        self._before_predicting(X)
        return combine_classes(list(self._rescaled(self._scores(X)).T))

    def _scores(self, X: Any) -> np.ndarray:
        return class_scores(self.estimator_, X, "auto", len(self.classes_))

    def _rescaled(self, scores: np.ndarray) -> np.ndarray:
        width = self.greatest_ - self.least_
        varied = width > 0
        return np.where(varied, np.clip((scores - self.least_) / np.where(varied, width, 1.0), 0, 1), 0.5)
