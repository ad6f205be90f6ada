"""The paired bootstrap over test rows, for data sets with one split: every method on the same rows drawn anew."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

ROW_METRICS = ("cxe", "rms", "auc", "cxe_clipped")
"""Those that are quick for weighted rows; ``cxe_clipped`` has the estimates within ``CLIP``."""
CLIP = (0.001, 0.999)
"""As Probing has its own by default."""
_AT_ONCE = 40
"""Resamples together: some MB for 20,000 rows."""

Floats = npt.NDArray[np.float64]


def bootstrap_rows(y: npt.NDArray[np.int8], p: Floats, n: int, random: np.random.Generator) -> Floats:
    """(n, n_columns, n_metrics): ``ROW_METRICS`` of ``n`` samples of rows, with replacement, all columns on the same.

    ``y``: (n_rows,) of 0 and 1; ``p``: (n_columns, n_rows, 2) predictions. A sample of one class is drawn again.
    Raises ValueError where all rows are of one class.
    """
    if len(np.unique(y)) < 2:
        raise ValueError("rows of one class have no area under the ROC curve")
    found: list[Floats] = []
    while (left := n - sum(map(len, found))) > 0:
        drawn = random.integers(len(y), size=(min(left, _AT_ONCE), len(y)))
        weights = np.array([np.bincount(one, minlength=len(y)) for one in drawn], dtype=np.float64)
        positive = weights @ y
        found.append(of_weighted_rows(y, p, weights[(positive > 0) & (positive < len(y))]))
    return np.concatenate(found)


def of_weighted_rows(y: npt.NDArray[np.int8], p: Floats, weights: Floats) -> Floats:
    """(n_weightings, n_columns, n_metrics) for ``weights``, (n_weightings, n_rows), each with rows of both classes."""
    out = np.empty((len(weights), len(p), len(ROW_METRICS)))
    total = weights.sum(axis=1)
    for place, one in enumerate(p):
        out[:, place, 0] = _mean(_bits(y, one), weights, total)
        out[:, place, 1] = np.sqrt(_mean((y - one[:, 1]) ** 2, weights, total))
        out[:, place, 2] = _auc(y, one[:, 1], weights)
        out[:, place, 3] = _mean(_bits(y, np.clip(one, *CLIP)), weights, total)
    return out


def clipped_cross_entropy(y: npt.NDArray[np.int8], p: Floats) -> float:
    """Return the log loss in bits of predictions clipped to ``CLIP``; ``y``: (n_rows,), ``p``: (n_rows, 2)."""
    return float(_bits(y, np.clip(p, *CLIP)).mean())


def _bits(y: npt.NDArray[np.int8], p: Floats) -> Floats:
    """Return the loss of each row, (n_rows,)."""
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log2(np.where(y == 1, p[:, 1], p[:, 0])))


def _mean(losses: Floats, weights: Floats, total: Floats) -> Floats:
    """Infinite where a row of infinite loss has any weight."""
    infinite = np.isinf(losses)
    means = weights @ np.where(infinite, 0.0, losses) / total
    return np.where(weights[:, infinite].sum(axis=1) > 0, np.inf, means)


def _auc(y: npt.NDArray[np.int8], p: Floats, weights: Floats) -> Floats:
    """The chance that a positive row has the larger estimate, ties by half; one pass over the sorted rows."""
    order = np.argsort(p, kind="stable")
    starts = np.flatnonzero(np.diff(p[order], prepend=-np.inf))
    in_order = weights[:, order]
    positive = np.add.reduceat(in_order * (y[order] == 1), starts, axis=1)
    negative = np.add.reduceat(in_order * (y[order] == 0), starts, axis=1)
    below = np.cumsum(negative, axis=1) - negative / 2
    return np.asarray((positive * below).sum(axis=1) / (positive.sum(axis=1) * negative.sum(axis=1)))
