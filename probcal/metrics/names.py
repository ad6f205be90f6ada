"""The short names under which an experiment asks for metrics."""

from __future__ import annotations

import re

ABOUT = {
    "cxe": "cross entropy in bits, smaller is better",
    "rms": "root mean squared error, smaller is better",
    "auc": "area under the ROC curve, larger is better",
    "c_emp": "empirical calibration error over every interval of estimates, smaller is better",
    "ece": "expected calibration error in 15 bins of equal width, smaller is better",
    "ks": "Kolmogorov-Smirnov calibration error, smaller is better",
    "c_emp_p": "p-value of c_emp if the estimates were calibrated, larger is better",
    "l1": "mean distance from the true probability, where that is known, smaller is better",
    "l1_trivial": "l1 of an estimator that always says the frequency of the label: of the data",
    "frequency": "share of rows that have the label, where the true probability is known: of the data",
}
METRICS = tuple(ABOUT)
"""Measured of every cell."""
OF_THE_TRUTH = ("l1", "l1_trivial", "frequency")
"""Gao, Parameswaran & Peng (2017), Table 1. Only of rows whose true probability is known, as of generated ones."""
ABOUT_ASKED = {
    "errors": "number of rows whose likeliest class is not theirs, smaller is better",
    "log10_loss": "sum of -log10 of the probability of the label that came, smaller is better",
    "l2": "root mean squared distance from the true probability, where that is known, smaller is better",
    "l_max": "largest distance from the true probability, where that is known, smaller is better",
}
"""Measured only where an experiment asks for them, as expected costs are."""
ABOUT_METHODS = {
    "log10_martingale": "log10 of what betting against the base forecaster has won: of methods that protect",
    "crossings": "pairs of thresholds whose boundaries cross among the test rows: of methods with thresholds",
}
"""Measured by the methods that can, where an experiment asks for them."""
NAMED = (*METRICS, *ABOUT_ASKED, *ABOUT_METHODS)
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
