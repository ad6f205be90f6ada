"""The probabilities that a learner gives by itself."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from probcal.components import unmet_need
from probcal.methods.estimator import ProbabilityMethod
from probcal.methods.fitting import drawn_seed, fit_weighted, fresh_copy
from probcal.methods.parameters import refuse_no_range, refuse_other_choices
from probcal.methods.probabilities import clipped, two_columns


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
