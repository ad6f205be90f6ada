"""The results of a folder as one table, ``cells.parquet``: a row for each cell, and a column for each metric.

A done cell that was run again and failed has a second row.

pandas, polars, DuckDB and R read this file directly. Every value is a text or a number, so reading it runs no code.

``dataset``, ``repetition``, ``learner``, ``method``, ``status``, ``run``  which cell it is, and which run made it
``seconds``, ``shared_seconds``, ``n_train``, ``n_test``                   as in ``CellResult``
``cxe``, ``auc``, ...      a column of numbers for each metric; null where it was not measured
``key.data``, ...          the parts of the identity
``predictions.at``, ...    the place in ``predictions.bin``
``warnings``, ``stages``, ``curves``                                       JSON
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from probcal import __version__
from probcal._io import printable, sync_file
from probcal.errors import StoreError
from probcal.store.cell_result import (
    FIELD_NAMES,
    LARGEST_COUNT,
    LARGEST_FLOAT,
    STATUSES,
    CellResult,
    ImpossibleValueError,
    checked_location,
    known_metric,
    parsed_part,
    part_text,
    refuse_impossible_values,
)
from probcal.store.first_keys import present_key

_FORMAT = 1
_MOST_BYTES, _BYTES_OF_ROW = 1 << 31, 1000
"""Largest size in memory, and what a result takes there."""
_NAMES = ("dataset", "learner", "method", "status", "run")
_TEXTS = ("error_type", "message", "traceback")
_COUNTS = ("n_train", "n_test")
_SECONDS = ("seconds", "shared_seconds")
_JSON = ("warnings", "stages", "curves")
_KEY, _LOCATION, _METRIC = "key.", "predictions.", "metric "
"""Prefixes of columns. That of metrics is only for a metric with the name of another column."""
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())
"""Type of a column of texts that is read with each text once."""
_NUMPY_TYPES = {pa.int32(): np.int32, pa.int64(): np.int64, pa.float64(): np.float64}
_LOCATION_COUNTS = ("at", "rows", "columns", "labels", "weights")
_FIXED = (*_NAMES, "repetition", *_SECONDS, *_COUNTS, *_JSON, *_TEXTS)


def write_table(path: Path, results: Iterable[CellResult]) -> None:
    """Write ``results`` to a new file at ``path`` and sync it. Raises OSError."""
    rows = list(results)
    table = pa.table(dict(_table_columns(rows)))
    about = {"format": _FORMAT, "probcal": __version__}
    table = table.replace_schema_metadata({"probcal": json.dumps(about)})
    numbers = [field.name for field in table.schema if pa.types.is_float64(field.type)]
    # Arrow gets no file of Python's. One of its threads may hold such a file when Python ends, which then aborts.
    content = pa.BufferOutputStream()
    pq.write_table(
        table,
        content,
        # A run writes the table once, and results are committed, so its size counts more than this time.
        compression="zstd",
        compression_level=15,
        use_dictionary=[name for name in table.column_names if name not in (*numbers, f"{_LOCATION}at")],
        # floats then take a quarter less, and rising places next to nothing
        column_encoding={**dict.fromkeys(numbers, "BYTE_STREAM_SPLIT"), f"{_LOCATION}at": "DELTA_BINARY_PACKED"},
    )
    with path.open("wb") as file:
        file.write(content.getvalue())
        sync_file(file)


def _table_columns(rows: Sequence[CellResult]) -> Iterator[tuple[str, pa.Array]]:
    """Yield name and values of each column. Optional columns without any value are left out."""
    texts, counts, numbers = _text_array, partial(pa.array, type=pa.int64()), partial(pa.array, type=pa.float64())
    for name in ("dataset", "repetition", "learner", "method", "status", "run"):
        yield name, (counts if name == "repetition" else texts)([getattr(row, name) for row in rows])
    yield "seconds", numbers([float(row.seconds) for row in rows])
    optional: list[tuple[str, list[Any], Callable[[list[Any]], pa.Array]]] = [
        ("shared_seconds", [float(row.shared_seconds) or None for row in rows], numbers),
        *((name, [getattr(row, name) for row in rows], counts) for name in _COUNTS),
    ]
    optional += [
        (_metric_column(name), [row.metrics.get(name) for row in rows], numbers)
        for name in dict.fromkeys(name for row in rows for name in row.metrics)
    ]
    keys = [present_key(row.key) for row in rows]
    optional += [
        (f"{_KEY}{part}", [key.get(part) for key in keys], texts)
        for part in dict.fromkeys(part for key in keys for part in key)
    ]
    locations = [row.predictions or {} for row in rows]
    optional += [
        (f"{_LOCATION}{part}", [location.get(part) for location in locations], texts if part == "digest" else counts)
        for part in (*_LOCATION_COUNTS, "digest")
    ]
    optional += [(name, [part_text(name, getattr(row, name)) for row in rows], texts) for name in _JSON]
    optional += [(name, [getattr(row, name) for row in rows], texts) for name in _TEXTS]
    for name, values, array_of in optional:
        if any(value is not None for value in values):
            yield _utf8(name), array_of(values)


def _text_array(texts: list[str | None]) -> pa.Array:
    try:
        return pa.array(texts, pa.string())
    except UnicodeEncodeError:
        # A message or a name may hold half of a surrogate pair, as file names do.
        return pa.array([None if text is None else _utf8(text) for text in texts], pa.string())


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _metric_column(name: str) -> str:
    """Return the name of the column of a metric, which is its own unless another column has it."""
    return f"{_METRIC}{name}" if name in _FIXED or name.startswith((_KEY, _LOCATION, _METRIC)) else name


def read_table(path: Path) -> list[tuple[CellResult, str]]:
    """Return the results in ``path``, each with the fault of a number that its metric cannot have, or an empty text.

    Raises StoreError for a file that cannot be read, or that holds something else than results.
    """
    try:
        with _paused_collection():
            return _Reader(_checked_table(path)).results()
    except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError) as error:
        reason = str(error)
    except PermissionError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}; change its permissions") from None
    except (OSError, pa.ArrowException, MemoryError) as error:
        reason = f"cannot be read: {error}"
    reason = printable(" ".join(reason.split()), 300).rstrip(".")
    raise StoreError(
        f"{path}: {reason}; get the file again, or remove it and the lines of cells.jsonl that begin with"
        ' {"probcal", and run the experiment again'
    )


@contextmanager
def _paused_collection() -> Iterator[None]:
    # The garbage collector would search a hundred thousand new objects again and again.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _checked_table(path: Path) -> pa.Table:
    """Return the table. Raise ValueError before memory is taken for a file that is too large or of another kind."""
    path.open("rb").close()  # names what the system refuses in the words of Python
    with pa.OSFile(str(path), "rb") as file:  # no file of Python's, as in write_table
        parquet = pq.ParquetFile(file)
        metadata = parquet.metadata
        about = json.loads((metadata.metadata or {}).get(b"probcal", b"null"))
        if not isinstance(about, dict) or type(about.get("format")) is not int:
            raise ValueError("lacks the metadata of probcal, as if another program had written it")
        if about["format"] > _FORMAT:
            raise ValueError(
                f"was written by probcal {about.get('probcal')}, and this is probcal {__version__}; nothing is lost,"
                " read it with that version or a newer one"
            )
        # the sizes of single columns would tell more, but pyarrow aborts where one is damaged
        groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
        n_bytes = max(metadata.num_rows * _BYTES_OF_ROW, sum(group.total_byte_size for group in groups))
        if n_bytes > _MOST_BYTES:
            raise ValueError(f"would take {n_bytes >> 20:,} MB of memory, more than {_MOST_BYTES >> 20:,}")
        for field in parquet.schema_arrow:
            if field.type not in (pa.string(), pa.int64(), pa.float64()):
                raise ValueError(f'column "{field.name}" has the type {field.type}')
        texts = [field.name for field in parquet.schema_arrow if field.type == pa.string()]
        # each text once: a small file may hold one long text in a million rows
        parquet = pq.ParquetFile(file, metadata=metadata, read_dictionary=texts)
        table = parquet.read(use_threads=False).combine_chunks()
        table.validate(full=True)  # a damaged number of a text must name no other text
        return table


class _RowOfColumns(Mapping[str, Any]):
    """Show one row of ``columns`` (name -> values) as a mapping, without the names that have no value in this row.

    A hundred thousand of them take a tenth of the memory of as many dictionaries, and of the time to make these.
    """

    __slots__ = ("_columns", "_row")

    def __init__(self, columns: Mapping[str, Sequence[Any]], row: int) -> None:
        self._columns, self._row = columns, row

    def __getitem__(self, name: str) -> Any:
        value = self._columns[name][self._row]
        if value is None:
            raise KeyError(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        value = self._columns[name][self._row] if name in self._columns else None
        return default if value is None else value

    def __contains__(self, name: object) -> bool:
        return name in self._columns and self._columns[name][self._row] is not None  # type: ignore[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._dict())

    def __len__(self) -> int:
        return len(self._dict())

    def __bool__(self) -> bool:
        return any(values[self._row] is not None for values in self._columns.values())

    def _dict(self) -> dict[str, Any]:
        row = self._row
        return {name: values[row] for name, values in self._columns.items() if values[row] is not None}

    def __eq__(self, other: object) -> bool:
        return self._dict() == (other._dict() if isinstance(other, _RowOfColumns) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._dict())

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return dict, (self._dict(),)  # another process needs this row, and not the columns


_NO_PARTS = _RowOfColumns({}, 0)


class _Reader:
    """Turn the columns of a table into results."""

    def __init__(self, table: pa.Table) -> None:
        self._columns = dict(zip(table.column_names, table.columns, strict=True))
        if len(self._columns) != table.num_columns:
            raise ValueError("two columns have the same name")
        self._n = table.num_rows
        self._faults = [""] * self._n

    def results(self) -> list[tuple[CellResult, str]]:
        if missing := [name for name in (*_NAMES, "repetition", "seconds") if name not in self._columns]:
            raise ValueError(f'lacks the column "{missing[0]}"')
        columns: dict[str, Iterable[Any]] = {
            **{name: self._texts(name, required=True) for name in _NAMES},
            "repetition": self._integers("repetition", required=True),
            **{name: self._seconds(name) for name in _SECONDS},
            **{name: self._integers(name) for name in _COUNTS},
            **{name: self._texts(name) for name in _TEXTS},
            **{name: self._parts(name) for name in _JSON},
            "key": self._keys(),
            "metrics": self._metrics(),
            "predictions": self._locations(),
        }
        if unknown := sorted({*columns["status"]} - {*STATUSES}):
            raise ValueError(f'has the unknown status "{unknown[0]}"')
        results = [CellResult(*row) for row in zip(*(columns[name] for name in FIELD_NAMES), strict=True)]
        for i, result in enumerate(results):
            if result.stages and not self._faults[i]:
                try:
                    refuse_impossible_values({}, result.stages)
                except ImpossibleValueError as error:
                    self._faults[i] = str(error)
        return list(zip(results, self._faults, strict=True))

    def _column(self, name: str, kind: pa.DataType, *, required: bool = False) -> pa.Array:
        """Return the values of a column, and only nulls where the table lacks it."""
        column = self._columns.get(name, pa.nulls(self._n, kind))
        if column.type not in (kind, *([_DICTIONARY] if kind == pa.string() else [])):
            stored = pa.string() if column.type == _DICTIONARY else column.type
            raise ValueError(f'column "{name}" has the type {stored}, not {kind}')
        if required and column.null_count:
            raise ValueError(f'column "{name}" lacks a value')
        return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column

    def _texts(self, name: str, *, required: bool = False) -> list[str | None]:
        """Return the texts of a column. Equal ones are one object."""
        column = self._column(name, pa.string(), required=required)
        encoded = column if column.type == _DICTIONARY else column.dictionary_encode()
        # A null gets the last place, so that no row needs a case of its own.
        words = [*encoded.dictionary.to_pylist(), None]
        return [words[i] for i in _arrow_numbers(encoded.indices, len(words) - 1)[0].tolist()]

    def _integers(self, name: str, *, required: bool = False) -> Sequence[int | None]:
        values, is_null = _arrow_numbers(self._column(name, pa.int64(), required=required))
        if ((values < 0) | (values > LARGEST_COUNT)).any():
            raise ValueError(f'column "{name}" holds a number below 0 or above {LARGEST_COUNT:.0e}')
        return _with_nulls(values, is_null)

    def _seconds(self, name: str) -> list[float]:
        values, _ = _arrow_numbers(self._column(name, pa.float64(), required=name == "seconds"))
        if not ((values >= 0) & (values <= LARGEST_COUNT)).all():
            raise ValueError(f'column "{name}" holds a number below 0 or above {LARGEST_COUNT:.0e}')
        seconds: list[float] = values.tolist()
        return seconds

    def _parts(self, name: str) -> Iterable[Mapping[str, Any]]:
        if name not in self._columns:
            return repeat(_NO_PARTS, self._n)
        # Most rows have the same warnings. Each gets a copy, since the parts of a result may be changed.
        parsed = cache(partial(parsed_part, name))
        return [dict(parsed(text)) if text is not None else _NO_PARTS for text in self._texts(name)]

    def _keys(self) -> Iterable[Mapping[str, str]]:
        columns = [name for name in self._columns if name.startswith(_KEY)]
        return self._by_row({name.removeprefix(_KEY): self._texts(name) for name in columns})

    def _locations(self) -> Iterable[Mapping[str, Any] | None]:
        columns: dict[str, Sequence[Any]] = {name: self._integers(f"{_LOCATION}{name}") for name in _LOCATION_COUNTS}
        columns["digest"] = self._texts(f"{_LOCATION}digest")
        lacks_digest = (text is None for text in columns["digest"])
        lacks_offset = (number is None for number in columns["at"])
        shape_columns = (columns[name] for name in _LOCATION_COUNTS[1:])
        shapes = zip(lacks_offset, lacks_digest, *shape_columns, strict=True)
        # Rows share a few shapes, so each is checked once, with a place and a digest that are valid.
        for no_offset, no_digest, *shape in {*shapes}:
            if not no_offset:
                parts = [0, *shape, None if no_digest else ""]
                checked_location({name: part for name, part in zip(columns, parts, strict=True) if part is not None})
        return [row if at is not None else None for row, at in zip(self._by_row(columns), columns["at"], strict=True)]

    def _by_row(self, columns: Mapping[str, Sequence[Any]]) -> Iterable[Mapping[str, Any]]:
        return map(partial(_RowOfColumns, columns), range(self._n)) if columns else repeat(_NO_PARTS, self._n)

    def _metrics(self) -> Iterable[Mapping[str, float]]:
        """Return the metrics of each row, and note in ``_faults`` which numbers cannot be."""
        columns = [name for name in self._columns if name not in _FIXED and not name.startswith((_KEY, _LOCATION))]
        names = [name.removeprefix(_METRIC) for name in columns]
        if len({*names}) < len(names):
            raise ValueError("two columns are of the same metric")
        numbers: dict[str, Sequence[Any]] = {}
        for name, column_name in zip(names, columns, strict=True):
            values, is_null = _arrow_numbers(self._column(column_name, pa.float64()))
            # matplotlib cannot lay out axes near the largest floats
            values = np.where(np.abs(values) > LARGEST_FLOAT, np.copysign(np.inf, values), values)
            self._note_faults(name, values, is_null)
            numbers[name] = _with_nulls(values, is_null)
        return self._by_row(numbers)

    def _note_faults(self, name: str, values: np.ndarray, is_null: np.ndarray) -> None:
        metric, present = known_metric(name), values[~is_null]
        if metric is None or not present.size:
            return
        numbers = present[~np.isnan(present)]
        # The values of a metric are an interval, so its extremes stand for all numbers. NaN has no place among them.
        extremes = [*present[np.isnan(present)][:1], *([numbers.min(), numbers.max()] if numbers.size else [])]
        if any(metric.fault(float(number)) for number in extremes):
            for i in np.flatnonzero(~is_null).tolist():
                if not self._faults[i] and (fault := metric.fault(float(values[i]))):
                    self._faults[i] = f"{name} is {values[i]:.10g}, but {name} {fault}"


def _arrow_numbers(column: pa.Array, fill: float = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of a column, with ``fill`` in place of nulls, and which rows are null.

    They are read from the memory of Arrow, because its own ``to_numpy`` imports pandas.
    """
    rows = slice(column.offset, column.offset + len(column))
    validity, content = column.buffers()
    values = np.frombuffer(content or b"", _NUMPY_TYPES[column.type])[rows]
    if not column.null_count:
        return values, np.zeros(len(column), bool)
    is_null = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[rows] == 0
    return np.where(is_null, values.dtype.type(fill), values), is_null


def _with_nulls(values: np.ndarray, is_null: np.ndarray) -> Sequence[Any]:
    """Return numbers of Python, and None for nulls. Without nulls, each is made when it is asked for."""
    if not is_null.any():
        return memoryview(values)  # type: ignore[arg-type]
    items: list[Any] = values.tolist()
    for i in np.flatnonzero(is_null).tolist():
        items[i] = None
    return items
