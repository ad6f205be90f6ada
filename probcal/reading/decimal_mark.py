"""Which decimal mark a file uses: decided by the values of its columns, then by the separator of its fields."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from probcal._io import join_first
from probcal.errors import DataError
from probcal.reading.number_form import OTHER_MARK, Mark, ReadNumbers, normalised, parse_numbers, read_numbers
from probcal.reading.text_column import TEXT, TextColumn

_AMBIGUOUS = "[1-9][0-9]{0,2}[.,][0-9]{3}"
"""A number that has another value with a decimal comma than with a decimal point, like ``1,250``."""
_MARK_OF_SEPARATOR: Mapping[str | None, Mark] = {";": ",", ",": "."}
"""Programs that write decimal commas separate fields by semicolons."""
_MOST_NAMES = 5
_FIRST = 1_000
"""Number of texts that are looked at first. They nearly always decide."""
_MARK_NAMES: Mapping[Mark, str] = {".": "a decimal point", ",": "a decimal comma"}


@dataclass(frozen=True)
class Evidence:
    """Hold the evidence of one column for a decimal mark."""

    forced_mark: Mark | None
    """The mark without which some texts are no numbers."""
    example: str
    """A text that forces the mark, or that can be read both ways."""
    readings: Mapping[Mark, float]
    """Mark -> the value of the example."""
    plain_thousands: str = ""
    """The text without separated thousands that alone forces the mark, such as ``2500`` beside ``1,250``."""


class MarkDoubt(NamedTuple):
    """Describe how a doubtful column is read. Columns of the same ``kind`` share one line."""

    kind: str
    description: str


@dataclass(frozen=True)
class Marks:
    """Hold the decimal marks of a table: ``column_marks`` by the index of a column, ``file_mark`` for all others."""

    file_mark: Mark
    column_marks: Mapping[int, Mark] = field(default_factory=dict)
    doubts: Mapping[int, MarkDoubt] = field(default_factory=dict)
    """Index of a doubtful column -> how it is read, and why."""
    uneven: Collection[int] = ()
    """Indices of columns whose mark is doubtful, because thousands are separated in some of their values or in none."""
    undecided: Mapping[int, str] = field(default_factory=dict)
    """Index of a column that nothing decides -> a text of it that can be read both ways."""

    def __getitem__(self, index: int) -> Mark:
        return self.column_marks.get(index, self.file_mark)

    def refuse_undecided(self, index: int, name: str, table_name: str) -> None:
        """Raise DataError where nothing decides the mark of the column ``name``, which must be read."""
        if index in self.undecided:
            raise DataError(
                f'{table_name}: column "{name}" holds "{self.undecided[index]}", which has another value with a '
                "decimal comma than with a decimal point; say which with --decimal"
            )

    def notes(self, names: Mapping[int, str]) -> Iterator[str]:
        """Yield how the doubtful columns among ``names`` are read, one line for each kind."""
        groups: dict[str, list[int]] = {}
        for index, doubt in self.doubts.items():
            if index in names:
                groups.setdefault(doubt.kind, []).append(index)
        for indices in groups.values():
            column_names = join_first((f'"{names[index]}"' for index in indices), _MOST_NAMES)
            yield f"column{'s' * (len(indices) > 1)} {column_names}: {self.doubts[indices[0]].description}"


def decimal_marks(
    columns: Mapping[int, TextColumn],
    separator: str | None = None,
    decimal: Mark | None = None,
    numbers: Collection[int] = (),
) -> Marks:
    """Return the decimal mark of each of ``columns`` of text, by their index.

    What the values of the columns force counts first, then the ``separator`` of the fields. A column differs from the
    file only where its own values force that. Where nothing decides, ``undecided`` names the columns. ``decimal`` is
    the mark of the file that the user names. ``numbers`` are the indices of columns that the user declares as numbers.
    """
    all_clues = {index: _evidence(column, index in numbers) for index, column in columns.items()}
    clues = {index: clue for index, clue in all_clues.items() if clue is not None}
    forced = {index: clue.forced_mark for index, clue in clues.items() if clue.forced_mark}
    ambiguous = {index: clue for index, clue in clues.items() if not clue.forced_mark}
    mark, reason = decimal or _majority(forced.values()), "like the other columns of the file"
    if mark is None:
        mark, reason = _MARK_OF_SEPARATOR.get(separator), f"because '{separator}' separates the fields"
    if mark is None:
        return Marks(".", forced, undecided={index: clue.example for index, clue in ambiguous.items()})
    # Thousands that only some values separate are weak evidence. They need another column or the separator beside them.
    firm = {decimal, _MARK_OF_SEPARATOR.get(separator)}
    firm |= {clue.forced_mark for clue in clues.values() if not clue.plain_thousands}
    uneven = {index for index in forced if clues[index].plain_thousands and forced[index] not in firm}
    doubts = {
        index: _forced_doubt(clues[index], own_mark, decimal) for index, own_mark in forced.items() if own_mark != mark
    }
    doubts |= {index: _uneven_doubt(clues[index], forced[index]) for index in uneven if not decimal}
    if not decimal and (uneven or set(forced.values()) != {mark}):
        doubts |= {index: _ambiguous_doubt(clue, mark, reason) for index, clue in ambiguous.items()}
    return Marks(mark, forced, doubts, uneven)


def _evidence(column: TextColumn, is_declared: bool) -> Evidence | None:
    """Return the evidence of a column, or None where its texts are no numbers or have no mark.

    With ``is_declared``, the column holds numbers, even with many words among them.
    """
    if column.point_numbers is not None:
        return _point_evidence(column.distinct.slice(0, _FIRST)) or _point_evidence(column.distinct)
    texts = normalised(pa.array(list(column.counts), TEXT))
    if _first_match(texts, "[.,]") is None:
        return None
    numbers = {mark: read_numbers(column, mark, is_declared) for mark in OTHER_MARK}
    lost = {mark: _lost_rows(column, read) for mark, read in numbers.items()}
    if numbers["."] is None and numbers[","] is None:
        return None
    best: Mark = "," if lost[","] < lost["."] else "."
    read = numbers[best]
    assert read is not None
    if lost["."] != lost[","]:
        other = numbers[OTHER_MARK[best]]
        refused = set(column.counts) if other is None else set(other.words)
        marked_texts = [text for text in column.counts if text in refused - set(read.words)]
        example = next((text for text in marked_texts if "." in text or "," in text), marked_texts[0])
        return _uneven_evidence(column, read, best) or Evidence(best, example, {})
    example = _first_match(texts, f"(?:^|[^0-9.,]){_AMBIGUOUS}(?:$|[^0-9.,])") or ""
    readings = _readings(example, read)
    return Evidence(None, example, readings) if example and len(set(readings.values())) > 1 else None


def _uneven_evidence(column: TextColumn, read: ReadNumbers, mark: Mark) -> Evidence | None:
    """Return the evidence of a column with two readings of each value, of which only ``mark`` is written alike."""
    texts = pa.array([text for text in column.counts if text not in read.words], TEXT)
    other = OTHER_MARK[mark]
    forms = [replace(read.form, mark=other, group=group) for group in ("", mark, " ", "'")]
    values = np.array([parse_numbers(texts, form) for form in forms])
    grouped = values[1]
    if np.isnan(values).all(axis=0).any() or np.isnan(grouped).all():
        return None
    example = str(texts[int(np.argmin(np.isnan(grouped)))].as_py())
    rest = [text for text, value in zip(texts.to_pylist(), grouped.tolist(), strict=True) if np.isnan(value)]
    return Evidence(mark, example, _readings(example), rest[0]) if rest else None


def _point_evidence(texts: pa.Array) -> Evidence | None:
    """Return the evidence of plain numbers with a decimal point, or None where no number has one."""
    marked = texts.filter(pc.match_substring(texts, ".").fill_null(False))
    if not len(marked):
        return None
    forcing = _first_match(marked, f"^[-+]?{_AMBIGUOUS}$", is_match=False)
    if forcing is None and len(texts) == _FIRST:
        return None  # perhaps a later one decides
    if forcing is not None:
        return Evidence(".", forcing, {})
    example = str(marked[0].as_py())
    return Evidence(None, example, _readings(example))


def _lost_rows(column: TextColumn, read: ReadNumbers | None) -> int:
    words = column.counts if read is None else read.words
    return sum(column.counts[word] for word in words)


def _first_match(texts: pa.Array, pattern: str, is_match: bool = True) -> str | None:
    matches = pc.match_substring_regex(texts, pattern).fill_null(not is_match)
    matching = texts.filter(matches if is_match else pc.invert(matches)).drop_null()
    return str(matching[0].as_py()) if len(matching) else None


def _readings(example: str, read: ReadNumbers | None = None) -> dict[Mark, float]:
    """Return the value of a text with either decimal mark. ``read`` has its currency or per-cent sign."""
    column = TextColumn(pa.array([example], TEXT))
    readings: dict[Mark, float] = {}
    for mark in OTHER_MARK:
        if (numbers := read_numbers(column, mark)) is not None:
            readings[mark] = float(parse_numbers(pa.array([example], TEXT), numbers.form)[0])
    return readings


def _majority(marks: Iterable[Mark]) -> Mark | None:
    """Return the more frequent mark, or None for a tie."""
    votes = list(marks)
    points, commas = votes.count("."), votes.count(",")
    return None if points == commas else "." if points > commas else ","


def _ambiguous_doubt(clue: Evidence, mark: Mark, reason: str) -> MarkDoubt:
    decimal = "decimal" if mark in clue.example else "thousands"
    remedy = f"add --decimal {OTHER_MARK[mark]}"
    return MarkDoubt(f"{decimal}, {reason}", _reading_text(clue, mark, reason, remedy))


def _uneven_doubt(clue: Evidence, mark: Mark) -> MarkDoubt:
    reason = f'because "{clue.plain_thousands}" does not separate its thousands so'
    return MarkDoubt(f"uneven, {mark}", _reading_text(clue, mark, reason, "write all numbers of the column alike"))


def _reading_text(clue: Evidence, mark: Mark, reason: str, remedy: str) -> str:
    value, alternative = (f"{clue.readings[sign]:.15g}" for sign in (mark, OTHER_MARK[mark]))
    return f'"{clue.example}" is read as {value}, {reason}; if it is {alternative}, {remedy}'


def _forced_doubt(clue: Evidence, mark: Mark, decimal: Mark | None) -> MarkDoubt:
    contrast = f"not as --decimal {decimal} says" if decimal else "unlike the rest of the file"
    remedy = "if that is wrong, correct such values, or name the column with --category"
    return MarkDoubt(
        f"forced, {mark}", f'read with {_MARK_NAMES[mark]}, {contrast}, because of "{clue.example}"; {remedy}'
    )
