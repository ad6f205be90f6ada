"""The rows of a table whose label is known, and their predictions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from probcal._io import counted
from probcal.reading.file_columns import named_column
from probcal.reading.prediction_file import FilePredictions, PredictionsRequest, read_predictions
from probcal.reading.table import UserTable, read_table
from probcal.reading.text_column import TEXT, is_text

Bools = npt.NDArray[np.bool_]


def label_mask(table: UserTable, target: str | None) -> Bools:
    """Return whether the label of each row is known: the field of the column ``target`` is not empty."""
    column = table.columns[named_column(table, "--target", target).index]
    has_label = column.is_valid()
    if is_text(column.type):
        has_label = pc.and_(has_label, pc.not_equal(pc.utf8_trim_whitespace(column.cast(TEXT)), "").fill_null(False))
    return np.asarray(has_label.to_numpy(), dtype=bool)


def rows_of(table: UserTable, mask: Bools) -> UserTable:
    """Return the table with the rows of a mask, (n_rows,), for reading. Output of ``as_written`` needs all rows."""
    if mask.all():
        return table
    lines = None if table.lines is None else table.lines[mask]
    return replace(table, columns=[one.filter(mask) for one in table.columns], lines=lines)


def read_labelled_predictions(request: PredictionsRequest, table: UserTable | None = None) -> FilePredictions:
    """Return what ``read_predictions`` does for the rows with a label, with a note that counts the others.

    Raises DataError as ``read_predictions`` does, also where no row has a label.
    """
    table = read_table(request.source, request.reading) if table is None else table
    has_label = label_mask(table, request.target)
    if has_label.all() or not has_label.any():
        return read_predictions(request, table)
    predictions = read_predictions(request, rows_of(table, has_label))
    n_others = int((~has_label).sum())
    verbs = ("has", "is") if n_others == 1 else ("have", "are")
    note = f"{n_others:,} of {counted(len(has_label))} {verbs[0]} no {predictions.target} and {verbs[1]} left out"
    return replace(predictions, notes=[note, *predictions.notes])
