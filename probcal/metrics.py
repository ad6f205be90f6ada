"""How good probabilities are: RMS, cross entropy, AUC and c_emp.

Every function takes ``y``, (n,) of 0 and 1 (or False and True), and ``p``, (n,) estimates of P(y = 1)
within [0, 1], changes neither, and raises ValueError for anything else, missing values included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

SMALLER_IS_BETTER = {"cxe": True, "rms": True, "auc": False, "c_emp": True}
METRICS = tuple(SMALLER_IS_BETTER)
ABOUT = {
    "cxe": "cross entropy in bits, smaller is better",
    "rms": "root mean squared error, smaller is better",
    "auc": "area under the ROC curve, larger is better",
    "c_emp": "empirical calibration error, smaller is better",
}


def all_metrics(y: Any, p: Any) -> dict[str, float]:
    """Every metric by its short name: ``rms``, ``cxe`` (bits), ``auc``, ``c_emp``."""
    y, p = _checked(y, p)
    return {
        "rms": rms_error(y, p),
        "cxe": cross_entropy(y, p),
        "auc": roc_auc(y, p),
        "c_emp": empirical_calibration_error(y, p),
    }


def rms_error(y: Any, p: Any) -> float:
    """Root of the mean of (y - p)^2, in [0, 1] (Langford & Zadrozny 2005, Table 2)."""
    y, p = _checked(y, p)
    return float(np.sqrt(np.mean((y - p) ** 2)))


def cross_entropy(y: Any, p: Any, base: float = 2) -> float:
    """Mean of -log P(the label that came), in bits unless ``base`` says otherwise.

    Infinite as soon as a label came that had probability 0. Langford & Zadrozny's text gives the
    natural logarithm, but the numbers of their Table 1 are bits: COIL J48 has one leaf, and
    .326 = H2(238 / 4000).
    """
    y, p = _checked(y, p)
    given = np.where(y == 1, p, 1 - p)
    if (given == 0).any():
        return float("inf")
    return float(-np.mean(np.log(given)) / np.log(base)) + 0.0  # + 0.0: no negative zero


def roc_auc(y: Any, p: Any) -> float:
    """Probability that a positive row gets a higher estimate than a negative one, ties counting half.

    Raises ValueError when ``y`` holds one class only: there is no such pair then.
    """
    y, p = _checked(y, p)
    n1 = int(y.sum())
    n0 = len(y) - n1
    if not n0 or not n1:
        raise ValueError("AUC needs both classes, y holds only one")
    return float((rankdata(p)[y == 1].sum() - n1 * (n1 + 1) / 2) / (n0 * n1))


def empirical_calibration_error(y: Any, p: Any) -> float:
    """c_emp: the largest |sum of (y - p)| / n over the rows with p1 < p <= p2, for any p1 and p2.

    Gao, Parameswaran & Peng (2017). Equal to the range of the running sums of y - p in the order of p,
    the leading 0 included, read only at the end of each run of equal estimates, since no p1 and p2
    separate those.
    """
    y, p = _checked(y, p)
    order = np.argsort(p)
    ranked = p[order]
    sums = np.cumsum((y - p)[order])
    ends = np.append(ranked[1:] != ranked[:-1], True)
    at_ends = np.append(sums[ends], 0.0)
    return float((at_ends.max() - at_ends.min()) / len(y))


def _checked(y: Any, p: Any) -> tuple[np.ndarray, np.ndarray]:
    y, p = np.asarray(y), np.asarray(p)
    if y.ndim != 1 or p.ndim != 1 or len(y) != len(p):
        raise ValueError(f"y and p must be one-dimensional and of equal length, not {y.shape} and {p.shape}")
    if not len(y):
        raise ValueError("there are no rows to measure")
    p = p.astype(np.float64)
    y = y.astype(np.float64)
    if not ((y == 0) | (y == 1)).all():
        raise ValueError("y must hold 0 and 1 only, and no missing values")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p must lie within [0, 1], with no missing values")
    return y, p
