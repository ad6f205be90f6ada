"""The metrics: one entry each, with its name, function, labels, direction and bounds.

To add a metric, write its function and add one entry to ``_ENTRIES``. Tables, the schema, the help, ``check`` and the
choice of the best method read the entry.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np

from probcal.metrics.calibration import largest_sum_error, p_value, range_error, weight_error, width_error
from probcal.metrics.decomposition import sharpness_of
from probcal.metrics.drawn_rows import DrawnRows
from probcal.metrics.losses import accuracy_of, clipped_log_loss, cost, entropy_of, l1_error, n_errors, squared_error
from probcal.metrics.metric import LARGEST_COUNT, Metric, Prediction
from probcal.metrics.ranking import area_under_roc
from probcal.metrics.recalibration import intercept_of, slope_of
from probcal.metrics.smooth_errors import distance_quantile, mean_distance, smooth_error

_OF_THE_DATA = "of the data, whatever the predictions"


def _l1_of_base_rate(prediction: Prediction) -> float:
    return l1_error(prediction.true_p, np.full(np.shape(prediction.true_p), prediction.base_rate), prediction.weight)


def _mean(values: np.ndarray) -> np.ndarray:
    return np.asarray(values.mean(axis=0))


def _half_the_sum(values: np.ndarray) -> np.ndarray:
    return np.asarray(values.sum(axis=0) / 2)


_ENTRIES = (
    Metric(
        "cxe",
        "cross entropy in bits",
        "CXE",
        "Cross entropy (bits)",
        lambda prediction: entropy_of(prediction.rows, 2),
        most=math.inf,
        drawn=DrawnRows.log_loss,
    ),
    Metric(
        "rms",
        "root mean squared error",
        "RMS",
        "Root mean squared error",
        lambda prediction: math.sqrt(squared_error(prediction.rows)),
        drawn=lambda draws: np.sqrt(draws.squared_error()),
    ),
    Metric(
        "auc",
        "area under the ROC curve",
        "AUC",
        "Area under the ROC curve",
        lambda prediction: area_under_roc(prediction.ranked),
        larger_is_better=True,
        undefined=True,
        drawn=DrawnRows.auc,
        of_classes=_mean,
    ),
    Metric(
        "c_emp",
        "empirical calibration error over every interval of predictions",
        "c_emp",
        "Empirical calibration error c_emp",
        lambda prediction: range_error(prediction.ranked),
        drawn=DrawnRows.c_emp,
        of_classes=_mean,
    ),
    Metric(
        "ece",
        "expected calibration error in 15 bins of equal width",
        "ECE",
        "Expected calibration error (15 bins of equal width)",
        lambda prediction: width_error(prediction.rows),
        drawn=DrawnRows.ece,
        of_classes=_mean,
    ),
    Metric(
        "ks",
        "Kolmogorov-Smirnov calibration error",
        "KS",
        "Kolmogorov-Smirnov calibration error",
        lambda prediction: largest_sum_error(prediction.ranked),
        drawn=DrawnRows.kolmogorov_smirnov,
        of_classes=_mean,
    ),
    Metric(
        "c_emp_p",
        "p-value of c_emp if the predictions were calibrated",
        "p(c_emp)",
        "P-value of c_emp if calibrated",
        lambda prediction: p_value(prediction.ranked),
        larger_is_better=True,
    ),
    # Gao, Parameswaran & Peng (2017), Table 1
    Metric(
        "l1",
        "mean distance from the true probability, where that is known",
        "l1",
        "Distance from the true probability (l1 error)",
        lambda prediction: l1_error(prediction.true_p, prediction.positive, prediction.weight),
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
        lambda prediction: prediction.base_rate,
        no_end=_OF_THE_DATA,
        of_the_truth=True,
    ),
    Metric(
        "errors",
        "number of rows whose most probable class is wrong",
        "Errors",
        "Errors: rows whose most probable class is wrong",
        lambda prediction: n_errors(prediction.rows),
        most=LARGEST_COUNT,
        measured="asked",
        decimals=1,
    ),
    # Kull, Silva Filho & Flach (2017)
    Metric(
        "accuracy",
        "share of rows whose predicted class is observed, positive from 1/2 up",
        "Accuracy",
        "Accuracy",
        lambda prediction: accuracy_of(prediction.rows),
        larger_is_better=True,
        measured="asked",
    ),
    Metric(
        "log_loss",
        "cross entropy in nats with the predictions clipped to [1e-16, 1 - 1e-16]",
        "Log loss",
        "Log loss (nats) with the predictions clipped to [1e-16, 1 - 1e-16]",
        lambda prediction: clipped_log_loss(prediction.rows),
        most=-math.log(1e-16),
        measured="asked",
    ),
    Metric(
        "bounded_log_loss",
        "cross entropy in nats with the predictions clipped to [.001, .999]",
        "Bounded log loss",
        "Log loss (nats) with the predictions clipped to [.001, .999]",
        lambda prediction: clipped_log_loss(prediction.rows, 0.001),  # one certain error cannot decide about a method
        most=-math.log(0.001),
        measured="asked",
    ),
    Metric(
        "brier",
        "mean squared error, of several classes half the sum over the classes",
        "Brier",
        "Brier score: mean squared error",
        lambda prediction: squared_error(prediction.rows),
        measured="asked",
    ),
    Metric(
        "log10_loss",
        "sum of -log10 of the predicted probability of the observed label",
        "Loss",
        "Cumulative log loss (decimal logarithm)",
        lambda prediction: len(prediction.rows.y) * entropy_of(prediction.rows, 10),
        most=math.inf,
        measured="asked",
        decimals=1,
    ),
    Metric(
        "l2",
        "root mean squared distance from the true probability, where that is known",
        "l2",
        "Distance from the true probability (root mean square)",
        lambda prediction: math.sqrt(np.average(prediction.distance**2, weights=prediction.rows.weight)),
        measured="asked",
        of_the_truth=True,
    ),
    Metric(
        "l_max",
        "largest distance from the true probability, where that is known",
        "l max",
        "Distance from the true probability (largest)",
        lambda prediction: float(prediction.distance.max()),
        measured="asked",
        of_the_truth=True,
    ),
    Metric(
        "slope",
        "calibration slope: 1 if calibrated",
        "Slope",
        "Calibration slope",
        lambda prediction: slope_of(prediction.rows),
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
        lambda prediction: intercept_of(prediction.rows),
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
        lambda prediction: mean_distance(prediction.distances),
        measured="asked",
        drawn=DrawnRows.ici,
        of_classes=_mean,
    ),
    Metric(
        "e50",
        "median distance from the loess calibration curve",
        "E50",
        "Median distance from the calibration curve (E50)",
        lambda prediction: distance_quantile(prediction.distances, 0.5),
        measured="asked",
        drawn=lambda draws: draws.distance_quantile(0.5),
    ),
    Metric(
        "e90",
        "90 % quantile of the distance from the loess calibration curve",
        "E90",
        "90 % quantile of the distance from the calibration curve (E90)",
        lambda prediction: distance_quantile(prediction.distances, 0.9),
        measured="asked",
        drawn=lambda draws: draws.distance_quantile(0.9),
    ),
    Metric(
        "smece",
        "smooth expected calibration error",
        "smECE",
        "Smooth expected calibration error (smECE)",
        lambda prediction: smooth_error(prediction.rows),
        measured="asked",
        drawn=DrawnRows.smooth_error,
        of_classes=_mean,
    ),
    Metric(
        "ece_mass",
        "expected calibration error in 15 bins of equal weight",
        "ECE mass",
        "Expected calibration error (15 bins of equal weight)",
        lambda prediction: weight_error(prediction.ranked),
        measured="asked",
        drawn=DrawnRows.ece_of_equal_weights,
        of_classes=_mean,
    ),
    Metric(
        "miscalibration",
        "part of the Brier score that isotonic recalibration would save",
        "MCB",
        "Miscalibration part of the Brier score (CORP)",
        lambda prediction: prediction.brier_parts.miscalibration,
        measured="asked",
        drawn=DrawnRows.miscalibration,
        of_classes=_half_the_sum,
    ),
    Metric(
        "discrimination",
        "part of the Brier score that the ranking of the rows saves",
        "DSC",
        "Discrimination part of the Brier score (CORP)",
        lambda prediction: prediction.brier_parts.discrimination,
        larger_is_better=True,
        measured="asked",
        drawn=DrawnRows.discrimination,
        of_classes=_half_the_sum,
    ),
    Metric(
        "refinement",
        "Brier score after isotonic recalibration on the same rows",
        "Refinement",
        "Refinement: Brier score after recalibration (CORP)",
        lambda prediction: prediction.brier_parts.refinement,
        measured="asked",
        drawn=DrawnRows.refinement,
        of_classes=_half_the_sum,
    ),
    Metric(
        "sharpness",
        "variance of the predictions: good only if they are calibrated",
        "Sharpness",
        "Sharpness: variance of the predictions",
        lambda prediction: sharpness_of(prediction.rows),
        no_end="good only if the predictions are calibrated",
        measured="asked",
        drawn=DrawnRows.sharpness,
        of_classes=_half_the_sum,
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
        most=LARGEST_COUNT,
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
_BY_NAME = {metric.name: metric for metric in _ENTRIES}
METRICS = tuple(metric.name for metric in _ENTRIES if metric.measured == "always")
"""Measured for every cell."""
ASKED_METRICS = tuple(metric.name for metric in _ENTRIES if metric.measured == "asked")
"""Measured only if an experiment asks for them, like expected costs."""
METHOD_METRICS = tuple(metric.name for metric in _ENTRIES if metric.measured == "by the method")
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
    match = _COST.fullmatch(name)
    parameter = float(match[1]) if match else 0.0
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
    match = _COST.fullmatch(name)
    return cost_name(float(match[1])) if match and 0 < float(match[1]) < 1 else None


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
        lambda prediction: cost(prediction.rows, parameter) if prediction.rows.p.ndim == 1 else math.nan,
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
