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
}
METRICS = tuple(ABOUT)
DEFAULT_METRICS = ("cxe", "rms", "auc", "c_emp")
"""What an experiment shows that does not say."""
