"""Predictions of a file: probabilities, labels, weights and groups, checked line by line, and the positive label."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from probcal._io import counted, join_first
from probcal.data.text_values import sort_labels
from probcal.errors import DataError
from probcal.reading.decimal_mark import Marks, decimal_marks
from probcal.reading.file_columns import (
    MOST_GROUPS,
    ROUNDING,
    FileColumn,
    Floats,
    listing_of,
    named_column,
    names_of,
    one_spelling,
    refuse_rows,
    same_label,
    texts_of,
)
from probcal.reading.number_form import Mark
from probcal.reading.periods import Every, days_of, period_names, refuse_many_periods
from probcal.reading.reading_options import READ_AS_IT_IS, ReadingOptions
from probcal.reading.table import UserTable, read_table
from probcal.reading.target import (
    Target,
    blank_notes,
    read_target,
    read_word_labels,
    refuse_rounded_labels,
    refuse_unknown_labels,
)

SUM_TOLERANCE = 0.01
"""How far the sum of the probabilities of a row may be from 1. Files often hold three digits."""
# Fewest rows of a label in a table of a few rows.
_FEWEST_ROWS = 2
_OF_LABEL = re.compile(r"p\((.+)\)(?:_\w+)?", re.DOTALL)
# Pairs of labels of which everybody means the second by "the probability".
_LABEL_PAIRS = (
    ("0", "1"), ("-1", "1"), ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("negative", "positive"),
    ("neg", "pos"),
)  # fmt: skip


POSITIVE_OF_SEVERAL = "--positive is for two classes, or for one column of probabilities; leave it out"


@dataclass(frozen=True)
class PredictionsRequest:
    """Hold the options of the command line that describe a file of predictions."""

    source: str
    probability: tuple[str, ...] = ()
    """Names of columns. One may hold a ``*``: ``p_*``."""
    target: str | None = None
    positive: str | None = None
    weight: str | None = None
    groups: tuple[str, ...] = ()
    decimal: Mark | None = None
    label: tuple[str, ...] = ()
    """Words such as NA that are labels, although they usually mean a missing value."""
    reading: ReadingOptions = READ_AS_IT_IS
    time: str | None = None
    """Column of dates, whose periods are groups."""
    every: Every = "month"
    grades: str | None = None
    """Name of a column of rating grades, or a number of bins of the probability."""
    cluster: str | None = None
    """Column whose equal values belong together, such as a patient's."""
    few_labels: bool = False
    """Whether a few rows, or rows of one class, are enough, because a log begins so."""

    def __post_init__(self) -> None:
        if self.time in self.groups:
            raise DataError(f'column "{self.time}" is given with --group and with --time; give one')
        if self.cluster is not None and self.cluster in self.groups:
            raise DataError(
                f'column "{self.cluster}" is given with --group and with --cluster. --group measures the rows of each '
                "value apart; --cluster says that they belong together, so that they count less; give one"
            )
        if self.cluster is not None and self.grades is not None:
            raise DataError(
                "--grades: the binomial and the Jeffreys test need independent rows, and with --cluster they are none; "
                "leave one out"
            )


@dataclass(frozen=True)
class FilePredictions:
    """Hold the checked rows of a file."""

    table: UserTable
    target: str
    columns: tuple[str, ...]
    """The columns with probabilities: that of the last class only, or one for each class."""
    classes: tuple[str, ...]
    """Labels in the order of ``y`` and ``p``. Of two classes the second is positive."""
    y: npt.NDArray[np.int64]
    """(n_rows,) numbers of the classes."""
    p: Floats
    """(n_rows,) of the second class, or (n_rows, n_classes)."""
    weight: Floats
    """(n_rows,), not negative. Only their ratios are those of the file (see ``FileColumn.weights``)."""
    has_weights: bool
    groups: dict[str, npt.NDArray[np.object_]]
    """Column -> group of each row, (n_rows,) of text."""
    mark: Mark
    """The decimal mark of the probabilities."""
    grades: tuple[str, npt.NDArray[np.object_]] | int | None = None
    """Column and grade of each row, or a number of bins of the probability."""
    notes: list[str] = field(default_factory=list)
    cluster: tuple[str, npt.NDArray[np.intp]] | None = None
    """Column and number of the cluster of each row. None if all rows are independent."""
    weight_column: str | None = None

    @property
    def is_binary(self) -> bool:
        return len(self.classes) == 2

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def counts(self) -> dict[str, int]:
        """Return label -> number of rows of positive weight."""
        counts = np.bincount(self.y[self.weight > 0], minlength=len(self.classes)).tolist()
        return dict(zip(self.classes, counts, strict=True))

    def shares(self) -> dict[str, float]:
        """Return label -> share of the weight."""
        sums = np.bincount(self.y, self.weight, minlength=len(self.classes))
        return dict(zip(self.classes, (sums / sums.sum()).tolist(), strict=True))

    def line(self, row: int) -> str:
        """Return in words where a row, counted from 0, is in the file."""
        return f"line {self.table.lines[row]}" if self.table.lines is not None else f"row {row + 1}"


def read_predictions(request: PredictionsRequest, table: UserTable | None = None) -> FilePredictions:
    """Read the file of a request. Raise DataError with the line for what is no probability, label, weight or group.

    ``table`` is the content of the file, if it was read already.
    """
    table = read_table(request.source, request.reading) if table is None else table
    target_column = named_column(table, "--target", request.target)
    columns = probability_columns(table, request.probability)
    weight_column = None if request.weight is None else named_column(table, "--weight", request.weight)
    group_columns = {name: named_column(table, "--group", name) for name in request.groups}
    if target_column.index in [column.index for column in columns]:
        raise DataError(f'column "{target_column.name}" is given as --target and as --probability; give one')
    number_columns = [*columns, *([] if weight_column is None else [weight_column])]
    for column in number_columns:
        column.replace_percent_signs()
    marks = _marks(table, number_columns, target_column, request.decimal)
    target, notes_on_words = _read_target(target_column, marks[target_column.index], request)
    classes, order = _classes(target, table, [column.name for column in columns], request.positive)
    columns = [columns[index] for index in order]
    p = np.column_stack([column.probabilities(marks[column.index]) for column in columns])
    notes = list(marks.notes({column.index: column.name for column in number_columns}))
    p, notes_on_sums = _normalise(table, p)
    notes_on_rest = rest_notes(target.counts, classes[1]) if len(columns) == 1 else []
    code_of = {label: code for code, label in enumerate(classes)}
    y = np.array([code_of.get(label, 0) for label in target.labels], dtype=np.int64)  # 0: every label but the positive
    weight = np.ones(len(y))
    if weight_column is not None:
        weight = weight_column.weights(marks[weight_column.index])
        if len(remaining := np.unique(y[weight > 0])) == 1:
            raise DataError(
                f'{table.origin_name}: without the rows of which "{weight_column.name}" is 0, column "{target.name}" '
                f'holds only one class, "{classes[int(remaining[0])]}"; two are needed'
            )
    cluster = None
    if request.cluster is not None:
        column = named_column(table, "--cluster", request.cluster)
        cluster = column.name, column.clusters()
    if n_left_out := int((weight == 0).sum()):
        notes.append(f"left out: {counted(n_left_out)} of weight 0")
    notes += notes_on_sums
    notes += [] if cluster is None else _cluster_notes(*cluster, weight)
    if weight_column is None and _WEIGHT in names_of(table) and _WEIGHT not in (*request.groups, target.name):
        notes.append(
            f'all rows count alike; if the column "{_WEIGHT}" holds their weights, as in a file of `probcal try`, add '
            f"-w {_WEIGHT}"
        )
    return FilePredictions(
        table=table,
        target=target.name,
        columns=tuple(column.name for column in columns),
        classes=classes,
        y=y,
        p=p,
        weight=weight,
        has_weights=weight_column is not None,
        groups={name: column.groups() for name, column in group_columns.items()} | _periods(table, request),
        mark=marks[columns[0].index],
        grades=_read_grades(table, request.grades),
        notes=[*notes_on_words, *notes_on_rest, *notes],
        cluster=cluster,
        weight_column=None if weight_column is None else weight_column.name,
    )


_WEIGHT = "weight"
"""Column in which ``probcal try`` writes the weights of held-out rows, if they have any."""


def _cluster_notes(column: str, cluster: npt.NDArray[np.intp], weight: Floats) -> list[str]:
    _, sizes = np.unique(cluster[weight > 0], return_counts=True)
    text = f'{counted(len(sizes), "cluster")} of "{column}" of up to {counted(int(sizes.max()))}, drawn as a whole'
    return [text if sizes.max() > 1 else f'no two rows have one value of "{column}", so --cluster changes little']


def _read_grades(table: UserTable, given: str | None) -> tuple[str, npt.NDArray[np.object_]] | int | None:
    if given is None or given in names_of(table) or not given.isdecimal():
        return None if given is None else (given, named_column(table, "--grades", given).groups("--grades"))
    if not 0 < (n_bins := int(given)) <= MOST_GROUPS:
        raise DataError(f"--grades {given}: name a column, or a number of bins from 1 to {MOST_GROUPS}")
    return n_bins


def _periods(table: UserTable, request: PredictionsRequest) -> dict[str, npt.NDArray[np.object_]]:
    if request.time is None:
        return {}
    names = period_names(days_of(table, request.time), request.every)
    refuse_many_periods(set(names.tolist()), request.time, request.every)
    return {request.time: names.astype(object)}


class NumberColumns(NamedTuple):
    """Hold ``values``, (n_rows, n_columns), the names of the columns, and how they were read."""

    values: Floats
    names: list[str]
    mark: Mark
    """The decimal mark."""
    notes: list[str]
    """What is doubtful."""


def number_columns(
    table: UserTable, names: Sequence[str], decimal: Mark | None, as_probabilities: bool
) -> NumberColumns:
    """Return the columns of ``names``. Raise DataError with the line for what is no probability, or no finite number.

    ``names`` may hold a ``*``.
    """
    columns = probability_columns(table, names)
    if as_probabilities:
        for column in columns:
            column.replace_percent_signs()
    marks = _marks(table, columns, None, decimal)
    values = [
        column.probabilities(marks[column.index]) if as_probabilities else column.scores(marks[column.index])
        for column in columns
    ]
    numbers, notes = np.column_stack(values), [*marks.notes({column.index: column.name for column in columns})]
    if as_probabilities and len(columns) > 1:
        numbers, notes_on_sums = _normalise(table, numbers)
        notes += notes_on_sums
    return NumberColumns(numbers, [column.name for column in columns], marks[columns[0].index], notes)


def calibrated_names(table: UserTable, columns: Sequence[str], map: str, where: str) -> list[str]:
    """Return the names of the calibrated columns: ``p_beta`` for column ``p`` and the map ``beta``.

    Raises DataError where the table, which messages call ``where``, has such a column already.
    """
    names = [f"{column}_{map}" for column in columns]
    if conflicts := [name for name in names if name in names_of(table)]:
        raise DataError(f'{where} already has a column "{conflicts[0]}"; rename it, or leave it out of the table')
    return names


def probability_columns(table: UserTable, patterns: Sequence[str]) -> list[FileColumn]:
    """Return the columns that ``--probability`` names. A name may hold a ``*``."""
    names = names_of(table)
    columns: list[FileColumn] = []
    if not patterns:
        named_column(table, "--probability", None)
    for pattern in patterns:
        if "*" not in pattern or pattern in names:
            columns.append(named_column(table, "--probability", pattern))
            continue
        regex = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
        matches = [FileColumn(table, index) for index, name in enumerate(names) if regex.fullmatch(name)]
        if not matches:
            hint = f"{table.header_hint()} (it has: {listing_of(table)})"
            raise DataError(f"--probability: no column of {table.origin_name} matches {pattern}{hint}")
        columns += matches
    indices = [column.index for column in columns]
    if repeats := [column.name for column in columns if indices.count(column.index) > 1]:
        raise DataError(f'--probability: column "{repeats[0]}" is given twice')
    return columns


def _marks(table: UserTable, numbers: Sequence[FileColumn], target: FileColumn | None, decimal: Mark | None) -> Marks:
    columns = [*numbers, *([] if target is None else [target])]
    texts = {column.index: column.text for column in columns if column.text is not None}
    marks = decimal_marks(texts, table.separator, decimal, [column.index for column in numbers])
    for column in numbers:
        marks.refuse_undecided(column.index, column.name, table.origin_name)
    return marks


def _read_target(column: FileColumn, mark: Mark, request: PredictionsRequest) -> tuple[Target, list[str]]:
    """Return the target, and what words such as NA and blanks are read as."""
    source, positive = column.table.origin_name, request.positive
    refuse_rounded_labels(column.name, column.values, source)
    user_labels = [*request.label, *([positive] if positive else [])]
    words = column.table.word_columns.get(column.index)
    raw, notes = read_word_labels(column.name, column.values, words, user_labels)
    raw = one_spelling(raw)
    if positive is not None:
        positive = same_label(positive, sorted(set(texts_of(raw)) - {None}))
    target = read_target(column.name, raw, source, mark, positive, _FEWEST_ROWS, request.few_labels)
    refuse_unknown_labels(request.label, target, source)
    advice = "give every row a label, or remove such rows" + "".join(f"; {note}" for note in notes)
    column.refuse(~target.label_mask, lambda _: "has no value", advice)
    return target, [*notes, *blank_notes(target, column.table.columns[column.index])]


def _normalise(table: UserTable, p: Floats) -> tuple[Floats, list[str]]:
    """Return the probabilities, (n_rows,) of one column or rows that sum to 1, and a note if they did not."""
    if p.shape[1] == 1:
        return p[:, 0], []
    sums = p.sum(axis=1)
    distance = np.abs(sums - 1)
    refuse_rows(
        table,
        distance > SUM_TOLERANCE,
        lambda row: f"the probabilities have the sum {sums[row]:.4g}, not 1",
        "give one --probability column for each class",
    )
    return p / sums[:, None], rounding_notes(float(distance.max()))


def rounding_notes(distance: float) -> list[str]:
    """Return a note if the probabilities of a row had a sum that was not 1. ``distance`` is the largest one from 1."""
    return (
        [f"each row was divided by its sum, which is up to {distance:.1g} away from 1"] if distance > ROUNDING else []
    )


def _classes(
    target: Target, table: UserTable, columns: Sequence[str], user_positive: str | None
) -> tuple[tuple[str, ...], list[int]]:
    """Return the labels in the order of the classes, and the order of ``columns`` that fits them."""
    labels, positive = list(target.counts), user_positive and target.positive
    source = f'{table.origin_name}: column "{target.name}"'
    if len(columns) == 1:
        return label_order(labels, source, columns[0], positive), [0]
    column_labels = labels_of_columns(columns, labels, source)
    classes = sort_labels(column_labels)
    if len(classes) == 2:
        positive_label = positive or _positive_of(labels, source, "", default=classes[1])
        classes = [label for label in classes if label != positive_label] + [positive_label]
    elif positive:
        raise DataError(POSITIVE_OF_SEVERAL)
    return tuple(classes), [column_labels.index(label) for label in classes]


def label_order(labels: Sequence[str], source: str, column: str, positive: str | None) -> tuple[str, str]:
    """Return the negative and the positive label of one column of probabilities.

    A column named ``p(LABEL)`` or ``p(LABEL)_beta``, as an exported model and ``probcal apply`` write it, holds the
    probability of its label.
    """
    named = label_of_name(column)
    if positive is None and named is not None and (label := same_label(named, list(labels))) in labels:
        positive = label
    positive = positive or _positive_of(labels, source, column)
    negatives = [label for label in labels if label != positive]
    return negatives[0] if len(negatives) == 1 else f"not {positive}", positive


def label_of_name(column: str) -> str | None:
    """Return the label whose probability a column named ``p(LABEL)`` or ``p(LABEL)_beta`` holds."""
    named = _OF_LABEL.fullmatch(column)
    return None if named is None else named[1]


def rest_notes(counts: Mapping[str, int], positive: str) -> list[str]:
    """Return a note if one label, such as a wrong one, is among several negative ones. ``counts``: label -> rows."""
    others = [f"{label} ({counts[label]:,})" for label in sort_labels(counts) if label != positive]
    return [f'labels other than "{positive}" count as negative: {join_first(others, 10)}'] if len(others) > 1 else []


def _positive_of(labels: Sequence[str], source: str, column: str, default: str | None = None) -> str:
    """Return the label whose probability a column holds: 1 beside 0 or -1, yes, true or positive.

    ``source`` and ``column`` name the target and the probabilities in messages. Raises DataError where the labels do
    not decide and there is no ``default``. Of other numbers, such as 1 and 2, either may be the positive one.
    """
    spellings = {label.casefold(): label for label in labels}
    if len(labels) <= 2:
        for negative, positive in _LABEL_PAIRS:
            if spellings.keys() <= {negative, positive}:
                return spellings.get(positive, positive)
    if default is not None:
        return default
    listing = ", ".join(labels[:10]) + (", …" if len(labels) > 10 else "")
    if len(labels) > 2:
        raise DataError(
            f"{source} holds {len(labels)} labels ({listing}); give a --probability column for each of them (such as "
            "--probability 'p_*'), or --positive LABEL to take one against the rest"
        )
    raise DataError(f'{source} holds {listing}; name the label whose probability "{column}" is with --positive')


def labels_of_columns(columns: Sequence[str], labels: Sequence[str], source: str) -> list[str]:
    """Return the label of each column. A column is named by its label, after and before what all names share.

    ``p_cat``, ``p_dog`` belong to ``cat`` and ``dog``. Raises DataError if a label has no column.
    """
    max_prefix, max_suffix = _prefix_length(columns), _prefix_length([name[::-1] for name in columns])
    shortest = min(map(len, columns))
    for prefix in range(max_prefix + 1):
        for suffix in range(min(max_suffix, shortest - prefix) + 1):
            candidates = [name[prefix : len(name) - suffix] for name in columns]
            if set(labels) <= set(candidates) and "" not in candidates:
                return candidates
    raise DataError(
        f"{source} holds the labels {', '.join(labels[:10])}, and the columns {', '.join(columns[:10])} do not name "
        "them; give one column for each label, named like p_LABEL"
    )


def _prefix_length(names: Sequence[str]) -> int:
    """Return how many letters all ``names`` begin with."""
    pairs = zip(min(names), max(names), strict=False)  # the first and the last in order share the least
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
