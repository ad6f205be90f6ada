"""How good probabilities are: RMS, cross entropy, AUC and c_emp.

Every function takes ``y``, (n,) of 0 and 1 (or False and True), and ``p``, (n,) estimates of P(y = 1)
within [0, 1], changes neither, and raises ValueError for anything else, missing values included.
None depends on the order of the rows.
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
    """Every metric by its short name: ``rms``, ``cxe`` (bits), ``auc``, ``c_emp``.

    A small test set may hold one class only. Its AUC is NaN, undefined, and the others stand.
    """
    y, p = _checked(y, p)
    return {
        "rms": rms_error(y, p),
        "cxe": cross_entropy(y, p),
        "auc": roc_auc(y, p) if 0 < y.sum() < len(y) else float("nan"),
        "c_emp": empirical_calibration_error(y, p),
    }


def rms_error(y: Any, p: Any) -> float:
    """Root of the mean of (y - p)^2, in [0, 1] (Langford & Zadrozny 2005, Table 2)."""
    y, p = _checked(y, p)
    return float(np.sqrt(np.mean((y - p) ** 2)))


def cross_entropy(y: Any, p: Any, base: float = 2) -> float:
    """Mean of -log P(the label that came), in bits unless ``base`` says otherwise.

    Infinite as soon as a label came that had probability 0. Langford & Zadrozny's text gives the
    natural logarithm, but the numbers of their Table 1 are bits: COIL J48 has one leaf and .326, and
    the entropy of 238 positive rows in 4000 is .3255 bits or .2256 nats.

    Raises ValueError for a ``base`` of 1 or less.
    """
    y, p = _checked(y, p)
    if not base > 1:
        raise ValueError(f"the base of the logarithm must be above 1, not {base}")
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


def empirical_calibration_error(y: Any, p: Any, sample_weight: Any = None) -> float:
    """c_emp: the largest |sum of (y - p)| / n over the rows with p1 < p <= p2, for any p1 and p2.

    Gao, Parameswaran & Peng (2017). Equal to the range of the running sums of y - p in the order of p,
    the leading 0 included, read only at the end of each run of equal estimates, since no p1 and p2
    separate those. ``sample_weight``: (n,) not negative, not all 0; sums are weighted, n is their total.
    """
    y, p = _checked(y, p)
    weight = _checked_weight(sample_weight, len(y))
    order = np.argsort(p)
    ranked = p[order]
    sums = np.cumsum((weight * (y - p))[order])
    ends = np.append(ranked[1:] != ranked[:-1], True)
    at_ends = np.append(sums[ends], 0.0)
    return float((at_ends.max() - at_ends.min()) / weight.sum())


def _checked(y: Any, p: Any) -> tuple[np.ndarray, np.ndarray]:
    y, p = _numbers(y, "y"), _numbers(p, "p")
    if y.ndim != 1 or p.ndim != 1 or len(y) != len(p):
        raise ValueError(f"y and p must be one-dimensional and of equal length, not {y.shape} and {p.shape}")
    if not len(y):
        raise ValueError("there are no rows to measure")
    if not ((y == 0) | (y == 1)).all():
        raise ValueError("y must hold 0 and 1 only, and no missing values")
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("p must lie within [0, 1], with no missing values")
    return y, p


def _checked_weight(sample_weight: Any, n_rows: int) -> np.ndarray:
    if sample_weight is None:
        return np.ones(n_rows)
    weight = _numbers(sample_weight, "sample_weight")
    if weight.shape != (n_rows,) or not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
        raise ValueError(f"sample_weight must hold {n_rows} finite numbers, none negative, not all 0")
    return weight


def _numbers(values: Any, name: str) -> np.ndarray:
    values = np.asarray(values)
    if values.dtype == object:  # a pandas column of its own kind, or labels of any kind
        values = np.array(values.tolist())
    if values.dtype.kind not in "biuf" and values.size:
        raise ValueError(f"{name} must hold numbers, and no missing values")
    return values.astype(np.float64)
