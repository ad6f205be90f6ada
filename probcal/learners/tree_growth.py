"""Growing one tree on sorted columns, compiled by numba.

The rows of a node are a stretch of every column's entries. A split cuts each stretch in two, either half in its old
order (SPRINT, sections 2.3 and 2.4), so that nothing is ever sorted again.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from probcal.learners.sorted_columns import CODE, SortedColumns
from probcal.learners.tree_splits import best_split

_CLASS = CODE - 1
_ROW = (1 << _CLASS) - 1
_WAITING = 64


def grow(
    columns: SortedColumns,
    classes: np.ndarray,
    class_weights: np.ndarray,
    row_weights: np.ndarray | None,
    entropy: bool,
    min_leaf: int,
    max_depth: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(feature, threshold, left, value) of the nodes of a tree.

    ``classes``: (n_rows,) int32, the class of each row; ``class_weights``: (n_classes,), what a row of each weighs;
    ``row_weights``: (n_rows,) what each row weighs where those of a class differ, or None; ``min_leaf``: rows;
    ``max_depth``: splits above a leaf.

    ``feature``: (n_nodes,) int32, -1 in a leaf; ``threshold``: (n_nodes,), values up to which go left; ``left``:
    (n_nodes,) int32, the next node is on the right, 0 in a leaf; ``value``: (n_nodes, n_classes), weights.
    """
    n_rows, n_columns, n_classes = len(classes), len(columns.common), len(class_weights)
    most = 2 * n_rows
    feature, threshold = np.zeros(most, np.int32), np.zeros(most)
    left, value = np.zeros(most, np.int32), np.zeros((most, n_classes))
    n_nodes = _grow(
        columns.entries | (classes == 1).astype(np.int64)[columns.rows()] << _CLASS,
        columns.ends,
        columns.common,
        columns.values,
        columns.first,
        classes,
        class_weights,
        np.empty(0) if row_weights is None else row_weights,
        entropy,
        min_leaf,
        max_depth,
        feature,
        threshold,
        left,
        value,
        np.arange(n_rows),
        np.zeros(n_rows, dtype=bool),
        np.empty(n_rows, dtype=np.int64),
        np.zeros((_WAITING, 4), dtype=np.int64),
        np.zeros((_WAITING, 2, n_columns), dtype=np.int64),
        np.zeros((3, n_columns), dtype=np.int64),
    )
    feature[left == 0] = -1
    return tuple(array[:n_nodes].copy() for array in (feature, threshold, left, value))


# What is written out below as a loop over the elements of an array compiles in a fraction of the time of the same in
# numpy's words.


@njit(cache=True, nogil=True)
def _grow(
    entries,
    ends,
    common,
    values,
    first,
    classes,
    class_weights,
    row_weights,
    entropy,
    min_leaf,
    max_depth,
    feature,
    threshold,
    left,
    value,
    rows,
    goes_left,
    spare,
    waiting,
    bounds,
    own,
):
    """The number of nodes, written to ``feature``, ``threshold``, ``left`` and ``value``; what follows is space."""
    n_columns = len(common)
    lows, highs, middles = own
    _weigh(rows, classes, class_weights, row_weights, value[0])
    n_nodes, n_waiting = 1, 1
    waiting[0, 2] = len(rows)  # a node, its first row, one past its last, its depth
    for column in range(n_columns):
        bounds[0, 0, column], bounds[0, 1, column] = ends[column], ends[column + 1]
    while n_waiting:
        n_waiting -= 1
        node, start, stop, depth = waiting[n_waiting]
        for column in range(n_columns):
            lows[column], highs[column] = bounds[n_waiting, 0, column], bounds[n_waiting, 1, column]
        members = rows[start:stop]
        if depth >= max_depth or stop - start < 2 * min_leaf or _pure(members, classes):
            continue
        column, below, above = best_split(
            entries, lows, highs, common, members, classes, class_weights, row_weights, value[node], entropy, min_leaf
        )
        if column < 0:
            continue
        feature[node], left[node] = column, n_nodes
        threshold[node] = _between(values[first[column] + below], values[first[column] + above])
        for row in members:
            goes_left[row] = common[column] <= below
        for place in range(lows[column], highs[column]):
            goes_left[entries[place] & _ROW] = entries[place] >> CODE <= below
        middle = _cut(rows, start, stop, goes_left, spare)
        grows = False
        for side in range(2):
            child = rows[middle:stop] if side else rows[start:middle]
            _weigh(child, classes, class_weights, row_weights, value[n_nodes + side])
            if depth + 1 < max_depth and len(child) >= 2 * min_leaf and not _pure(child, classes):
                grows = True
        if grows:
            for one in range(n_columns):
                middles[one] = _cut(entries, lows[one], highs[one], goes_left, spare)
            for turn in range(2):
                # the smaller half is grown first, so that no more halves wait than a number of rows can be halved
                side = turn if middle - start > stop - middle else 1 - turn
                waiting[n_waiting, 0], waiting[n_waiting, 3] = n_nodes + side, depth + 1
                waiting[n_waiting, 1] = middle if side else start
                waiting[n_waiting, 2] = stop if side else middle
                for one in range(n_columns):
                    bounds[n_waiting, 0, one] = middles[one] if side else lows[one]
                    bounds[n_waiting, 1, one] = highs[one] if side else middles[one]
                n_waiting += 1
        n_nodes += 2
    return n_nodes


@njit(cache=True, nogil=True)
def leaves(X, left, feature, threshold):
    """(n_rows,) the leaf of each row of ``X``, (n_rows, n_columns) float64."""
    found = np.empty(len(X), np.int32)
    for row in range(len(X)):
        node = 0
        while left[node]:
            node = left[node] + (X[row, feature[node]] > threshold[node])
        found[row] = node
    return found


@njit(cache=True, nogil=True)
def _cut(entries, start, stop, goes_left, spare):
    """Put what goes left before what goes right, each in its old order; the place where the right begins."""
    kept, moved = start, 0
    for place in range(start, stop):
        entry = entries[place]
        stays = goes_left[entry & _ROW]
        # without a branch, for none could be foreseen
        entries[kept] = entry
        spare[moved] = entry
        kept += stays
        moved += 1 - stays
    for place in range(moved):
        entries[kept + place] = spare[place]
    return kept


@njit(cache=True, nogil=True)
def _weigh(members, classes, class_weights, row_weights, weights):
    """Set ``weights``, (n_classes,) zeros, to the weight of each class among the rows ``members``."""
    for row in members:
        weights[classes[row]] += row_weights[row] if len(row_weights) else 1.0
    if not len(row_weights):
        for kind in range(len(weights)):
            weights[kind] *= class_weights[kind]


@njit(cache=True, nogil=True)
def _pure(members, classes):
    for row in members:  # noqa: SIM110 - numba knows no generators
        if classes[row] != classes[members[0]]:
            return False
    return True


@njit(cache=True, nogil=True)
def _between(low, high):
    middle = low / 2 + high / 2
    return low if middle >= high else middle  # next to each other, or so small that a half rounds
