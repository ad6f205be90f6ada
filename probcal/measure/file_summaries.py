"""Summaries of predictions that are too many to keep, read batch by batch: of two classes, and of several.

Memory does not grow with the rows.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from probcal.data.text_values import sort_labels
from probcal.errors import DataError
from probcal.measure.many_files import BatchColumn, batches_of, files_text
from probcal.measure.summary import (
    NO_ROWS,
    Cells,
    CellSums,
    ClassCells,
    ClassSums,
    Codes,
    Floats,
    Folds,
    SummarisedClasses,
    SummarisedPredictions,
)
from probcal.reading.file_columns import MISSING_GROUP, same_label
from probcal.reading.prediction_file import (
    POSITIVE_OF_SEVERAL,
    SUM_TOLERANCE,
    PredictionsRequest,
    label_order,
    labels_of_columns,
    rest_notes,
    rounding_notes,
)
from probcal.reading.table import UserTable

MOST_LABELS = 50
Stratum = tuple[str, str, str, int]
"""Label, column of a group, group, and fold. Column and group are empty for all rows, if there are no groups."""
Sums = dict[Stratum, CellSums]
SumsOfClasses = dict[tuple[str, str], ClassSums]
"""Column and group -> its sums. Both are empty for all rows, if there are no groups."""
Mapper = Callable[[Callable[[Path], Any], list[Path]], Iterable[Any]]


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


def _add_folds(one: Folds, two: Folds) -> Folds:
    added = dict(one)
    for fold, (negative, positive) in two.items():
        pair = added.get(fold, (NO_ROWS, NO_ROWS))
        added[fold] = pair[0].merged(negative), pair[1].merged(positive)
    return added


def add_sums(one: Sums, two: Sums) -> Sums:
    """Return the sums of the rows of both."""
    merged = one | {name: one[name].merged(part) if name in one else part for name, part in two.items()}
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


def summarised_classes(
    source: str, files: list[Path], request: PredictionsRequest, columns: Sequence[str], mapped: Mapper
) -> SummarisedClasses:
    """Return the summary of the predictions in ``files``, with a column of probabilities for each class.

    ``mapped`` applies a function to each file, like ``map``. The files are read twice: first the labels alone, which
    say which column belongs to which class. Raises DataError with the file and row of what is no probability, label or
    weight.
    """
    target = str(request.target)
    if request.positive is not None:
        raise DataError(POSITIVE_OF_SEVERAL)
    if target in columns:
        raise DataError(f'column "{target}" is given as --target and as --probability; give one')
    if len(columns) > MOST_LABELS:
        raise DataError(
            f"--probability names {len(columns)} columns, and so many rows are measured for at most {MOST_LABELS} "
            "classes; take one class against all others with --probability and --positive"
        )
    labels = set[str]().union(*mapped(partial(labels_of_file, request=request), files))
    refuse_many_labels(labels)
    of_columns = labels_of_columns(columns, sort_labels(labels), f'{source}: column "{target}"')
    classes = tuple(sort_labels(of_columns))
    ordered = tuple(columns[of_columns.index(label)] for label in classes)
    parts = mapped(partial(class_sums_of_file, request=request, columns=ordered, classes=classes), files)
    sums = reduce(_added, parts, SumsOfClasses())
    first = next(iter(sums), ("", ""))[0]  # the groups of one column hold each row once
    everything = reduce(ClassSums.merged, (part for (column, _), part in sums.items() if column == first))
    is_grid = any(part.is_grid for part in sums.values())
    cells, groups = ClassCells.of(everything), {}
    for names in [names for names in sums if names != ("", "")]:
        groups[names] = ClassCells.of(sums.pop(names))  # both at once would take twice the memory
    if sum(n > 0 for n in cells.counts) < 2:
        raise DataError(f'{source}: column "{target}" holds only one class; two are needed')
    n_classes = len(classes)
    return SummarisedClasses(
        table=table_of(source, files, [target, *ordered], is_grid), target=target,
        columns=ordered, classes=classes, y=np.arange(n_classes), p=np.eye(n_classes), weight=cells.weight,
        has_weights=request.weight is not None, groups={}, mark=".", notes=rounding_notes(everything.rounding),
        cells=cells, group_cells=groups, weight_column=request.weight,
    )  # fmt: skip


def labels_of_file(path: Path, request: PredictionsRequest) -> set[str]:
    """Return the labels of one file."""
    labels: set[str] = set()
    for columns in batches_of(path, [str(request.target)], request):
        labels.update(columns[str(request.target)].levels(None)[1])
    return labels


def class_sums_of_file(
    path: Path, request: PredictionsRequest, columns: Sequence[str], classes: Sequence[str]
) -> SumsOfClasses:
    """Return the sums of the rows of one file. ``columns`` are in the order of the ``classes``."""
    sums = SumsOfClasses()
    for batch in batches_of(path, [*columns, str(request.target)], request):
        sums = _added(sums, dict(_class_sums_of_batch(batch, request, columns, classes)))
    return sums


def _class_sums_of_batch(
    batch: dict[str, BatchColumn], request: PredictionsRequest, columns: Sequence[str], classes: Sequence[str]
) -> Iterator[tuple[tuple[str, str], ClassSums]]:
    p = np.column_stack([batch[name].probabilities() for name in columns])
    totals = p.sum(axis=1)
    distance = np.abs(totals - 1)
    if (bad := distance > SUM_TOLERANCE).any():
        row = int(bad.argmax())
        raise DataError(
            f"{batch[columns[0]].row_name(row)}: the probabilities have the sum {totals[row]:.4g}, not 1; give one "
            "--probability column for each class"
        )
    p /= totals[:, None]
    label_codes, labels = batch[str(request.target)].levels(None)
    y = np.array([classes.index(label) for label in labels])[label_codes]
    weight = np.ones(len(p)) if request.weight is None else batch[request.weight].weights()
    for column, (group_codes, names) in groups_of(batch, request).items():
        for rows in rows_of_strata(group_codes, weight):
            rounding = float(distance[rows].max())
            yield (column, names[group_codes[rows[0]]]), ClassSums.of(y[rows], p[rows], weight[rows], rounding)


def _added(one: SumsOfClasses, two: SumsOfClasses) -> SumsOfClasses:
    return one | {names: one[names].merged(part) if names in one else part for names, part in two.items()}


def table_of(source: str, files: list[Path], names: list[str], is_pooled: bool) -> UserTable:
    """Return a table that stands for the files in what is printed."""
    note = "summarised in cells of nearly equal probability" if is_pooled else "summarised by probability"
    return UserTable(Path(source).name, source, names, [], [files_text(files), note])


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
