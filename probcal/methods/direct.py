"""The probabilities that a learner gives by itself.

A learner's scores stretched to [0, 1] and read as if they were probabilities.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import clone

from probcal._validation import refuse_no_range, refuse_other_choices
from probcal.config.components import unmet_need
from probcal.methods._base import ProbabilityMethod, class_scores, clipped, one_against_rest, two_columns
from probcal.methods._fitting import drawn_seed, fit_weighted, fresh_copy


class DirectClassifier(ProbabilityMethod):
    """The estimator's own ``predict_proba``, behind the same interface as the other methods.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``.
    clip : estimates are projected to this range, as Vovk, Petej & Gammerman (2021) truncate those of a forest, whose
        certain and wrong ones would cost an infinite loss. ``(0, 1)`` leaves them.
    negative : where P(negative) of two classes comes from. ``"predicted"`` takes the estimator's own column.
        ``"complement"`` takes 1 - P(positive), which is 0 where P(positive) rounds to 1: programs that keep one number
        for each row compute the log loss in this way.
    random_state : seed of the classifier.

    Attributes: ``classes_`` (n_classes,), ``estimator_`` the fitted classifier, ``n_features_in_`` and
    ``feature_names_in_`` where X has them.
    """

    needs_one_of = ("predict_proba",)
    negative: Literal["predicted", "complement"] = "predicted"  # also of subclasses that do not have the parameter

    def __init__(
        self,
        estimator: Any,
        *,
        clip: tuple[float, float] = (0.0, 1.0),
        negative: Literal["predicted", "complement"] = "predicted",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.clip = clip
        self.negative = negative
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """X: (n_rows, n_columns); y: (n_rows,) labels; sample_weight: (n_rows,), not negative.

        Raises ValueError for anything else, for weights with a learner that takes none, and for a learner without
        ``predict_proba``.
        """
        X, labels, weights = self._begin(X, y, sample_weight)
        copy = fresh_copy(self.estimator, np.random.default_rng(drawn_seed(self.random_state)))
        self.estimator_ = fit_weighted(copy, X, labels, self._weights_for_learner(weights))
        if needed := unmet_need(type(self), self.estimator_):
            raise ValueError(f"{type(self.estimator).__name__} has no {needed}, and {type(self).__name__} needs it")
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_rows, n_classes) probabilities in the order of ``classes_``."""
        self._before_predicting(X)
        p = clipped(self.estimator_.predict_proba(X), self.clip)
        return two_columns(p[:, 1]) if self.negative == "complement" and len(self.classes_) == 2 else p

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        refuse_no_range(self.clip)
        refuse_other_choices(self, {"negative": ("predicted", "complement")})

    def predict(self, X: Any) -> np.ndarray:
        """The learner's own prediction: (n_rows,) labels."""
        self._before_predicting(X)
        return self.estimator_.predict(X)


class RescaledClassifier(ProbabilityMethod):
    """(score - min) / (max - min), min and max those of the training rows, cut off at 0 and 1.

    What Niculescu-Mizil & Caruana (2005) take for the estimates of support vector machines and boosting before
    calibration, as Gao, Parameswaran & Peng (2017, footnote 5) do after them. The scores are the decision function
    or, where there is none, the log-odds of the estimated probability. Nothing makes these numbers probabilities but
    their range: ``predict`` takes those above 1/2 for the second class, wherever the learner itself draws its line.

    Several classes: each has its own minimum and maximum, and each row is divided by its sum. Where all training rows
    have one score, its estimate is 1/2.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``; draws with its own ``random_state``.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    estimator_ : the fitted classifier.
    least_, greatest_ : (n_columns,) scores that are given 0 and 1; one column for two classes, else one a class.
    """

    needs_one_of = ("decision_function", "predict_proba")

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """X: (n_rows, n_columns), y: (n_rows,) labels, sample_weight: (n_rows,) or None, for the learner.

        Rows of weight 0 have no part in the minimum and maximum. Raises ValueError for what is none of these, a
        learner that takes no weights where some are given, and scores that are missing or infinite.
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
        """(n_rows, n_classes) rescaled scores in the order of ``classes_``."""
        self._before_predicting(X)
        return one_against_rest(list(self._rescaled(self._scores(X)).T))

    def _scores(self, X: Any) -> np.ndarray:
        return class_scores(self.estimator_, X, "auto", len(self.classes_))

    def _rescaled(self, scores: np.ndarray) -> np.ndarray:
        width = self.greatest_ - self.least_
        varied = width > 0
        return np.where(varied, np.clip((scores - self.least_) / np.where(varied, width, 1.0), 0, 1), 0.5)
