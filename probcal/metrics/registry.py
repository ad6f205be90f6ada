"""The short names under which an experiment asks for metrics.

Every metric of one prediction, from one sort.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from probcal.metrics.calibration import binned, farthest, p_value, widest
from probcal.metrics.checked_rows import Rows, checked, checked_two_classes
from probcal.metrics.losses import cost, entropy_of, l1_error, n_errors, squared_error
from probcal.metrics.ranking import Ranked, area_under_roc


class Metric(NamedTuple):
    """What a metric is, and between which numbers it lies, both ends included."""

    about: str
    least: float = 0.0
    most: float = 1.0
    undefined: bool = False
    """Whether it may be NaN: where the test rows leave it without a value."""

    def fault(self, number: float) -> str | None:
        """Return why ``number`` can be no value of this metric; None where it can."""
        if math.isnan(number):
            return None if self.undefined else "always has a value"
        if self.least - _ROUNDING <= number <= self.most + _ROUNDING:
            return None
        if self.most == _LARGEST_COUNT:
            return "is a count"
        if math.isinf(self.most):
            return f"is never below {self.least:g}"
        return f"lies between {self.least:g} and {self.most:g}"


_ROUNDING = 1e-6
"""How far a number may be beyond its bounds: the probabilities of several classes sum to 1 within this much."""
_LARGEST_COUNT = 1e15

_OF_EVERY_CELL = {
    "cxe": Metric("cross entropy in bits, smaller is better", most=math.inf),
    "rms": Metric("root mean squared error, smaller is better"),
    "auc": Metric("area under the ROC curve, larger is better", undefined=True),
    "c_emp": Metric("empirical calibration error over every interval of estimates, smaller is better"),
    "ece": Metric("expected calibration error in 15 bins of equal width, smaller is better"),
    "ks": Metric("Kolmogorov-Smirnov calibration error, smaller is better"),
    "c_emp_p": Metric("p-value of c_emp if the estimates were calibrated, larger is better"),
    "l1": Metric("mean distance from the true probability, where that is known, smaller is better"),
    "l1_trivial": Metric("l1 of an estimator that always says the frequency of the label: of the data"),
    "frequency": Metric("share of rows that have the label, where the true probability is known: of the data"),
}
_ASKED = {
    "errors": Metric("number of rows whose likeliest class is not theirs, smaller is better", most=_LARGEST_COUNT),
    "log10_loss": Metric("sum of -log10 of the probability of the label that came, smaller is better", most=math.inf),
    "l2": Metric("root mean squared distance from the true probability, where that is known, smaller is better"),
    "l_max": Metric("largest distance from the true probability, where that is known, smaller is better"),
}
_OF_METHODS = {
    "log10_martingale": Metric(
        "log10 of what betting against the base forecaster has won: of methods that protect", -math.inf, math.inf
    ),
    "crossings": Metric(
        "pairs of thresholds whose boundaries cross among the test rows: of methods with thresholds",
        most=_LARGEST_COUNT,
    ),
}

ABOUT = {name: metric.about for name, metric in _OF_EVERY_CELL.items()}
METRICS = tuple(ABOUT)
"""Measured of every cell."""
OF_THE_TRUTH = ("l1", "l1_trivial", "frequency")
"""Gao, Parameswaran & Peng (2017), Table 1. Only of rows whose true probability is known, as of generated ones."""
ABOUT_ASKED = {name: metric.about for name, metric in _ASKED.items()}
"""Measured only where an experiment asks for them, as expected costs are."""
ABOUT_METHODS = {name: metric.about for name, metric in _OF_METHODS.items()}
"""Measured by the methods that can, where an experiment asks for them."""
_BY_NAME = {**_OF_EVERY_CELL, **_ASKED, **_OF_METHODS}
NAMED = tuple(_BY_NAME)
"""All that have a name of their own."""
DEFAULT_METRICS = ("cxe", "rms", "auc", "c_emp")
"""What an experiment shows that does not say."""

COST = "cost(p)"
"""How the expected costs are called, at whatever loss parameter p: ``cost(0.05)``."""
ABOUT_COST = "expected cost at a loss parameter p, such as cost(0.05); two classes only; smaller is better"
_COST = re.compile(r"cost\((\d*\.?\d+)\)")


def loss_parameter(name: str) -> float | None:
    """p of the metric ``cost(p)``, which is strictly between 0 and 1; None for any other name.

    There is one name for each p, its shortest with a leading 0: ``cost(0.05)``.
    """
    found = _COST.fullmatch(name)
    parameter = float(found[1]) if found else 0.0
    return parameter if 0 < parameter < 1 and name == cost_name(parameter) else None


def cost_name(parameter: float) -> str:
    """``cost(0.05)`` for .05."""
    return f"cost({parameter:g})"


def nearest_cost(name: str) -> str | None:
    """What ``name``, which is no metric, would be called if it means one of the costs; None where it does not."""
    found = _COST.fullmatch(name)
    return cost_name(float(found[1])) if found and 0 < float(found[1]) < 1 else None


def metric_called(name: str) -> Metric | None:
    """Return the metric of this ``name``, a cost such as ``cost(0.05)`` among them; None where there is none.

    A cost is at most that of calling every row what costs more, and undefined for several classes.
    """
    if name in _BY_NAME:
        return _BY_NAME[name]
    parameter = loss_parameter(name)
    return None if parameter is None else Metric(ABOUT_COST, most=max(parameter, 1 - parameter), undefined=True)


def all_metrics(
    y: Any, p: Any, sample_weight: Any = None, true_p: Any = None, *, also: Iterable[str] = ()
) -> dict[str, float]:
    """Every metric of ``METRICS`` by its short name; of several classes from one sort for each.

    ``also`` names those of ``ABOUT_ASKED`` that are wanted too, and expected costs, such as ``cost(0.05)``; other
    names in it are passed over. A small test set may lack a class. Its AUC is NaN, undefined, and the others stand; so
    is a cost of several classes. ``OF_THE_TRUTH``, ``l2`` and ``l_max`` are there where ``true_p``, (n,), the true
    P(y = 1) of each row, is given; for two classes only.
    """
    rows = checked(y, p, sample_weight)
    ranked = [Ranked.of(one) for one in rows.against_the_rest()]
    return {
        "rms": math.sqrt(squared_error(rows)),
        "cxe": entropy_of(rows, 2),
        "auc": area_under_roc(ranked),
        "c_emp": widest(ranked),
        "ece": binned(ranked),
        "ks": farthest(ranked),
        "c_emp_p": p_value(ranked),
        **_asked(rows, also),
        **({} if true_p is None else _of_the_truth(y, p, sample_weight, true_p, also)),
    }


def means_over_labels(y: Any, p: Any, true_p: Any = None, *, also: Iterable[str] = ()) -> dict[str, float]:
    """Return the mean over the labels of ``all_metrics`` of each label.

    ``y`` and ``true_p`` are (n, n_labels). ``p`` is (n, n_labels), or (n, n_labels, 2) with both columns of each label.
    """
    y, p = np.asarray(y), np.asarray(p)
    truths = [None] * y.shape[1] if true_p is None else list(np.asarray(true_p).T)
    of_labels = zip(y.T, np.moveaxis(p, 1, 0), truths, strict=True)
    each = [all_metrics(*label[:2], true_p=label[2], also=also) for label in of_labels]
    return {name: fmean(one[name] for one in each) for name in each[0]}


def _asked(rows: Rows, also: Iterable[str]) -> dict[str, float]:
    found = {}
    for name in also:
        if name == "errors":
            found[name] = n_errors(rows)
        elif name == "log10_loss":
            found[name] = len(rows.y) * entropy_of(rows, 10)
        elif (parameter := loss_parameter(name)) is not None:
            found[name] = cost(rows, parameter) if rows.p.ndim == 1 else math.nan
    return found


def _of_the_truth(y: Any, p: Any, sample_weight: Any, true_p: Any, also: Iterable[str]) -> dict[str, float]:
    rows = checked_two_classes(y, p, sample_weight)
    share = rows.mean(rows.y)
    p = np.asarray(p)
    p = p[:, 1] if p.ndim == 2 else p
    away = np.abs(np.asarray(true_p) - p)
    distances = {"l2": math.sqrt(np.average(away**2, weights=sample_weight)), "l_max": float(away.max())}
    return {
        "l1": l1_error(true_p, p, sample_weight),
        "l1_trivial": l1_error(true_p, np.full(np.shape(true_p), share), sample_weight),
        "frequency": share,
        **{name: distance for name, distance in distances.items() if name in also},
    }
