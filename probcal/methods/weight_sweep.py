"""A sweep over class weights: the posterior of a point from the weights at which it lies on the boundary.

Bayes' rule. Of the rows a share P(+) is positive, and f(x|+), f(x|-) are the densities of the classes, so that

    P(+|x) / P(-|x) = f(x|+) P(+) / (f(x|-) P(-))                                                                  (1)

Weights w+ and w- of the rows of each class leave the densities as they are and make the shares Q(+), Q(-) proportional
to w+ P(+) and w- P(-). A classifier that is best under them has its boundary where f(z|+) Q(+) = f(z|-) Q(-). There

    P(+|z) / P(-|z) = P(+) Q(-) / (P(-) Q(+)) = w- / w+,      P(+|z) = w- / (w+ + w-).

In the letters of Nalbantov & Ivanov (2019) the shares P are called P^new and Q are called P. Their equation 3 is the
odds above; equation 5 as printed, 1 / (1 + P(-) P^new(+) / (P(+) P^new(-))), has these odds where their inverse
belongs, so that it gives P(-|z).

The rows that a support vector machine rests on.

Nalbantov & Ivanov (2019), section 3, remove all others after the first fit and build the levels on these. Where classes
overlap, little is left to learn from them. Let m rows be kept, all but u of them at the bound C of the dual (u is the
number on the margin, 3 at most for points in general position in the plane), and w the first surface's normal. Then the
least objective on these rows is at least C (m - u) - |w|^2 / 2, by the dual; calling all rows one class costs C m. As
the least objective is concave in the weights, at level q, with equal classes and weights summing to m, a surface saves
at most 2 min(q, 1 - q) (C u + |w|^2 / 2) of the 2 min(q, 1 - q) C m that the constant answer costs: most levels have no
surface among the rows, unless few support vectors lie at the bound.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.pipeline import Pipeline

from probcal._validation import refuse_no_flag, refuse_other_choices, take_rows
from probcal.methods._fitting import fit_weighted, fresh_copy
from probcal.methods._multiclass import coupled, each_pair, joined
from probcal.methods._probes import Train
from probcal.methods._threshold_method import ThresholdMethod, TwoClasses
from probcal.methods.importance import WeightedTraining, Weighting, refuse_weights_for_none
from probcal.methods.iso_probability import iso_probability, rows_by_class, score_against_estimate
from probcal.methods.refinement import Goal, ThresholdClassifiers, evenly


def support_vectors(
    estimator: Any, X: Any, labels: np.ndarray, weights: np.ndarray | None, stream: tuple[int, ...]
) -> np.ndarray:
    """(n,) the rising numbers of the rows that ``estimator`` names in ``support_`` once it is fitted on all.

    Of a Pipeline its last step names them. ``weights``: (n_rows,) or None; ``stream``: the numbers that its random
    stream starts from. Raises ValueError when it names none, when what it names are no row numbers, and for a class
    whose rows all weigh 0.
    """
    counted = np.arange(len(labels)) if weights is None else np.flatnonzero(weights)
    weightless = np.setdiff1d(labels, labels[counted])
    if len(weightless):
        raise ValueError(f"sample_weight is zero for all rows of class {weightless.tolist()[0]!r}; leave the class out")
    learner = fresh_copy(estimator, np.random.default_rng(stream))
    of_counted = None if weights is None else weights[counted]
    learner = fit_weighted(learner, take_rows(X, counted), labels[counted], of_counted)
    while isinstance(learner, Pipeline):
        learner = learner.steps[-1][1]
    if not hasattr(learner, "support_"):
        raise ValueError(
            'rows="support_vectors" needs a learner that names them in support_, such as sklearn.svm.SVC, '
            f"and {type(learner).__name__} has none"
        )
    return counted[_row_numbers(learner, len(counted))]


def _row_numbers(learner: Any, n_rows: int) -> np.ndarray:
    named = np.asarray(learner.support_)
    sound = named.ndim == 1 and named.dtype.kind in "iu" and len(named) > 0
    if not sound or named.min() < 0 or named.max() >= n_rows or len(np.unique(named)) < len(named):
        raise ValueError(
            'rows="support_vectors" needs the numbers of rows in support_, each once and from 0, and that of '
            f"{type(learner).__name__} holds something else"
        )
    return np.sort(named)


_CHOICES = {
    "answer": ("isotonic", "bounds", "first_crossing"),
    "rows": ("all", "support_vectors"),
    "weighting": ("auto", "weight", "rejection"),
    "multiclass": ("rest", "pairs"),
}


class WeightSweepClassifier(ThresholdMethod):
    """Nalbantov & Ivanov (2019): the classifier built anew over a grid of class weights, their sum fixed.

    A point that comes to lie on the boundary between the classes when positive rows weigh w+ and negative ones w- has
    D(1|x) = w- / (w+ + w-), which is called the level (see the module for Bayes' rule). The label at each level tells
    between which two levels the posterior lies; the estimate is their midpoint. Only labels are needed, never scores.

    Parameters
    ----------
    estimator : classifier with ``fit`` and ``predict``.
    levels : rising numbers within (0, 1); None stands for .05 to .95 by .05, as in the paper. Few of them are coarse:
        with [.1, .9] all rows between get .5, and ``predict`` calls them all the first class.
    answer : for points whose labels are not monotone in the level (section 4): ``"isotonic"`` is Probing's sort of
        the labels: as many positive ones as there are, moved to the lowest levels (0, 0, 1 becomes 1, 0, 0). It keeps
        the count of votes and nothing else: it is neither the monotone labels that change the fewest (0, 0, 0) nor
        the least-squares isotonic regression of the labels (1/3 at each level). ``"bounds"`` takes the lowest and
        the highest level at which the label changes; ``"first_crossing"`` the lowest.
    rows : ``"support_vectors"`` fits the learner once on all rows and sweeps over those that it then names in
        ``support_`` (``sklearn.svm.SVC``, also as the last step of a Pipeline), as section 3 does for the support
        vector machine. The estimates are then of these rows, of which the classes have nearly equal shares and no
        longer their densities; see ``probcal.methods.weight_sweep`` for why few levels have a surface left.
        ``"all"`` keeps all.
    weighting : as in ``ProbingClassifier``. Given directly, the weights sum to the number of rows at every level (of
        the rows swept over; to the sum of ``sample_weight`` where there is one).
    multiclass : with k > 2 classes, ``"rest"`` puts each against the rest and divides each row by its sum;
        ``"pairs"`` sweeps over the rows of each two classes, and pairwise coupling joins the pairs.
    n_jobs : processes.
    shortcuts : as in ``ProbingClassifier``.
    random_state : seed; each level has a random stream of its own.

    Attributes: ``classes_``; ``probings_`` the classifiers of each problem; with two classes ``thresholds_``,
    (n_levels,), and ``estimators_`` in that order; ``n_features_in_``, ``feature_names_in_`` where X has them;
    ``training_rows_``, with two classes and two numeric columns, points of each class to draw, None elsewhere.
    """

    hands_weights_on = False
    clip = (0.0, 1.0)

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """X: (n_rows, n_columns), passed on untouched; y: (n_rows,) labels; sample_weight: (n_rows,).

        Raises ValueError for a parameter that is not as documented, for labels or weights that are none (with
        ``multiclass="pairs"``, in the rows of any pair), and for ``rows="support_vectors"`` with a learner that
        names none or a class whose rows all weigh 0. Warns of a learner with a ``class_weight`` of its own. With
        ``multiclass="pairs"`` an error names the pair of classes.
        """
        self.training_rows_ = None
        self._fit_thresholds(X, y, sample_weight)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_rows, n_classes) probabilities in the order of ``classes_``."""
        self._before_predicting(X)
        return self._joined([self._interval(one, X).mean(axis=1) for one in self.probings_])

    def predict_interval(self, X: Any) -> np.ndarray:
        """(n_rows, 2) lower and upper end of the probability of the second class; of two classes only.

        Raises ValueError with more classes.
        """
        self._before_predicting(X)
        if len(self.probings_) > 1:
            raise ValueError(f"there is an interval for two classes only, not for {len(self.classes_)}")
        return self._interval(self.probings_[0], X)

    def curves(self, X: Any) -> dict[str, list[dict[str, Any]]]:
        """Lines to draw, of two classes only; what cannot be had is left out.

        ``iso_probability``, of two numeric columns: for each level ``{"level", "x", "y"}``, one or more polylines on
        which the label of its classifier changes, within the box of X and 5 % more; not for columns of one value only.
        Their points are exact to 1e-5 of the box; the middle of a segment between two of them may be off by about
        1e-4 where the border is curved, and a region narrower than a cell of a grid of 128 x 128 may be missed (see
        ``probcal.methods.iso_probability``). A level whose label does not change there has the box's lower left corner
        alone, and under ``positive`` whether it says the second class. ``training_rows``, of two numeric columns: for
        each class ``{"x", "y", "label"}``, at most 500 of the rows that were swept over. ``scores``: one ``{"x",
        "y"}``, the learner's decision function at level .5, where weights are as they are, and the estimate of at most
        400 rows of X; not for learners without one, nor for levels without .5.
        """
        self._before_predicting(X)
        if len(self.probings_) > 1:
            return {}
        (only,) = self.probings_
        lines = {
            "iso_probability": iso_probability(only, X),
            "training_rows": self.training_rows_,
            "scores": score_against_estimate(only, X, self.predict_proba(X)[:, 1]),
        }
        return {name: of_name for name, of_name in lines.items() if of_name is not None}

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        refuse_other_choices(self, _CHOICES)
        refuse_no_flag(self, "shortcuts")
        if self.levels is not None:
            levels = np.asarray(self.levels)
            sound = levels.ndim == 1 and len(levels) and levels.dtype.kind in "iuf"
            if not (sound and (np.diff(levels) > 0).all() and levels[0] > 0 and levels[-1] < 1):
                raise ValueError(f"levels must be rising numbers within (0, 1), not {self.levels!r}")
        refuse_weights_for_none(self)

    def _goal(self) -> Goal:
        return Goal("squared_error")  # whose minimax estimate is the midpoint

    def _grid(self) -> np.ndarray:
        return evenly(19) if self.levels is None else np.asarray(self.levels, dtype=np.float64)

    def _training(
        self, X: Any, labels: np.ndarray, classes: np.ndarray, weights: np.ndarray | None, stream: tuple[int, ...]
    ) -> Train:
        if self.rows == "support_vectors":
            kept = support_vectors(self.estimator, X, labels, weights, stream)
            X, labels = take_rows(X, kept), labels[kept]
            weights = None if weights is None else weights[kept]
        if len(self.classes_) == 2:
            self.training_rows_ = rows_by_class(X, labels, classes)  # type: ignore[assignment]
        return WeightedTraining(self.estimator, X, labels, classes, weights, self.weighting, "n", 1, stream)

    def _problems(self, labels: np.ndarray) -> list[TwoClasses]:
        if self.multiclass == "pairs" and len(self.classes_) > 2:
            return [(rows, labels[rows], classes) for rows, classes in each_pair(labels, self.classes_)]
        return super()._problems(labels)

    def _joined(self, estimates: list[np.ndarray]) -> np.ndarray:
        if self.multiclass == "pairs" and len(self.classes_) > 2:
            return coupled(estimates, len(self.classes_))
        return joined(estimates, "normalised", self.clip)

    def _interval(self, classifiers: ThresholdClassifiers, X: Any) -> np.ndarray:
        """(n_rows, 2) the levels between which the probability lies."""
        edges = np.concatenate([[0.0], classifiers.thresholds, [1.0]])
        answers = classifiers.answers(X)
        if self.answer == "isotonic":
            below = above = answers.sum(axis=1)
        else:
            below = np.cumprod(answers, axis=1).sum(axis=1)
            above = below
            if self.answer == "bounds":
                above = answers.shape[1] - np.cumprod(~answers[:, ::-1], axis=1).sum(axis=1)
        return np.column_stack([edges[below], edges[above + 1]])
