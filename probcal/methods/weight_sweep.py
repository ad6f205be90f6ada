"""A sweep over class weights: the weights that put a point on the boundary give its predicted probability.

Bayes' rule. Let P(+) be the base rate, and f(x|+), f(x|-) the densities of the classes:

    P(+|x) / P(-|x) = f(x|+) P(+) / (f(x|-) P(-))                                                                  (1)

Weights w+ and w- of the rows of each class keep the densities. They change the class shares to Q(+), Q(-), which are
proportional to w+ P(+) and w- P(-). The boundary of the best classifier for these shares lies where f(z|+) Q(+) =
f(z|-) Q(-). There

    P(+|z) / P(-|z) = P(+) Q(-) / (P(-) Q(+)) = w- / w+,      P(+|z) = w- / (w+ + w-).

Nalbantov & Ivanov (2019) call these shares P^new (here P) and P (here Q). Their equation 3 is the odds above. Their
equation 5 as printed, 1 / (1 + P(-) P^new(+) / (P(+) P^new(-))), has these odds inverted, so it gives P(-|z).

Support vectors. In section 3 they remove all other rows after the first fit and sweep over the support vectors. Where
classes overlap, little is left to learn. Suppose m rows remain, and all but u of them lie at the bound C of the dual.
In the plane u, the number on the margin, is at most 3 for points in general position. Let w be the normal of the first
surface.

By the dual, the least objective on these rows is at least C (m - u) - |w|^2 / 2. Predicting one class for all rows
costs C m. The least objective is concave in the weights. Take level q with equal classes and weights summing to m. The
constant prediction costs 2 min(q, 1 - q) C m, and a surface saves at most 2 min(q, 1 - q) (C u + |w|^2 / 2) of it. So
most levels have no surface among the rows, unless few support vectors lie at the bound.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import numpy as np

from probcal._learner_output import last_step
from probcal._validation import FLAG, Constraint, Rule, take_rows
from probcal.methods._base import fit_weighted, fresh_copy
from probcal.methods._multiclass import class_pairs, combine_problems, couple_pairs
from probcal.methods._probes import Train
from probcal.methods.iso_probability import Lines, iso_probability, rows_by_class, score_against_probability
from probcal.methods.probing import WeightedTraining, Weighting, check_weights_accepted, chosen_weighting
from probcal.methods.refinement import ThresholdClassifiers, ThresholdLoss, ThresholdMethod, TwoClasses, even_thresholds


def support_vectors(
    estimator: Any, X: Any, labels: np.ndarray, weights: np.ndarray | None, stream: tuple[int, ...]
) -> np.ndarray:
    """Return the row numbers of the support vectors of a learner, fitted on all rows.

    It reads ``support_`` of the learner, or of the last step of a Pipeline. The row numbers rise. Raises ValueError if
    there is no ``support_``, or if that holds no row numbers.
    """
    learner = fresh_copy(estimator, np.random.default_rng(stream))
    learner = last_step(fit_weighted(learner, X, labels, weights))
    if not hasattr(learner, "support_"):
        raise ValueError(
            f'{type(learner).__name__} has no support_, which rows="support_vectors" needs; '
            'use a learner such as sklearn.svm.SVC, or rows="all"'
        )
    return _row_numbers(learner, len(labels))


def _row_numbers(learner: Any, n_rows: int) -> np.ndarray:
    named = np.asarray(learner.support_)
    sound = named.ndim == 1 and named.dtype.kind in "iu" and len(named) > 0
    if not sound or named.min() < 0 or named.max() >= n_rows or len(np.unique(named)) < len(named):
        raise ValueError(
            f"support_ of {type(learner).__name__} does not hold row numbers, each once and from 0, which "
            'rows="support_vectors" needs'
        )
    return np.sort(named)


_PAPER_LEVELS = even_thresholds(19)


def _are_levels(given: Any) -> bool:
    """Return whether the levels are None or rising numbers within (0, 1)."""
    if given is None:
        return True
    levels = np.asarray(given)
    sound = levels.ndim == 1 and len(levels) > 0 and levels.dtype.kind in "iuf"
    return bool(sound and (np.diff(levels) > 0).all() and levels[0] > 0 and levels[-1] < 1)


class WeightSweepClassifier(ThresholdMethod):
    """Fit the classifier over a grid of class weights with a fixed sum (Nalbantov & Ivanov 2019).

    Suppose a point lies on the boundary when positive rows weigh w+ and negative ones w-. Then D(1|x) = w- / (w+ + w-),
    which is called the level (for Bayes' rule see the module). The labels at all levels tell between which two levels
    the probability lies, and the prediction is their midpoint. Only labels are needed, never scores.

    Parameters
    ----------
    estimator : classifier
        Has ``fit`` and ``predict``.
    levels : array-like of shape (n_levels,), default=None
        Rising numbers within (0, 1). None means .05 to .95 by .05, as in the paper. With k > 2 classes against the
        rest, the lowest level is then halved until it is at most .1/k: .025, .0125 and .00625 for ten classes. Few
        levels give coarse predictions: with [.1, .9] all points between get .5, and ``predict`` returns the first class
        for all of them.
    answer : {"isotonic", "bounds", "first_crossing"}, default="isotonic"
        Rule for points whose labels are not monotone in the level (section 4).

        - ``"isotonic"`` is Probing's sort: it keeps the number of positive labels and moves them to the lowest levels
          (0, 0, 1 becomes 1, 0, 0). This is neither the monotone labels with the fewest changes (0, 0, 0) nor the
          least-squares isotonic regression of the labels (1/3 at each level).
        - ``"bounds"`` takes the lowest and the highest level at which the label changes.
        - ``"first_crossing"`` takes the lowest.
    rows : {"all", "support_vectors"}, default="all"
        ``"all"`` sweeps over all rows. ``"support_vectors"`` fits the learner once on all rows and sweeps over those in
        its ``support_``, as in section 3. ``sklearn.svm.SVC`` has it, also as the last step of a Pipeline. The
        predictions then describe these rows, whose classes are almost balanced and no longer have their densities. See
        ``probcal.methods.weight_sweep`` for why few levels still have a surface.
    weighting : {"auto", "weight", "rejection"}, default="auto"
        As in ``ProbingClassifier``. The paper has ``"weight"``. With ``"auto"``, a learner that fits its rows without
        error, such as boosted trees, gets rejection samples, because it hardly reacts to weights. At every level, the
        weights sum to the number of rows swept over, or to the sum of their ``sample_weight``.
    multiclass : {"rest", "pairs"}, default="rest"
        Rule for k > 2 classes. ``"rest"`` takes each class against the rest and divides each row by its sum.
        ``"pairs"`` sweeps over the rows of each pair of classes and joins them by pairwise coupling.
    n_jobs : int or None, default=None
        As in ``ProbingClassifier``.
    shortcuts : bool, default=True
        As in ``ProbingClassifier``.
    random_state : int, RandomState, Generator or None, default=None
        Seed. Each level has its own random stream.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    threshold_models_ : list of ThresholdClassifiers
        The classifiers of each problem. There is one problem for two classes, and otherwise one per class or per pair.
    thresholds_ : ndarray of shape (n_levels,)
        The levels, rising. Only with two classes.
    estimators_ : list of classifiers
        The fitted classifiers in the order of ``thresholds_``. Only with two classes.
    training_rows_ : list of dict or None
        Points of each class to draw. Only with two classes and two numeric columns. None otherwise.
    n_features_in_ : int
        Number of columns of X. Only set if X has columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X. Only set if all names are strings.

    See Also
    --------
    ProbingClassifier : Chooses its thresholds from the training rows.
    RelabelingClassifier : Changes labels at random instead of weighting rows.
    SigmoidClassifier : Calibrates scores, if the learner has any.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import Perceptron
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from probcal import WeightSweepClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> perceptron = make_pipeline(StandardScaler(), Perceptron(random_state=0))
    >>> sweep = WeightSweepClassifier(perceptron, random_state=0).fit(X[:400], y[:400])
    >>> sweep.predict_proba(X[400:405])[:, 1].round(3)
    array([0.025, 0.975, 0.975, 0.975, 0.975])
    """

    forwards_sample_weight = False
    clip = (0.0, 1.0)
    constraints: ClassVar[dict[str, Constraint]] = {
        "answer": ("isotonic", "bounds", "first_crossing"),
        "rows": ("all", "support_vectors"),
        "weighting": ("auto", "weight", "rejection"),
        "multiclass": ("rest", "pairs"),
        "shortcuts": FLAG,
        "levels": Rule(_are_levels, "rising numbers within (0, 1)"),
    }

    def __init__(
        self,
        estimator: Any,
        levels: Any = None,
        *,
        answer: Literal["isotonic", "bounds", "first_crossing"] = "isotonic",
        rows: Literal["all", "support_vectors"] = "all",
        weighting: Weighting = "auto",
        multiclass: Literal["rest", "pairs"] = "rest",
        n_jobs: int | None = None,
        shortcuts: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.levels = levels
        self.answer = answer
        self.rows = rows
        self.weighting = weighting
        self.multiclass = multiclass
        self.n_jobs = n_jobs
        self.shortcuts = shortcuts
        self.random_state = random_state

    def predict_proba(self, X: Any) -> np.ndarray:
        self._before_predicting(X)
        return self._combine([self._interval(one, X).mean(axis=1) for one in self.threshold_models_])

    def predict_interval(self, X: Any) -> np.ndarray:
        """Predict the interval in which the probability of the second class lies.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, 2)
            The lower and the upper end: 0, a level or 1.

        Raises
        ------
        ValueError
            If there are more than two classes.
        """
        self._before_predicting(X)
        if len(self.threshold_models_) > 1:
            raise ValueError(f"predict_interval is for two classes only, and y had {len(self.classes_)}")
        return self._interval(self.threshold_models_[0], X)

    def curves(self, X: Any) -> dict[str, list[dict[str, Any]]]:
        """Return the lines to draw for two classes.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows that set the box of the lines, and that are scored.

        Returns
        -------
        dict of str to list of dict
            Lines that are not available are left out. With more than two classes the dict is empty.

            ``"iso_probability"``, for two numeric columns: for each level ``{"level", "x", "y"}``, one or more
            polylines on which the label of its classifier changes. They lie within the box of X and 5 % more. Columns
            with a single value have none. Points are exact to 1e-5 of the box. The middle of a segment may be off by
            about 1e-4 where the border is curved. A region narrower than a cell of a 128 x 128 grid may be missed (see
            ``probcal.methods.iso_probability``).

            A level whose label does not change there has only the lower left corner of the box. Its ``"positive"``
            tells whether it predicts the second class.

            ``"training_rows"``, for two numeric columns: for each class ``{"x", "y", "label"}``, at most 500 of the
            rows swept over.

            ``"scores"``: one ``{"x", "y"}`` of at most 400 rows of X. x is the learner's decision function at level .5,
            where both classes weigh 1, and y is the predicted probability. It needs a decision function and the level
            .5.
        """
        self._before_predicting(X)
        if len(self.threshold_models_) > 1:
            return {}
        (only,) = self.threshold_models_
        lines = {
            "iso_probability": iso_probability(only, X),
            "training_rows": self.training_rows_,
            "scores": score_against_probability(only, X, self.predict_proba(X)[:, 1]),
        }
        return {name: of_name for name, of_name in lines.items() if of_name is not None}

    def check_parameters(self) -> None:
        super().check_parameters()
        check_weights_accepted(self)

    def _threshold_loss(self) -> ThresholdLoss:
        return ThresholdLoss("squared_error")  # its minimax prediction is the midpoint

    def _grid(self) -> np.ndarray:
        if self.levels is not None:
            return np.asarray(self.levels, dtype=np.float64)
        n_classes = len(getattr(self, "classes_", ()))
        if self.multiclass == "pairs" or n_classes < 3:
            return _PAPER_LEVELS
        # most classes of a row have a small probability: with .05 as lowest level, nine of ten classes share .2
        n_halvings = math.ceil(math.log2(_PAPER_LEVELS[0] * 10 * n_classes))
        return np.append(_PAPER_LEVELS[0] / 2.0 ** np.arange(n_halvings, 0, -1), _PAPER_LEVELS)

    def _training(
        self, X: Any, labels: np.ndarray, classes: np.ndarray, weights: np.ndarray | None, stream: tuple[int, ...]
    ) -> Train:
        if self.rows == "support_vectors":
            support = support_vectors(self.estimator, X, labels, weights, stream)
            X, labels = take_rows(X, support), labels[support]
            weights = None if weights is None else weights[support]
        self.training_rows_: Lines | None = rows_by_class(X, labels, classes) if len(self.classes_) == 2 else None
        return WeightedTraining(self.estimator, X, labels, classes, weights, chosen_weighting(self), "n", 1, stream)

    def _problems(self, labels: np.ndarray) -> list[TwoClasses]:
        if self.multiclass == "pairs" and len(self.classes_) > 2:
            return [(rows, labels[rows], classes) for rows, classes in class_pairs(labels, self.classes_)]
        return super()._problems(labels)

    def _combine(self, probabilities: list[np.ndarray]) -> np.ndarray:
        if self.multiclass == "pairs" and len(self.classes_) > 2:
            return couple_pairs(probabilities, len(self.classes_))
        return combine_problems(probabilities, "normalised", self.clip)

    def _interval(self, classifiers: ThresholdClassifiers, X: Any) -> np.ndarray:
        """Return the two levels between which the probability lies, (n_rows, 2)."""
        edges = np.concatenate([[0.0], classifiers.thresholds, [1.0]])
        labels = classifiers.predicted_labels(X)
        if self.answer == "isotonic":
            # the sort moves the positive labels to the lowest levels, so their number is all that counts
            below = above = labels.sum(axis=1)
        else:
            below = np.cumprod(labels, axis=1).sum(axis=1)
            above = below
            if self.answer == "bounds":
                above = labels.shape[1] - np.cumprod(~labels[:, ::-1], axis=1).sum(axis=1)
        return np.column_stack([edges[below], edges[above + 1]])
