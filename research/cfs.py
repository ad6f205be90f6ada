"""What each input tells about the class: symmetrical uncertainty of columns that are cut into intervals.

Numeric columns are cut by the MDL criterion of U. M. Fayyad and K. B. Irani, "Multi-interval discretization of
continuous-valued attributes" (IJCAI 1993), as Weka's CfsSubsetEval does.
"""

from __future__ import annotations

import numpy as np
import pandas as pd


def levels_of(X: pd.DataFrame, y: np.ndarray) -> np.ndarray:
    """Return the (n_rows, n_columns) level numbers of ``X``, with numeric columns cut into intervals."""
    columns = [
        column.cat.codes.to_numpy()
        if isinstance(column.dtype, pd.CategoricalDtype)
        else np.searchsorted(cut_points(column.to_numpy(np.float64), y), column.to_numpy(np.float64))
        for _, column in X.items()
    ]
    return np.column_stack(columns).astype(np.intp)


def cut_points(values: np.ndarray, y: np.ndarray) -> list[float]:
    """Return the cuts of a numeric column, rising. A value that equals a cut belongs to the interval below it.

    ``values`` and ``y`` are (n_rows,). There is no cut where none pays for its description.
    """
    order = np.argsort(values, kind="stable")
    return _cuts(values[order], np.eye(int(y.max()) + 1)[y[order]])


def _cuts(values: np.ndarray, is_class: np.ndarray) -> list[float]:
    """Return the cuts of sorted (n_rows,) ``values``. ``is_class`` is (n_rows, n_classes), 1 in the row's class."""
    ends = np.flatnonzero(values[:-1] < values[1:])  # the last row below each possible cut
    if not len(ends):
        return []
    total = is_class.sum(axis=0)
    lower = is_class.cumsum(axis=0)[ends]
    counts = np.stack([lower, total - lower], axis=1)  # (n_cuts, 2, n_classes)
    sizes = counts.sum(axis=2)
    entropies = (sizes * entropy(counts)).sum(axis=1) / len(values)
    best = int(np.argmin(entropies))
    base_entropy, parts = entropy(total), counts[best]
    gain = base_entropy - entropies[best]
    kinds, part_kinds = (total > 0).sum(), (parts > 0).sum(axis=1)
    delta = np.log2(3.0**kinds - 2) - (kinds * base_entropy - (part_kinds * entropy(parts)).sum())
    if gain <= max(0.0, (np.log2(len(ends)) + delta) / len(values)):
        return []
    end = ends[best] + 1
    cut = float((values[end - 1] + values[end]) / 2)
    return [*_cuts(values[:end], is_class[:end]), cut, *_cuts(values[end:], is_class[end:])]


def entropy(counts: np.ndarray) -> np.ndarray:
    """Return the entropy in bits of (..., n) ``counts``, over the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    share = counts / np.maximum(total, 1)
    entropy: np.ndarray = -(share * np.log2(np.where(share > 0, share, 1))).sum(axis=-1)
    return entropy


def symmetrical_uncertainty(a: np.ndarray, b: np.ndarray) -> float:
    """Return 2 I(a; b) / (H(a) + H(b)), in [0, 1], for (n_rows,) level numbers. It is 0 if both are constant."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    h_a, h_b, h_ab = entropy(table.sum(axis=1)), entropy(table.sum(axis=0)), entropy(table.ravel())
    # in single precision, as Weka holds it: then the sums of a merit are exact, and columns that tell the same tie
    return float(np.float32(2 * (h_a + h_b - h_ab) / (h_a + h_b))) if h_a + h_b > 0 else 0.0
