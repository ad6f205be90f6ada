"""Predictions of a file: probabilities, labels, weights and groups, checked line by line, and the positive label."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import takewhile
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probcal.data.dataset import as_text
from probcal.data.labels import in_order
from probcal.errors import DataError, did_you_mean
from probcal.reading.decimal_mark import Marks, decimal_marks
from probcal.reading.number_form import Mark, plain_values
from probcal.reading.table import UserTable, read_table
from probcal.try_table.target import Target, read_target, read_word_labels, refuse_unknown_labels

Floats = npt.NDArray[np.float64]

MISSING_GROUP = "(missing)"
_MOST_GROUPS = 50
_ROUNDING = 1e-6
"""How far a probability may lie beyond 0 or 1: ten roundings of float32."""
_SUM = 0.01
"""How far the sum of the probabilities of a row may be from 1. Files often hold three digits."""
_PERCENT_SHARE = 0.5
"""Share of the rows. Percent lie mostly above 1, and a slip of the pen is a single row."""
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
    """(n_rows,), not negative."""
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
        """Return label -> number of rows."""
        counts = np.bincount(self.y, minlength=len(self.classes)).tolist()
        return dict(zip(self.classes, counts, strict=True))

    def line(self, row: int) -> str:
        """Return the place of a row, counted from 0, in words."""
        return f"line {self.table.lines[row]}" if self.table.lines is not None else f"row {row + 1}"


def read_predictions(request: PredictionsRequest) -> FilePredictions:
    """Read the file of a request. Raise DataError with the line for what is no probability, label, weight or group."""
    return _Reader(request, read_table(request.source)).read()


def place_name(table: UserTable) -> str:
    """Return the name of the file, ``standard input`` or ``openml:ID``, for messages."""
    return table.place if table.place.startswith("openml:") else Path(table.place).name


class _Reader:
    """Read the columns of one table. ``source`` names it in messages."""

    def __init__(self, request: PredictionsRequest, table: UserTable) -> None:
        self.request, self.table = request, table
        self.source = place_name(table)
        self.names = [str(name).strip() for name in table.frame.columns]

    def read(self) -> FilePredictions:
        request = self.request
        target_place = self._place("--target", request.target)
        places = self._probability_places()
        weight_place = None if request.weight is None else self._place("--weight", request.weight)
        groups = {name: self._place("--group", name) for name in request.groups}
        if target_place in places:
            raise DataError(f'column "{self.names[target_place]}" is given as --target and as --probability; give one')
        numbers = [*places, *([] if weight_place is None else [weight_place])]
        marks = self._marks([*numbers, target_place], numbers)
        target, about_words = self._target(target_place, marks)
        classes, order = self._classes(target, [self.names[place] for place in places])
        places = [places[index] for index in order]
        p = np.column_stack([self._probabilities(place, marks[place]) for place in places])
        notes = list(marks.notes({place: self.names[place] for place in numbers}))
        matrix, about_sums = self._normalise(p)
        return FilePredictions(
            table=self.table,
            target=target.name,
            columns=tuple(self.names[place] for place in places),
            classes=classes,
            y=_class_codes(target.labels, classes),
            p=matrix,
            weight=self._weights(weight_place, marks),
            has_weights=weight_place is not None,
            groups={name: self._groups(place) for name, place in groups.items()},
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
        columns = {place: self.table.texts[place] for place in places if place in self.table.texts}
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
        user_labels = [*self.request.label, *([self.request.positive] if self.request.positive else [])]
        raw, notes = read_word_labels(name, self.table.frame.iloc[:, place], words, user_labels)
        target = read_target(name, raw, self.source, marks[place], self.request.positive, _FEWEST_ROWS)
        refuse_unknown_labels(self.request.label, target, self.source)
        advice = "give every row a label, or remove such rows" + "".join(f"; {note}" for note in notes)
        self._refuse_rows(~target.label_mask, name, lambda _: "has no value", advice)
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

    def _numbers(self, place: int, mark: Mark) -> tuple[Floats, npt.NDArray[np.object_]]:
        """Return (n_rows,) numbers with NaN for all others, and (n_rows,) the texts, None where there is no value."""
        raw = self.table.frame.iloc[:, place]
        texts = np.array(
            [None if value is None else as_text(value) for value in raw.astype(object).where(raw.notna(), None)]
        )
        if pd.api.types.is_numeric_dtype(raw) and not pd.api.types.is_bool_dtype(raw):
            return raw.to_numpy(np.float64, na_value=np.nan), texts
        if all(isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in raw.dropna()):
            return np.array([np.nan if pd.isna(value) else float(value) for value in raw]), texts
        codes, levels = pd.factorize(texts)
        values = plain_values(list(levels), mark)
        return np.append(values, np.nan)[codes], texts

    def _probabilities(self, place: int, mark: Mark) -> Floats:
        name = self.names[place]
        values, texts = self._read_numbers(place, mark, "a number from 0 to 1")
        bad = (values < -_ROUNDING) | (values > 1 + _ROUNDING)
        low, high = values.min(), values.max()
        advice = f"the values reach from {low:.4g} to {high:.4g}"
        if low >= 0 and high <= 100 and bad.mean() > _PERCENT_SHARE:
            advice += ", like percent; divide the column by 100"
        else:
            advice += "; scores are no probabilities, but a calibrator of the library with input='score' reads them"
        self._refuse_rows(bad, name, lambda row: f"holds {texts[row]}, and a probability lies from 0 to 1", advice)
        return np.clip(values, 0, 1)

    def _weights(self, place: int | None, marks: Marks) -> Floats:
        if place is None:
            return np.ones(len(self.table.frame))
        values, texts = self._read_numbers(place, marks[place], "a weight of at least 0")
        self._refuse_rows(
            ~(np.isfinite(values) & (values >= 0)),
            self.names[place],
            lambda row: f"holds the weight {texts[row]}",
            "give finite weights of at least 0",
        )
        if not values.any():
            raise DataError(f'{self.source}: column "{self.names[place]}" is 0 in every row; give a weight above 0')
        return values

    def _read_numbers(self, place: int, mark: Mark, kind: str) -> tuple[Floats, npt.NDArray[np.object_]]:
        """Return what ``_numbers`` does. Raise DataError for a missing value or a text."""
        values, texts = self._numbers(place, mark)
        name, missing = self.names[place], np.array([text is None for text in texts])
        self._refuse_rows(missing, name, lambda _: "has no value", f"give every row {kind}, or remove such rows")
        self._refuse_rows(
            np.isnan(values),
            name,
            lambda row: f'holds "{texts[row]}", no number',
            f"give {kind} (for 12 %, write .12; for a decimal comma, add --decimal ,)",
        )
        return values, texts

    def _normalise(self, p: Floats) -> tuple[Floats, list[str]]:
        """Return the probabilities with rows that sum to 1, and a note if they did not."""
        if p.shape[1] == 1:
            return p[:, 0], []
        sums = p.sum(axis=1)
        self._refuse_rows(
            np.abs(sums - 1) > _SUM,
            None,
            lambda row: f"the probabilities have the sum {sums[row]:.4g}, not 1",
            "give one --probability column for each class",
        )
        if np.abs(sums - 1).max() <= _ROUNDING:
            return p / sums[:, None], []
        note = f"each row was divided by its sum, which is up to {np.abs(sums - 1).max():.1g} away from 1"
        return p / sums[:, None], [note]

    def _groups(self, place: int) -> npt.NDArray[np.object_]:
        raw = self.table.frame.iloc[:, place]
        texts = [as_text(value) if value is not None else None for value in raw.astype(object).where(raw.notna(), None)]
        groups = np.array([MISSING_GROUP if text is None else " ".join(text.split()) for text in texts], dtype=object)
        if (n := len(set(groups))) > _MOST_GROUPS:
            raise DataError(
                f'--group: column "{self.names[place]}" of {self.source} has {n:,} different values, and at most '
                f"{_MOST_GROUPS} groups are measured; join groups, or name another column"
            )
        return groups

    def _refuse_rows(self, bad: Any, column: str | None, fault: Callable[[int], str], advice: str) -> None:
        """Raise DataError with the first row of ``bad``, (n_rows,) bool, and the number of such rows."""
        if not (n := int(np.count_nonzero(bad))):
            return
        row = int(np.argmax(bad))
        lines = self.table.lines
        location = f"{self.source}:{lines[row]}" if lines is not None else f"{self.source}, row {row + 1}"
        prefix = "" if column is None else f'column "{column}" '
        suffix = f" (and {n - 1:,} more of {len(bad):,} rows)" if n > 1 else ""
        raise DataError(f"{location}: {prefix}{fault(row)}{suffix}; {advice}")


def _class_codes(labels: npt.NDArray[np.object_], classes: Sequence[str]) -> npt.NDArray[np.int64]:
    number = {label: place for place, label in enumerate(classes)}
    return np.array([number.get(label, 0) for label in labels], dtype=np.int64)  # 0: all others than the positive one


_LABEL_PAIRS = (
    ("0", "1"),
    ("-1", "1"),
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "t"),
    ("negative", "positive"),
    ("neg", "pos"),
)
"""Pairs of labels of which everybody means the second by "the probability"."""


def positive_of(labels: Sequence[str], source: str, column: str, default: str | None = None) -> str:
    """Return the label whose probability a column holds: 1 beside 0 or -1, yes, true or positive.

    ``source`` and ``column`` name the target and the probabilities in messages. Raises DataError where the labels do
    not decide and there is no ``default``. Of other numbers, such as 1 and 2, either may be the positive one.
    """
    if len(labels) == 2:
        spellings = {label.casefold(): label for label in labels}
        for negative, positive in _LABEL_PAIRS:
            if spellings.keys() == {negative, positive}:
                return spellings[positive]
    if default is not None:
        return default
    listing = ", ".join(labels[:10]) + (", …" if len(labels) > 10 else "")
    if len(labels) > 2:
        raise DataError(
            f"{source} holds {len(labels)} labels ({listing}); give a --probability column for each of them (such as "
            "--probability 'p_*'), or --positive LABEL to take one against the rest"
        )
    raise DataError(f'{source} holds {listing}; name the label whose probability "{column}" is with --positive')


def class_of_columns(columns: Sequence[str], labels: Sequence[str], source: str) -> list[str]:
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
