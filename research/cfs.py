"""Correlation-based feature selection, natively: what Weka's CfsSubsetEval and BestFirst select.

The merit of a subset is that of M. A. Hall, "Correlation-based Feature Selection for Machine Learning" (PhD thesis,
University of Waikato, 1999), equation 4.4: columns that tell much about the class and little about each other. The
correlation of two columns is their symmetrical uncertainty. Numeric columns are cut by the MDL criterion of U. M.
Fayyad and K. B. Irani, "Multi-interval discretization of continuous-valued attributes" (IJCAI 1993). The rules of the
search are those of Weka 3.4.1.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

MOST_STALE = 5
"""Number of expansions in a row that bring nothing better before the search ends. The open list is as long."""
GAIN = 1e-5
"""By how much the merit must rise to count as better."""


def select_columns(X: pd.DataFrame, y: np.ndarray, locally_predictive: bool = False) -> list[str]:
    """Return the names of the selected columns, in the order of ``X``.

    Weka adds locally predictive columns by default since a release after 3.4.1, and there with the option ``-L``.

    Parameters
    ----------
    X : (n_rows, n_columns) numbers and categories, none missing.
    y : (n_rows,) classes 0, 1, ...

    Raises
    ------
    ValueError
        For a missing value. Weka shares it out among the levels, and no data set here has one.
    """
    if X.isna().any(axis=None):
        raise ValueError(
            f"column {X.columns[X.isna().any()][0]!r} has missing values, which cfs.selected does not take"
        )
    correlations = Correlations(levels_of(X, y), y)
    subset = best_first(correlations)
    if locally_predictive:
        subset = add_locally_predictive(subset, correlations)
    return [str(X.columns[column]) for column in sorted(subset)]


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
    entropies = (sizes * _entropy(counts)).sum(axis=1) / len(values)
    best = int(np.argmin(entropies))
    base_entropy, parts = _entropy(total), counts[best]
    gain = base_entropy - entropies[best]
    kinds, part_kinds = (total > 0).sum(), (parts > 0).sum(axis=1)
    delta = np.log2(3.0**kinds - 2) - (kinds * base_entropy - (part_kinds * _entropy(parts)).sum())
    if gain <= max(0.0, (np.log2(len(ends)) + delta) / len(values)):
        return []
    end = ends[best] + 1
    cut = float((values[end - 1] + values[end]) / 2)
    return [*_cuts(values[:end], is_class[:end]), cut, *_cuts(values[end:], is_class[end:])]


def _entropy(counts: np.ndarray) -> np.ndarray:
    """Return the entropy in bits of (..., n) ``counts``, over the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    share = counts / np.maximum(total, 1)
    entropy: np.ndarray = -(share * np.log2(np.where(share > 0, share, 1))).sum(axis=-1)
    return entropy


def symmetrical_uncertainty(a: np.ndarray, b: np.ndarray) -> float:
    """Return 2 I(a; b) / (H(a) + H(b)), in [0, 1], for (n_rows,) level numbers. It is 0 if both are constant."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    h_a, h_b, h_ab = _entropy(table.sum(axis=1)), _entropy(table.sum(axis=0)), _entropy(table.ravel())
    # in single precision, as Weka holds it: then the sums of a merit are exact, and columns that tell the same tie
    return float(np.float32(2 * (h_a + h_b - h_ab) / (h_a + h_b))) if h_a + h_b > 0 else 0.0


class Correlations:
    """Hold the symmetrical uncertainties with the class, and those of two columns once they are asked for."""

    def __init__(self, levels: np.ndarray, y: np.ndarray) -> None:
        self._levels = levels
        self.n_columns = levels.shape[1]
        self.with_class = [symmetrical_uncertainty(levels[:, column], y) for column in range(self.n_columns)]
        self._known: dict[tuple[int, int], float] = {}

    def of(self, a: int, b: int) -> float:
        """Return the correlation of two columns. Weka says 1 of two columns that tell nothing about each other."""
        pair = min(a, b), max(a, b)
        if pair not in self._known:
            value = symmetrical_uncertainty(self._levels[:, a], self._levels[:, b])
            self._known[pair] = value if abs(value) > 1e-6 else 1.0
        return self._known[pair]

    def merit(self, subset: frozenset[int]) -> float:
        """Return the merit of a subset, 0 for none."""
        if not subset:
            return 0.0
        columns = sorted(subset)
        pair_sum = sum(self.of(a, b) for place, a in enumerate(columns) for b in columns[:place])
        return sum(self.with_class[column] for column in columns) / float(np.sqrt(len(columns) + 2 * pair_sum))


def best_first(correlations: Correlations) -> frozenset[int]:
    """Return the best subset of a forward search that expands the best open subset first.

    The search keeps the ``MOST_STALE`` best open subsets, the earlier of two equal ones first.
    """
    best: frozenset[int] = frozenset()
    best_merit, n_stale = 0.0, 0
    queue, all_subsets = [(best_merit, best)], {best}
    while n_stale < MOST_STALE and queue:
        _, parent = queue.pop(0)
        n_stale += 1
        for column in range(correlations.n_columns):
            subset = parent | {column}
            if subset in all_subsets:
                continue
            all_subsets.add(subset)
            merit = correlations.merit(subset)
            if merit - best_merit > GAIN:
                best, best_merit, n_stale = subset, merit, 0
            # a stable sort, so the earlier of two equal subsets stays ahead
            queue = sorted([*queue, (merit, subset)], key=lambda pair: -pair[0])[:MOST_STALE]
    return best


def add_locally_predictive(best: frozenset[int], correlations: Correlations) -> frozenset[int]:
    """Return the subset with further columns that each tell more about the class than about any column in it."""
    subset = set(best)
    order = sorted(set(range(correlations.n_columns)) - best, key=lambda column: -correlations.with_class[column])
    for column in order:
        if all(correlations.of(column, member) <= correlations.with_class[column] for member in subset):
            subset.add(column)
    return frozenset(subset)
