"""Copies of rows in a log, such as those of a job that appended its rows twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import pdtrc

from probcal._io import counted
from probcal.watch.log import Log

_HASH_BASE = np.uint64(0x9E3779B97F4A7C15)
_LEVEL = 0.001
"""Probability of a warning of copies, if equal pairs come by chance (Poisson)."""


def count_copies(log: Log) -> Log:
    """Return the log with the number of rows with a label that equal an earlier one, and a note on them."""
    has_label = log.has_label
    n_copies = _n_copies(log if has_label.all() else log.take(has_label)) if has_label.any() else 0
    if not n_copies:
        return log
    columns = "time, probability, label and groups" if log.groups else "time, probability and label"
    note = (
        f"{n_copies:,} of {counted(int(has_label.sum()))} with a label {'equals' if n_copies == 1 else 'equal'} an "
        f"earlier row in {columns}. Copies of a row count as evidence twice: remove them, and begin a new --state if "
        "you keep one"
    )
    return replace(log, notes=[*log.notes, note], n_copies=n_copies)


def _n_copies(log: Log) -> int:
    """Return how many rows equal an earlier one in all that the log holds, or 0 if chance explains them.

    Rows with coarse times and few different probabilities are equal without being copies. So there must be twice as
    many equal pairs as rows of one time and of the next have, by their probabilities and labels. A log of one time has
    no such pairs, and 0 copies.
    """
    number = np.cumsum(np.append(False, log.days[1:] != log.days[:-1])).astype(np.uint64)  # of the time of each row
    cases = pd.util.hash_array(log.p) * _HASH_BASE + log.y.astype(np.uint64)
    cases = cases * _HASH_BASE + number  # so the hash + 1 is that of an equal case at the next time
    rows = cases
    for values in log.groups.values():
        rows = rows * _HASH_BASE + pd.util.hash_array(values)
    n_of_row = np.unique(rows, return_counts=True)[1]
    n_of_time = np.bincount(number.astype(np.int64))
    if len(n_of_row) == len(rows) or len(n_of_time) < 2:
        return 0
    hashes, n_of_case = np.unique(cases, return_counts=True)
    place = np.searchsorted(hashes, hashes + np.uint64(1)) % len(hashes)
    n_at_next_time = np.where(hashes[place] == hashes + np.uint64(1), n_of_case[place], 0)
    share = (n_of_case @ n_at_next_time) / (n_of_time[1:] @ n_of_time[:-1])
    by_chance = 2 * share * _n_pairs(n_of_time)
    return len(rows) - len(n_of_row) if pdtrc(_n_pairs(n_of_row) - 1, by_chance) < _LEVEL else 0


def _n_pairs(counts: npt.NDArray[np.int64]) -> float:
    """Return the number of pairs within groups of ``counts`` rows."""
    return float(counts @ (counts - 1)) / 2
