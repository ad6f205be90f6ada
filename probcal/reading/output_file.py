"""Files that an option of a command names: written as a whole, or a table with new columns of probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from probcal._io import data_text, write_atomic
from probcal.errors import ProbcalError
from probcal.reading.file_columns import Floats, texts_of
from probcal.reading.number_form import Mark
from probcal.reading.table import UserTable
from probcal.reading.text_column import is_date, is_text, raw_texts

_OTHER_FORMATS = (
    ".parquet", ".feather", ".arff", ".xlsx", ".xls", ".ods", ".json", ".gz", ".bz2", ".xz", ".zst", ".zip",
)  # fmt: skip


def refuse_path(option: str, path: Path, force: bool) -> None:
    """Raise ProbcalError unless ``path`` can be written. ``option`` names it in messages."""
    if path.is_dir():
        raise ProbcalError(f"{option}: {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise ProbcalError(f"{option}: the folder {path.parent} does not exist; create it first, or choose another")
    if path.exists() and not path.is_file():
        raise ProbcalError(f"{option}: {path} is not a regular file; name another")
    if path.exists() and not force:
        raise ProbcalError(f"{option}: {path} already exists and is not overwritten; add --force or choose another")


def refuse_other_format(option: str, path: Path, has_parquet: bool = False) -> None:
    """Raise ProbcalError where the suffix of ``path`` is of another format than delimited text, or also Parquet."""
    suffix = path.suffix.lower()
    if suffix in _OTHER_FORMATS and not (has_parquet and suffix == ".parquet"):
        formats, names = (
            ("delimited text or Parquet", ".csv or .parquet") if has_parquet else ("delimited text", ".csv")
        )
        raise ProbcalError(f"{option} writes {formats}, but {path} has another suffix; name a {names} file")


def write_output(option: str, path: Path, content: str | bytes) -> None:
    """Write ``content`` to ``path`` in one step. Raise ProbcalError where that fails."""
    try:
        write_atomic(path, content)
    except OSError as error:
        raise ProbcalError(f"{option}: cannot write {path}: {error.strerror or error}; choose another place") from None


def parquet_with_columns(table: UserTable, names: Sequence[str], values: Floats) -> bytes:
    """Return a table with the columns ``values``, (n_rows, n_columns), after its own, as a Parquet file. NaN: null."""
    table, content = table.as_written, pa.BufferOutputStream()
    pq.write_table(_joined(table, names, _numbers(values)), content)
    return bytes(content.getvalue().to_pybytes())


def delimited_with_columns(table: UserTable, names: Sequence[str], values: Floats, mark: Mark) -> str:
    """Return a table with the columns ``values``, (n_rows, n_columns), after its own, as delimited text.

    It has the separator of the table and its decimal ``mark``, and quotes only the fields that need them. NaN is empty.
    """
    table, separator = table.as_written, table.separator or ","
    header = [*(str(name) for name in table.names), *names]
    # pyarrow is many times faster. It refuses texts that need quotes, and writes dates with six digits of a second.
    if len(separator.encode()) == 1 and not any(is_date(column.type) for column in table.columns):
        content = pa.BufferOutputStream()
        options = pyarrow.csv.WriteOptions(include_header=False, delimiter=separator, quoting_style="none")
        try:
            new = _numbers(values) if mark == "." else map(pa.array, _texts(values, mark))
            pyarrow.csv.write_csv(_joined(table, names, new), content, options)
            return data_text([header], separator) + str(content.getvalue().to_pybytes(), "utf-8")
        except pa.ArrowInvalid:
            pass
    own = [
        raw_texts(column) if is_text(column.type) else texts_of(table.pandas_column(place))
        for place, column in enumerate(table.columns)
    ]
    return data_text([header, *zip(*own, *_texts(values, mark), strict=True)], separator)


def _numbers(values: Floats) -> list[pa.Array]:
    return [pa.array(column.copy(), from_pandas=True) for column in values.T]


def _texts(values: Floats, mark: Mark) -> list[list[str | None]]:
    return [
        [None if isnan(value) else repr(value).replace(".", mark) for value in column.tolist()] for column in values.T
    ]


def _joined(table: UserTable, names: Sequence[str], added: Iterable[pa.Array]) -> pa.Table:
    columns = [column.cast(pa.large_string()) if is_text(column.type) else column for column in table.columns]
    return pa.Table.from_arrays([*columns, *added], names=[*(str(name) for name in table.names), *names])
