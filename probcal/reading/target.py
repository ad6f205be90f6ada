"""The target column: its labels, the positive one of two, and why some columns cannot be a target."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from probcal._io import counted, join_first
from probcal.data.text_values import NUMBER, as_text, sort_labels
from probcal.errors import DataError, did_you_mean
from probcal.reading.levels import same_spelling
from probcal.reading.number_form import LARGEST_EXACT, OTHER_MARK, Mark, plain_values, rounded_numbers
from probcal.reading.text_column import TEXT, is_text

_MOST_NUMBERS = 30
"""Whole numbers can be classes, like digits. More different ones are counts or amounts."""
_MOST_FRACTIONS = 10
_MOST_LABELS = 100
_LONGEST_LABEL = 200
"""Largest number of letters."""
_WHOLE_NUMBER = re.compile(r"[-+]?[0-9]{1,200}")
FEWEST_ROWS = 8
"""Fewest rows of a class. In most splits some test, and enough remain to train and to calibrate."""
FEW_ROWS = 40
"""With fewer rows of a class, its share of every result depends on some ten test rows."""


@dataclass(frozen=True)
class Target:
    """Hold the target. ``labels`` has shape (n_rows,): text, or None for a missing label.

    ``positive`` is the positive label of two classes, and None for several classes.
    """

    name: str
    labels: npt.NDArray[np.object_]
    counts: Mapping[str, int]
    """Label -> number of its rows, in the order of labels."""
    positive: str | None
    has_choice: bool
    """Whether the user named the positive label."""

    @cached_property
    def label_mask(self) -> npt.NDArray[np.bool_]:
        """Return (n_rows,) whether each row has a label."""
        return np.asarray(self.labels != None, dtype=bool)  # noqa: E711  # compares each label

    @cached_property
    def classes(self) -> npt.NDArray[np.object_]:
        """Return (n_rows,) the class of each row, one of the names of ``class_counts``. Rows without a label too."""
        if self.positive is None:
            return self.labels
        _, negative = self.class_counts
        return np.where(self.labels == self.positive, self.positive, negative).astype(object)

    @property
    def class_counts(self) -> dict[str, int]:
        """Return the rows of each class: the positive label and all others, or every label."""
        if self.positive is None:
            return dict(self.counts)
        rows = self.counts[self.positive]
        negatives = [label for label in self.counts if label != self.positive]
        name = negatives[0] if len(negatives) == 1 else f"not {self.positive}"
        return {self.positive: rows, name: sum(self.counts.values()) - rows}


def read_target(
    name: str,
    raw: pd.Series,
    table_name: str,
    mark: Mark = ".",
    positive: str | None = None,
    min_rows: int = FEWEST_ROWS,
    few_labels: bool = False,
) -> Target:
    """Return the target from its column ``raw``, (n_rows,) of any type. ``table_name`` names the table in messages.

    Without ``positive``, the rarer of two labels is positive, or the later of two equally frequent ones. ``mark`` is
    the decimal mark of labels that are numbers. ``min_rows`` is the number of rows that each label needs, for the
    message about a table of a few rows. With ``few_labels``, a few rows and one class are enough. Raises DataError for
    a column without classes.
    """
    column = f'{table_name}: column "{name}"'
    labels = _labels(raw, mark)
    found = Counter(labels.tolist())
    found.pop(None, None)
    distinct, rows = sort_labels(found), found.total()
    if not distinct:
        raise DataError(f"{column} is empty: no row has a label")
    if len(distinct) == 1 and not few_labels:
        raise DataError(f'{column} holds only one class, "{distinct[0]}", in {counted(rows)}; two are needed')
    if not (few_labels and len(distinct) <= 2):
        _refuse_unusable_labels(column, distinct, rows, min_rows)
    counts = {label: found[label] for label in distinct}
    if positive is not None:
        positive = label_named(positive, counts, mark)
        if positive not in counts and not few_labels:
            hint = did_you_mean(positive, counts)
            raise DataError(f'--positive: {column} holds no "{positive}"{hint} (it has: {join_first(distinct, 10)})')
        positive_label: str | None = positive
    elif len(distinct) == 2:
        # Reversed, because min takes the first of equals, and of equally frequent labels the later one is positive.
        positive_label = min(reversed(distinct), key=lambda label: counts[label])
    else:
        positive_label = None
    return Target(name, labels, counts, positive_label, positive is not None)


def read_word_labels(
    name: str, column: pd.Series, raw: pd.Series | None, user_labels: Collection[str]
) -> tuple[pd.Series, list[str]]:
    """Return the target column with those words, such as NA, that are labels, and notes on what each word is read as.

    ``column``, (n_rows,), is the target without the words, and ``raw`` with them, None where there are none. The word
    None beside other words is a label. So is every word where there would be only one label without it, and every one
    of ``user_labels``, which the command line names.
    """
    if raw is None:
        return column, []
    counts = raw.value_counts()
    words = [word for word in raw.cat.categories if word not in set(column.cat.categories)]
    values = list(column.cat.categories)
    has_text = not all(map(NUMBER.fullmatch, values))
    labels = [word for word in words if word in user_labels or len(values) < 2 or (word == "None" and has_text)]
    missing_words = [word for word in words if word not in labels]
    notes = [
        f'"{word}" is read as a label of {name} ({counted(counts[word])}); if it means a missing value, make those '
        "fields empty"
        for word in labels
        if word not in user_labels
    ]
    notes += [
        f'"{word}" in {counted(counts[word])} of {name} is read as a missing value; if it is a label, '
        f"add --label {word}"
        for word in missing_words
    ]
    return raw.cat.remove_categories(missing_words), notes


def blank_notes(target: Target, column: pa.ChunkedArray) -> list[str]:
    """Return a note if the file writes a label in several ways that differ by blanks only, which are one label.

    ``column``, (n_rows,), has the labels as the file has them.
    """
    if not is_text(column.type):
        return []
    spellings: dict[str, Counter[str]] = {label: Counter() for label in target.counts}
    for counted_text in pc.value_counts(column.cast(TEXT)).to_pylist():
        text = counted_text["values"] or ""
        if (label := " ".join(text.split())) in spellings:
            spellings[label][text] += counted_text["counts"]
    parts = []
    for label, rows in spellings.items():
        if len(rows) > 1:
            other = max((text for text in rows if text != label), key=lambda text: rows[text])
            n_others = rows.total() - rows.get(label, max(rows.values()))
            parts.append(f'"{label}" ({n_others:,} of {counted(rows.total())} with other blanks, such as "{other}")')
    return [f"labels that differ by blanks only are one label: {join_first(parts, 3)}"] if parts else []


def refuse_unknown_labels(words: Collection[str], target: Target, table_name: str) -> None:
    """Raise DataError for a word of --label that is no label of the target."""
    for word in words:
        if word not in target.counts:
            raise DataError(
                f'--label: {table_name}: column "{target.name}" holds no "{word}" '
                f"(it has: {join_first(target.counts, 10)})"
            )


def refuse_rounded_labels(name: str, column: pd.Series, table_name: str) -> None:
    """Raise DataError for a float of a Parquet file that may have lost digits of a whole number."""
    if (rounded := rounded_numbers(column)).any():
        row = int(np.argmax(rounded))
        raise DataError(
            f'{table_name}, row {row + 1}: column "{name}" holds the label {as_text(column.iloc[row])}, a float whose '
            "last digits may be lost; write the labels as text or as whole numbers"
        )


def refuse_rare_classes(target: Target, table_name: str) -> None:
    """Raise DataError when a class has too few rows to split, with advice."""
    rare_counts = {label: rows for label, rows in target.class_counts.items() if rows < FEWEST_ROWS}
    if not rare_counts:
        return
    names = join_first((f'"{label}" ({rows})' for label, rows in rare_counts.items()), 5)
    remedy = "; remove their rows, join them to another class, or take one label against all others with --positive"
    raise DataError(
        f'{table_name}: too few rows of {names} in column "{target.name}" to split: {FEWEST_ROWS} of each class are '
        f"needed{remedy if len(target.counts) > 2 else ', and better some hundreds'}"
    )


def _labels(raw: pd.Series, mark: Mark) -> npt.NDArray[np.object_]:
    """Return the labels as text. Where all are numbers, "1", "1.0" and "01" are one label."""
    codes, values = pd.factorize(raw.astype(object))
    texts = [" ".join(as_text(value).split()) or None for value in values]
    distinct = [text for text in texts if text is not None]
    numbers = plain_values(distinct, mark)
    if distinct and not np.isnan(numbers).any():
        spellings = {text: _number_label(text, value, mark) for text, value in zip(distinct, numbers, strict=True)}
        texts = [None if text is None else spellings[text] for text in texts]
    labels: npt.NDArray[np.object_] = np.array([*texts, None], dtype=object)[codes]
    return labels


def label_named(text: str, labels: Collection[str], mark: Mark) -> str:
    """Return the one of ``labels`` that ``text`` names, perhaps in another spelling, such as 1,0 or True, or the text.

    ``mark`` is the decimal mark of labels that are numbers.
    """
    value = float(plain_values([text], mark)[0])
    number = _number_label(text, value, mark) if np.isfinite(value) else text
    if text in labels or number in labels:
        return text if text in labels else number
    return next((label for label in labels if same_spelling([label]) == same_spelling([text])), text)


def _number_label(text: str, value: float, mark: Mark) -> str:
    """Return the number ``value`` that ``text`` holds as labels write it."""
    whole, _, decimals = text.partition(mark)
    if _WHOLE_NUMBER.fullmatch(whole) and not decimals.strip("0"):
        return str(int(whole))
    short = as_text(value)
    if np.isfinite(value) and abs(value) >= LARGEST_EXACT:  # a float would merge whole numbers
        plain = text.translate({ord(separator): None for separator in f"{OTHER_MARK[mark]} '"}).replace(mark, ".")
        try:
            exact = Decimal(plain)
        except InvalidOperation:
            return short
        if exact != Decimal(short) and exact == exact.to_integral_value():
            return str(int(exact))
    return short


def _refuse_unusable_labels(column: str, distinct: list[str], rows: int, min_rows: int) -> None:
    n = len(distinct)
    if n > rows / 2 and rows < 2 * FEWEST_ROWS:  # so few rows do not tell classes from ids
        raise DataError(
            f"{column} holds {n} different labels in {rows} rows, which are too few (at least {min_rows * n} are "
            "needed); is it the right column?"
        )
    numbers = all(map(NUMBER.fullmatch, distinct))
    are_integers = numbers and all(float(label).is_integer() for label in distinct)
    if n == rows and (are_integers or not numbers):
        raise DataError(f"{column} has as many values as rows ({n:,}): an id, not classes; is it the right column?")
    if numbers and n > (_MOST_NUMBERS if are_integers else _MOST_FRACTIONS):
        low, high = (as_text(float(label)) for label in (distinct[0], distinct[-1]))
        raise DataError(
            f"{column} is a continuous number ({n:,} different values from {low} to {high}), not classes; make "
            "classes from it first, such as above and below a limit"
        )
    if (max_length := max(map(len, distinct))) > _LONGEST_LABEL:
        raise DataError(f"{column} holds text of up to {max_length:,} letters, not classes; is it the right column?")
    if n > rows / 2 or n > _MOST_LABELS:
        raise DataError(
            f"{column} holds {n:,} different labels in {rows:,} rows, more than classes have (at most {_MOST_LABELS}, "
            "each in several rows); is it the right column?"
        )


def class_lines(counts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Return (label, rows with their share) of each class, for a line each."""
    total: Any = sum(counts.values())
    return [(label, f"{counted(rows)} ({100 * rows / total:.3g} %)") for label, rows in counts.items()]
