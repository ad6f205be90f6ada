"""Predictions in many Parquet files, or in one of many millions of rows: files, batches and checked columns.

Below ``EXACT_ROWS`` all rows are kept and measured exactly. From there on, batches are read into summaries.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from probcal.data.text_values import as_text
from probcal.errors import DataError, did_you_mean
from probcal.reading.dates import parse_dates, typed_days
from probcal.reading.file_columns import MOST_GROUPS, ROUNDING, Floats
from probcal.reading.parquet_file import read_parquet_columns
from probcal.reading.periods import Every, period_names, refuse_many_periods
from probcal.reading.prediction_file import PredictionsRequest, probability_columns
from probcal.reading.reading_options import ReadingOptions, without_codes
from probcal.reading.table import STANDARD_INPUT, UserTable, mark_missing
from probcal.reading.text_column import TEXT, is_date, is_text

EXACT_ROWS = 5_000_000
"""Rows up to which predictions are measured exactly."""
_BATCH = 1_000_000
# Their ratio is the largest of one file, and the squares of these weights have finite sums.
_WEIGHTS = (1e-15, 1e15)


def parquet_files(source: str) -> list[Path] | None:
    """Return the files of a folder or a pattern such as ``logs/*.parquet``, in order of their names.

    Returns None for a single file and standard input. Raises DataError where a folder or a pattern has no such file.
    """
    path = Path(source)
    if source == STANDARD_INPUT or path.is_file():
        return None
    if path.is_dir():
        hidden = (".", "_")  # what writers leave beside their files
        found = [one for one in path.rglob("*.parquet") if not one.name.startswith(hidden)]
        fault = f"{source} is a folder without a .parquet file; name the folder of your predictions"
    elif glob.has_magic(source):
        found = [Path(name) for name in glob.glob(source, recursive=True)]
        fault = f"no file matches {source}; put the pattern in quotes, and check the folder"
    else:
        return None
    if not found:
        raise DataError(fault)
    if other := next((one for one in found if one.suffix != ".parquet"), None):
        raise DataError(f"{other}: many files are read as Parquet only; let the pattern end with .parquet")
    return sorted(found)


def probability_names(path: Path, request: PredictionsRequest) -> tuple[str, ...]:
    """Return the columns of probabilities that a request means, as a file has them."""
    with _opened(path) as file:
        table = UserTable(path.name, str(path), file.schema_arrow.names, [])
    return tuple(column.name for column in probability_columns(table, request.probability))


def n_rows_of(files: Iterable[Path]) -> int:
    """Return the number of rows that the files state."""
    n_rows = 0
    for path in files:
        with _opened(path) as file:
            n_rows += file.metadata.num_rows
    return n_rows


def joined_table(source: str, files: list[Path], reading: ReadingOptions) -> UserTable:
    """Return the rows of all files as one table. All must have the columns of the first."""
    tables = [read_parquet_columns(path.read_bytes(), path) for path in files]
    names = tables[0][0]
    for path, (other, _) in zip(files, tables, strict=True):
        if other != names:
            raise DataError(f"{path}: has other columns than {files[0]}; give files with the same columns")
    columns = []
    for index, name in enumerate(names):
        parts = [columns[index] for _, columns in tables]
        try:
            columns.append(_joined(parts))
        except pa.ArrowException:
            types = " and ".join(dict.fromkeys(str(part.type) for part in parts))
            raise DataError(f'{source}: column "{name}" has the types {types}; write one type') from None
    table = UserTable(Path(source).name, source, names, columns, [files_text(files)])
    return mark_missing(table, reading)


def _joined(parts: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    # one file may hold the texts of a column plainly and another as a dictionary
    if any(is_text(part.type) for part in parts):
        plain = [part.cast(pa.large_string()) for part in parts]
        return pa.chunked_array([pa.chunked_array(plain).combine_chunks().dictionary_encode()])
    return pa.chunked_array([pa.concat_tables([pa.table([part], ["one"]) for part in parts])["one"].combine_chunks()])


def files_text(files: list[Path]) -> str:
    """Return what a note calls the files."""
    return f"{len(files):,} Parquet files" if len(files) > 1 else "a Parquet file"


class BatchColumn:
    """Hold one column of a batch. ``first`` is the number of its first row in the file, counted from 0."""

    def __init__(self, path: Path, name: str, values: pa.Array, first: int) -> None:
        self._path, self._name, self._values, self._first = path, name, values, first

    def __len__(self) -> int:
        return len(self._values)

    def row_name(self, row: int) -> str:
        """Return the file and the number of a row of the batch, for messages."""
        return f"{self._path}, row {self._first + row + 1:,}"

    def probabilities(self) -> Floats:
        p = self._numbers()
        self._refuse((p < -ROUNDING) | (p > 1 + ROUNDING), "a probability lies from 0 to 1")
        return np.clip(p, 0, 1)

    def weights(self) -> Floats:
        weight = self._numbers()
        self._refuse(~np.isfinite(weight) | (weight < 0), "a weight is at least 0 and finite")
        # files are read apart, so no common scale can be found that keeps all sums finite
        low, high = _WEIGHTS
        self._refuse(
            (weight > 0) & ((weight < low) | (weight > high)),
            f"many files need weights from {low:g} to {high:g}, or 0; multiply all weights by one number",
        )
        return weight

    def periods(self, every: Every) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Return the number of each row's period, (n_rows,), and the names of the periods."""
        kind = self._values.type
        if is_date(kind):
            days = typed_days(pa.chunked_array([self._values]))
        elif is_text(kind):
            # the order of day and month would need the texts of all files
            days = parse_dates(self._values.cast(TEXT), "year month day")
        else:
            raise DataError(f'{self._path}: column "{self._name}" has the type {kind}; write dates as 2026-11-28')
        self._refuse(np.isnan(days), "give each row its time, written as 2026-11-28 or 2026-11-28 14:30")
        whole, places = np.unique(np.floor(days), return_inverse=True)
        names, numbers = np.unique(period_names(whole, every), return_inverse=True)
        refuse_many_periods(names.tolist(), self._name, every)
        return np.asarray(numbers[places], np.int64), names.tolist()

    def levels(self, missing: str | None) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Return the number of each row's value, (n_rows,), and the values as text. ``missing`` stands for none."""
        if missing is None:
            self._refuse(self._values.is_null().to_numpy(zero_copy_only=False), "each row needs a label")
        encoded = self._values if pa.types.is_dictionary(self._values.type) else self._values.dictionary_encode()
        texts = [" ".join(as_text(value).split()) for value in encoded.dictionary.to_pylist()]
        names = list(dict.fromkeys([*texts, *([] if missing is None else [missing])]))
        if len(names) > MOST_GROUPS + 1:
            raise DataError(
                f'{self._path}: column "{self._name}" has {len(names):,} different values, and at most {MOST_GROUPS}'
                " are measured; name another column"
            )
        # a text of the column may be spelled as the group of missing values is, and is then the same group
        of_missing = [] if missing is None else [names.index(missing)]
        places = np.array([*map(names.index, texts), *of_missing], dtype=np.int64)
        return places[encoded.indices.fill_null(len(texts)).to_numpy().astype(np.int64)], names

    def _numbers(self) -> Floats:
        kind = self._values.type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
            raise DataError(f'{self._path}: column "{self._name}" has the type {kind}; write numbers')
        values = pc.fill_null(self._values.cast(pa.float64()), np.nan).to_numpy()
        self._refuse(np.isnan(values), "each row needs a number")
        return np.asarray(values)

    def _refuse(self, bad: npt.NDArray[np.bool_], rule: str) -> None:
        if bad.any():
            row = int(np.argmax(bad))
            value = self._values[row].as_py()
            text = "nothing" if value is None else f"{value!r}"
            raise DataError(f'{self.row_name(row)}: column "{self._name}" holds {text}; {rule}')


def batches_of(path: Path, names: Iterable[str], request: PredictionsRequest) -> Iterator[dict[str, BatchColumn]]:
    """Yield the columns ``names``, and those of weights, groups and times, of each batch of rows of one file."""
    first = 0
    names = dict.fromkeys([*names, *request.groups])
    names |= dict.fromkeys(name for name in (request.weight, request.time) if name is not None)
    with _opened(path) as file:
        for name in names:
            if name not in file.schema_arrow.names:
                hint = did_you_mean(name, file.schema_arrow.names)
                raise DataError(
                    f'{path}: has no column "{name}"{hint} (it has: {", ".join(file.schema_arrow.names[:10])})'
                )
        try:
            for batch in file.iter_batches(_BATCH, columns=[*names], use_threads=False):
                arrays, _ = without_codes(
                    [pa.chunked_array([batch.column(name)]) for name in names], request.reading.missing
                )
                yield {
                    name: BatchColumn(path, name, array.combine_chunks(), first)
                    for name, array in zip(names, arrays, strict=True)
                }
                first += len(batch)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{path}: is not a sound Parquet file: {(str(error).splitlines() or [''])[0]}") from None


def _opened(path: Path) -> pq.ParquetFile:
    try:
        path.open("rb").close()  # names what the system refuses in the words of Python
        return pq.ParquetFile(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except pa.ArrowException as error:
        raise DataError(f"{path}: is not a sound Parquet file: {(str(error).splitlines() or [''])[0]}") from None
