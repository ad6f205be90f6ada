"""The short names under which an experiment asks for metrics."""

from __future__ import annotations

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
OF_THE_TRUTH = ("l1", "l1_trivial", "frequency")
"""Gao, Parameswaran & Peng (2017), Table 1. Only of rows whose true probability is known, as of generated ones."""
DEFAULT_METRICS = ("cxe", "rms", "auc", "c_emp")
"""What an experiment shows that does not say."""
