"""Rows and what they are listed by: the columns of two values, and the leaves of trees. Compiled by numba."""

from __future__ import annotations

import numpy as np
from numba import njit

from probcal.learners.sorted_columns import CODE

_ROW = (1 << (CODE - 1)) - 1
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
                begins[(entries[place] & _ROW) + 2] += 1
    for row in range(n_rows):
        begins[row + 2] += begins[row + 1]
    columns = np.empty(begins[n_rows + 1], np.int32)
    for column in range(len(wanted)):
        if wanted[column]:
            for place in range(ends[column], ends[column + 1]):
                row = entries[place] & _ROW
                columns[begins[row + 1]] = column
                begins[row + 1] += 1
    return begins[: n_rows + 1], columns
