"""Grow an unpruned C4.5 tree on coded rows, with the choices of Weka's J48. All functions are compiled by numba.

They are in one file because numba's cache notices changes only within a file. Numbers are compared with a tolerance of
1e-6 wherever J48 does so, because the tolerance decides between splits that are equally good.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from probcal.learners.c45.instances import ROW
from probcal.learners.c45.tree import ATTRIBUTE, BRANCH, COUNTS, CUT, EMPTY, FIRST_CHILD, N_CHILDREN, TOTAL

_ROW = (1 << ROW) - 1
# Two numbers this close are equal.
_SMALL = 1e-6
# More than what the entropy in nats may be off, because the logarithm of a tiny weight is left out.
_ROUGH = 1e-4
# A split lies between two values only if they are farther apart than this.
_GAP = 1e-5


@njit(cache=True, nogil=True)
def grow(  # noqa: C901
    nominal, n_levels, places, entries, ends, values, first, histograms, classes, weights, n_classes, min_leaf, binary
):  # fmt: skip
    """Return (whole numbers, (n_nodes, 4) int32, and real numbers, (n_nodes, 3 + 2 n_classes)) of the tree.

    ``nominal``: (n_nominal, n_rows) int32, the level of each row, and -1 for a missing one. ``n_levels``: (n_columns,)
    the number of levels of each column, and 0 for a numeric one. ``places``: (n_columns,) the position of a column
    among those of its kind. ``entries``: (n_entries,) of the numeric columns, sorted by code, without missing values.
    Those of a column lie between two of ``ends``, (n_numeric + 1,). ``values``: the distinct values of each column,
    between two of ``first``, (n_numeric + 1,). ``histograms``: see ``Instances``. ``classes``: (n_rows,) int32.
    ``weights``: (n_rows,). ``min_leaf``: the least weight of two branches. ``binary``: whether nominal splits are
    binary.
    """
    n_rows, n_numeric, n_columns = len(classes), len(ends) - 1, len(n_levels)
    present, n_present = _present_values(entries, ends, values, first)
    n_bars, bar, bins = histograms
    most = max(2, n_levels.max())
    # a value that only rows of weight 0 have bounds splits, and a bar does not show it
    in_bars = (n_bars > 0) & ((n_levels > 0) | (weights.min() > 0))
    bin_places = np.cumsum(n_bars > 0) - 1
    bars = np.zeros((n_bars.sum() + 1, n_classes))  # the last one is for missing values
    counted, chosen = _counted_in_average(n_levels, n_rows), np.zeros(n_columns, np.int64)
    shapes = n_levels, places, counted, in_bars, bar, bin_places, bins, bars, chosen
    points = np.zeros((n_rows, n_classes)), np.zeros(n_rows, np.int64)
    numerics = values, first, _has_close_values(values, first), points
    # gains in bits and gain ratios, the codes next to a numeric split or the level of a binary one, and work space
    cuts = np.zeros((n_columns, 2), np.int64)
    scores = np.zeros((2, n_columns)), cuts, np.zeros((2, n_classes))
    # list 0 has the rows of the nodes that wait, aligned with their weights, and the others their entries
    lists, shares = np.empty((1 + n_numeric, 2 * n_rows), np.int64), np.empty(2 * n_rows)
    lists[0, :n_rows], shares[:n_rows] = np.arange(n_rows), weights
    own = np.zeros((1 + n_numeric, 2), np.int64)
    own[0, 1] = n_rows
    for column in range(n_columns):
        if not n_levels[column] and not in_bars[column]:
            begin, stop = ends[places[column]], ends[places[column] + 1]
            own[1 + places[column], 1] = stop - begin
            lists[1 + places[column], : stop - begin] = entries[begin:stop]
    spare, spare_shares = np.empty(n_rows, np.int64), np.empty(n_rows)
    weight, signed = weights.copy(), weights.copy()  # signed ones are negative for all classes but the first
    branch, slot_of = np.zeros((2, n_rows), np.int32)
    of_rows = classes, weight, signed
    bags, ratios, sizes, slots = np.zeros(most), np.zeros(most), np.zeros(most + 1, np.int64), np.zeros(most, np.int64)
    bag_counts, child_counts = np.zeros((most, n_classes)), np.zeros((most, n_classes))

    whole, real, n_nodes = np.zeros((64, 4), np.int32), np.zeros((64, 3 + 2 * n_classes)), 1
    for row in range(n_rows):
        real[0, COUNTS + classes[row]] += weights[row]
        real[0, TOTAL] += weights[row]
    waiting, stretches, n_waiting = np.zeros(64, np.int64), np.zeros((64, 1 + n_numeric, 2), np.int64), 0
    span, spans = np.zeros((n_columns, 2), np.int64), np.zeros((64, n_columns, 2), np.int64)
    for column in range(n_columns):
        if in_bars[column]:
            span[column] = bar[column], bar[column] + n_bars[column]
    spans[0], stretches[0] = span, own
    n_waiting = _finish(0, real[0, COUNTS : COUNTS + n_classes], min_leaf, whole, real)

    # The last node that waits comes first: its lists are at the end, where its children may take their place.
    while n_waiting:
        n_waiting -= 1
        node, own[:], span[:] = waiting[n_waiting], stretches[n_waiting], spans[n_waiting]
        rows = lists[0, own[0, 0] : own[0, 1]]
        row_weights = shares[own[0, 0] : own[0, 1]]
        for at in range(len(rows)):
            weight[rows[at]] = row_weights[at]
            signed[rows[at]] = row_weights[at] if classes[rows[at]] == 0 else -row_weights[at]
        column = _best_column(
            node, rows, row_weights, lists, own, span, binary, min_leaf, shapes, numerics, of_rows, scores, real
        )
        if column < 0:
            continue
        place, low, high = places[column], cuts[column, 0], cuts[column, 1]
        n_branches = n_levels[column] if n_levels[column] and not binary else 2
        if not n_levels[column]:
            if in_bars[column]:
                _send_by_bin(rows, bins[:, bin_places[column]], bar[column] + low, branch)
            else:
                _send_by_code(rows, lists[1 + place, own[1 + place, 0] : own[1 + place, 1]], low, branch)
            begin = first[place]
            cut = _split_point(values[begin + low], values[begin + high], present[begin : begin + n_present[place]])
        else:
            _send_by_level(rows, nominal[place], low if binary else -1, branch)
            cut = float(low) if binary else -1.0
        total = _weigh(
            rows, row_weights, branch, classes, n_branches, bags, bag_counts, child_counts, ratios,
            real[node, COUNTS : COUNTS + n_classes],
        )  # fmt: skip
        if n_nodes + n_branches > len(whole):
            whole, real = _longer(whole, n_nodes + n_branches), _longer(real, n_nodes + n_branches)
        whole[node, ATTRIBUTE], whole[node, FIRST_CHILD], whole[node, N_CHILDREN] = column, n_nodes, n_branches
        real[node, CUT], real[node, TOTAL] = cut, total
        n_slots = 0
        if n_waiting + n_branches > len(waiting):
            waiting, stretches = _longer(waiting, n_waiting + n_branches), _longer(stretches, n_waiting + n_branches)
            spans = _longer(spans, n_waiting + n_branches)
        for bag in range(n_branches):
            child = n_nodes + bag
            real[child, BRANCH], real[child, COUNTS + n_classes :] = bags[bag], bag_counts[bag]
            slots[bag] = -1
            if _finish(child, child_counts[bag], min_leaf, whole, real):
                slots[bag], waiting[n_waiting + n_slots], spans[n_waiting + n_slots] = n_slots, child, span
                n_slots += 1
        n_nodes += n_branches
        by_two = n_slots < 3
        for at in range(len(rows)):
            bag = branch[rows[at]]
            by_two &= bag >= 0
            slot_of[rows[at]] = slots[bag] if bag >= 0 else -1
        # the lists of the branches that grow on take the place of the node's own lists, which are the last ones
        for one in range(len(lists) if n_slots else 0):
            begin, stop = own[one, 0], own[one, 1]
            if begin == stop:
                for slot in range(n_slots):
                    stretches[n_waiting + slot, one, 0] = begin
                    stretches[n_waiting + slot, one, 1] = begin
                continue
            if one and lists[one, begin] >> ROW == lists[one, stop - 1] >> ROW:
                stop = begin  # a column with one value splits nothing
            if by_two:
                n_first, n_dealt = _cut(lists[one, begin:stop], slot_of, spare)
                for slot in range(n_slots):
                    stretches[n_waiting + slot, one, 0] = begin + (n_first if slot else 0)
                    stretches[n_waiting + slot, one, 1] = begin + (n_dealt if slot else n_first)
                for at in range(0 if one else n_dealt):
                    shares[begin + at] = weight[lists[0, begin + at]]
                continue
            n_dealt = _count(lists[one, begin:stop], branch, slots, ratios, n_branches, n_slots, sizes)
            if begin + n_dealt > lists.shape[1]:
                lists, shares = _wider(lists, begin + n_dealt), _longer(shares, begin + n_dealt)
            if n_dealt > len(spare):
                spare, spare_shares = _longer(spare, n_dealt), _longer(spare_shares, n_dealt)
            for slot in range(n_slots):
                stretches[n_waiting + slot, one, 0] = begin + sizes[slot]
                stretches[n_waiting + slot, one, 1] = begin + sizes[slot + 1]
            _deal(
                lists[one, begin:stop], branch, slots, ratios, n_branches, sizes, spare, weight, spare_shares, one == 0
            )
            lists[one, begin : begin + n_dealt] = spare[:n_dealt]
            if one == 0:
                shares[begin : begin + n_dealt] = spare_shares[:n_dealt]
        n_waiting += n_slots
    # copies, because views would keep the room for further nodes
    return whole[:n_nodes].copy(), real[:n_nodes].copy()


@njit(cache=True, nogil=True)
def _finish(node, counts, min_leaf, whole, real):
    """Write a new node as a leaf of these ``counts``, (n_classes,), and return whether it may be split."""
    total, largest = 0.0, 0.0
    for kind in range(len(counts)):
        real[node, COUNTS + kind] = counts[kind]
        total += counts[kind]
        largest = max(largest, counts[kind])
    real[node, TOTAL] = total
    whole[node, ATTRIBUTE], whole[node, FIRST_CHILD], whole[node, N_CHILDREN] = -1, 0, 0
    whole[node, EMPTY] = total < _SMALL
    return not (2 * min_leaf - total > _SMALL or total - largest < _SMALL)


@njit(cache=True, nogil=True)
def _best_column(  # noqa: C901
    node, rows, row_weights, lists, own, span, binary, min_leaf, shapes, numerics, of_rows, scores, real
):  # fmt: skip
    """Return the column of the best split, or -1: the largest gain ratio among the gains that are not below average.

    ``span``: (n_columns, 2), the first bar and the end of the bars that the rows of the parent have in a column, and
    after the call those of the node. It is empty if they have one level or value.
    """
    n_levels, places, counted, in_bars, bar, bin_places, bins, bars, chosen = shapes
    values, first, has_close, points = numerics
    classes = of_rows[0]
    gains, cuts, sides = scores
    counts, total = real[node, COUNTS : COUNTS + sides.shape[1]], real[node, TOTAL]
    n_chosen = 0
    for column in range(len(n_levels)):
        if span[column, 0] < span[column, 1]:
            chosen[n_chosen] = bin_places[column]
            n_chosen += 1
            for at in range(span[column, 0], span[column, 1]):
                for kind in range(sides.shape[1]):
                    bars[at, kind] = 0.0
    _count_in_bars(rows, row_weights, classes, bins, chosen, n_chosen, bars)
    mean, n_valid = 0.0, 0
    for column in range(len(n_levels)):
        begin, end = span[column, 0], span[column, 1]
        if in_bars[column] and begin == end:
            gains[1, column] = -1.0
            continue
        if n_levels[column]:
            of_column = bars[begin:end]
            if binary:
                found = _one_level(of_column, total, min_leaf, sides)
            else:
                found = _all_levels(of_column, total, min_leaf, sides)
            if _n_used(of_column) < 2:
                span[column, 1] = begin
        else:
            place, n_known, n_points = places[column], len(rows), 0
            if in_bars[column]:
                known, n_points = total, _points_of_bars(bars[begin:end], begin - bar[column], points)
                span[column, 0] = bar[column] + points[1][0]
                span[column, 1] = span[column, 0] if n_points < 2 else bar[column] + points[1][n_points - 1] + 1
            else:
                entries = lists[1 + place, own[1 + place, 0] : own[1 + place, 1]]
                n_known = len(entries)
                known = _known_weight(entries, of_rows) if n_known < len(rows) else total
            least = _least(known, len(counts), min_leaf)
            found = 0.0, 0.0, np.int64(0), np.int64(0), False
            # J48 compares with the number of rows here, and not with their weight
            if 2 * least - n_known <= _SMALL:
                if not in_bars[column]:
                    n_points = _points_of_entries(entries, of_rows, points)
                if n_points > 1:
                    found = _best_cut(
                        points[0][:n_points], points[1][:n_points], values[first[place] : first[place + 1]],
                        has_close[place], total, least,
                    )  # fmt: skip
        gains[0, column], gains[1, column], cuts[column, 0], cuts[column, 1], valid = found
        if valid and counted[column]:
            mean += gains[0, column]
            n_valid += 1
        elif not valid:
            gains[1, column] = -1.0
    if not n_valid:
        return -1
    # The gain ratio alone prefers splits that cut off a few rows. So only gains of at least the average compete.
    mean, best, best_column = mean / n_valid, 0.0, -1
    for column in range(len(n_levels)):
        # below the average by 1e-3 is near enough, as in C4.5
        if gains[0, column] >= mean - 1e-3 and gains[1, column] - best > _SMALL:
            best, best_column = gains[1, column], column
    return best_column


@njit(cache=True, nogil=True)
def _count_in_bars(rows, row_weights, classes, bins, chosen, n_chosen, bars):
    for at in range(len(rows)):
        row, weight = rows[at], row_weights[at]
        kind = classes[row]
        for one in range(n_chosen):
            bars[bins[row, chosen[one]], kind] += weight


# Views of arrays are counted, which takes longer than the sum of a few numbers.
@njit(cache=True, nogil=True)
def _sum(table, row):
    total = 0.0
    for kind in range(table.shape[1]):
        total += table[row, kind]
    return total


@njit(cache=True, nogil=True)
def _n_used(of_levels):
    used = 0
    for level in range(len(of_levels)):
        for kind in range(of_levels.shape[1]):
            if of_levels[level, kind] > 0:
                used += 1
                break
    return used


@njit(cache=True, nogil=True)
def _all_levels(of_levels, total, min_leaf, sides):
    """Return (gain, gain ratio, 0, 0, whether it is valid) of a split with a branch for each level."""
    n_large = 0
    for level in range(len(of_levels)):
        size = _sum(of_levels, level)
        n_large += size > 0 and min_leaf - size < _SMALL
    # a split is worth it only if two branches are large enough, however many others are not
    if n_large < 2:
        return 0.0, 0.0, np.int64(0), np.int64(0), False
    counts = sides[0]
    counts[:], known, after, split = 0.0, 0.0, 0.0, 0.0
    for level in range(len(of_levels)):
        size = 0.0
        for kind in range(len(counts)):
            count = of_levels[level, kind]
            if count:
                counts[kind] += count
                size += count
                after += _n_log_n(count)
        if size:
            known += size
            split += _n_log_n(size)
    gain = _gain(_entropy(counts, known), split - after, known, total)
    return gain, _gain_ratio(gain, split, known, total), np.int64(0), np.int64(0), True


@njit(cache=True, nogil=True)
def _one_level(of_levels, total, min_leaf, sides):
    """Return (gain, gain ratio, level, 0, whether it is valid) of the best split of one level from the others."""
    counts = sides[0]
    counts[:], known = 0.0, 0.0
    for level in range(len(of_levels)):
        for kind in range(len(counts)):
            counts[kind] += of_levels[level, kind]
            known += of_levels[level, kind]
    before = _entropy(counts, known)
    best, best_ratio, chosen, valid = 0.0, 0.0, np.int64(-1), False
    for level in range(len(of_levels)):
        size = _sum(of_levels, level)
        if min_leaf - size >= _SMALL or min_leaf - (known - size) >= _SMALL:
            continue
        valid = True
        after, split = 0.0, _n_log_n(size) + _n_log_n(known - size)
        for kind in range(len(counts)):
            after += _n_log_n(of_levels[level, kind]) + _n_log_n(counts[kind] - of_levels[level, kind])
        gain = _gain(before, split - after, known, total)
        ratio = _gain_ratio(gain, split, known, total)
        # the first level counts even without a gain, as in J48
        if level == 0 or ratio - best_ratio > _SMALL:
            best, best_ratio, chosen = gain, ratio, np.int64(level)
    return best, best_ratio, chosen, np.int64(0), valid


@njit(cache=True, nogil=True)
def _points_of_bars(of_values, code, points):
    """Write the points of a column in bars and return their number, as ``_points_of_entries`` does.

    ``code``: of the first bar.
    """
    sums, codes = points
    n_points = 0
    for at in range(len(of_values)):
        size = 0.0
        for kind in range(of_values.shape[1]):
            size += of_values[at, kind]
        if size > 0:
            for kind in range(of_values.shape[1]):
                sums[n_points, kind] = of_values[at, kind] + (sums[n_points - 1, kind] if n_points else 0.0)
            codes[n_points] = code + at
            n_points += 1
    return n_points


@njit(cache=True, nogil=True)
def _points_of_entries(entries, of_rows, points):
    """Write the points of a column and return their number: one for each value among the entries.

    ``points``: (sums, (n_rows, n_classes), the weight of each class up to the value, codes, (n_rows,)).
    """
    classes, weight, signed = of_rows
    sums, codes = points
    n_points, last = 0, len(entries) - 1
    if last < 0:
        return 0
    if sums.shape[1] == 2:
        a, b = 0.0, 0.0
        for at in range(last + 1):
            entry = entries[at]
            one = signed[np.uint32(entry)]
            a += max(one, 0.0)
            b -= min(one, 0.0)
            sums[n_points, 0], sums[n_points, 1], codes[n_points] = a, b, entry >> ROW
            n_points += at < last and entry >> ROW != entries[at + 1] >> ROW  # else the next entry overwrites it
        return n_points + 1
    sums[0] = 0.0
    for at in range(last + 1):
        entry = entries[at]
        sums[n_points, classes[entry & _ROW]] += weight[entry & _ROW]
        codes[n_points] = entry >> ROW
        if at < last and entry >> ROW != entries[at + 1] >> ROW:
            n_points += 1
            sums[n_points] = sums[n_points - 1]
    return n_points + 1


@njit(cache=True, nogil=True)
def _known_weight(entries, of_rows):
    known = 0.0
    for entry in entries:
        known += of_rows[1][entry & _ROW]
    return known


@njit(cache=True, nogil=True)
def _least(known, n_classes, min_leaf):
    """Return the least weight on either side of a cut: a tenth of what each class has on average, but not above 25."""
    # C4.5 looks at the classes too, because a cut between few rows of a large table is mostly chance
    least = 0.1 * known / n_classes
    if least - min_leaf < _SMALL:
        least = float(min_leaf)
    elif least - 25 > _SMALL:
        least = 25.0
    return least


@njit(cache=True, nogil=True)
def _best_cut(sums, codes, values, has_close, total, least):
    """Return (gain, gain ratio, code below the cut, code above it, whether it is valid) of the best cut.

    A cut must be better than all cuts below it by more than the tolerance. ``sums``: (n_points, n_classes) and
    ``codes``: (n_points,), the points of the column.
    """
    nothing = (0.0, 0.0, np.int64(0), np.int64(0), False)
    last = len(codes) - 1
    known = _sum(sums, last)
    begin, end = 0, last  # cuts after these points, and before the last one, have enough weight on both sides
    while begin < end and least - _sum(sums, begin) >= _SMALL:
        begin += 1
    while begin < end and least - (known - _sum(sums, end - 1)) >= _SMALL:
        end -= 1
    n_cuts = end - begin
    if has_close:
        for at in range(begin, end):
            n_cuts -= not values[codes[at]] + _GAP < values[codes[at + 1]]
    if not n_cuts:
        return nothing
    if sums.shape[1] == 2:
        found = _best_of_two(sums, codes, values, has_close, known, total, begin, end)
    else:
        found = _best_of_many(sums, codes, values, has_close, known, total, begin, end)
    gain, split, place = found
    # the choice among cuts has its price since release 8 (Quinlan 1996, Improved use of continuous attributes in C4.5)
    gain -= np.log2(n_cuts) / total
    if gain < _SMALL:
        return nothing
    return gain, _gain_ratio(gain, split, known, total), codes[place], codes[place + 1], True


@njit(cache=True, nogil=True)
def _best_of_many(sums, codes, values, has_close, known, total, begin, end):
    """Return (gain, sum of size times logarithm over the sides, point below the cut) of the best cut."""
    best, best_split, place, whole = 0.0, 0.0, 0, sums[-1]
    before = _entropy(whole, known)
    for at in range(begin, end):
        if has_close and not values[codes[at]] + _GAP < values[codes[at + 1]]:
            continue
        split, after = _within(_sum(sums, at), known), 0.0
        for kind in range(len(whole)):
            after += _within(sums[at, kind], whole[kind])
        gain = _gain(before, split - after, known, total)
        if gain - best > _SMALL:
            best, best_split, place = gain, split, at
    return best, best_split, place


@njit(cache=True, nogil=True)
def _best_of_two(sums, codes, values, has_close, known, total, begin, end):
    """Return what ``_best_of_many`` returns."""
    best, best_split, place = 0.0, 0.0, 0
    whole_a, whole_b = sums[-1, 0], sums[-1, 1]
    before = _entropy(sums[-1], known)
    step = max(16, int(np.sqrt(len(codes)) / 3))
    for start in range(begin, end, step):
        stop = min(start + step, end)
        if stop - start > 3:
            a, b, more_a, more_b = sums[start, 0], sums[start, 1], sums[stop - 1, 0], sums[stop - 1, 1]
            of_a, of_b = _within(a, whole_a), _within(b, whole_b)
            of_more_a, of_more_b = _within(more_a, whole_a), _within(more_b, whole_b)
            # The entropy after a cut is a concave function of the two weights on the left. So over a block of cuts it
            # is least at a corner of the box between the weights at the first and the last one. If even that is no
            # better, no cut is.
            after = min(
                _within(a + b, known) - of_a - of_b,
                _within(a + more_b, known) - of_a - of_more_b,
                _within(more_a + b, known) - of_more_a - of_b,
                _within(more_a + more_b, known) - of_more_a - of_more_b,
            )
            # less than the tolerance, so that rounding drops no block with a better cut
            if _gain(before, after - _ROUGH, known, total) - best < 0.9 * _SMALL:
                continue
        for at in range(start, stop):
            if has_close and not values[codes[at]] + _GAP < values[codes[at + 1]]:
                continue
            a, b = sums[at, 0], sums[at, 1]
            split = _within(a + b, known)
            gain = _gain(before, split - _within(a, whole_a) - _within(b, whole_b), known, total)
            if gain - best > _SMALL:
                best, best_split, place = gain, split, at
    return best, best_split, place


@njit(cache=True, nogil=True)
def _within(part, whole):
    """Return the sum of size times logarithm over a part of a whole and the rest."""
    return _n_log_n(part) + _n_log_n(whole - part)


@njit(cache=True, nogil=True)
def _n_log_n(number):
    return 0.0 if number < _SMALL else number * np.log(number)


@njit(cache=True, nogil=True)
def _entropy(counts, known):
    """Return the weight ``known`` times the entropy of ``counts``, (n_classes,), in nats."""
    found = _n_log_n(known)
    for count in counts:
        found -= _n_log_n(count)
    return found


@njit(cache=True, nogil=True)
def _gain(before, after, known, total):
    """Return the information gain in bits. The rows of unknown value, of weight ``total - known``, gain nothing."""
    difference = (1 - (total - known) / total) * (before - after)
    return 0.0 if abs(difference) < _SMALL else difference / known / np.log(2.0)


@njit(cache=True, nogil=True)
def _gain_ratio(gain, split, known, total):
    """Return ``gain`` divided by the entropy of the branches, where unknown values are a branch of their own.

    ``split``: the sum of size times logarithm over the branches.
    """
    entropy = _n_log_n(total) - split - _n_log_n(total - known)
    return 0.0 if abs(entropy) < _SMALL else gain / (entropy / total / np.log(2.0))


@njit(cache=True, nogil=True)
def _split_point(low, high, present):
    """Return the largest of the ``present`` values, (n_values,) in order, up to the middle between two values."""
    middle = (low + high) / 2
    # between neighbouring floats the middle can round up
    if middle == high:
        middle = low
    return present[np.searchsorted(present, middle, side="right") - 1]


@njit(cache=True, nogil=True)
def _send_by_code(rows, entries, low, branch):
    for row in rows:
        branch[row] = -1
    for entry in entries:
        branch[entry & _ROW] = entry >> ROW > low


@njit(cache=True, nogil=True)
def _send_by_bin(rows, bins, low, branch):
    for row in rows:
        branch[row] = bins[row] > low


@njit(cache=True, nogil=True)
def _send_by_level(rows, levels, single, branch):
    for row in rows:
        level = levels[row]
        branch[row] = level if single < 0 or level < 0 else level != single


@njit(cache=True, nogil=True)
def _weigh(rows, row_weights, branch, classes, n_branches, bags, bag_counts, child_counts, ratios, counts):
    """Weigh the branches and return the total weight.

    ``bags``, ``bag_counts``: the weight of each branch, and by class, with its share of the missing values. ``ratios``:
    this share, or 0 if it is negligible. ``child_counts``: the weights by class that the rows have in the branch.
    ``counts``: (n_classes,), the weights of the node.
    """
    for bag in range(n_branches):
        bag_counts[bag], bags[bag] = 0.0, 0.0
    counts[:], total, n_missing = 0.0, 0.0, 0
    for at in range(len(rows)):
        bag, kind = branch[rows[at]], classes[rows[at]]
        if bag < 0:
            n_missing += 1
            continue
        bag_counts[bag, kind] += row_weights[at]
        bags[bag] += row_weights[at]
        counts[kind] += row_weights[at]
        total += row_weights[at]
    for bag in range(n_branches):
        child_counts[bag] = bag_counts[bag]
        ratios[bag] = bags[bag] / total
    # in J48's order: known values first, missing ones by the shares of these, and rows go on by the shares of both
    if n_missing:
        for at in range(len(rows)):
            kind = classes[rows[at]]
            if branch[rows[at]] < 0:
                counts[kind] += row_weights[at]
                total += row_weights[at]
                for bag in range(n_branches):
                    bag_counts[bag, kind] += ratios[bag] * row_weights[at]
                    bags[bag] += ratios[bag] * row_weights[at]
        for bag in range(n_branches):
            ratios[bag] = bags[bag] / total if bags[bag] / total > _SMALL else 0.0
        for at in range(len(rows)):
            if branch[rows[at]] < 0:
                for bag in range(n_branches):
                    child_counts[bag, classes[rows[at]]] += ratios[bag] * row_weights[at]
    return total


@njit(cache=True, nogil=True)
def _cut(entries, slot_of, spare):
    """Move the entries of slot 0 to the front and then those of slot 1, and return where each of both ends."""
    kept, moved = 0, 0
    for at in range(len(entries)):
        entry = entries[at]
        slot = slot_of[np.uint32(entry)]
        entries[kept] = entry  # without a branch, because it could not be predicted
        spare[moved] = entry
        kept += slot == 0
        moved += slot == 1
    for at in range(moved):
        entries[kept + at] = spare[at]
    return kept, kept + moved


@njit(cache=True, nogil=True)
def _count(entries, branch, slots, ratios, n_branches, n_slots, sizes):
    """Set ``sizes[slot]`` to where the entries of each branch begin, and return their number."""
    sizes[:] = 0
    for entry in entries:
        bag = branch[entry & _ROW]
        if bag >= 0:
            if slots[bag] >= 0:
                sizes[slots[bag] + 1] += 1
        else:
            for other in range(n_branches):
                if slots[other] >= 0 and ratios[other] > 0:
                    sizes[slots[other] + 1] += 1
    for slot in range(n_slots):
        sizes[slot + 1] += sizes[slot]
    return sizes[n_slots]


@njit(cache=True, nogil=True)
def _deal(entries, branch, slots, ratios, n_branches, sizes, dealt, weight, shares, with_shares):
    """Write the entries of each branch to ``dealt`` from ``sizes[slot]`` on, in their order, and their weights."""
    for entry in entries:
        row = entry & _ROW
        bag = branch[row]
        if bag >= 0:
            slot = slots[bag]
            if slot >= 0:
                dealt[sizes[slot]] = entry
                if with_shares:
                    shares[sizes[slot]] = weight[row]
                sizes[slot] += 1
        else:
            for other in range(n_branches):
                slot = slots[other]
                if slot >= 0 and ratios[other] > 0:
                    dealt[sizes[slot]] = entry
                    if with_shares:
                        shares[sizes[slot]] = ratios[other] * weight[row]
                    sizes[slot] += 1


@njit(cache=True, nogil=True)
def _present_values(entries, ends, values, first):
    """Return (values that occur among the entries, laid out as ``values``, their number in each column)."""
    present, counts = np.empty(len(values)), np.zeros(len(ends) - 1, np.int64)
    for place in range(len(ends) - 1):
        last = np.int64(-1)
        for at in range(ends[place], ends[place + 1]):
            if entries[at] >> ROW != last:
                last = entries[at] >> ROW
                present[first[place] + counts[place]] = values[first[place] + last]
                counts[place] += 1
    return present, counts


@njit(cache=True, nogil=True)
def _has_close_values(values, first):
    """Return whether each numeric column has two different values that no split may separate."""
    found = np.zeros(len(first) - 1, np.bool_)
    for place in range(len(found)):
        for at in range(first[place] + 1, first[place + 1]):
            found[place] |= not values[at - 1] + _GAP < values[at]
    return found


@njit(cache=True, nogil=True)
def _counted_in_average(n_levels, n_rows):
    """Return whether the gain of each column enters the average: not with levels for 30 % of the rows, unless all."""
    found = np.zeros(len(n_levels), np.bool_)
    for column in range(len(n_levels)):
        found[column] = not n_levels[column] or 0.3 * n_rows - n_levels[column] > _SMALL
    if not found.any():
        found[:] = True
    return found


@njit(cache=True, nogil=True)
def _longer(array, n):
    """Return a copy with room for twice ``n``."""
    found = np.zeros((2 * n, *array.shape[1:]), array.dtype)
    found[: len(array)] = array
    return found


@njit(cache=True, nogil=True)
def _wider(lists, n):
    found = np.empty((len(lists), 2 * n), np.int64)
    found[:, : lists.shape[1]] = lists
    return found
