"""Base class of Probing, relabeling and the weight sweep: classifiers at thresholds and their votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from probcal._validation import available_if, count_rows, take_rows
from probcal.fast_paths.prior_shift import PriorShift
from probcal.fast_paths.shortcut import shortcut_of
from probcal.methods._base import ProbabilityMethod
from probcal.methods._executors import learns_in_threads
from probcal.methods._fitting import drawn_seed, refuse_frozen, warn_of_class_weight
from probcal.methods._multiclass import Multiclass, combine_problems, one_against_rest_problems, pair_in_errors
from probcal.methods._probes import (
    BatchProbes,
    DistinctRows,
    Probes,
    SeparateProbes,
    ShiftedProbes,
    Train,
    answers_row_by_row,
    distinct_rows,
)
from probcal.methods.importance import WeightedTraining
from probcal.methods.plane import as_given, grid_within_hull, points_of
from probcal.methods.refinement import AnswerOptions, Goal, ThresholdClassifiers, fit_on_grid, refine_thresholds


@dataclass(frozen=True, eq=False, repr=False)
class Monotonicity:
    """Describe how sorting changed the votes (Langford & Zadrozny 2005, section 3, third issue).

    Parameters
    ----------
    thresholds : ndarray of shape (n,)
        Thresholds, rising.
    changed_votes : ndarray of shape (n_rows,), dtype int
        How many votes of each row changed.
    changed_at : ndarray of shape (n,), dtype int
        For how many rows the vote of each threshold changed.
    """

    thresholds: np.ndarray
    changed_votes: np.ndarray
    changed_at: np.ndarray

    @property
    def changed_rows(self) -> float:
        """Return the share of rows that had a vote of 0 before a vote of 1.

        Returns
        -------
        float
            Within [0, 1].
        """
        return float(np.mean(self.changed_votes > 0))

    @property
    def changed(self) -> float:
        """Return the share of all votes that the sort changed.

        Returns
        -------
        float
            Within [0, 1].
        """
        return float(np.mean(self.changed_votes) / len(self.thresholds))

    def __repr__(self) -> str:
        return (
            f"the sort acted on {self.changed_rows:.1%} of {len(self.changed_votes)} rows and changed "
            f"{self.changed:.2%} of the votes, at most {self.changed_votes.max()} of {len(self.thresholds)} in a row"
        )


def monotonicity(thresholds: np.ndarray, answers: np.ndarray) -> Monotonicity:
    """Return the report on ``answers``, (n_rows, n) bool, one column for each of the rising ``thresholds``."""
    votes = answers.sum(axis=1)
    changed = answers != (np.arange(len(thresholds)) < votes[:, None])
    return Monotonicity(thresholds, changed.sum(axis=1), changed.sum(axis=0))


_SIDE = 100
"""Number of grid points along each side of the box of the points."""


def crossing_pairs(answers: np.ndarray) -> int:
    """Return how many pairs a < b of rising thresholds contradict each other.

    They do if b predicts positive and a predicts negative for some row. ``answers``: (n_rows, n) bool, one column per
    threshold. The positive region of b should lie within that of a. If a point of it lies outside, the two boundaries
    have crossed or changed places.
    """
    counts = (~answers).T.astype(np.float64) @ answers.astype(np.float64)
    return int(np.count_nonzero(np.triu(counts, 1)))


def crossings(predict: Callable[[Any], np.ndarray], X: Any) -> int:
    """Return ``crossing_pairs`` of the rows of ``X`` and, for points in the plane, of a grid in their convex hull.

    ``predict``: from rows to (n_rows, n) bool. For two numeric columns a grid of 100 x 100 points over the box of ``X``
    is added, as far as it lies within the hull. The number is a lower bound of the pairs that cross anywhere within the
    hull.
    """
    answers, points = predict(X), points_of(X)
    if points is not None and len(within := grid_within_hull(points, _SIDE)):
        answers = np.vstack([answers, predict(as_given(within, X))])
    return crossing_pairs(answers)


TwoClasses = tuple[np.ndarray | None, np.ndarray, np.ndarray]
"""A problem of two classes: the numbers of its rows (None for all), their labels, and the two classes."""


def _has_stages(method: ThresholdMethod) -> bool:
    if method._grid() is not None:
        raise AttributeError("a grid has other thresholds for each number of probes, so there are no stages")
    return True


class ThresholdMethod(ProbabilityMethod):
    """Predict the probability at which the answers of classifiers at rising thresholds go from 1 to 0.

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

    def _goal(self) -> Goal:
        return Goal()

    def _grid(self) -> np.ndarray | None:
        """Return the rising thresholds (n,) of a grid, or None if Algorithm 1 chooses them."""
        return None

    def _fit_thresholds(
        self, X: Any, y: Any, sample_weight: Any, frequency_weights: bool, X_counted: Any = None
    ) -> None:
        """Fit the classifiers. ``X_counted``: rows that weigh the intervals instead of the training rows."""
        refuse_frozen(self.estimator)
        X, labels, weights = self._begin(X, y, sample_weight, frequency_weights)
        warn_of_class_weight(self)
        if X_counted is None:
            counted = np.ones(len(labels)) if weights is None else weights
        else:
            counted = np.ones(count_rows(X_counted))
        seed = drawn_seed(self.random_state)
        problems = self._problems(labels)
        self.probings_: list[ThresholdClassifiers] = []
        for number, (rows, problem_labels, classes) in enumerate(problems):
            stream = (seed,) if len(problems) == 1 else (seed, number)
            with nullcontext() if rows is None else pair_in_errors(classes):
                problem_X, problem_weights = (X, weights) if rows is None else _select_rows(rows, X, weights)
                train = self._training(problem_X, problem_labels, classes, problem_weights, stream)
                weighing_X = problem_X if X_counted is None else X_counted
                self.probings_.append(self._fit_problem(train, weighing_X, counted, classes))
        if len(problems) == 1:
            (only,) = self.probings_
            self.thresholds_, self.estimators_, self.order_ = only.thresholds, only.classifiers, only.order
            self.estimates_ = np.clip(only.probabilities, *self.clip)

    def _problems(self, labels: np.ndarray) -> list[TwoClasses]:
        problems = one_against_rest_problems(labels, self.classes_, self.multiclass)
        return [(None, problem_labels, classes) for problem_labels, classes in problems]

    def _fit_problem(
        self, train: Train, weighing_X: Any, counted: np.ndarray, classes: np.ndarray
    ) -> ThresholdClassifiers:
        grid = self._grid()
        weighs_classes = isinstance(train, WeightedTraining) and train.weighs_classes
        shortcut = shortcut_of(self.estimator) if self.shortcuts and weighs_classes else None
        once = self.shortcuts and answers_row_by_row(self.estimator)
        n_workers, in_threads = effective_n_jobs(self.n_jobs), learns_in_threads(self.estimator)
        if shortcut is None:
            rows = distinct_rows(weighing_X) if once else DistinctRows(weighing_X)
            found: Probes = SeparateProbes(train, rows, classes, n_workers, in_threads=in_threads)
        else:
            kind = ShiftedProbes if isinstance(shortcut, PriorShift) else BatchProbes
            found = kind(train, weighing_X, classes, shortcut)  # type: ignore[arg-type]  # the line above decides
            shortcut = shortcut_of(self.estimator)  # a new shortcut, which keeps no training rows
        options = AnswerOptions(shortcut, once, n_workers if in_threads else 1)
        with closing(found) as probes:
            if grid is not None:
                return fit_on_grid(probes, grid, self._goal(), classes, options)
            return refine_thresholds(probes, self.n_probes, self._goal(), counted, classes, options)

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
        votes = [one.votes(X) for one in self.probings_]
        return votes[0] if len(votes) == 1 else np.column_stack(votes)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict class probabilities by Algorithm 2.

        Counting the votes equals sorting them, which makes them monotone (section 3).

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.
        """
        self._before_predicting(X)
        return self._combined([one.probabilities[one.votes(X)] for one in self.probings_])

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
        last: tuple[np.ndarray | None, ...] = (None,) * len(self.probings_)
        for stage in zip_longest(*(one.staged_probabilities(X) for one in self.probings_)):
            # a problem without further intervals stays as it is
            last = tuple(old if new is None else new for new, old in zip(stage, last, strict=True))
            yield self._combined(list(last))  # type: ignore[arg-type]  # each problem has a first stage

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
        reports = [monotonicity(one.thresholds, one.answers(X)) for one in self.probings_]
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
        return {"crossings": float(sum(crossings(one.answers, X) for one in self.probings_))}

    def _combined(self, probabilities: list[np.ndarray]) -> np.ndarray:
        return combine_problems(probabilities, self.multiclass, self.clip)


def _select_rows(rows: np.ndarray, X: Any, weights: np.ndarray | None) -> tuple[Any, np.ndarray | None]:
    return take_rows(X, rows), None if weights is None else weights[rows]
