"""What Probing, relabelling and the weight sweep share: classifiers at thresholds, and their votes.

How often the classifiers of rising thresholds contradict each other.

Pairs of thresholds whose classifiers contradict each other somewhere: their boundaries cross.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.metaestimators import available_if

from probcal._validation import count_rows, take_rows
from probcal.fast_paths.prior_shift import PriorShift
from probcal.fast_paths.shortcut import shortcut_of
from probcal.methods._base import ProbabilityMethod, row_weights
from probcal.methods._executors import learns_in_threads
from probcal.methods._fitting import drawn_seed, refuse_frozen, warn_of_class_weight
from probcal.methods._multiclass import Multiclass, against_the_rest, joined, naming_the_pair
from probcal.methods._probes import (
    DistinctRows,
    EachByItself,
    Probes,
    Shifted,
    Together,
    Train,
    answers_row_by_row,
    distinct_rows,
)
from probcal.methods.importance import WeightedTraining
from probcal.methods.iso_probability import as_given, grid_within_hull, points_of
from probcal.methods.refinement import Goal, Tells, ThresholdClassifiers, on_grid, refined


@dataclass(frozen=True, eq=False, repr=False)
class Monotonicity:
    """What sorting the votes changed (Langford & Zadrozny 2005, section 3, third issue).

    ``thresholds``: (n,) rising; ``changed_votes``: (n_rows,) int, how many votes of each row the sort changed;
    ``changed_at``: (n,) int, in how many rows it changed the vote of each threshold.
    """

    thresholds: np.ndarray
    changed_votes: np.ndarray
    changed_at: np.ndarray

    @property
    def changed_rows(self) -> float:
        """Share of rows, in [0, 1], whose votes were not all ones before all zeros."""
        return float(np.mean(self.changed_votes > 0))

    @property
    def changed(self) -> float:
        """Share of all votes, in [0, 1], that the sort changed."""
        return float(np.mean(self.changed_votes) / len(self.thresholds))

    def __repr__(self) -> str:
        return (
            f"the sort acted on {self.changed_rows:.1%} of {len(self.changed_votes)} rows and changed "
            f"{self.changed:.2%} of the votes, at most {self.changed_votes.max()} of {len(self.thresholds)} in a row"
        )


def monotonicity(thresholds: np.ndarray, answers: np.ndarray) -> Monotonicity:
    """The report on ``answers``, (n_rows, n) bool, a column for each of the rising ``thresholds``."""
    votes = answers.sum(axis=1)
    changed = answers != (np.arange(len(thresholds)) < votes[:, None])
    return Monotonicity(thresholds, changed.sum(axis=1), changed.sum(axis=0))


_SIDE = 100
"""The grid within the hull of points in the plane is cut from so many points each way."""


def crossing_pairs(answers: np.ndarray) -> int:
    """How many pairs a < b of rising thresholds have a row that b calls positive and a negative.

    ``answers``: (n_rows, n) bool, a column for each threshold. The positive region of b belongs within that of a;
    where a point of it lies outside, the two boundaries have crossed, or changed places.
    """
    counts = (~answers).T.astype(np.float64) @ answers.astype(np.float64)
    return int(np.count_nonzero(np.triu(counts, 1)))


def crossings(answered: Callable[[Any], np.ndarray], X: Any) -> int:
    """``crossing_pairs`` among the rows of ``X`` and, where they are points in the plane, all within their hull.

    ``answered``: rows -> (n_rows, n) bool. ``X`` of two numeric columns stands for its convex hull, of which a grid
    of 100 x 100 points over its box is asked besides the rows. Other rows are asked alone. It is what is found there: a
    lower bound of the pairs that cross anywhere within the hull.
    """
    answers, points = answered(X), points_of(X)
    if points is not None and len(within := grid_within_hull(points, _SIDE)):
        answers = np.vstack([answers, answered(as_given(within, X))])
    return crossing_pairs(answers)


TwoClasses = tuple[np.ndarray | None, np.ndarray, np.ndarray]
"""A problem of two classes: the numbers of its rows, None for all, their labels, and the two classes."""


def _splits_as_it_goes(method: ThresholdMethod) -> bool:
    if method._grid() is not None:
        raise AttributeError("thresholds on a grid are others for every number of probes, so there are no stages")
    return True


class ThresholdMethod(ProbabilityMethod):
    """A probability is where the answers of classifiers at rising thresholds go from 1 to 0.

    Children say how the classifier of a threshold is trained (``_training``), and may put the thresholds on a
    grid (``_grid``).
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
        """(n,) rising thresholds, or None where Algorithm 1 chooses them."""
        return None

    def _fit_thresholds(self, X: Any, y: Any, sample_weight: Any, X_counted: Any = None) -> None:
        """``X_counted``: rows that intervals are weighed by instead of the training rows."""
        refuse_frozen(self.estimator)
        X, labels, weights = self._begin(X, y, sample_weight)
        warn_of_class_weight(self)
        if X_counted is None:
            counted = np.ones(len(labels)) if weights is None else weights
        else:
            counted = np.ones(count_rows(X_counted))
        seed = drawn_seed(self.random_state)
        problems = self._problems(labels)
        self.probings_: list[ThresholdClassifiers] = []
        for number, (rows, of_problem, classes) in enumerate(problems):
            stream = (seed,) if len(problems) == 1 else (seed, number)
            with nullcontext() if rows is None else naming_the_pair(classes):
                of_rows, of_weights = (X, weights) if rows is None else _of_rows(rows, X, weights)
                train = self._training(of_rows, of_problem, classes, of_weights, stream)
                asked = of_rows if X_counted is None else X_counted
                self.probings_.append(self._probed(train, asked, counted, classes[1]))
        if len(problems) == 1:
            (only,) = self.probings_
            self.thresholds_, self.estimators_, self.order_ = only.thresholds, only.classifiers, only.order
            self.estimates_ = np.clip(only.estimates, *self.clip)

    def _problems(self, labels: np.ndarray) -> list[TwoClasses]:
        problems = against_the_rest(labels, self.classes_, self.multiclass)  # type: ignore[arg-type]  # checked by fit
        return [(None, of_problem, classes) for of_problem, classes in problems]

    def _probed(self, train: Train, asked: Any, counted: np.ndarray, positive: Any) -> ThresholdClassifiers:
        grid = self._grid()
        weighs_classes = isinstance(train, WeightedTraining) and train.weighs_classes
        shortcut = shortcut_of(self.estimator) if self.shortcuts and weighs_classes else None
        once = self.shortcuts and answers_row_by_row(self.estimator)
        n_workers, in_threads = effective_n_jobs(self.n_jobs), learns_in_threads(self.estimator)
        if shortcut is None:
            rows = distinct_rows(asked) if once else DistinctRows(asked)
            found: Probes = EachByItself(train, rows, positive, n_workers, in_threads=in_threads)
        else:
            found = (Shifted if isinstance(shortcut, PriorShift) else Together)(train, asked, positive, shortcut)  # type: ignore[arg-type]  # told apart by the same condition
            shortcut = shortcut_of(self.estimator)  # a new one, which remembers no training rows
        tells = Tells(shortcut, once, n_workers if in_threads else 1)
        with closing(found) as probes:
            if grid is not None:
                return on_grid(probes, grid, self._goal(), positive, tells)
            return refined(probes, self.n_probes, self._goal(), counted, positive, tells)

    def votes(self, X: Any) -> np.ndarray:
        """How many classifiers say the positive class: (n_rows,) int for two classes.

        With more classes (n_rows, n_problems), a column for each class that was put against the rest or each pair.
        """
        self._before_predicting(X)
        votes = [one.votes(X) for one in self.probings_]
        return votes[0] if len(votes) == 1 else np.column_stack(votes)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Algorithm 2: (n_rows, n_classes) probabilities in the order of ``classes_``.

        Counting votes is the same as sorting them, which makes them monotone (section 3).
        """
        self._before_predicting(X)
        return self._joined([one.estimates[one.votes(X)] for one in self.probings_])

    @available_if(_splits_as_it_goes)  # type: ignore[untyped-decorator]
    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """(n_rows, n_classes) probabilities after 1, 2, ... probes, each array a new one.

        Those after t are the ones of ``n_probes=t`` with the same seed, to the last bit. Every probe predicts
        once. AttributeError where the thresholds lie on a grid.
        """
        self._before_predicting(X)
        last: tuple[np.ndarray | None, ...] = (None,) * len(self.probings_)
        for stage in zip_longest(*(one.staged_estimates(X) for one in self.probings_)):
            # a problem that ran out of intervals stays as it is
            last = tuple(old if new is None else new for new, old in zip(stage, last, strict=True))
            yield self._joined(list(last))  # type: ignore[arg-type]  # each problem has a first stage

    def monotonicity(self, X: Any) -> Monotonicity | list[Monotonicity]:
        """How often the votes on ``X`` contradict each other, so that sorting them changes some.

        With more than two classes a list, one report for each class that was put against the rest or each pair.
        """
        self._before_predicting(X)
        reports = [monotonicity(one.thresholds, one.answers(X)) for one in self.probings_]
        return reports[0] if len(reports) == 1 else reports

    def measures(self, X: Any) -> dict[str, float]:
        """What only the method knows of rows ``X``.

        ``crossings``: how many pairs of thresholds a < b contradict each other, b's classifier calling a point positive
        that a's calls negative; of the rows and, where X is two numeric columns, of a grid of 100 x 100 points over
        their box, as far as it lies within their convex hull. Pairs that contradict each other between these points
        only are not found, so that it is a lower bound. With more than two classes, the sum over the problems.
        """
        self._before_predicting(X)
        return {"crossings": float(sum(crossings(one.answers, X) for one in self.probings_))}

    def _joined(self, estimates: list[np.ndarray]) -> np.ndarray:
        return joined(estimates, self.multiclass, self.clip)  # type: ignore[arg-type]  # checked by fit


def _of_rows(rows: np.ndarray, X: Any, weights: np.ndarray | None) -> tuple[Any, np.ndarray | None]:
    return take_rows(X, rows), None if weights is None else row_weights(weights[rows], len(rows))
