"""Predictions of several classes in many Parquet files, read batch by batch into summaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from pathlib import Path

import numpy as np

from probcal.data.text_values import sort_labels
from probcal.errors import DataError
from probcal.measure.batch_column import BatchColumn
from probcal.measure.many_files import (
    MOST_LABELS,
    Mapper,
    batches_of,
    groups_of,
    refuse_many_labels,
    rows_of_strata,
    table_of,
)
from probcal.measure.summary import ClassCells, ClassSums, SummarisedClasses
from probcal.reading.prediction_file import (
    POSITIVE_OF_SEVERAL,
    SUM_TOLERANCE,
    PredictionsRequest,
    labels_of_columns,
    rounding_notes,
)

Sums = dict[tuple[str, str], ClassSums]
"""Column and group -> its sums. Both are empty for all rows, if there are no groups."""


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
    sums = reduce(_added, parts, Sums())
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
        cells=cells, group_cells=groups,
    )  # fmt: skip


def labels_of_file(path: Path, request: PredictionsRequest) -> set[str]:
    """Return the labels of one file."""
    labels: set[str] = set()
    for columns in batches_of(path, [str(request.target)], request):
        labels.update(columns[str(request.target)].levels(None)[1])
    return labels


def class_sums_of_file(path: Path, request: PredictionsRequest, columns: Sequence[str], classes: Sequence[str]) -> Sums:
    """Return the sums of the rows of one file. ``columns`` are in the order of the ``classes``."""
    sums = Sums()
    for batch in batches_of(path, [*columns, str(request.target)], request):
        sums = _added(sums, dict(_sums_of_batch(batch, request, columns, classes)))
    return sums


def _sums_of_batch(
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


def _added(one: Sums, two: Sums) -> Sums:
    return one | {names: one[names].merged(part) if names in one else part for names, part in two.items()}
