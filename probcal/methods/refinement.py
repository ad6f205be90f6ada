"""Choose the thresholds of Probing: Algorithm 1 of Langford & Zadrozny (2005), or a given grid.

``refine_thresholds`` is Algorithm 1, and ``ThresholdClassifiers.votes`` counts the votes of Algorithm 2. The rules for
splitting an interval are those of section 3, "Loss Details". All logarithms are natural (nats). ``ThresholdMethod`` is
the base class of Probing, relabeling and the weight sweep. It splits several classes into problems of two.
"""

from __future__ import annotations

import math
from bisect import bisect, insort
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise, zip_longest
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from probcal._learner_output import predicted_classes
from probcal._validation import available_if, count_rows, take_rows
from probcal.methods._base import ProbabilityMethod, drawn_seed, refuse_frozen, renamed_attribute, warn_of_class_weight
from probcal.methods._executors import Step
from probcal.methods._multiclass import Multiclass, combine_problems, one_against_rest_problems, pair_in_errors
from probcal.methods._probes import Probe, ProbePredictor, Probes, SeparateProbes, Train, make_probes
from probcal.methods.vote_contradictions import Monotonicity, crossings, monotonicity

Loss = Literal["log_loss", "squared_error"]
Refinement = Literal["printed", "true_drop"]


@dataclass(frozen=True)
class Interval:
    """Hold an interval [a, b] of probabilities, its minimax optimal prediction p and the gain of splitting it there.

    p is also the threshold that splits the interval, when its turn comes.

    The gain is the largest possible drop in loss for one training row inside the interval, in nats for log loss. For
    squared error with the rule ``"printed"`` it is b - a instead.
    """

    a: float
    b: float
    p: float
    gain: float

    @property
    def can_be_split(self) -> bool:
        """Return whether ``p`` lies strictly inside. It does not if no float is left between a and b."""
        return self.a < self.p < self.b


@dataclass(frozen=True)
class ThresholdLoss:
    """Hold the loss that thresholds are chosen for, and the rule for the gain of splitting an interval.

    ``"printed"`` takes b - a as the gain for squared error, as the paper does. ``"true_drop"`` is the largest drop in
    squared error, (b - a)^2 / 4. For log loss the printed rule is the true drop.
    """

    loss: Loss = "log_loss"
    refinement: Refinement = "printed"

    def interval(self, a: float, b: float) -> Interval:
        """Return the interval [a, b], which lies within [0, 1], under this loss."""
        if self.loss == "log_loss":
            p = _minimax_log_loss(a, b)
            return Interval(a, b, p, _gain_log_loss(a, p) if a < p < b else 0.0)
        return Interval(a, b, (a + b) / 2, b - a if self.refinement == "printed" else ((b - a) / 2) ** 2)

    def split(self, interval: Interval) -> tuple[Interval, Interval]:
        """Return the intervals [a, p] and [p, b]: step 2(c) of Algorithm 1."""
        return self.interval(interval.a, interval.p), self.interval(interval.p, interval.b)


def _minimax_log_loss(a: float, b: float) -> float:
    """Return p = 1 / (1 + exp((H(b) - H(a)) / (b - a))), where H is the entropy in nats."""
    if not a < b:
        return a
    # The slope is written so that no digits cancel, however narrow or close to 0 the interval is: (H(b) - H(a)) / (b -
    # a) = [ln(1-a) + g((b-a)/(1-b))] - [ln b + g((b-a)/a)] with g(u) = ln(1+u)/u.
    upper = math.log1p(-a) + (_log1p_ratio((b - a) / (1 - b)) if b < 1 else 0.0)
    lower = math.log(b) + (_log1p_ratio((b - a) / a) if a > 0 else 0.0)
    slope = upper - lower
    if slope > 700:  # exp would overflow here, and a slope this steep needs b below 1e-300
        return a
    # by rounding p can lie just outside
    return min(max(1 / (1 + math.exp(slope)), a), b)


def _gain_log_loss(a: float, p: float) -> float:
    """Return (1-a) ln((1-a)/(1-p)) + a ln(a/p), the regret of predicting p when the truth is a."""
    return (1 - a) * math.log1p((p - a) / (1 - p)) + (a * math.log1p((a - p) / p) if a > 0 else 0.0)


def _log1p_ratio(u: float) -> float:
    return math.log1p(u) / u if u > 0 else 1.0


class CountedVotes(NamedTuple):
    """Hold the ``votes``, (n_rows,) of a small integer type, of the rows with this ``digest``."""

    digest: bytes
    votes: np.ndarray


def rows_digest(X: Any) -> bytes | None:
    """Return a digest of the values of an array of numbers, or None for any other ``X``."""
    if type(X) is not np.ndarray or X.dtype.kind not in "biuf" or X.size == 0:
        return None
    digest = blake2b(f"{X.dtype.str} {X.shape}".encode())
    digest.update(np.ascontiguousarray(X).reshape(-1).view(np.uint8).data)
    return digest.digest()


@dataclass(frozen=True, eq=False)
class ThresholdClassifiers:
    """Hold the fitted classifiers of one two-class problem, one for each threshold.

    Each predicts the second class where the probability lies above its threshold.

    Parameters
    ----------
    thresholds : ndarray of shape (n,)
        Thresholds, rising.
    classifiers : list of classifiers
        Fitted, in the order of ``thresholds``.
    order : ndarray of shape (n,), dtype int
        Positions of the classifiers in the order of fitting.
    probabilities : ndarray of shape (n + 1,)
        Predicted probability for each number of votes, from 0 up.
    classes : ndarray of shape (2,)
        The two labels. The second is positive.
    threshold_loss : ThresholdLoss
        Loss and rule that split the intervals.
    batched : ndarray of shape (n,), dtype bool
        Which classifiers a fast path made. These predict in batches.
    predictor : ProbePredictor
        Predicts with all classifiers.
    counted : CountedVotes or None
        Votes of the rows that chose the thresholds, if each classifier predicted them by itself.
    """

    thresholds: np.ndarray
    classifiers: list[Any]
    order: np.ndarray
    probabilities: np.ndarray
    classes: np.ndarray
    threshold_loss: ThresholdLoss
    batched: np.ndarray
    predictor: ProbePredictor
    counted: CountedVotes | None = None

    def predicts_positive(self, index: int, X: Any) -> np.ndarray:
        """Return whether one classifier predicts the positive class.

        Parameters
        ----------
        index : int
            Position of the classifier, from 0.
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,), dtype bool
            True for the positive class.
        """
        return np.asarray(predicted_classes(self.classifiers[index], X, self.classes) == 1)

    def predicted_labels(self, X: Any) -> np.ndarray:
        """Return whether each classifier predicts the positive class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n), dtype bool
            True for the positive class. There is one column per threshold, in rising order.
        """
        return self.predictor.labels(self.classifiers, self.batched, self.classes, X)

    def votes(self, X: Any) -> np.ndarray:
        """Count the classifiers that predict the positive class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,), dtype int64
            Numbers from 0 to n.
        """
        if self.counted is not None and self.counted.digest == rows_digest(X):
            return self.counted.votes.astype(np.int64)
        return self.predictor.votes(self.classifiers, self.batched, self.classes, X)

    def staged_probabilities(self, X: Any) -> Iterator[np.ndarray]:
        """Predict the probability after the first fitted classifier, after the first two, ...

        It is meant for thresholds that Algorithm 1 chose, not for a grid.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Yields
        ------
        ndarray of shape (n_rows,)
            Predicted probabilities of the positive class.
        """
        # Replay the splits in the order of fitting: stage t then has the intervals of a run that ended after t probes.
        intervals = [self.threshold_loss.interval(0.0, 1.0)]
        before: list[int] = []
        votes: Any = 0
        for index in self.order.tolist():
            split = bisect(before, index)
            insort(before, index)
            intervals[split : split + 1] = self.threshold_loss.split(intervals[split])
            votes = votes + self.predicts_positive(index, X).astype(np.int64)
            yield np.array([interval.p for interval in intervals])[votes]

    answers = renamed_attribute("answers", "predicted_labels")
    together = renamed_attribute("together", "batched")


# Gains this close count as a tie. [0, .5] and [.5, 1] gain the same, but rounding would prefer one.
_EQUAL = 1e-9


def refine_thresholds(
    probes: Probes, n_probes: int, threshold_loss: ThresholdLoss, X: Any, row_weights: np.ndarray
) -> ThresholdClassifiers:
    """Split the interval with the largest possible gain, ``n_probes`` times: steps 1 and 2 of Algorithm 1.

    ``row_weights``, (n_rows,), weigh the rows ``X`` that ``probes`` predict for: ``|S_a|`` of the paper is their sum
    over an interval. The loop ends early when floats can split no interval any more.
    """
    intervals = [threshold_loss.interval(0.0, 1.0)]
    fitted: list[Probe] = []
    chosen: list[float] = []
    # a row's number of votes is the number of its interval, because each threshold below its probability votes for it
    # a signed type that holds -n - 1 also holds n votes
    votes = np.zeros(len(row_weights), dtype=np.min_scalar_type(-n_probes - 1))
    weights = None if (row_weights == 1).all() else row_weights  # counting is faster than adding
    for step in range(n_probes):
        counts = np.bincount(votes, weights=weights, minlength=len(intervals)).tolist()
        best = _best_interval(intervals, counts)
        if best is None:
            break
        threshold = intervals[best].p
        probes.fit_ahead(_expected_steps(intervals, counts, threshold_loss, n_probes - step))
        probe, positive_rows = probes.fit_and_predict(threshold)
        intervals[best : best + 1] = threshold_loss.split(intervals[best])
        # Threshold number k lies between intervals k and k + 1, so the list of probes stays in the order of thresholds.
        fitted.insert(best, probe)
        chosen.append(threshold)
        votes += positive_rows
    # The thresholds are read back from the ends of the intervals, which are in rising order. ``chosen`` keeps the order
    # of fitting.
    model = _threshold_classifiers(probes, intervals, fitted, chosen, threshold_loss)
    # All rows have been predicted once here, and training rows or those of X_test are likely to be predicted again.
    # That costs as much as in the fit, unless a fast path predicts in batches.
    digest = rows_digest(X) if isinstance(probes, SeparateProbes) else None
    return model if digest is None else replace(model, counted=CountedVotes(digest, votes))


def _best_interval(intervals: list[Interval], counts: list[float]) -> int | None:
    """Return the position of the interval whose split may gain most, or None if no interval can be split.

    The lowest interval wins a tie.
    """
    gains = [n * one.gain if one.can_be_split else -1.0 for n, one in zip(counts, intervals, strict=True)]
    most = max(gains)
    return None if most < 0 else next(index for index, gain in enumerate(gains) if gain >= most * (1 - _EQUAL))


def _expected_steps(
    intervals: list[Interval], counts: list[float], threshold_loss: ThresholdLoss, n_steps: int
) -> Iterator[Step]:
    """Yield the next ``n_steps`` steps, assuming that half of an interval's rows fall into each half."""
    intervals, counts, guessed = list(intervals), list(counts), [False] * len(intervals)
    for _ in range(n_steps):
        best = _best_interval(intervals, counts)
        if best is None:
            return
        yield Step(intervals[best].p, guessed[best])
        intervals[best : best + 1] = threshold_loss.split(intervals[best])
        # The split falls near the middle of the interval, so half of the rows on each side is the best guess. A wrong
        # guess costs time only: a fit that nobody takes is dropped.
        counts[best : best + 1] = [counts[best] / 2] * 2
        guessed[best : best + 1] = [True] * 2


def even_thresholds(n_probes: int) -> np.ndarray:
    """Return the thresholds t / (n_probes + 1), (n_probes,), as in Theorem 2."""
    return np.arange(1, n_probes + 1) / (n_probes + 1)


def fit_on_grid(probes: Probes, thresholds: np.ndarray, threshold_loss: ThresholdLoss) -> ThresholdClassifiers:
    """Fit a classifier for each of the rising ``thresholds`` within (0, 1), (n,)."""
    edges = [0.0, *thresholds.tolist(), 1.0]
    intervals = [threshold_loss.interval(a, b) for a, b in pairwise(edges)]
    chosen, fitted = edges[1:-1], []
    for index, p in enumerate(chosen):
        probes.fit_ahead(Step(later, guessed=False) for later in chosen[index:])
        fitted.append(probes.fit_and_predict(p)[0])
    return _threshold_classifiers(probes, intervals, fitted, chosen, threshold_loss)


def _threshold_classifiers(
    probes: Probes, intervals: list[Interval], fitted: list[Probe], chosen: list[float], threshold_loss: ThresholdLoss
) -> ThresholdClassifiers:
    thresholds = np.array([interval.b for interval in intervals[:-1]])
    return ThresholdClassifiers(
        thresholds,
        [probe.classifier for probe in fitted],
        np.searchsorted(thresholds, chosen),
        np.array([interval.p for interval in intervals]),
        probes.classes,
        threshold_loss,
        np.array([probe.batched for probe in fitted], dtype=bool),
        probes.predictor,
    )


TwoClasses = tuple[np.ndarray | None, np.ndarray, np.ndarray]
"""A problem of two classes: the numbers of its rows (None for all), their labels, and the two classes."""


def _has_stages(method: ThresholdMethod) -> bool:
    if method._grid() is not None:
        raise AttributeError("a grid has other thresholds for each number of probes, so there are no stages")
    return True


class ThresholdMethod(ProbabilityMethod):
    """Predict the probability at which the labels of classifiers at rising thresholds go from 1 to 0.

    Subclasses define how the classifier of a threshold is trained (``_training``), and may set a grid of thresholds
    (``_grid``).
    """

    n_probes: int
    multiclass: Multiclass | str
    clip: tuple[float, float]
    n_jobs: int | None
    random_state: int | np.random.RandomState | None
    shortcuts: bool = True

    def _training(
        self, X: Any, labels: np.ndarray, classes: np.ndarray, weights: np.ndarray | None, stream: tuple[int, ...]
    ) -> Train:
        raise NotImplementedError

    def _threshold_loss(self) -> ThresholdLoss:
        return ThresholdLoss()

    def _grid(self) -> np.ndarray | None:
        """Return the rising thresholds (n,) of a grid, or None if Algorithm 1 chooses them."""
        return None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, frequency_weights: bool = False) -> Self:
        """Fit one classifier per threshold.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows, passed to the learner unchanged.
        y : array-like of shape (n_rows,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, not negative. Only their ratios count: they are multiplied by a number that makes
            their mean 1. A row of weight 0 is left out. None means equal weights.
        frequency_weights : bool, default=False
            Whether the weights are whole numbers that say how often each row occurs. A row of weight 2 then counts as
            two rows.

        Returns
        -------
        self
            The fitted method.

        Raises
        ------
        ValueError
            If a parameter, a label or a weight is invalid, if all labels are equal, or if the lengths of ``X`` and
            ``y`` differ. If the learner is a FrozenEstimator, or must take weights and takes none. With
            ``rows="support_vectors"``, also if it has no valid ``support_``. An error in a pair of classes names the
            pair.

        Warns
        -----
        UserWarning
            If the learner has its own ``class_weight``.
        """
        self._fit_thresholds(X, y, sample_weight, frequency_weights)
        return self

    def _fit_thresholds(
        self, X: Any, y: Any, sample_weight: Any, frequency_weights: bool, interval_X: Any = None
    ) -> None:
        """Fit the classifiers. ``interval_X``: rows that weigh the intervals instead of the training rows."""
        refuse_frozen(self.estimator)
        X, labels, weights = self._begin(X, y, sample_weight, frequency_weights)
        warn_of_class_weight(self)
        if interval_X is None:
            interval_weights = np.ones(len(labels)) if weights is None else weights
        else:
            # Rows to be predicted have no weights yet.
            interval_weights = np.ones(count_rows(interval_X))
        seed = drawn_seed(self.random_state)
        problems = self._problems(labels)
        self.threshold_models_: list[ThresholdClassifiers] = []
        for number, (rows, problem_labels, classes) in enumerate(problems):
            # several problems draw independently of each other
            stream = (seed,) if len(problems) == 1 else (seed, number)
            with nullcontext() if rows is None else pair_in_errors(classes):
                problem_X, problem_weights = X, weights
                if rows is not None:
                    problem_X, problem_weights = take_rows(X, rows), None if weights is None else weights[rows]
                train = self._training(problem_X, problem_labels, classes, problem_weights, stream)
                # The weights of all rows fit, because only the weight sweep has pairs, and its grid weighs no rows.
                rows_in_intervals = problem_X if interval_X is None else interval_X
                self.threshold_models_.append(self._fit_problem(train, rows_in_intervals, interval_weights, classes))
        if len(problems) == 1:
            (model,) = self.threshold_models_
            self.thresholds_, self.estimators_, self.order_ = model.thresholds, model.classifiers, model.order
            # Of several problems each model has probabilities of its own.
            self.probabilities_ = np.clip(model.probabilities, *self.clip)

    def _problems(self, labels: np.ndarray) -> list[TwoClasses]:
        problems = one_against_rest_problems(labels, self.classes_, self.multiclass)
        return [(None, problem_labels, classes) for problem_labels, classes in problems]

    def _fit_problem(
        self, train: Train, interval_X: Any, interval_weights: np.ndarray, classes: np.ndarray
    ) -> ThresholdClassifiers:
        grid = self._grid()
        probes = make_probes(self.estimator, train, interval_X, classes, self.n_jobs, shortcuts=self.shortcuts)
        with closing(probes):
            if grid is not None:
                return fit_on_grid(probes, grid, self._threshold_loss())
            return refine_thresholds(probes, self.n_probes, self._threshold_loss(), interval_X, interval_weights)

    probings_ = renamed_attribute("probings_", "threshold_models_")
    estimates_ = renamed_attribute("estimates_", "probabilities_")

    def votes(self, X: Any) -> np.ndarray:
        """Count the classifiers that predict the positive class.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_problems), dtype int
            One dimension for two classes. With more classes there is one column for each class against the rest, or for
            each pair.
        """
        self._before_predicting(X)
        votes = [model.votes(X) for model in self.threshold_models_]
        return votes[0] if len(votes) == 1 else np.column_stack(votes)

    def predict_proba(self, X: Any) -> np.ndarray:
        # Algorithm 2: counting the votes equals sorting them, which makes them monotone (section 3)
        self._before_predicting(X)
        return self._combine([model.probabilities[model.votes(X)] for model in self.threshold_models_])

    @available_if(_has_stages)
    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Predict class probabilities after 1, 2, ... probes.

        After t probes they equal those of ``n_probes=t`` with the same seed, to the last bit. Each probe predicts once.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Yields
        ------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``. Each stage is a new array.

        Raises
        ------
        AttributeError
            If the thresholds lie on a grid, because a grid has other thresholds for each number of probes.
        """
        self._before_predicting(X)
        last: tuple[np.ndarray | None, ...] = (None,) * len(self.threshold_models_)
        for stage in zip_longest(*(model.staged_probabilities(X) for model in self.threshold_models_)):
            # a problem without further intervals stays as it is
            last = tuple(old if new is None else new for new, old in zip(stage, last, strict=True))
            yield self._combine(list(last))  # type: ignore[arg-type]  # each problem has a first stage

    def monotonicity(self, X: Any) -> Monotonicity | list[Monotonicity]:
        """Report how often votes contradict each other, so that sorting changes them.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        Monotonicity or list of Monotonicity
            One report for two classes. With more classes there is one for each class against the rest, or for each
            pair.
        """
        self._before_predicting(X)
        reports = [monotonicity(model.thresholds, model.predicted_labels(X)) for model in self.threshold_models_]
        return reports[0] if len(reports) == 1 else reports

    def measures(self, X: Any) -> dict[str, float]:
        """Return the measures that only the method knows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        dict of str to float
            The only key is ``"crossings"``: how many pairs of thresholds a < b contradict each other. They do if b's
            classifier predicts positive and a's predicts negative at a point. The points are the rows of ``X``. For two
            numeric columns, a grid of 100 x 100 points over their box is added, as far as it lies within their convex
            hull. The number is a lower bound, because contradictions between these points are not found. With more than
            two classes it is the sum over the problems.
        """
        self._before_predicting(X)
        return {"crossings": float(sum(crossings(model.predicted_labels, X) for model in self.threshold_models_))}

    def _combine(self, probabilities: list[np.ndarray]) -> np.ndarray:
        return combine_problems(probabilities, self.multiclass, self.clip)
