"""The log of ``probcal watch``: predictions in the order of time, with labels as far as they are known."""

from __future__ import annotations

import time as time_module
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import pdtrc

from probcal._io import counted
from probcal.errors import DataError
from probcal.reading.dates import as_date
from probcal.reading.file_columns import Floats, Texts, named_column
from probcal.reading.labelled_rows import label_mask, rows_of
from probcal.reading.periods import days_of
from probcal.reading.prediction_file import PredictionsRequest, number_columns, read_predictions
from probcal.reading.table import read_table

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Log:
    """Hold rows in the order of time. Rows of one time keep their order in the file."""

    name: str
    """Name of the file, for headings."""
    days: Floats
    """(n_rows,) days since 1970, with the time as a fraction."""
    p: Floats
    """(n_rows,) predicted probabilities of the positive label."""
    y: npt.NDArray[np.int64]
    """(n_rows,) 0 and 1, or -1 where the label is not known yet."""
    groups: dict[str, Texts]
    """Column -> group of each row, (n_rows,)."""
    notes: list[str]
    """What was noticed, in words."""
    n_copies: int = 0
    """Rows with a label that equal an earlier row, or 0 if chance explains them."""

    @property
    def has_label(self) -> Bools:
        return self.y >= 0

    def take(self, rows: Bools) -> Log:
        """Return the log of the rows of a mask, (n_rows,)."""
        groups = {name: values[rows] for name, values in self.groups.items()}
        return replace(self, days=self.days[rows], p=self.p[rows], y=self.y[rows], groups=groups)


def read_log(request: PredictionsRequest, time: str) -> Log:
    """Read the file of a request, whose column ``time`` holds dates or times.

    Raises DataError with the line for what is no time, probability, label or group.
    """
    table = read_table(request.source, request.reading)
    has_label = label_mask(table, request.target)
    days = days_of(table, time)
    if (is_future := days > time_module.time() / 86_400 + 1).any():  # a time zone may be half a day ahead
        row = int(np.argmax(is_future))
        raise DataError(
            f'{table.where(row)}: column "{time}" holds {as_date(days[row])}, which is in the future; correct it'
        )
    groups = {name: named_column(table, "--group", name).groups() for name in request.groups}
    p, y = np.full(table.n_rows, np.nan), np.full(table.n_rows, -1)
    notes: list[str] = []
    decimal = request.decimal
    if has_label.any():
        predictions = read_predictions(replace(request, groups=()), rows_of(table, has_label))
        if not predictions.is_binary:
            raise DataError(f"{table.origin_name} has {len(predictions.classes)} classes, and watch needs two")
        p[has_label], y[has_label] = predictions.p, predictions.y
        decimal, notes = predictions.mark, predictions.notes
    if not has_label.all():
        p[~has_label] = number_columns(rows_of(table, ~has_label), request.probability, decimal, True).values[:, 0]
    order = np.argsort(days, kind="stable")
    in_order = {name: values[order] for name, values in groups.items()}
    return Log(table.origin_name, days[order], p[order], y[order], in_order, notes)


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
