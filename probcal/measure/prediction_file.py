"""Predictions of a file: probabilities, labels, weights and groups, checked line by line, and the positive label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from probcal._io import counted
from probcal.data.labels import in_order
from probcal.errors import DataError, did_you_mean
from probcal.measure.column_reader import ROUNDING, ColumnReader
from probcal.measure.file_columns import one_spelling, same_label, texts_of
from probcal.measure.label_columns import class_of_columns, positive_of
from probcal.reading.decimal_mark import Marks, decimal_marks
from probcal.reading.number_form import Mark
from probcal.reading.table import UserTable, read_table
from probcal.reading.target import (
    Target,
    read_target,
    read_word_labels,
    refuse_rounded_labels,
    refuse_unknown_labels,
)

Floats = npt.NDArray[np.float64]

_SUM = 0.01
"""How far the sum of the probabilities of a row may be from 1. Files often hold three digits."""
_FEWEST_ROWS = 2
"""Fewest rows of a label in a table of a few rows."""
_MOST_NAMES = 10


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
    """(n_rows,), not negative. Only their ratios are those of the file (see ``scaled_weights``)."""
    has_weights: bool
    groups: dict[str, npt.NDArray[np.object_]]
    """Column -> group of each row, (n_rows,) of text."""
    mark: Mark
    """The decimal mark of the probabilities."""
    notes: list[str] = field(default_factory=list)

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
        """Return the place of a row, counted from 0, in words."""
        return f"line {self.table.lines[row]}" if self.table.lines is not None else f"row {row + 1}"


def read_predictions(request: PredictionsRequest) -> FilePredictions:
    """Read the file of a request. Raise DataError with the line for what is no probability, label, weight or group."""
    return _Reader(request, read_table(request.source)).read()


class _Reader(ColumnReader):
    """Find the columns of a request in one table, and read the target."""

    def __init__(self, request: PredictionsRequest, table: UserTable) -> None:
        super().__init__(table)
        self.request = request

    def read(self) -> FilePredictions:
        request = self.request
        target_place = self._place("--target", request.target)
        places = self._probability_places()
        weight_place = None if request.weight is None else self._place("--weight", request.weight)
        groups = {name: self._place("--group", name) for name in request.groups}
        if target_place in places:
            raise DataError(f'column "{self.names[target_place]}" is given as --target and as --probability; give one')
        numbers = [*places, *([] if weight_place is None else [weight_place])]
        for place in numbers:
            self.read_percent_signs(place)
        marks = self._marks([*numbers, target_place], numbers)
        target, about_words = self._target(target_place, marks)
        classes, order = self._classes(target, [self.names[place] for place in places])
        places = [places[index] for index in order]
        p = np.column_stack([self.probabilities(place, marks[place]) for place in places])
        notes = list(marks.notes({place: self.names[place] for place in numbers}))
        matrix, about_sums = self._normalise(p)
        y = _class_codes(target.labels, classes)
        weight = np.ones(len(y)) if weight_place is None else self.weights(weight_place, marks[weight_place])
        self._refuse_one_class(y, weight, classes, target.name, weight_place)
        if left_out := int((weight == 0).sum()):
            notes.append(f"left out: {counted(left_out)} of weight 0")
        return FilePredictions(
            table=self.table,
            target=target.name,
            columns=tuple(self.names[place] for place in places),
            classes=classes,
            y=y,
            p=matrix,
            weight=weight,
            has_weights=weight_place is not None,
            groups={name: self.groups(place) for name, place in groups.items()},
            mark=marks[places[0]],
            notes=[*about_words, *notes, *about_sums],
        )

    def _place(self, option: str, column: str | None) -> int:
        """Return the place of the column that ``option`` names."""
        listing = ", ".join(self.names[:_MOST_NAMES]) + (", …" if len(self.names) > _MOST_NAMES else "")
        if column is None:
            raise DataError(f"{self.source}: name a column with {option}; there are: {listing}")
        places = [place for place, name in enumerate(self.names) if name == column.strip()]
        if len(places) > 1:
            raise DataError(f'{option}: {len(places)} columns of {self.source} are called "{column}"; rename one')
        if not places:
            hint = did_you_mean(column, self.names) or self.table.header_hint()
            raise DataError(f'{option}: {self.source} has no column "{column}"{hint} (it has: {listing})')
        return places[0]

    def _probability_places(self) -> list[int]:
        columns = self.request.probability
        if not columns:
            self._place("--probability", None)
        places: list[int] = []
        for column in columns:
            if "*" in column and column not in self.names:
                places += self._matching_places(column)
            else:
                places.append(self._place("--probability", column))
        if repeats := [self.names[place] for place in places if places.count(place) > 1]:
            raise DataError(f'--probability: column "{repeats[0]}" is given twice')
        return places

    def _matching_places(self, pattern: str) -> list[int]:
        regex = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
        places = [place for place, name in enumerate(self.names) if regex.fullmatch(name)]
        if not places:
            listing, hint = ", ".join(self.names[:_MOST_NAMES]), self.table.header_hint()
            raise DataError(f"--probability: no column of {self.source} matches {pattern}{hint} (it has: {listing})")
        return places

    def _marks(self, places: list[int], numbers: list[int]) -> Marks:
        columns = {place: self.texts[place] for place in places if place in self.texts}
        marks = decimal_marks(columns, self.table.separator, self.request.decimal, numbers)
        for place in set(numbers) & set(marks.undecided):
            raise DataError(
                f'{self.source}: column "{self.names[place]}" holds "{marks.undecided[place]}", which has another '
                "value with a decimal comma than with a decimal point; say which with --decimal"
            )
        return marks

    def _target(self, place: int, marks: Marks) -> tuple[Target, list[str]]:
        """Return the target, and what words such as NA are read as."""
        name, words = self.names[place], self.table.word_columns.get(place)
        positive, column = self.request.positive, self.frame[place]
        refuse_rounded_labels(name, column, self.source)
        user_labels = [*self.request.label, *([positive] if positive else [])]
        raw, notes = read_word_labels(name, column, words, user_labels)
        raw = one_spelling(raw)
        if positive is not None:
            positive = same_label(positive, sorted(set(texts_of(raw)) - {None}))
        target = read_target(name, raw, self.source, marks[place], positive, _FEWEST_ROWS)
        refuse_unknown_labels(self.request.label, target, self.source)
        advice = "give every row a label, or remove such rows" + "".join(f"; {note}" for note in notes)
        self.refuse_rows(~target.label_mask, name, lambda _: "has no value", advice)
        return target, notes

    def _classes(self, target: Target, columns: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
        """Return the labels in the order of the classes, and the order of ``columns`` that fits them."""
        labels, positive = list(target.counts), self.request.positive and target.positive
        source = f'{self.source}: column "{target.name}"'
        if len(columns) == 1:
            positive = positive or positive_of(labels, source, columns[0])
            negatives = [label for label in labels if label != positive]
            return (negatives[0] if len(negatives) == 1 else f"not {positive}", positive), [0]
        column_labels = class_of_columns(columns, labels, source)
        classes = in_order(column_labels)
        if len(classes) == 2:
            positive_label = positive or positive_of(labels, source, "", default=classes[1])
            classes = [label for label in classes if label != positive_label] + [positive_label]
        elif positive:
            raise DataError("--positive is for two classes, or for one column of probabilities; leave it out")
        return tuple(classes), [column_labels.index(label) for label in classes]

    def _refuse_one_class(
        self, y: npt.NDArray[np.int64], weight: Floats, classes: Sequence[str], target: str, weight_place: int | None
    ) -> None:
        """Raise DataError where the rows of positive weight have one class only."""
        if weight_place is None or len(left := np.unique(y[weight > 0])) > 1:
            return
        raise DataError(
            f'{self.source}: without the rows of which "{self.names[weight_place]}" is 0, column "{target}" holds '
            f'only one class, "{classes[int(left[0])]}"; two are needed'
        )

    def _normalise(self, p: Floats) -> tuple[Floats, list[str]]:
        """Return the probabilities with rows that sum to 1, and a note if they did not."""
        if p.shape[1] == 1:
            return p[:, 0], []
        sums = p.sum(axis=1)
        self.refuse_rows(
            np.abs(sums - 1) > _SUM,
            None,
            lambda row: f"the probabilities have the sum {sums[row]:.4g}, not 1",
            "give one --probability column for each class",
        )
        if np.abs(sums - 1).max() <= ROUNDING:
            return p / sums[:, None], []
        note = f"each row was divided by its sum, which is up to {np.abs(sums - 1).max():.1g} away from 1"
        return p / sums[:, None], [note]


def _class_codes(labels: npt.NDArray[np.object_], classes: Sequence[str]) -> npt.NDArray[np.int64]:
    number = {label: place for place, label in enumerate(classes)}
    return np.array([number.get(label, 0) for label in labels], dtype=np.int64)  # 0: all others than the positive one
