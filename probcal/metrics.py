"""How good probabilities are: RMS, cross entropy, AUC and c_emp.

Every function takes ``y``, (n,) of 0 and 1 (or False and True), and ``p``, (n,) estimates of P(y = 1)
within [0, 1], changes neither, and raises ValueError for anything else, missing values included.
None depends on the order of the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
    order, ends = _ranked(p)
    return {
        "rms": _rms(y, p),
        "cxe": _cross_entropy(y, p, 2),
        "auc": _auc(y[order], ends) if 0 < y.sum() < len(y) else float("nan"),
        "c_emp": _widest((y - p)[order], ends) / len(y),
    }


def rms_error(y: Any, p: Any) -> float:
    """Root of the mean of (y - p)^2, in [0, 1] (Langford & Zadrozny 2005, Table 2)."""
    return _rms(*_checked(y, p))


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
    return _cross_entropy(y, p, base)


def roc_auc(y: Any, p: Any) -> float:
    """Probability that a positive row gets a higher estimate than a negative one, ties counting half.

    Raises ValueError when ``y`` holds one class only: there is no such pair then.
    """
    y, p = _checked(y, p)
    if not 0 < y.sum() < len(y):
        raise ValueError("AUC needs both classes, y holds only one")
    order, ends = _ranked(p)
    return _auc(y[order], ends)


def empirical_calibration_error(y: Any, p: Any, sample_weight: Any = None) -> float:
    """c_emp: the largest |sum of (y - p)| / n over the rows with p1 < p <= p2, for any p1 and p2.

    Gao, Parameswaran & Peng (2017). Equal to the range of the running sums of y - p in the order of p,
    the leading 0 included, read only at the end of each run of equal estimates, since no p1 and p2
    separate those. ``sample_weight``: (n,) not negative, not all 0; sums are weighted, n is their total.
    """
    y, p = _checked(y, p)
    weight = _checked_weight(sample_weight, len(y))
    order, ends = _ranked(p)
    return _widest((weight * (y - p))[order], ends) / float(weight.sum())


def _rms(y: np.ndarray, p: np.ndarray) -> float:
    return float(np.sqrt(np.mean((y - p) ** 2)))


def _cross_entropy(y: np.ndarray, p: np.ndarray, base: float) -> float:
    given = np.where(y == 1, p, 1 - p)
    if (given == 0).any():
        return float("inf")
    return float(-np.mean(np.log(given)) / np.log(base)) + 0.0  # + 0.0: no negative zero


def _ranked(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(rows in rising order of p, where in that order each run of equal p ends)."""
    order = np.argsort(p)
    ranked = p[order]
    return order, np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(p) - 1)


def _auc(ranked_y: np.ndarray, ends: np.ndarray) -> float:
    """Won pairs over all pairs; those within one run of equal estimates are won by half."""
    positive = np.append(0.0, np.cumsum(ranked_y)[ends])
    negative = np.append(0.0, ends + 1 - positive[1:])
    won = np.sum(np.diff(positive) * (negative[1:] + negative[:-1]) / 2)
    return float(won / (positive[-1] * negative[-1]))


def _widest(ranked: np.ndarray, ends: np.ndarray) -> float:
    """The range of the running sums, the leading 0 included, read only at ``ends``."""
    sums = np.cumsum(ranked)[ends]
    return float(max(sums.max(), 0.0) - min(sums.min(), 0.0))


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
