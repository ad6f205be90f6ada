"""Methods without calibration: the learner's own probabilities, and its scores rescaled to [0, 1]."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone

from probcal._learner_output import every_class_place, learner_probabilities, predicted_classes
from probcal._validation import CLIP, Constraint
from probcal.components.classes import refuse_unmet_need
from probcal.methods._base import ProbabilityMethod, class_scores, drawn_seed, fit_weighted, fresh_copy
from probcal.methods._multiclass import clipped_rows, combine_classes

Kept = Literal["both", "positive", "predicted"]


class DirectClassifier(ProbabilityMethod):
    """Predict the learner's own probabilities, with the interface of the other methods.

    Parameters
    ----------
    estimator : classifier
        Has ``predict_proba``.
    clip : tuple of (float, float), default=(0.0, 1.0)
        Predicted probabilities are clipped to this range. With more than two classes each row is then divided by its
        sum. Vovk, Petej & Gammerman (2021) truncate those of a forest like this, because a certain and wrong prediction
        costs an infinite loss. ``(0, 1)`` changes nothing.
    kept : {"both", "positive", "predicted"}, default="both"
        Which probability of two classes is kept. The other class has 1 minus it, which is 0 where it rounds to 1. With
        more than two classes it changes nothing.

        - ``"both"``: each class keeps its own.
        - ``"positive"``: that of the second class, as in programs that store one number for each row.
        - ``"predicted"``: the larger one, as in Weka's printed predictions (``-p``).
    random_state : int, RandomState, Generator or None, default=None
        Seed of the classifier. It replaces every ``random_state`` of the learner that is None.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimator_ : classifier
        The fitted classifier.
    n_features_in_ : int
        Number of columns of X. Only set if X has columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X. Only set if all names are strings.

    See Also
    --------
    RescaledClassifier : Scales scores to [0, 1], for learners without ``predict_proba``.
    SigmoidClassifier : Calibrates the learner's scores.
    FoldMeanClassifier : Takes the mean of one classifier per fold.
    ProtectedClassifier : Corrects these probabilities along a stream.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from probcal import DirectClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> direct = DirectClassifier(DecisionTreeClassifier(random_state=0), clip=(0.01, 0.99)).fit(X[:300], y[:300])
    >>> p = direct.predict_proba(X[300:])[:, 1]
    >>> float(p.min()), float(p.max())
    (0.01, 0.99)
    """

    needs_one_of = ("predict_proba",)
    constraints: ClassVar[dict[str, Constraint]] = {"clip": CLIP, "kept": ("both", "positive", "predicted")}
    # the defaults for subclasses without these parameters
    clip: tuple[float, float] = (0.0, 1.0)
    kept: Kept = "both"

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, frequency_weights: bool = False) -> Self:
        X, labels, weights = self._begin(X, y, sample_weight, frequency_weights)
        copy = fresh_copy(self.estimator, np.random.default_rng(drawn_seed(self.random_state)))
        self.estimator_ = fit_weighted(copy, X, labels, self._weights_for_learner(weights))
        refuse_unmet_need(type(self), self.estimator_)
        # refuses a learner whose columns are not those of the labels in fit, and not only when it predicts
        every_class_place(self.estimator_, self.classes_)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        self._before_predicting(X)
        p = clipped_rows(learner_probabilities(self.estimator_, X, self.classes_), self.clip)
        if self.kept == "both" or len(self.classes_) != 2:
            return p
        # 1 - p instead of the stored p: a program that keeps one number has lost the digits of the other.
        first = (p[:, 0] > p[:, 1]) & (self.kept == "predicted")
        return np.column_stack([np.where(first, p[:, 0], 1 - p[:, 1]), np.where(first, 1 - p[:, 0], p[:, 1])])

    def predict(self, X: Any) -> np.ndarray:
        """Return the learner's own predicted labels.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels. Neither ``clip`` nor ``kept`` changes them.
        """
        self._before_predicting(X)
        labels: np.ndarray = self.classes_[predicted_classes(self.estimator_, X, self.classes_)]
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
    estimator : classifier
        Has ``decision_function`` or ``predict_proba``. It uses its own ``random_state``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimator_ : classifier
        The fitted classifier.
    least_, greatest_ : ndarray of shape (1,) or (n_classes,)
        Scores that become 0 and 1. There is one number for two classes, and otherwise one per class.
    n_features_in_ : int
        Number of columns of X. Only set if X has columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X. Only set if all names are strings.

    See Also
    --------
    DirectClassifier : Takes the learner's own probabilities.
    SigmoidClassifier : Fits a sigmoid to the same scores, and so calibrates them.
    IsotonicClassifier : Calibrates the rescaled scores with ``scores="rescaled"``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.svm import LinearSVC
    >>> from probcal import RescaledClassifier, SigmoidClassifier
    >>> X, y = make_classification(1000, flip_y=0.1, random_state=0)
    >>> for method in (RescaledClassifier(LinearSVC()), SigmoidClassifier(LinearSVC(), random_state=0)):
    ...     p = method.fit(X[:500], y[:500]).predict_proba(X[500:])
    ...     print(type(method).__name__, round(log_loss(y[500:], p), 2))
    RescaledClassifier 0.48
    SigmoidClassifier 0.34
    """

    needs_one_of = ("decision_function", "predict_proba")

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, frequency_weights: bool = False) -> Self:
        X, labels, weights = self._begin(X, y, sample_weight, frequency_weights)
        self.estimator_ = fit_weighted(clone(self.estimator), X, labels, self._weights_for_learner(weights))
        scores = self._scores(X)
        if not np.isfinite(scores).all():
            raise ValueError("only finite scores can be rescaled; the learner gave infinite or missing ones")
        # Each class against the rest has a scale of its own.
        self.least_, self.greatest_ = scores.min(axis=0), scores.max(axis=0)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        self._before_predicting(X)
        width = self.greatest_ - self.least_
        varied = width > 0
        rescaled = np.clip((self._scores(X) - self.least_) / np.where(varied, width, 1.0), 0, 1)
        return combine_classes(list(np.where(varied, rescaled, 0.5).T))

    def _scores(self, X: Any) -> np.ndarray:
        return class_scores(self.estimator_, X, "auto", self.classes_)
