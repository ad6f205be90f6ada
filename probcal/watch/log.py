"""The log of ``probcal watch``: predictions in the order of time, with labels as far as they are known."""

from __future__ import annotations

import time as time_module
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

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
