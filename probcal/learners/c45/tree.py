"""The arrays of a C4.5 tree: where they hold what, how a grown tree is pruned as in Weka's J48, and what it predicts.

All functions are compiled by numba. They are in one file because numba's cache notices changes only within a file.
A tree is two arrays with a row for each node, because compiled code has no objects: whole numbers and real numbers.

Pruning compares upper limits of the error (Quinlan 1993, "C4.5: Programs for machine learning", chapter 4). It needs
the training rows again only to raise subtrees.
"""

from __future__ import annotations

import numpy as np
from numba import njit

ATTRIBUTE, FIRST_CHILD, N_CHILDREN, EMPTY = range(4)
"""Columns of the whole numbers of a tree's nodes. A leaf has no children and the attribute -1."""

CUT, TOTAL, BRANCH, COUNTS = range(4)
"""Columns of the real numbers of a tree's nodes.

CUT is the largest value of the first branch, or the level that the first of two branches takes, or -1 if each level has
a branch. TOTAL is the weight of the rows, and BRANCH the weight that the parent's split gives to the branch. From
COUNTS on are the weights of the classes in the node, and then those of the branch.
"""

# Two numbers this close are equal.
_SMALL = 1e-6


@njit(cache=True, nogil=True)
def collapse(whole, real, n_classes):
    """Replace each subtree that makes no fewer training errors than a leaf, from the root on."""
    errors = np.zeros(len(whole))
    for node in range(len(whole) - 1, -1, -1):  # children come after their parent
        if whole[node, ATTRIBUTE] < 0:
            errors[node] = _n_wrong(real[node, COUNTS : COUNTS + n_classes], real[node, TOTAL])
        for child in range(whole[node, FIRST_CHILD], whole[node, FIRST_CHILD] + whole[node, N_CHILDREN]):
            errors[node] += errors[child]
    for node in range(len(whole)):  # what happens below a collapsed node does not matter
        as_leaf = _n_wrong(real[node, COUNTS : COUNTS + n_classes], real[node, TOTAL])
        # 1e-3 is J48's tolerance
        if whole[node, ATTRIBUTE] >= 0 and errors[node] >= as_leaf - 1e-3:
            _make_leaf(node, whole)


@njit(cache=True, nogil=True)
def prune(whole, real, n_classes, confidence, z, raises, nominal, numbers, n_levels, places, classes, weights):  # noqa: C901
    """Replace subtrees by leaves, and if ``raises`` by their largest branch, where it lowers the estimated error.

    ``confidence``: of the upper limit of the error, and ``z`` its normal quantile. ``nominal``: (n_nominal, n_rows) and
    ``numbers``: (n_numeric, n_rows), the training rows, with -1 and NaN where missing.
    """
    n_rows = len(classes)
    rows, shares, branch = np.empty(4 * n_rows, np.int32), np.empty(4 * n_rows), np.zeros(n_rows, np.int32)
    rows[:n_rows], shares[:n_rows] = np.arange(n_rows), weights
    starts, stops = np.zeros((2, len(whole)), np.int64)
    stops[0] = n_rows
    most = max(2, n_levels.max())
    estimated, of_bags = np.zeros(len(whole)), (np.zeros(most), np.zeros(most), np.zeros((most, n_classes)))
    ratios, takes, has_splits = of_bags[0], np.zeros(most, np.bool_), np.zeros(len(whole), np.bool_)
    for node in range(len(whole)):
        for child in range(whole[node, FIRST_CHILD], whole[node, FIRST_CHILD] + whole[node, N_CHILDREN]):
            has_splits[node] |= whole[child, ATTRIBUTE] >= 0
    path, left, depth = np.zeros(64, np.int64), np.zeros(64, np.int64), 1  # nodes, and how many children are left
    left[0] = -1
    table = nominal, numbers, n_levels, places
    # Children first, because a node is compared with what its pruned branches estimate. A path in place of recursion:
    # a tree of one row per leaf can be deeper than the stack.
    while depth:
        node = path[depth - 1]
        begin, n_children = np.int64(whole[node, FIRST_CHILD]), whole[node, N_CHILDREN]
        counts, total = real[node, COUNTS : COUNTS + n_classes], real[node, TOTAL]
        as_leaf = _estimated_errors(counts, total, confidence, z)
        if whole[node, ATTRIBUTE] < 0:
            estimated[node] = as_leaf
            depth -= 1
            continue
        if left[depth - 1] < 0:
            left[depth - 1] = n_children
            if raises and has_splits[node]:  # else no branch but a leaf can be raised
                for bag in range(n_children):
                    ratios[bag], takes[bag] = real[begin + bag, BRANCH] / total, has_splits[begin + bag]
                _send(node, whole, real, table, rows, starts, stops, branch)
                rows, shares = _split(node, whole, rows, shares, starts, stops, branch, ratios, takes)
        if left[depth - 1] > 0:
            left[depth - 1] -= 1
            if depth == len(path):
                path, left = np.append(path, path), np.append(left, left)
            path[depth], left[depth] = begin + left[depth - 1], -1  # the last first, because its rows are the last
            depth += 1
            continue
        # three choices: keep the split, make a leaf of it, or put its largest branch in its place
        errors, largest, size = 0.0, begin, 0.0
        for child in range(begin, begin + n_children):
            errors += estimated[child]
            # the last of equally large branches, as in J48
            if size - real[child, BRANCH] < _SMALL:
                largest, size = np.int64(child), real[child, BRANCH]
        of_branch = np.inf
        if raises and whole[largest, ATTRIBUTE] < 0:
            of_branch = as_leaf  # it would be the same leaf
        elif raises:
            starts[largest], stops[largest] = starts[node], stops[node]
            enough = max(errors + 0.1, as_leaf - 0.1) + 2 * _SMALL  # above it the branch is not raised
            rows, shares, of_branch = _errors_on_rows(
                largest, enough, whole, real, n_classes, confidence, z, table, classes, rows, shares, starts,
                stops, branch, of_bags, takes,
            )  # fmt: skip
        # J48 prunes if that adds no more than .1 errors
        if as_leaf - errors - 0.1 < _SMALL and as_leaf - of_branch - 0.1 < _SMALL:
            _make_leaf(node, whole)
            left[depth - 1] = -1
        elif of_branch - errors - 0.1 < _SMALL:
            # the raised branch gets all rows of the node, so its own nodes are weighed and compared again
            whole[node, :EMPTY], real[node, CUT] = whole[largest, :EMPTY], real[largest, CUT]
            rows, shares, of_branch = _errors_on_rows(
                node, np.inf, whole, real, n_classes, confidence, z, table, classes, rows, shares, starts, stops,
                branch, of_bags, takes,
            )  # fmt: skip
            left[depth - 1] = -1
        else:
            estimated[node] = errors
            depth -= 1


@njit(cache=True, nogil=True)
def compact(whole, real):
    """Return the tree without the nodes that no branch leads to any more."""
    order, n_nodes, at = np.zeros(len(whole), np.int64), 1, 0
    while at < n_nodes:
        begin = whole[order[at], FIRST_CHILD]
        if whole[order[at], N_CHILDREN]:
            whole[order[at], FIRST_CHILD] = n_nodes
        for child in range(begin, begin + whole[order[at], N_CHILDREN]):
            order[n_nodes] = child
            n_nodes += 1
        at += 1
    return whole[order[:n_nodes]], real[order[:n_nodes]]


@njit(cache=True, nogil=True)
def _errors_on_rows(
    top, enough, whole, real, n_classes, confidence, z, table, classes, rows, shares, starts, stops, branch, of_bags,
    takes,
):  # fmt: skip
    """Return (rows, shares, estimated errors of the subtree ``top`` on its rows). Above ``enough`` the sum stops.

    If ``enough`` is infinite, the nodes take the weights of these rows for their own.
    """
    keeps = enough == np.inf
    errors, counts, (ratios, _, bag_counts) = 0.0, np.zeros(n_classes), of_bags
    waiting, n_waiting = np.zeros(64, np.int64), 1
    waiting[0] = top
    while n_waiting:
        n_waiting -= 1
        node = waiting[n_waiting]
        begin, n_children = whole[node, FIRST_CHILD], whole[node, N_CHILDREN]
        if whole[node, ATTRIBUTE] < 0:
            counts[:], total = 0.0, 0.0
            for at in range(starts[node], stops[node]):
                counts[classes[rows[at]]] += shares[at]
                total += shares[at]
            errors += _estimated_errors(counts, total, confidence, z)
            real[node, TOTAL], real[node, COUNTS : COUNTS + n_classes] = total, counts
            if total >= _SMALL:
                whole[node, EMPTY] = 0
            continue
        _send(node, whole, real, table, rows, starts, stops, branch)
        _weigh(node, keeps, whole, real, n_classes, classes, rows, shares, starts, stops, branch, of_bags)
        n_taken = 0
        for bag in range(n_children):
            # a leaf needs no copy of its rows: their weights by class give its errors
            takes[bag] = keeps or whole[begin + bag, ATTRIBUTE] >= 0
            n_taken += takes[bag]
            if not takes[bag]:
                total = 0.0
                for kind in range(n_classes):
                    counts[kind] = bag_counts[bag, kind]
                    total += counts[kind]
                errors += _estimated_errors(counts, total, confidence, z)
        if errors > enough:
            break
        if not n_taken:
            continue
        rows, shares = _split(node, whole, rows, shares, starts, stops, branch, ratios, takes)
        if n_waiting + n_children > len(waiting):
            waiting = np.append(waiting, np.zeros(len(waiting) + n_children, np.int64))
        for bag in range(n_children):
            waiting[n_waiting] = begin + bag
            n_waiting += takes[bag]
    return rows, shares, errors


@njit(cache=True, nogil=True)
def _send(node, whole, real, table, rows, starts, stops, branch):
    """Set ``branch`` to the branch of each row of a node, or to -1 for a missing value."""
    nominal, numbers, n_levels, places = table
    column, cut = whole[node, ATTRIBUTE], real[node, CUT]
    place, start = places[column], starts[node]
    if n_levels[column]:
        for at in range(start, stops[node]):
            level = nominal[place, rows[at]]
            branch[at - start] = level if level < 0 or cut < 0 else level != cut
    else:
        for at in range(start, stops[node]):
            number = numbers[place, rows[at]]
            branch[at - start] = -1 if np.isnan(number) else number > cut


@njit(cache=True, nogil=True)
def _weigh(node, keeps, whole, real, n_classes, classes, rows, shares, starts, stops, branch, of_bags):
    """Weigh the branches of a node. If ``keeps``, the weights are also written to the tree.

    ``of_bags``: (the share of each branch in the weight, its weight, and its weight by class).
    """
    begin, n_children, start = whole[node, FIRST_CHILD], whole[node, N_CHILDREN], starts[node]
    ratios, bags, counts = of_bags
    for bag in range(n_children):
        bags[bag] = 0.0
        for kind in range(n_classes):
            counts[bag, kind] = 0.0
    of_node, total, n_missing = np.zeros(n_classes), 0.0, 0
    for at in range(start, stops[node]):
        bag, kind = branch[at - start], classes[rows[at]]
        if bag < 0:
            n_missing += 1
        else:
            bags[bag] += shares[at]
            counts[bag, kind] += shares[at]
            of_node[kind] += shares[at]
            total += shares[at]
    for bag in range(n_children):
        ratios[bag] = bags[bag] / total if total >= _SMALL else 1 / n_children
    if n_missing:
        for at in range(start, stops[node]):
            if branch[at - start] < 0:
                kind = classes[rows[at]]
                of_node[kind] += shares[at]
                total += shares[at]
                for bag in range(n_children):
                    bags[bag] += ratios[bag] * shares[at]
                    counts[bag, kind] += ratios[bag] * shares[at]
        for bag in range(n_children):
            ratios[bag] = bags[bag] / total
    if keeps:
        real[node, TOTAL], real[node, COUNTS : COUNTS + n_classes] = total, of_node
        for bag in range(n_children):
            real[begin + bag, BRANCH], real[begin + bag, COUNTS + n_classes :] = bags[bag], counts[bag]


@njit(cache=True, nogil=True)
def _split(node, whole, rows, shares, starts, stops, branch, ratios, takes):
    """Write the rows of each branch that ``takes`` them after those of its node, and return (rows, shares)."""
    begin, n_children, start, stop = whole[node, FIRST_CHILD], whole[node, N_CHILDREN], starts[node], stops[node]
    n_missing = 0
    for child in range(begin, begin + n_children):
        stops[child] = 0
    for at in range(stop - start):
        if branch[at] < 0:
            n_missing += 1
        else:
            stops[begin + branch[at]] += 1
    end = stop
    for bag in range(n_children):
        starts[begin + bag], n_known = end, stops[begin + bag]
        stops[begin + bag] = end
        end += (n_known + (n_missing if ratios[bag] > _SMALL else 0)) * takes[bag]
    if end > len(rows):
        rows, shares = np.append(rows, np.zeros(end, np.int32)), np.append(shares, np.zeros(end))
    for at in range(stop - start):
        first, last = (branch[at], branch[at] + 1) if branch[at] >= 0 else (0, n_children)
        for bag in range(first, last):
            if takes[bag] and (branch[at] >= 0 or ratios[bag] > _SMALL):
                to = stops[begin + bag]
                rows[to] = rows[start + at]
                shares[to] = shares[start + at] if branch[at] >= 0 else ratios[bag] * shares[start + at]
                stops[begin + bag] += 1
    return rows, shares


@njit(cache=True, nogil=True)
def _make_leaf(node, whole):
    whole[node, ATTRIBUTE], whole[node, FIRST_CHILD], whole[node, N_CHILDREN] = -1, 0, 0


@njit(cache=True, nogil=True)
def _n_wrong(counts, total):
    """Return the weight outside the largest class. A later class must be larger by more than the tolerance."""
    largest = 0.0
    for kind in range(len(counts)):
        if counts[kind] - largest > _SMALL:
            largest = counts[kind]
    return total - (largest or counts[0])


@njit(cache=True, nogil=True)
def _estimated_errors(counts, total, confidence, z):
    if total < _SMALL:
        return 0.0
    wrong = _n_wrong(counts, total)
    return wrong + _added_errors(total, wrong, confidence, z)


@njit(cache=True, nogil=True)
def _added_errors(total, wrong, confidence, z):
    """Return what the upper confidence limit of the errors among ``total`` adds to the ``wrong`` ones."""
    if wrong < 1:
        # between no error and one the limit is interpolated, as in C4.5
        none = total * (1 - confidence ** (1 / total))
        return none if wrong == 0 else none + wrong * (_added_errors_of_normal(total, 1.0, z) - none)
    return _added_errors_of_normal(total, wrong, z)


@njit(cache=True, nogil=True)
def _added_errors_of_normal(total, wrong, z):
    if wrong + 0.5 >= total:
        return max(total - wrong, 0.0)
    # the limit of the normal distribution, with half an error as correction for whole numbers
    f = (wrong + 0.5) / total
    limit = f + z * z / (2 * total) + z * np.sqrt(f / total - f * f / total + z * z / (4 * total * total))
    return limit / (1 + z * z / total) * total - wrong


@njit(cache=True, nogil=True)
def probabilities(whole, real, leaf_shares, branch_shares, nominal, numbers, n_levels, places):
    """Return (n_rows, n_classes). A row with a missing value takes all branches, each with the branch's share.

    ``leaf_shares``: (n_nodes, n_classes), what a node predicts. ``branch_shares``: what its parent predicts for a
    branch without training rows. ``nominal``: (n_nominal, n_rows) and ``numbers``: (n_numeric, n_rows).
    """
    n_rows, n_classes = nominal.shape[1], leaf_shares.shape[1]
    found = np.zeros((n_rows, n_classes))
    waiting, parts = np.zeros(len(whole) + 1, np.int64), np.zeros(len(whole) + 1)
    for row in range(n_rows):
        n_waiting, waiting[0], parts[0] = 1, 0, 1.0
        while n_waiting:
            n_waiting -= 1
            node, part = waiting[n_waiting], parts[n_waiting]
            column = whole[node, ATTRIBUTE]
            ends_here = column < 0
            of_branch = False
            while not ends_here:
                begin, place, cut = whole[node, FIRST_CHILD], places[column], real[node, CUT]
                if n_levels[column]:
                    level = nominal[place, row]
                    branch = np.int64(level) if level < 0 or cut < 0 else np.int64(level != cut)
                else:
                    number = numbers[place, row]
                    branch = np.int64(-1) if np.isnan(number) else np.int64(number > cut)
                if branch < 0:
                    for bag in range(whole[node, N_CHILDREN] - 1, -1, -1):
                        if not whole[begin + bag, EMPTY]:
                            waiting[n_waiting] = begin + bag
                            parts[n_waiting] = real[begin + bag, BRANCH] / real[node, TOTAL] * part
                            n_waiting += 1
                    break
                node = begin + branch
                of_branch = whole[node, EMPTY] != 0
                column = whole[node, ATTRIBUTE]
                ends_here = of_branch or column < 0
            if ends_here:
                for kind in range(n_classes):
                    found[row, kind] += part * (branch_shares[node, kind] if of_branch else leaf_shares[node, kind])
    return np.minimum(found, 1.0)  # parts of a row can sum to a little more


@njit(cache=True, nogil=True)
def node_shares(whole, real, n_classes, laplace):
    """Return what each node predicts by itself and as a branch of its parent, (n_nodes, n_classes) each.

    ``laplace``: whether 1 is added to the weight of each class.
    """
    leaf, branch = np.zeros((2, len(whole), n_classes))
    added = 1.0 if laplace else 0.0
    for node in range(len(whole)):
        if laplace or real[node, TOTAL] >= _SMALL:
            leaf[node] = (real[node, COUNTS : COUNTS + n_classes] + added) / (real[node, TOTAL] + added * n_classes)
    for node in range(len(whole)):
        for child in range(whole[node, FIRST_CHILD], whole[node, FIRST_CHILD] + whole[node, N_CHILDREN]):
            if real[child, BRANCH] > _SMALL:
                own = real[child, COUNTS + n_classes :]
                branch[child] = (own + added) / (real[child, BRANCH] + added * n_classes)
            else:
                branch[child] = leaf[node]
    return leaf, branch
