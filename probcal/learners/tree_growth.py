"""Growing one tree on sorted columns, compiled by numba; in one file, for numba looks no further for what has changed.

The rows of a node are a stretch of every column's entries. A split cuts each stretch in two, either half in its old
order (SPRINT, sections 2.3 and 2.4), so that nothing is ever sorted again.

Rows and what they are listed by: the columns of two values, and the leaves of trees. Compiled by numba.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from probcal.learners.sorted_columns import CODE

_CLASS = CODE - 1
_ROW = (1 << _CLASS) - 1
_SLACK = 1 + 1e-10
"""A bound is computed with a rounding far below this, and a stretch is passed over only if it is worse by more."""


# A loop over the elements of an array compiles in a fraction of the time of the same in numpy's words.


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
    """The number of nodes of the tree.

    ``entries``: a copy of those of a ``SortedColumns``, whose ``ends`` and ``common`` follow; ``begins``, ``listed``:
    what ``listed_by`` gives of the columns that are not in ``is_sorted``, (n_columns,): they have two values at most,
    and their entries are counted instead; ``classes``: (n_rows,) int32, the class of each row; ``class_weights``:
    (n_classes,), what a row of each weighs; ``row_weights``: (n_rows,) what each row weighs where those of a class
    differ, else (0,); ``min_leaf``: rows; ``max_depth``: splits above a leaf; ``draw``: whole number, from which the
    column is drawn that a node begins with.

    Written are ``feature``, the column that a node splits, ``below`` and ``above``, the codes beside the cut, ``left``,
    the node there, before the one on the right, or 0 in a leaf, ``value``: (n_nodes, n_classes), weights, and
    ``leaf``: (n_rows,), zeros, the leaf of each row. What follows is space; ``rows`` counts from 0.
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
        # of a counted column the entries of all rows: nobody looks at those outside
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
                # the smaller half is grown first, so that no more halves wait than a number of rows can be halved
                side = turn if middle - start > stop - middle else 1 - turn
                waiting[n_waiting, 0], waiting[n_waiting, 3] = n_nodes + side, depth + 1
                waiting[n_waiting, 1] = middle if side else start
                waiting[n_waiting, 2] = stop if side else middle
                for one in sorted_ones:
                    bounds[n_waiting, 0, one] = middles[one] if side else lows[one]
                    bounds[n_waiting, 1, one] = highs[one] if side else middles[one]
                n_waiting += 1
            if len(listed):  # the smaller half is on top, the larger where their parent was
                less = rows[start:middle] if middle - start <= stop - middle else rows[middle:stop]
                _tally(less, classes, begins, listed, tallies[n_waiting - 1], tallies[n_waiting - 2])
        n_nodes += 2
    return n_nodes


@njit(cache=True, nogil=True)
def _tally(members, classes, begins, columns, tally, other):
    """Set ``tally``, (n_columns, 2), to how many of ``members`` of either class a column lists; less for ``other``."""
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
def _pure(weights):
    """Whether one class only weighs something."""
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
    """(column, code below the cut, code above it) of the split of least impurity, or column -1 where there is none.

    ``lows``, ``highs``: (n_columns,), the node's stretch of the entries of each column; a column that has one value
    has it emptied. ``tally``: (n_columns, 2), the rows of either class that a column lists, of those that are not
    sorted. ``total``: (n_classes,), the weights of the node. Of equally pure splits the first column's from
    ``begin`` on and round, and there the lowest, wins.
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
                found = _try(a, b, found, 0, 1, node)
        elif start == stop:
            continue
        elif stop - start == n_rows and entries[start] >> CODE == entries[stop - 1] >> CODE:
            highs[column] = start
        elif by_counts:
            found = _two_classes(entries, start, stop, common[column], step, found, node)
        else:
            found = _any_classes(
                entries, start, stop, common[column], counts, total, classes, class_weights, row_weights, entropy,
                min_leaf, found, space,
            )  # fmt: skip
        if found[0] < least:
            chosen = column
            if found[0] == 0:
                break
    return chosen, found[1], found[2]


@njit(cache=True, nogil=True)
def _two_classes(entries, start, stop, common, step, found, node):
    """The better of ``found``, (impurity, code below, code above), and a column's best cut, by counts alone."""
    middle = start + np.searchsorted(entries[start:stop], (common + 1) << CODE)
    before, after = _seconds(entries, start, middle), _seconds(entries, middle, stop)
    a, b = middle - start - before, before  # rows of either class on the left
    if middle - start > 1:
        found = _stretch(entries, start, middle, 0.0, 0.0, step, found, node)
    if stop - start < node[0] + node[1]:
        if start < middle:
            found = _try(a, b, found, entries[middle - 1] >> CODE, common, node)
        a, b = node[0] - (stop - middle - after), node[1] - after
        if middle < stop:
            found = _try(a, b, found, common, entries[middle] >> CODE, node)
    elif start < middle < stop:
        found = _try(a, b, found, entries[middle - 1] >> CODE, entries[middle] >> CODE, node)
    if stop - middle > 1:
        found = _stretch(entries, middle, stop, a, b, step, found, node)
    return found


@njit(cache=True, nogil=True)
def _stretch(entries, start, stop, a, b, step, found, node):
    """The best of ``found`` and of the cuts between entries ``start`` to ``stop``, with ``a`` and ``b`` rows before.

    Impurity is a concave function of the two counts on the left. So over the counts that a run of entries can reach
    it is least at a corner of the box between those at its ends: where even that is more than the best so far, the
    run is passed over.
    """
    if entries[start] >> CODE == entries[stop - 1] >> CODE:
        return found
    while start < stop:
        end = min(start + step, stop)
        last = min(end, stop - 1)
        second = _seconds(entries, start, end)
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
                        found = _try(a, b, found, below, above, node)
        a, b, start = c, d, end
    return found


@njit(cache=True, nogil=True)
def _try(a, b, found, below, above, node):
    """The better of ``found`` and the cut with ``a`` and ``b`` rows of the two classes on its left."""
    if a + b < node[5] or node[0] + node[1] - a - b < node[5]:
        return found
    impurity = _impurity(a, b, node)
    return (impurity, below, above) if impurity < found[0] else found


@njit(cache=True, nogil=True)
def _impurity(a, b, node):
    """Weight times impurity, summed over both sides, but for a factor."""
    c, d = (node[0] - a) * node[2], (node[1] - b) * node[3]
    a, b = a * node[2], b * node[3]
    if node[4]:
        return (_surprise(a, a + b) + _surprise(b, a + b)) + (_surprise(c, c + d) + _surprise(d, c + d))
    return (a * b / (a + b) if a + b > 0 else 0.0) + (c * d / (c + d) if c + d > 0 else 0.0)


@njit(cache=True, nogil=True)
def _surprise(part, whole):
    return part * np.log(whole / part) if part > 0 else 0.0


@njit(cache=True, nogil=True)
def _seconds(entries, start, stop):
    """How many of the entries are of the second class."""
    found = 0
    for place in range(start, stop):
        found += entries[place] >> _CLASS & 1
    return found


@njit(cache=True, nogil=True)
def _any_classes(
    entries, start, stop, common, counts, total, classes, class_weights, row_weights, entropy, min_leaf, found, space
):
    """As ``_two_classes``, for any classes and for weights of rows: every cut is tried."""
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
            impurity = _side(left_weights, entropy) + _side(right_weights, entropy)
            if impurity < found[0]:
                found = (impurity, code, following)
    return found


@njit(cache=True, nogil=True)
def _move(row, sign, classes, class_weights, row_weights, counts, weights):
    """Of a class without rows nothing is left, whatever rounding left."""
    kind = classes[row]
    counts[kind] += sign
    if len(row_weights):
        weights[kind] = max(weights[kind] + sign * row_weights[row], 0.0) if counts[kind] else 0.0
    else:
        weights[kind] = counts[kind] * class_weights[kind]


@njit(cache=True, nogil=True)
def _side(weights, entropy):
    """The part of a side in what ``_impurity`` is for two classes."""
    found, whole = 0.0, weights.sum()
    for part in weights:
        if part > 0:
            found += _surprise(part, whole) if entropy else part * (whole - part) / whole / 2
    return found


_ROW_BITS = (1 << (CODE - 1)) - 1
_ROWS = 128
"""So many rows go down all trees before the next: they stay in the cache, and one steps while another waits for it."""

NODE = np.dtype([("left", np.uint32), ("feature", np.uint32), ("threshold", np.float64)])
"""A node side by side in memory; without signs, for numba would ask each place whether it counts from the end."""


@njit(cache=True, nogil=True)
def leaves(X, nodes, roots):
    """(n_trees, n_rows) uint32, the leaf of each row of ``X``, (n_rows, n_columns) float64, by its place in ``nodes``.

    ``nodes``: of all trees; ``left`` is a place too, and a leaf's its own, with a threshold that nothing is above.
    ``roots``: (n_trees,) uint32.
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
                    going[n_kept] = row  # without a branch, for none could be foreseen
                    n_kept += following != node
                n_going = n_kept
    return found


@njit(cache=True, nogil=True)
def listed_by(entries, ends, wanted, n_rows):
    """(begins, columns): the columns ``wanted`` that list a row lie between its two of (n_rows + 1,) begins."""
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
