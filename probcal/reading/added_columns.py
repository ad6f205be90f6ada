"""A user's table with new columns of probabilities, as CSV or Parquet. All other columns stay as they were written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from probcal._io import data_text
from probcal.reading.file_columns import Floats
from probcal.reading.number_form import Mark
from probcal.reading.table import UserTable
from probcal.reading.text_column import is_text


def with_columns(table: UserTable, names: Sequence[str], values: Floats, mark: Mark, *, as_parquet: bool) -> bytes:
    """Return the file of a table with the columns ``values``, (n_rows, n_columns), after its own.

    Delimited text has the separator of the table, and its decimal ``mark``.
    """
    columns = [column.cast(pa.large_string()) if is_text(column.type) else column for column in table.columns]
    new: list[Any] = [pa.array(np.ascontiguousarray(column)) for column in values.T]
    if mark == "," and not as_parquet:
        new = [pa.array([repr(value).replace(".", ",") for value in column.to_pylist()]) for column in new]
    whole = pa.Table.from_arrays([*columns, *new], names=[*(str(name) for name in table.names), *names])
    if as_parquet:
        content = pa.BufferOutputStream()
        pq.write_table(whole, content)
        return bytes(content.getvalue().to_pybytes())
    return _delimited(whole, table.separator)


def _delimited(table: pa.Table, separator: str | None) -> bytes:
    """Return a table as delimited text, with quotes only if a text needs them."""
    delimiter = separator if separator and len(separator.encode()) == 1 else ","
    for style in ("none", "needed"):  # the first refuses a table with such a text, and the second quotes all texts
        content = pa.BufferOutputStream()
        options = pyarrow.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style)
        try:
            pyarrow.csv.write_csv(table, content, options)
            break
        except pa.ArrowInvalid:
            continue
    return data_text([table.column_names], delimiter).encode() + bytes(content.getvalue().to_pybytes())
