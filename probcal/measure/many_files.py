"""Predictions in many Parquet files, or in one of many millions of rows, read batch by batch into summaries.

Below ``EXACT_ROWS`` all rows are kept and measured exactly. From there on, memory does not grow with the rows.
"""

from __future__ import annotations

import glob
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from probcal.errors import DataError, did_you_mean
from probcal.measure.batch_column import BatchColumn
from probcal.measure.summary import NO_ROWS, Cells, CellSums, Codes, Floats, Folds, SummarisedPredictions
from probcal.reading.file_columns import MISSING_GROUP, same_label
from probcal.reading.parquet_file import read_parquet_columns
from probcal.reading.prediction_file import PredictionsRequest, label_order, probability_columns, rest_notes
from probcal.reading.reading_options import ReadingOptions, without_codes
from probcal.reading.table import STANDARD_INPUT, UserTable, mark_missing
from probcal.reading.text_column import is_text

EXACT_ROWS = 5_000_000
"""Rows up to which predictions are measured exactly."""
_BATCH = 1_000_000
MOST_LABELS = 50
Stratum = tuple[str, str, str, int]
"""Label, column of a group, group, and fold. Column and group are empty for all rows, if there are no groups."""
Sums = dict[Stratum, CellSums]
Mapper = Callable[[Callable[[Path], Any], list[Path]], Iterable[Any]]


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
    table = UserTable(Path(source).name, source, names, columns, [_files_text(files)])
    return mark_missing(table, reading)


def _joined(parts: list[pa.ChunkedArray]) -> pa.ChunkedArray:
    # one file may hold the texts of a column plainly and another as a dictionary
    if any(is_text(part.type) for part in parts):
        plain = [part.cast(pa.large_string()) for part in parts]
        return pa.chunked_array([pa.chunked_array(plain).combine_chunks().dictionary_encode()])
    return pa.chunked_array([pa.concat_tables([pa.table([part], ["one"]) for part in parts])["one"].combine_chunks()])


def _files_text(files: list[Path]) -> str:
    return f"{len(files):,} Parquet files" if len(files) > 1 else "a Parquet file"


def summarised(
    source: str, files: list[Path], request: PredictionsRequest, mapped: Mapper, folds: int = 1, seed: int = 0
) -> SummarisedPredictions:
    """Return the summary of the predictions in ``files``. ``mapped`` applies a function to each file, like ``map``.

    Each row is in one of ``folds``, which are drawn with ``seed``. Raises DataError with the file and row of what is no
    probability, label or weight.
    """
    sums = reduce(add_sums, mapped(partial(sums_of_file, request=request, folds=folds, seed=seed), files), Sums())
    labels = list(dict.fromkeys(label for label, *_ in sums))
    asked = None if request.positive is None else same_label(request.positive, labels)
    negative, positive = label_order(labels, f'{source}: column "{request.target}"', request.probability[0], asked)
    whole: dict[tuple[str, str], Folds] = {}
    for (label, column, group, fold), part in sums.items():
        pair = whole.setdefault((column, group), {}).setdefault(fold, (NO_ROWS, NO_ROWS))
        whole[column, group][fold] = (
            (pair[0], pair[1].merged(part)) if label == positive else (pair[0].merged(part), pair[1])
        )
    first = next(iter(whole))[0]  # the groups of one column hold each row once
    of_column = [parts for (column, _), parts in whole.items() if column == first]
    everything = Cells.of_folds(reduce(_add_folds, of_column))
    cells = {names: Cells.of_folds(parts) for names, parts in whole.items() if names != ("", "")}
    if not min(everything.counts):
        raise DataError(f'{source}: column "{request.target}" holds only one class; two are needed')
    counts = Counter[str]()
    for (label, column, *_), part in sums.items():
        counts[label] += part.n_rows if column == first else 0
    target = str(request.target)
    table = table_of(source, files, [target, *request.probability], any(part.is_grid for part in sums.values()))
    return SummarisedPredictions(
        table=table, target=target, columns=request.probability, classes=(negative, positive),
        y=everything.y, p=everything.p, weight=everything.weight, has_weights=request.weight is not None, groups={},
        mark=".", notes=rest_notes(counts, positive), cells=everything, group_cells=cells,
        weight_column=request.weight,
    )  # fmt: skip


def table_of(source: str, files: list[Path], names: list[str], is_pooled: bool) -> UserTable:
    """Return a table that stands for the files in what is printed."""
    note = "summarised in cells of nearly equal probability" if is_pooled else "summarised by probability"
    return UserTable(Path(source).name, source, names, [], [_files_text(files), note])


def _add_folds(one: Folds, two: Folds) -> Folds:
    added = dict(one)
    for fold, (negative, positive) in two.items():
        pair = added.get(fold, (NO_ROWS, NO_ROWS))
        added[fold] = pair[0].merged(negative), pair[1].merged(positive)
    return added


def add_sums(one: Sums, two: Sums) -> Sums:
    """Return the sums of the rows of both."""
    merged = one | {names: one[names].merged(part) if names in one else part for names, part in two.items()}
    refuse_many_labels({label for label, *_ in merged})
    return merged


def refuse_many_labels(labels: Collection[str]) -> None:
    if len(labels) > MOST_LABELS:
        raise DataError(f"the target has more than {MOST_LABELS} labels; name the column of the classes with --target")


def sums_of_file(path: Path, request: PredictionsRequest, folds: int, seed: int) -> Sums:
    """Return the sums of the rows of one file."""
    sums = Sums()
    # drawn for each file, so that it does not matter who reads it and when
    random = np.random.default_rng([seed, zlib.crc32(path.name.encode())])
    for columns in batches_of(path, [*request.probability, str(request.target)], request):
        fold = random.integers(folds, size=len(columns[str(request.target)]))
        sums = add_sums(sums, dict(_sums_of_batch(columns, request, fold)))
    return sums


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


def _sums_of_batch(
    columns: dict[str, BatchColumn], request: PredictionsRequest, fold: Codes
) -> Iterator[tuple[Stratum, CellSums]]:
    p = columns[request.probability[0]].probabilities()
    weight = np.ones(len(p)) if request.weight is None else columns[request.weight].weights()
    label_codes, labels = columns[str(request.target)].levels(None)
    for column, (group_codes, names) in groups_of(columns, request).items():
        strata = (label_codes * len(names) + group_codes) * (int(fold.max(initial=0)) + 1) + fold
        for rows in rows_of_strata(strata, weight):
            one = rows[0]
            name = labels[label_codes[one]], column, names[group_codes[one]], int(fold[one])
            yield name, CellSums.of(p[rows], weight[rows])


def groups_of(columns: dict[str, BatchColumn], request: PredictionsRequest) -> dict[str, tuple[Codes, list[str]]]:
    """Return column -> the number of the group of each row, (n_rows,), and the names of the groups."""
    groups = {column: columns[column].levels(MISSING_GROUP) for column in request.groups}
    if request.time is not None:
        groups[request.time] = columns[request.time].periods(request.every)
    n_rows = len(next(iter(columns.values())))
    return groups or {"": (np.zeros(n_rows, np.int64), [""])}  # one group of all rows


def rows_of_strata(strata: Codes, weight: Floats) -> Iterator[npt.NDArray[np.intp]]:
    """Yield the rows of positive weight of each stratum. ``strata``, (n_rows,), are numbers below 32,768."""
    numbers = strata.astype(np.int16)  # at most 51 labels, 51 groups and 5 folds, sorted in one pass
    order = np.argsort(numbers, kind="stable")
    order = order[weight[order] > 0]
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    yield from np.split(order, starts[1:]) if len(order) else []


def _opened(path: Path) -> pq.ParquetFile:
    try:
        path.open("rb").close()  # names what the system refuses in the words of Python
        return pq.ParquetFile(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except pa.ArrowException as error:
        raise DataError(f"{path}: is not a sound Parquet file: {(str(error).splitlines() or [''])[0]}") from None
