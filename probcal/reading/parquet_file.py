"""Parquet files: flat columns as arrow types, decoded in batches up to a limit of bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from probcal.data.sources.formats import largest_data
from probcal.errors import DataError
from probcal.reading.text_column import is_text, one_array

_BATCH = 4096
"""Number of rows that are decoded at once. A few bytes can stand for many long texts."""
_SMALL_BATCH = 64
"""The same for texts that are stored as what they share with the text before, which hides their length."""


def read_parquet_columns(content: bytes, path: Path) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Return the names and columns of a Parquet file. Text keeps its levels, and nested values and bytes are null.

    An index of pandas with a name becomes a column, and one without a name is left out. Raises DataError for a file
    that is damaged, or larger than the limit (see ``largest_data``) when it is decoded.
    """
    try:
        with pa.parquet.ParquetFile(pa.BufferReader(content)) as file:
            schema, metadata = file.schema_arrow, file.metadata
        flat = [name for name in schema.names if _is_flat(schema.field(name).type)]
        if len(set(schema.names)) < len(schema.names):
            raise DataError(f"{path}: two columns have the same name")
        chunks = [
            metadata.row_group(i).column(j) for i in range(metadata.num_row_groups) for j in range(metadata.num_columns)
        ]
        size = max(
            metadata.num_rows * max(1, len(schema.names)) * 4, sum(chunk.total_uncompressed_size for chunk in chunks)
        )
        if size > largest_data():
            raise _too_large(path)
        delta = {chunk.path_in_schema for chunk in chunks if any("DELTA" in name for name in chunk.encodings)}
        texts = [name for name in flat if is_text(schema.field(name).type)]
        # pyarrow cannot give texts of this encoding as levels.
        levels = [name for name in texts if name not in delta]
        columns = _decode(content, flat, levels, path, _BATCH if levels == texts else _SMALL_BATCH)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{path}: is not a sound Parquet file: {(str(error).splitlines() or [''])[0]}") from None
    nested = pa.chunked_array([pa.nulls(metadata.num_rows)])
    names = _names_in_order(schema)
    index = _range_index(schema, metadata.num_rows)
    return [*index, *names], [*index.values(), *(columns.get(name, nested) for name in names)]


def _is_flat(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    types = pa.types
    return bool(
        types.is_boolean(kind) or types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
        or types.is_timestamp(kind) or types.is_date(kind) or types.is_null(kind) or is_text(kind) or _is_period(kind)
    )  # fmt: skip


def _is_period(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "pandas.period"


def _decode(content: bytes, flat: list[str], levels: list[str], path: Path, n_rows: int) -> dict[str, pa.ChunkedArray]:
    chunks: dict[str, list[pa.Array]] = {name: [] for name in flat}
    limit, size, dictionaries = largest_data(), 0, dict[str, int]()
    if not flat:
        return {}
    with pa.parquet.ParquetFile(pa.BufferReader(content), read_dictionary=levels) as file:
        for batch in file.iter_batches(n_rows, columns=flat, use_threads=False):
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if pa.types.is_dictionary(column.type):
                    # The batches of a row group share their levels, so these count once.
                    level_size = column.dictionary.nbytes
                    size += column.indices.nbytes + (level_size if level_size != dictionaries.get(name) else 0)
                    dictionaries[name] = level_size
                else:
                    if _is_period(column.type):
                        # As pandas writes them to CSV: ``2026-01``.
                        periods = column.to_pandas()
                        texts = periods.astype(str).where(periods.notna(), None)
                        column = pa.array(texts, pa.string(), from_pandas=True)
                    size += column.nbytes
                    column = column.dictionary_encode() if is_text(column.type) else column
                chunks[name].append(column)
            if size > limit:
                raise _too_large(path)
            # Every batch brings its own levels, so many batches would hold the same texts many times.
            if sum(map(len, chunks.values())) > 64 * len(flat):
                chunks = {name: [_joined(parts)] for name, parts in chunks.items()}
    return {name: pa.chunked_array([_joined(parts)]) for name, parts in chunks.items() if parts}


def _joined(parts: list[pa.Array]) -> pa.Array:
    column = pa.chunked_array(parts)
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), pa.bool_())
    if pa.types.is_dictionary(column.type) and not is_text(column.type):
        column = column.unify_dictionaries().cast(column.type.value_type)
    return one_array(column)


def _too_large(path: Path) -> DataError:
    limit = largest_data() // 1_000_000
    return DataError(
        f"{path}: is larger than {limit:,} MB unpacked; if it is meant to be, set PROBCAL_LARGEST_MB to as many "
        "megabytes as it may have"
    )


def _pandas_index(schema: pa.Schema) -> list[Any]:
    try:
        described = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        index = described.get("index_columns", [])
    except (ValueError, AttributeError):
        return []
    return index if isinstance(index, list) else []


def _names_in_order(schema: pa.Schema) -> list[str]:
    """Return the names of the columns, an index of pandas first. An index without a name is left out."""
    index = [entry for entry in _pandas_index(schema) if isinstance(entry, str) and entry in schema.names]
    named = [name for name in index if not name.startswith("__index_level_")]
    return [*named, *(name for name in schema.names if name not in index)]


def _range_index(schema: pa.Schema, n_rows: int) -> dict[str, pa.ChunkedArray]:
    """Return an index that counts the rows, if it has a name."""
    for entry in _pandas_index(schema):
        if isinstance(entry, dict) and isinstance(name := entry.get("name"), str):
            start, step = entry.get("start"), entry.get("step")
            if isinstance(start, int) and isinstance(step, int) and name not in schema.names:
                values = [start + step * row for row in range(n_rows)]
                return {name: pa.chunked_array([pa.array(values, pa.int64())])}
    return {}
