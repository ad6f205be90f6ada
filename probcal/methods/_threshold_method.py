"""Base class of Probing, relabeling and the weight sweep: classifiers at thresholds and their votes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, nullcontext
from itertools import zip_longest
from typing import Any

import numpy as np

from probcal._validation import available_if, count_rows, take_rows
from probcal.methods._base import ProbabilityMethod, drawn_seed, refuse_frozen, renamed_attribute, warn_of_class_weight
from probcal.methods._multiclass import Multiclass, combine_problems, one_against_rest_problems, pair_in_errors
from probcal.methods._probes import TrainAtThreshold, make_probes
from probcal.methods.refinement import ThresholdClassifiers, ThresholdLoss, fit_on_grid, refine_thresholds
from probcal.methods.vote_contradictions import Monotonicity, crossings, monotonicity

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
    ) -> TrainAtThreshold:
        raise NotImplementedError

    def _threshold_loss(self) -> ThresholdLoss:
        return ThresholdLoss()

    def _grid(self) -> np.ndarray | None:
        """Return the rising thresholds (n,) of a grid, or None if Algorithm 1 chooses them."""
        return None

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
                rows_in_intervals = problem_X if interval_X is None else interval_X
                self.threshold_models_.append(self._fit_problem(train, rows_in_intervals, interval_weights, classes))
        if len(problems) == 1:
            (model,) = self.threshold_models_
            self.thresholds_, self.estimators_, self.order_ = model.thresholds, model.classifiers, model.order
            self.probabilities_ = np.clip(model.probabilities, *self.clip)

    def _problems(self, labels: np.ndarray) -> list[TwoClasses]:
        problems = one_against_rest_problems(labels, self.classes_, self.multiclass)
        return [(None, problem_labels, classes) for problem_labels, classes in problems]

    def _fit_problem(
        self, train: TrainAtThreshold, interval_X: Any, interval_weights: np.ndarray, classes: np.ndarray
    ) -> ThresholdClassifiers:
        grid = self._grid()
        probes = make_probes(self.estimator, train, interval_X, classes, self.n_jobs, shortcuts=self.shortcuts)
        with closing(probes):
            if grid is not None:
                return fit_on_grid(probes, grid, self._threshold_loss())
            return refine_thresholds(probes, self.n_probes, self._threshold_loss(), interval_weights)

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
