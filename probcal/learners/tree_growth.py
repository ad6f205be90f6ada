"""Grow one tree on sorted columns, and find the leaves of rows. All functions are compiled by numba.

They are in one file because numba's cache notices changes only within a file. The rows of a node are a stretch of every
column's entries. A split cuts each stretch in two and keeps the order in both parts (SPRINT, sections 2.3 and 2.4), so
that nothing is sorted again.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from probcal.learners.sorted_columns import CODE

_CLASS = CODE - 1
_ROW = (1 << _CLASS) - 1
_SLACK = 1 + 1e-10
"""A stretch is skipped only if its bound is worse by more than this, which is far above rounding."""


# Loops over array elements compile much faster than the same code in numpy's functions.


@njit(cache=True, nogil=True)
def grow(
    entries,
    ends,
    common,
    begins,
    listed,
    is_sorted,
    classes,
    class_weights,
    row_weights,
    entropy,
    min_leaf,
    max_depth,
    draw,
    feature,
    below,
    above,
    left,
    value,
    leaf,
    rows,
    goes_left,
    spare,
    waiting,
    bounds,
    own,
    tallies,
):
    """Grow the tree and return its number of nodes.

    ``entries``: a copy of those of a ``SortedColumns``, followed by its ``ends`` and ``common``. ``begins``,
    ``listed``: the result of ``listed_by`` for the columns that are not in ``is_sorted``, (n_columns,). These have at
    most two values, and their entries are counted instead. ``classes``: (n_rows,) int32, the class of each row.
    ``class_weights``: (n_classes,), the weight of a row of each class. ``row_weights``: (n_rows,) the weight of each
    row if the weights within a class differ, and otherwise (0,). ``min_leaf``: in rows. ``max_depth``: splits above a
    leaf. ``draw``: a whole number that determines the first column of each node.

    The results are written to these arrays. ``feature``: the column that a node splits. ``below`` and ``above``: the
    codes next to the cut. ``left``: the left child, whose successor is the right child, or 0 in a leaf. ``value``:
    (n_nodes, n_classes), weights. ``leaf``: (n_rows,), initially zeros, the leaf of each row. The other arrays are work
    space, and ``rows`` counts from 0.
    """
    lows, highs, middles = own
    sorted_ones = np.flatnonzero(is_sorted)
    _tally(rows, classes, begins, listed, tallies[0], tallies[1])
    for place in range(len(entries)):
        entries[place] |= np.int64(classes[entries[place] & _ROW] == 1) << _CLASS
    _weigh(rows, classes, class_weights, row_weights, value[0])
    n_nodes, n_waiting = 1, 1
    waiting[0, 2] = len(rows)  # a node, its first row, one past its last, its depth
    for column in sorted_ones:
        bounds[0, 0, column], bounds[0, 1, column] = ends[column], ends[column + 1]
    while n_waiting:
        n_waiting -= 1
        node, start, stop, depth = waiting[n_waiting]
        for column in sorted_ones:
            lows[column], highs[column] = bounds[n_waiting, 0, column], bounds[n_waiting, 1, column]
        members = rows[start:stop]
        if depth >= max_depth or stop - start < 2 * min_leaf or _pure(value[node]):
            continue
        draw = (draw * 1103515245 + 12345) % 2147483648  # the generator of the C standard's example
        column, low, high = _best_split(
            (draw >> 8) % len(common), entries, lows, highs, is_sorted, tallies[n_waiting], common, members, classes,
            class_weights, row_weights, value[node], entropy, min_leaf,
        )  # fmt: skip
        if column < 0:
            continue
        feature[node], below[node], above[node], left[node] = column, low, high, n_nodes
        # a counted column lists the entries of all rows, and those outside the node are not used
        first = lows[column] if is_sorted[column] else ends[column]
        last = highs[column] if is_sorted[column] else ends[column + 1]
        if last - first > 8 * len(members):
            for row in members:
                found = False
                for place in range(begins[row], begins[row + 1]):
                    found |= listed[place] == column
                goes_left[row] = found == (common[column] > low)
        else:
            for row in members:
                goes_left[row] = common[column] <= low
            for place in range(first, last):
                goes_left[entries[place] & _ROW] = entries[place] >> CODE <= low
        middle = _cut(rows, start, stop, goes_left, spare)
        grows = False
        for side in range(2):
            child = rows[middle:stop] if side else rows[start:middle]
            for row in child:
                leaf[row] = n_nodes + side
            _weigh(child, classes, class_weights, row_weights, value[n_nodes + side])
            if depth + 1 < max_depth and len(child) >= 2 * min_leaf and not _pure(value[n_nodes + side]):
                grows = True
        if grows:
            for one in sorted_ones:
                middles[one] = _cut(entries, lows[one], highs[one], goes_left, spare)
            for turn in range(2):
                # the smaller half is grown first, so that the number of waiting halves is at most the number of
                # halvings
                side = turn if middle - start > stop - middle else 1 - turn
                waiting[n_waiting, 0], waiting[n_waiting, 3] = n_nodes + side, depth + 1
                waiting[n_waiting, 1] = middle if side else start
                waiting[n_waiting, 2] = stop if side else middle
                for one in sorted_ones:
                    bounds[n_waiting, 0, one] = middles[one] if side else lows[one]
                    bounds[n_waiting, 1, one] = highs[one] if side else middles[one]
                n_waiting += 1
            if len(listed):  # the smaller half is on top, and the larger takes the parent's place
                less = rows[start:middle] if middle - start <= stop - middle else rows[middle:stop]
                _tally(less, classes, begins, listed, tallies[n_waiting - 1], tallies[n_waiting - 2])
        n_nodes += 2
    return n_nodes


@njit(cache=True, nogil=True)
def _tally(members, classes, begins, columns, tally, other):
    """Count in ``tally``, (n_columns, 2), the ``members`` of either class that a column lists.

    The counts are subtracted from ``other``.
    """
    for column in range(len(tally)):
        tally[column, 0] = tally[column, 1] = 0
    for row in members:
        for place in range(begins[row], begins[row + 1]):
            tally[columns[place], classes[row]] += 1
    for column in range(len(tally)):
        other[column, 0] -= tally[column, 0]
        other[column, 1] -= tally[column, 1]


@njit(cache=True, nogil=True)
def _cut(entries, start, stop, goes_left, spare):
    """Move left entries before right ones, keep the order of both, and return where the right ones begin."""
    kept, moved = start, 0
    for place in range(start, stop):
        entry = entries[place]
        stays = goes_left[entry & _ROW]
        # without a branch, because it could not be predicted
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
def _pure(weights):
    """Return whether only one class has weight."""
    found = 0
    for weight in weights:
        found += weight > 0
    return found < 2


@njit(cache=True, nogil=True)
def _best_split(
    begin,
    entries,
    lows,
    highs,
    is_sorted,
    tally,
    common,
    members,
    classes,
    class_weights,
    row_weights,
    total,
    entropy,
    min_leaf,
):
    """Return (column, code below the cut, code above it) of the split of least impurity, or column -1 without a split.

    ``lows``, ``highs``: (n_columns,), the node's stretch of the entries of each column. The stretch of a column with
    one value is emptied. ``tally``: (n_columns, 2), the rows of either class that an unsorted column lists. ``total``:
    (n_classes,), the weights of the node. Among equally pure splits the first column from ``begin`` on, cyclically,
    wins, and within it the lowest cut.
    """
    n_rows = len(members)
    counts, space = np.zeros_like(total), np.zeros((6, len(total)))
    for row in members:
        counts[classes[row]] += 1.0
    by_counts = len(total) == 2 and not len(row_weights)
    node = (counts[0], counts[1], class_weights[0], class_weights[1], entropy, float(min_leaf))
    step = max(8, int(n_rows**0.5 / 3))
    chosen, found = -1, (np.inf, 0, 0)
    for turn in range(len(common)):
        column = begin + turn - (len(common) if begin + turn >= len(common) else 0)
        start, stop, least = lows[column], highs[column], found[0]
        if not is_sorted[column]:
            a, b = float(tally[column, 0]), float(tally[column, 1])
            if 0 < a + b < n_rows:
                if not common[column]:
                    a, b = counts[0] - a, counts[1] - b
                found = _better_cut(a, b, found, 0, 1, node)
        elif start == stop:
            continue
        elif stop - start == n_rows and entries[start] >> CODE == entries[stop - 1] >> CODE:
            highs[column] = start
        elif by_counts:
            found = _best_by_counts(entries, start, stop, common[column], step, found, node)
        else:
            found = _best_by_weights(
                entries, start, stop, common[column], counts, total, classes, class_weights, row_weights, entropy,
                min_leaf, found, space,
            )  # fmt: skip
        if found[0] < least:
            chosen = column
            if found[0] == 0:
                break
    return chosen, found[1], found[2]


@njit(cache=True, nogil=True)
def _best_by_counts(entries, start, stop, common, step, found, node):
    """Return the better of ``found``, (impurity, code below, code above), and a column's best cut, by counts alone."""
    middle = start + np.searchsorted(entries[start:stop], (common + 1) << CODE)
    before, after = _count_second(entries, start, middle), _count_second(entries, middle, stop)
    a, b = middle - start - before, before  # rows of either class on the left
    if middle - start > 1:
        found = _best_in_stretch(entries, start, middle, 0.0, 0.0, step, found, node)
    if stop - start < node[0] + node[1]:
        if start < middle:
            found = _better_cut(a, b, found, entries[middle - 1] >> CODE, common, node)
        a, b = node[0] - (stop - middle - after), node[1] - after
        if middle < stop:
            found = _better_cut(a, b, found, common, entries[middle] >> CODE, node)
    elif start < middle < stop:
        found = _better_cut(a, b, found, entries[middle - 1] >> CODE, entries[middle] >> CODE, node)
    if stop - middle > 1:
        found = _best_in_stretch(entries, middle, stop, a, b, step, found, node)
    return found


@njit(cache=True, nogil=True)
def _best_in_stretch(entries, start, stop, a, b, step, found, node):
    """Return the best of ``found`` and of the cuts between entries ``start`` to ``stop``, after ``a`` and ``b`` rows.

    Impurity is a concave function of the two counts on the left. Over the counts that a run of entries can reach, it is
    therefore least at a corner of the box between those at its ends. If even that is above the best so far, the run is
    skipped.
    """
    if entries[start] >> CODE == entries[stop - 1] >> CODE:
        return found
    while start < stop:
        end = min(start + step, stop)
        last = min(end, stop - 1)
        second = _count_second(entries, start, end)
        c, d = a + (end - start - second), b + second
        if entries[start] >> CODE != entries[last] >> CODE:
            bound = np.inf
            for corner in range(4):
                bound = min(bound, _impurity(a if corner & 1 else c, b if corner & 2 else d, node))
            if bound <= found[0] * _SLACK:
                for place in range(start, last):
                    one = entries[place] >> _CLASS & 1
                    a += 1 - one
                    b += one
                    below, above = entries[place] >> CODE, entries[place + 1] >> CODE
                    if below != above:
                        found = _better_cut(a, b, found, below, above, node)
        a, b, start = c, d, end
    return found


@njit(cache=True, nogil=True)
def _better_cut(a, b, found, below, above, node):
    """Return the better of ``found`` and the cut with ``a`` and ``b`` rows of the two classes on its left."""
    if a + b < node[5] or node[0] + node[1] - a - b < node[5]:
        return found
    impurity = _impurity(a, b, node)
    return (impurity, below, above) if impurity < found[0] else found


@njit(cache=True, nogil=True)
def _impurity(a, b, node):
    """Return weight times impurity, summed over both sides, up to a constant factor."""
    c, d = (node[0] - a) * node[2], (node[1] - b) * node[3]
    a, b = a * node[2], b * node[3]
    if node[4]:
        return (_entropy_term(a, a + b) + _entropy_term(b, a + b)) + (_entropy_term(c, c + d) + _entropy_term(d, c + d))
    return (a * b / (a + b) if a + b > 0 else 0.0) + (c * d / (c + d) if c + d > 0 else 0.0)


@njit(cache=True, nogil=True)
def _entropy_term(part, whole):
    return part * np.log(whole / part) if part > 0 else 0.0


@njit(cache=True, nogil=True)
def _count_second(entries, start, stop):
    """Return how many of the entries belong to the second class."""
    found = 0
    for place in range(start, stop):
        found += entries[place] >> _CLASS & 1
    return found


@njit(cache=True, nogil=True)
def _best_by_weights(
    entries, start, stop, common, counts, total, classes, class_weights, row_weights, entropy, min_leaf, found, space
):
    """Return what ``_best_by_counts`` returns, for any classes and for row weights. Every cut is tried."""
    left, left_weights, right, right_weights, rest, rest_weights = space
    for kind in range(len(total)):
        left[kind] = left_weights[kind] = 0.0
        right[kind], right_weights[kind] = rest[kind], rest_weights[kind] = counts[kind], total[kind]
    for place in range(start, stop):
        _move(entries[place] & _ROW, -1.0, classes, class_weights, row_weights, rest, rest_weights)
    middle = start + np.searchsorted(entries[start:stop], (common + 1) << CODE)
    n_left, n_rows = 0, int(counts.sum())
    n_common = n_rows - (stop - start)
    place = start
    while n_left < n_rows:
        if place == middle and n_common:
            code, n_left, n_common = common, n_left + n_common, 0
            for kind in range(len(total)):
                left[kind] += rest[kind]
                left_weights[kind] += rest_weights[kind]
                right[kind] -= rest[kind]
                right_weights[kind] = max(right_weights[kind] - rest_weights[kind], 0.0) if right[kind] else 0.0
        else:
            row, code, n_left = entries[place] & _ROW, entries[place] >> CODE, n_left + 1
            _move(row, 1.0, classes, class_weights, row_weights, left, left_weights)
            _move(row, -1.0, classes, class_weights, row_weights, right, right_weights)
            place += 1
        if n_left < min_leaf or n_rows - n_left < max(min_leaf, 1):
            continue
        following = common if place == middle and n_common else entries[place] >> CODE
        if following != code:
            impurity = _side_impurity(left_weights, entropy) + _side_impurity(right_weights, entropy)
            if impurity < found[0]:
                found = (impurity, code, following)
    return found


@njit(cache=True, nogil=True)
def _move(row, sign, classes, class_weights, row_weights, counts, weights):
    """Move a row between the sides. A class without rows has weight 0, whatever rounding left."""
    kind = classes[row]
    counts[kind] += sign
    if len(row_weights):
        weights[kind] = max(weights[kind] + sign * row_weights[row], 0.0) if counts[kind] else 0.0
    else:
        weights[kind] = counts[kind] * class_weights[kind]


@njit(cache=True, nogil=True)
def _side_impurity(weights, entropy):
    """Return the impurity of one side, as in ``_impurity`` for two classes."""
    found, whole = 0.0, weights.sum()
    for part in weights:
        if part > 0:
            found += _entropy_term(part, whole) if entropy else part * (whole - part) / whole / 2
    return found


_ROW_BITS = (1 << (CODE - 1)) - 1
_ROWS = 128
"""This many rows pass all trees before the next rows. They stay in the cache, and their memory accesses overlap."""

NODE = np.dtype([("left", np.uint32), ("feature", np.uint32), ("threshold", np.float64)])
"""A node is contiguous in memory. Its numbers are unsigned, because numba checks signed ones for negative indices."""


@njit(cache=True, nogil=True)
def leaves(X, nodes, roots):
    """Return the leaf of each row of ``X`` as a position in ``nodes``, (n_trees, n_rows) uint32.

    ``X``: (n_rows, n_columns) float64.

    ``nodes``: of all trees. ``left`` is also a position. In a leaf it is the leaf itself, with a threshold that no
    value exceeds. ``roots``: (n_trees,) uint32.
    """
    found = np.empty((len(roots), len(X)), np.uint32)
    going = np.empty(_ROWS, np.uint64)
    for start in range(0, len(X), _ROWS):
        for tree in range(len(roots)):
            at = found[tree]
            n_going = min(_ROWS, len(X) - start)
            for place in range(n_going):
                going[place] = start + place
                at[start + place] = roots[tree]
            while n_going:
                n_kept = 0
                for place in range(n_going):
                    row = going[place]
                    node = at[row]
                    above = X[row, nodes[node].feature] > nodes[node].threshold
                    following = nodes[node].left + np.uint32(above)
                    at[row] = following
                    going[n_kept] = row  # without a branch, because it could not be predicted
                    n_kept += following != node
                n_going = n_kept
    return found


@njit(cache=True, nogil=True)
def listed_by(entries, ends, wanted, n_rows):
    """Return (begins, columns). The ``wanted`` columns of a row lie between its two of the (n_rows + 1,) begins."""
    begins = np.zeros(n_rows + 2, np.int64)
    for column in range(len(wanted)):
        if wanted[column]:
            for place in range(ends[column], ends[column + 1]):
                begins[(entries[place] & _ROW_BITS) + 2] += 1
    for row in range(n_rows):
        begins[row + 2] += begins[row + 1]
    columns = np.empty(begins[n_rows + 1], np.int32)
    for column in range(len(wanted)):
        if wanted[column]:
            for place in range(ends[column], ends[column + 1]):
                row = entries[place] & _ROW_BITS
                columns[begins[row + 1]] = column
                begins[row + 1] += 1
    return begins[: n_rows + 1], columns
