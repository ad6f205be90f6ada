"""Find the class probabilities of rows in a C4.5 tree. All functions are compiled by numba."""

from __future__ import annotations

import numpy as np
from numba import njit

from probcal.learners.c45.layout import ATTRIBUTE, BRANCH, COUNTS, CUT, EMPTY, FIRST_CHILD, N_CHILDREN, TOTAL

# the same as in growth, but not imported: numba's cache notices changes only within a file
_SMALL = 1e-6


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
