"""What a metric is, the predictions that it measures, and how tables print its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from probcal.metrics.checked_rows import checked_numbers, checked_two_classes
from probcal.metrics.curves import COARSE, LOESS_POINTS
from probcal.metrics.decomposition import ScoreDecomposition, decomposition_of
from probcal.metrics.drawn_rows import DrawnRows
from probcal.metrics.ranking import RankedRows, rank_each_class
from probcal.metrics.smooth_errors import Distances, curve_distances

# Tolerance of a number beyond its bounds.
_ROUNDING = 1e-9
LARGEST_COUNT = 1e15
"""Upper bound of a count."""


class Prediction:
    """Hold the test rows of one cell: labels, predicted probabilities, weights, and true probabilities if known.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels 0 to n_classes - 1.
    p : array-like of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1), or predicted probabilities of all classes.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    true_p : array-like of shape (n_rows,), default=None
        True P(y = 1), if known.
    coarse : bool, default=False
        Whether to fit the loess curve to fewer points. This is ten times as fast, and changes the metrics of the curve
        by less than .001. That is enough for the draws of a bootstrap.
    cluster : ndarray of shape (n_rows,), default=None
        Number of the cluster of each row, for intervals of rows that belong together. All weights are then above 0.

    Attributes
    ----------
    rows : Rows
        Checked labels, predictions and weights of the rows of positive weight.
    """

    def __init__(
        self, y: Any, p: Any, sample_weight: Any = None, true_p: Any = None, *, coarse: bool = False,
        cluster: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        rows = checked_numbers(y, p, sample_weight)
        self.rows, self.coarse = rows if cluster is None else replace(rows, cluster=cluster), coarse
        self.true_p, self._given = true_p, (y, p, sample_weight)

    @cached_property
    def ranked(self) -> list[RankedRows]:
        """Return the rows sorted by prediction: once for two classes, and once per class for several."""
        return rank_each_class(self.rows)

    @cached_property
    def distances(self) -> Distances:
        """Return the distance of the predictions from the loess curve, and their weights, for each class."""
        return curve_distances(self.ranked, most_points=COARSE if self.coarse else LOESS_POINTS)

    @cached_property
    def brier_parts(self) -> ScoreDecomposition:
        """Return the parts of the Brier score."""
        return decomposition_of(self.rows, self.ranked)

    @property
    def positive(self) -> np.ndarray:
        """Return the predicted P(y = 1) of each row as it was given, (n,)."""
        p = np.asarray(self._given[1])
        return p[:, 1] if p.ndim == 2 else p

    @cached_property
    def base_rate(self) -> float:
        """Return the base rate."""
        rows = checked_two_classes(*self._given)
        return rows.mean(rows.y)

    @property
    def weight(self) -> Any:
        """Return the weights as they were given: (n,) or None."""
        return self._given[2]

    @property
    def distance(self) -> np.ndarray:
        """Return the distance of each prediction from the true probability, for the rows of positive weight."""
        distances: np.ndarray = np.abs(np.asarray(self.true_p) - self.positive)
        return distances if self.weight is None else distances[np.asarray(self.weight) > 0]


@dataclass(frozen=True)
class Metric:
    """Describe a metric: how it is computed, what it is called, which end is better, and its bounds.

    Parameters
    ----------
    name : str
        Name in experiments and results.
    about : str
        One line for the help and the schema.
    short : str
        Header of its column.
    long : str
        Title of its table.
    value : callable or None, default=None
        Function of the predictions of a cell that returns a float. Its argument has ``rows``, with ``y``, ``p`` and
        ``weight``, and ``positive``, the predicted P(y = 1). None means that the fitted method or a comparison of
        methods measures the metric.
    larger_is_better : bool, default=False
        Whether larger values are better.
    no_end : str, default=""
        Reason why neither end is better. With a reason, no value is marked as best.
    least : float, default=0.0
        Lower bound of the values.
    most : float, default=1.0
        Upper bound of the values.
    undefined : bool, default=False
        Whether the metric may be NaN, because it has no value for some test rows.
    measured : {"always", "asked", "by the method", "in comparisons"}, default="always"
        When the metric is measured: for every cell, if an experiment asks for it, by methods that can if an experiment
        asks for it, or in comparisons of methods.
    of_the_truth : bool, default=False
        Whether the metric needs the true probabilities of the rows.
    two_classes : bool, default=False
        Whether the metric is for two classes only. It is NaN for three or more.
    drawn : callable or None, default=None
        Function of ``DrawnRows`` that returns the values of many bootstrap draws of two classes at once, (n_draws,).
        Without it, each draw is measured by ``value``.
    of_classes : callable or None, default=None
        Function of the values of each of several classes against all others, (n_classes,) or (n_classes, n_draws), that
        returns the value of all classes. None where these values do not decide it.
    decimals : int, default=3
        Number of decimals in tables.
    """

    name: str
    about: str
    short: str
    long: str
    value: Callable[[Prediction], float] | None = None
    larger_is_better: bool = False
    no_end: str = ""
    least: float = 0.0
    most: float = 1.0
    undefined: bool = False
    measured: Literal["always", "asked", "by the method", "in comparisons"] = "always"
    of_the_truth: bool = False
    two_classes: bool = False
    drawn: Callable[[DrawnRows], np.ndarray] | None = None
    of_classes: Callable[[np.ndarray], np.ndarray] | None = None
    decimals: int = 3

    @property
    def good_end(self) -> str:
        """Return which end is better, in words."""
        if self.no_end:
            return self.no_end
        return "larger is better" if self.larger_is_better else "smaller is better"

    @property
    def help(self) -> str:
        """Return what the metric is, for which classes, and which end is better, for lists and the schema."""
        classes = ", two classes only" if self.two_classes else ""
        return f"{self.about}{classes}" + ("" if self.no_end else f", {self.good_end}")

    def best(self, numbers: list[float]) -> float:
        """Return the best value.

        Parameters
        ----------
        numbers : list of float
            Values of this metric.

        Returns
        -------
        float
            Largest value if larger values are better, and otherwise the smallest.
        """
        return max(numbers) if self.larger_is_better else min(numbers)

    def fault(self, number: float) -> str | None:
        """Return why ``number`` cannot be a value of this metric, or None if it can.

        Parameters
        ----------
        number : float
            Value to check. It may lie beyond the bounds by a rounding of 1e-9.

        Returns
        -------
        str or None
            Fault in words, such as "lies between 0 and 1".
        """
        if math.isnan(number):
            return None if self.undefined else "always has a value"
        if self.least - _ROUNDING <= number <= self.most + _ROUNDING:
            return None
        if self.most == LARGEST_COUNT:
            return "is a count"
        if math.isinf(self.most):
            return f"is never below {self.least:g}"
        return f"lies between {self.least:g} and {self.most:g}"


INFINITY = "∞"
DECIMALS = 3
"""Number of decimals that most of the papers print."""


def format_number(number: float, decimals: int = DECIMALS) -> str:
    """Return the number with that many decimals. Numbers are tied where this text is equal."""
    return INFINITY if math.isinf(number) else f"{number:.{decimals}f}"
