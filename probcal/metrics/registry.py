"""The metrics: one entry each, with its name, function, labels, direction and bounds.

To add a metric, write its function and add one entry to ``_ENTRIES``. Tables, the schema, the help, ``check`` and the
choice of the best method read the entry.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any, Literal

import numpy as np

from probcal.metrics.calibration import bin_error, largest_sum_error, p_value, range_error
from probcal.metrics.checked_rows import checked_numbers, checked_two_classes, numbered
from probcal.metrics.curve_distance import Distances, distance_quantile, distances, mean_distance
from probcal.metrics.curves import COARSE, LOESS_POINTS
from probcal.metrics.decomposition import ScoreDecomposition, decomposition_of, sharpness_of
from probcal.metrics.drawn_rows import DrawnRows
from probcal.metrics.losses import accuracy_of, clipped_log_loss, cost, entropy_of, l1_error, n_errors, squared_error
from probcal.metrics.ranking import RankedRows, area_under_roc
from probcal.metrics.recalibration import intercept_of, slope_of
from probcal.metrics.smooth_ece import smooth_error


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

    Attributes
    ----------
    rows : Rows
        Checked labels, predictions and weights of the rows of positive weight.
    """

    def __init__(self, y: Any, p: Any, sample_weight: Any = None, true_p: Any = None, *, coarse: bool = False) -> None:
        self.rows, self.coarse = checked_numbers(y, p, sample_weight), coarse
        self.true_p, self._given = true_p, (y, p, sample_weight)

    @cached_property
    def ranked(self) -> list[RankedRows]:
        """Return the rows sorted by prediction: once for two classes, and once per class for several."""
        return [RankedRows.of(one) for one in self.rows.against_the_rest()]

    @cached_property
    def distances(self) -> Distances:
        """Return the distance of the predictions from the loess curve, and their weights, for each class."""
        return distances(self.ranked, most_points=COARSE if self.coarse else LOESS_POINTS)

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
    def share(self) -> float:
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
        if self.most == _LARGEST_COUNT:
            return "is a count"
        if math.isinf(self.most):
            return f"is never below {self.least:g}"
        return f"lies between {self.least:g} and {self.most:g}"


_ROUNDING = 1e-9
"""Tolerance of a number beyond its bounds."""
_LARGEST_COUNT = 1e15
_OF_THE_DATA = "of the data, whatever the predictions"


def _l2(one: Prediction) -> float:
    return math.sqrt(np.average(one.distance**2, weights=one.rows.weight))


def _l1_of_base_rate(one: Prediction) -> float:
    return l1_error(one.true_p, np.full(np.shape(one.true_p), one.share), one.weight)


_ENTRIES = (
    Metric(
        "cxe",
        "cross entropy in bits",
        "CXE",
        "Cross entropy (bits)",
        lambda one: entropy_of(one.rows, 2),
        most=math.inf,
        drawn=DrawnRows.log_loss,
    ),
    Metric(
        "rms",
        "root mean squared error",
        "RMS",
        "Root mean squared error",
        lambda one: math.sqrt(squared_error(one.rows)),
        drawn=lambda draws: np.sqrt(draws.squared_error()),
    ),
    Metric(
        "auc",
        "area under the ROC curve",
        "AUC",
        "Area under the ROC curve",
        lambda one: area_under_roc(one.ranked),
        larger_is_better=True,
        undefined=True,
        drawn=DrawnRows.auc,
    ),
    Metric(
        "c_emp",
        "empirical calibration error over every interval of predictions",
        "c_emp",
        "Empirical calibration error c_emp",
        lambda one: range_error(one.ranked),
        drawn=DrawnRows.c_emp,
    ),
    Metric(
        "ece",
        "expected calibration error in 15 bins of equal width",
        "ECE",
        "Expected calibration error (15 bins of equal width)",
        lambda one: bin_error(one.ranked),
        drawn=DrawnRows.ece,
    ),
    Metric(
        "ks",
        "Kolmogorov-Smirnov calibration error",
        "KS",
        "Kolmogorov-Smirnov calibration error",
        lambda one: largest_sum_error(one.ranked),
        drawn=DrawnRows.kolmogorov_smirnov,
    ),
    Metric(
        "c_emp_p",
        "p-value of c_emp if the predictions were calibrated",
        "p(c_emp)",
        "P-value of c_emp if calibrated",
        lambda one: p_value(one.ranked),
        larger_is_better=True,
    ),
    # Gao, Parameswaran & Peng (2017), Table 1
    Metric(
        "l1",
        "mean distance from the true probability, where that is known",
        "l1",
        "Distance from the true probability (l1 error)",
        lambda one: l1_error(one.true_p, one.positive, one.weight),
        of_the_truth=True,
    ),
    Metric(
        "l1_trivial",
        "l1 of the base rate as prediction: of the data",
        "l1 trivial",
        "l1 error of the base rate as prediction",
        _l1_of_base_rate,
        no_end=_OF_THE_DATA,
        of_the_truth=True,
    ),
    Metric(
        "frequency",
        "base rate, where the true probability is known: of the data",
        "freq",
        "Base rate",
        lambda one: one.share,
        no_end=_OF_THE_DATA,
        of_the_truth=True,
    ),
    Metric(
        "errors",
        "number of rows whose most probable class is wrong",
        "Errors",
        "Errors: rows whose most probable class is wrong",
        lambda one: n_errors(one.rows),
        most=_LARGEST_COUNT,
        measured="asked",
        decimals=1,
    ),
    # Kull, Silva Filho & Flach (2017)
    Metric(
        "accuracy",
        "share of rows whose predicted class is observed, positive from 1/2 up",
        "Accuracy",
        "Accuracy",
        lambda one: accuracy_of(one.rows),
        larger_is_better=True,
        measured="asked",
    ),
    Metric(
        "log_loss",
        "cross entropy in nats with the predictions clipped to [1e-16, 1 - 1e-16]",
        "Log loss",
        "Log loss (nats) with the predictions clipped to [1e-16, 1 - 1e-16]",
        lambda one: clipped_log_loss(one.rows),
        most=-math.log(1e-16),
        measured="asked",
    ),
    Metric(
        "brier",
        "mean squared error, of several classes half the sum over the classes",
        "Brier",
        "Brier score: mean squared error",
        lambda one: squared_error(one.rows),
        measured="asked",
    ),
    Metric(
        "log10_loss",
        "sum of -log10 of the predicted probability of the observed label",
        "Loss",
        "Cumulative log loss (decimal logarithm)",
        lambda one: len(one.rows.y) * entropy_of(one.rows, 10),
        most=math.inf,
        measured="asked",
        decimals=1,
    ),
    Metric(
        "l2",
        "root mean squared distance from the true probability, where that is known",
        "l2",
        "Distance from the true probability (root mean square)",
        _l2,
        measured="asked",
        of_the_truth=True,
    ),
    Metric(
        "l_max",
        "largest distance from the true probability, where that is known",
        "l max",
        "Distance from the true probability (largest)",
        lambda one: float(one.distance.max()),
        measured="asked",
        of_the_truth=True,
    ),
    Metric(
        "slope",
        "calibration slope: 1 if calibrated",
        "Slope",
        "Calibration slope",
        lambda one: slope_of(one.rows),
        no_end="1 if calibrated",
        least=-math.inf,
        most=math.inf,
        undefined=True,
        measured="asked",
        two_classes=True,
        drawn=DrawnRows.slope,
    ),
    Metric(
        "intercept",
        "calibration intercept with slope 1: 0 if calibrated",
        "Intercept",
        "Calibration intercept (calibration in the large)",
        lambda one: intercept_of(one.rows),
        no_end="0 if calibrated",
        least=-math.inf,
        most=math.inf,
        undefined=True,
        measured="asked",
        two_classes=True,
        drawn=DrawnRows.intercept,
    ),
    Metric(
        "ici",
        "mean distance from the loess calibration curve",
        "ICI",
        "Integrated calibration index (ICI)",
        lambda one: mean_distance(one.distances),
        measured="asked",
        drawn=DrawnRows.ici,
    ),
    Metric(
        "e50",
        "median distance from the loess calibration curve",
        "E50",
        "Median distance from the calibration curve (E50)",
        lambda one: distance_quantile(one.distances, 0.5),
        measured="asked",
        drawn=lambda draws: draws.distance_quantile(0.5),
    ),
    Metric(
        "e90",
        "90 % quantile of the distance from the loess calibration curve",
        "E90",
        "90 % quantile of the distance from the calibration curve (E90)",
        lambda one: distance_quantile(one.distances, 0.9),
        measured="asked",
        drawn=lambda draws: draws.distance_quantile(0.9),
    ),
    Metric(
        "smece",
        "smooth expected calibration error",
        "smECE",
        "Smooth expected calibration error (smECE)",
        lambda one: smooth_error(one.ranked),
        measured="asked",
        drawn=DrawnRows.smooth_error,
    ),
    Metric(
        "ece_mass",
        "expected calibration error in 15 bins of equal weight",
        "ECE mass",
        "Expected calibration error (15 bins of equal weight)",
        lambda one: bin_error(one.ranked, strategy="quantile"),
        measured="asked",
        drawn=DrawnRows.ece_of_equal_weights,
    ),
    Metric(
        "miscalibration",
        "part of the Brier score that isotonic recalibration would save",
        "MCB",
        "Miscalibration part of the Brier score (CORP)",
        lambda one: one.brier_parts.miscalibration,
        measured="asked",
        drawn=DrawnRows.miscalibration,
    ),
    Metric(
        "discrimination",
        "part of the Brier score that the ranking of the rows saves",
        "DSC",
        "Discrimination part of the Brier score (CORP)",
        lambda one: one.brier_parts.discrimination,
        larger_is_better=True,
        measured="asked",
        drawn=DrawnRows.discrimination,
    ),
    Metric(
        "refinement",
        "Brier score after isotonic recalibration on the same rows",
        "Refinement",
        "Refinement: Brier score after recalibration (CORP)",
        lambda one: one.brier_parts.refinement,
        measured="asked",
        drawn=DrawnRows.refinement,
    ),
    Metric(
        "sharpness",
        "variance of the predictions: good only if they are calibrated",
        "Sharpness",
        "Sharpness: variance of the predictions",
        lambda one: sharpness_of(one.rows),
        no_end="good only if the predictions are calibrated",
        measured="asked",
        drawn=DrawnRows.sharpness,
    ),
    Metric(
        "log10_martingale",
        "log10 of what betting against the base forecaster has won: of methods that protect",
        "log10 S",
        "Martingale at the end (log10)",
        no_end="what each method gains over a base of its own",
        least=-math.inf,
        most=math.inf,
        measured="by the method",
        decimals=1,
    ),
    Metric(
        "crossings",
        "pairs of thresholds whose boundaries cross among the test rows: of methods with thresholds",
        "Crossings",
        "Pairs of thresholds whose boundaries cross",
        no_end="of the classifiers behind it",
        most=_LARGEST_COUNT,
        measured="by the method",
        decimals=1,
    ),
    Metric(
        "cxe_clipped",
        "cross entropy in bits with the predictions clipped to [.001, .999]",
        "CXE clipped",
        "Cross entropy (bits) with the predictions clipped to [.001, .999]",
        most=math.inf,
        measured="in comparisons",
    ),
)
_BY_NAME = {one.name: one for one in _ENTRIES}
METRICS = tuple(one.name for one in _ENTRIES if one.measured == "always")
"""Measured for every cell."""
ASKED_METRICS = tuple(one.name for one in _ENTRIES if one.measured == "asked")
"""Measured only if an experiment asks for them, like expected costs."""
METHOD_METRICS = tuple(one.name for one in _ENTRIES if one.measured == "by the method")
"""Measured by the methods that can, if an experiment asks for them."""
NAMED = (*METRICS, *ASKED_METRICS, *METHOD_METRICS)
"""The names that an experiment can ask for, besides ``cost(p)``."""
DEFAULT_METRICS = ("cxe", "rms", "auc", "c_emp")
"""The metrics of an experiment that names none."""

COST = "cost(p)"
"""The name of the expected costs, for any loss parameter p: ``cost(0.05)``."""
_ABOUT_COST = "expected cost at a loss parameter p, such as cost(0.05)"
ABOUT_COST = f"{_ABOUT_COST}, two classes only, smaller is better"
_COST = re.compile(r"cost\((\d*\.?\d+)\)")


def loss_parameter(name: str) -> float | None:
    """Return the loss parameter p of the metric ``cost(p)``.

    Each p has one name, the shortest with a leading 0: ``cost(0.05)``.

    Parameters
    ----------
    name : str
        Name of a metric.

    Returns
    -------
    float or None
        Loss parameter, strictly between 0 and 1. None for any other name.
    """
    found = _COST.fullmatch(name)
    parameter = float(found[1]) if found else 0.0
    return parameter if 0 < parameter < 1 and name == cost_name(parameter) else None


def cost_name(parameter: float) -> str:
    """Return ``cost(0.05)`` for .05."""
    return f"cost({parameter:g})"


def nearest_cost(name: str) -> str | None:
    """Return the right name of the cost that an unknown name seems to mean.

    Parameters
    ----------
    name : str
        Unknown name, such as ``cost(.05)``.

    Returns
    -------
    str or None
        Right name, such as ``cost(0.05)``. None if ``name`` is no cost with p strictly between 0 and 1.
    """
    found = _COST.fullmatch(name)
    return cost_name(float(found[1])) if found and 0 < float(found[1]) < 1 else None


def add_metric(metric: Metric) -> None:
    """Make the metric of a plugin known by its name."""
    _BY_NAME[metric.name] = metric


def find_metric(name: str) -> Metric | None:
    """Return the metric of this name, or None.

    A cost such as ``cost(0.05)`` is a metric too. Its upper bound is the larger of p and 1 - p. It is NaN for three or
    more classes.

    Parameters
    ----------
    name : str
        Name of a metric.

    Returns
    -------
    Metric or None
        None if no metric has this name.
    """
    if name in _BY_NAME:
        return _BY_NAME[name]
    parameter = loss_parameter(name)
    if parameter is None:
        return None
    return Metric(
        name,
        _ABOUT_COST,
        name,
        f"Expected cost at loss parameter {parameter:g}",
        lambda one: cost(one.rows, parameter) if one.rows.p.ndim == 1 else math.nan,
        most=max(parameter, 1 - parameter),
        undefined=True,
        measured="asked",
        two_classes=True,
    )


def metric_named(name: str) -> Metric:
    """Return the metric of this name, or a loss of this name if no metric has it.

    Parameters
    ----------
    name : str
        Name of a metric.

    Returns
    -------
    Metric
        For an unknown name, a loss with this name, bounds of 0 and infinity, and no function.
    """
    return find_metric(name) or replace(_BY_NAME["cxe"], name=name, about=name, short=name, long=name, value=None)


def all_metrics(
    y: Any,
    p: Any,
    sample_weight: Any = None,
    true_p: Any = None,
    *,
    also: Iterable[str] = (),
    pos_label: Any = None,
    labels: Any = None,
) -> dict[str, float]:
    """Return every metric of ``METRICS`` by its name.

    If the rows lack a class, the AUC is NaN, and the other metrics of ``METRICS`` have values. A cost is NaN for three
    or more classes.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels.
    p : array-like of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1), or predicted probabilities of all classes.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    true_p : array-like of shape (n_rows,), default=None
        True P(y = 1), for two classes only. With them, the metrics of the truth are returned too.
    also : iterable of str, default=()
        Names of ``ASKED_METRICS`` and of expected costs, such as ``cost(0.05)``. Other names are ignored.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only. None means labels 0 to n_classes - 1, or texts with one
        column of ``p`` each.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, which is the order of the columns of ``p``, such as ``model.classes_``. Give them if
        the rows may lack a class, or to compare one of several classes, ``pos_label``, with the others.

    Returns
    -------
    dict of str to float
        Value of each metric by name.

    Raises
    ------
    ValueError
        If an argument is invalid (see ``probcal.metrics``).
    """
    return metrics_of(Prediction(*numbered(y, p, pos_label, labels), sample_weight, true_p), also=also)


def metrics_of(one: Prediction, *, also: Iterable[str] = ()) -> dict[str, float]:
    """Return what ``all_metrics`` does, for labels that are known to be the numbers of the columns.

    Parameters
    ----------
    one : Prediction
        Labels and their predictions.
    also : iterable of str, default=()
        As in ``all_metrics``.

    Returns
    -------
    dict of str to float
        Value of each metric by name.
    """
    wanted = [_BY_NAME[name] for name in METRICS] + [metric for name in also if (metric := find_metric(name))]
    return {
        metric.name: metric.value(one)
        for metric in wanted
        if metric.value is not None and (one.true_p is not None or not metric.of_the_truth)
    }


def means_over_labels(y: Any, p: Any, true_p: Any = None, *, also: Iterable[str] = ()) -> dict[str, float]:
    """Return the mean over several labels of the metrics of each label.

    Each label has two classes and is measured by ``all_metrics``.

    Parameters
    ----------
    y : array-like of shape (n_rows, n_labels)
        Observed labels 0 and 1.
    p : array-like of shape (n_rows, n_labels) or (n_rows, n_labels, 2)
        Predicted P(y = 1), or predicted probabilities of both classes, of each label.
    true_p : array-like of shape (n_rows, n_labels), default=None
        True P(y = 1) of each label. With them, the metrics of the truth are returned too.
    also : iterable of str, default=()
        Names of ``ASKED_METRICS`` and of expected costs, such as ``cost(0.05)``. Other names are ignored.

    Returns
    -------
    dict of str to float
        Mean of each metric by name.

    Raises
    ------
    ValueError
        If ``y``, ``p`` and ``true_p`` have different numbers of labels, or another argument is invalid (see
        ``probcal.metrics``).
    """
    y, p = np.asarray(y), np.asarray(p)
    truths = [None] * y.shape[1] if true_p is None else list(np.asarray(true_p).T)
    of_labels = zip(y.T, np.moveaxis(p, 1, 0), truths, strict=True)
    each = [all_metrics(*label[:2], true_p=label[2], also=also) for label in of_labels]
    return {name: fmean(one[name] for one in each) for name in each[0]}
