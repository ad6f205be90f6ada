"""The type of each column of a table: inferred from its values, described, overridden, and warned about."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from probcal._io import counted, join_first, shortened
from probcal.data.text_values import as_text
from probcal.errors import DataError
from probcal.reading.dates import (
    AMBIGUOUS,
    MIXED_ZONES,
    MONTHS,
    ZERO_DATES,
    DateOrder,
    as_date,
    date_order,
    parse_dates,
    typed_days,
)
from probcal.reading.levels import same_spelling
from probcal.reading.number_form import (
    CODE,
    LARGEST_EXACT,
    OTHER_MARK,
    Mark,
    NumberForm,
    in_another_form,
    normalised,
    read_numbers,
)
from probcal.reading.table_plan import ColumnPlan, typed_numbers, words_mask
from probcal.reading.text_column import MISSING, TEXT, TextColumn, is_date, is_number, is_text, text_of

Kind = Literal["number", "category", "date", "group", "time", "weight", "left out"]

MOST_LEVELS = 200
"""Largest number of levels of a category. Most learners get a column for each level."""
# Number of rows. In a smaller table a column can have a different value in every row by chance.
_FEW_ROWS = 20
# Names of ids. They end in a separate word, or are written together like CustomerID and customerid.
_ID = re.compile(
    r"(?i:(.*[ _.-])?(id|index|idx|key|uuid|guid|no|nr|number|row|rowid)|unnamed: 0|.*nummer|ssn|mrn"
    r"|(account|case|client|contract|customer|loan|member|order|patient|person|policy|record|subject|user)(id|no|nr))"
    r"|.*[a-z](ID|Id|No|Nr|Number|Key)"
)
_COUNTERS = ("a running number of the rows", "an id: a different number in every row")
_MOST_WORDS_SHOWN = 50
# Largest number of different texts among dates that count as missing.
_MOST_WORDS = 3
_DATE_SHARE = 0.95
# The beginning of a number, perhaps with a sign, a currency or a limit before it.
_LIKE_NUMBER = r"^[<>~≈≤≥=(]*\s*[-+]?\s*(?:[A-Z]{3}|[A-Z]{1,2}\$|(?:Rs|kr|Fr)\.?|\p{Sc}|%)?\s*[-+]?[.,]?[0-9]"
_SHORT_DATE = re.compile(r"[0-9]{1,2}[-/. ](?:[0-9]{1,2}|[A-Za-z]{3,9}\.?)[-/. ][0-9]{2}(?![0-9])")
_LIMIT = ("<", ">", "~", "≈", "≤", "≥")
_FEWEST_NUMBERS = 5
_MOST_WORDS_NAMED = 10


@dataclass(frozen=True)
class TableColumn:
    """Describe one column of the table.

    ``values`` has shape (n_rows,): float64 or categorical text. It is empty for a column that is left out.
    """

    name: str
    kind: Kind
    about: str
    """Its values in words, or why it is left out."""
    missing: int
    values: pd.Series = field(default_factory=lambda: pd.Series(dtype=float))
    plan: ColumnPlan | None = None
    """How it was read, for new rows."""
    doubt: str = ""
    """Why its text is not read as numbers or dates, and the option that helps, if it looks like them."""

    @property
    def is_counter(self) -> bool:
        """Return whether it is left out because its different numbers only identify the rows."""
        return self.kind == "left out" and self.about in _COUNTERS


@dataclass(frozen=True)
class ColumnChoices:
    """Hold the columns that the command line names for each type."""

    category: Collection[str] = ()
    number: Collection[str] = ()
    drop: Collection[str] = ()


@dataclass(frozen=True)
class FileFacts:
    """Hold what a file says about its columns: the decimal ``mark``, and a text with which it is ``undecided``.

    With ``declared``, text stays text, whatever it looks like. ``where`` says in words where a row is.
    """

    mark: Mark = "."
    undecided: str = ""
    declared: bool = False
    where: Callable[[int], str] = "row {}".format


def infer_column(
    name: str, raw: pa.ChunkedArray, choices: ColumnChoices, facts: FileFacts | None = None,
    text: TextColumn | None = None,
) -> TableColumn:  # fmt: skip
    """Return the column ``raw``, (n_rows,) of any type, with its inferred type. ``text`` is the same column as text.

    Raises DataError for a choice that does not fit the column.
    """
    facts = facts or FileFacts()
    if name in choices.drop:
        return TableColumn(name, "left out", "by --drop", raw.null_count)
    if pa.types.is_null(raw.type):
        return TableColumn(name, "left out", "values of a type that is not read, such as lists", len(raw))
    if text is None and is_text(raw.type):
        text = TextColumn(raw)
    missing = raw.null_count if text is None else text.n_missing
    if missing == len(raw):
        return TableColumn(name, "left out", "empty", missing)
    if name in choices.category:
        return _category_column(name, text or text_of(raw))
    if is_date(raw.type):
        return _date_column(name, typed_days(raw), ColumnPlan(name, "date"))
    if is_number(raw.type):
        return _number_column(name, typed_numbers(raw), choices, ColumnPlan(name, "number"))
    if text is None and name in choices.number:
        raise DataError(f'--number: column "{name}" is of the type {raw.type}, not of numbers; leave out --number')
    if text is None or (facts.declared and name not in choices.number):
        return _limited_category(name, text or text_of(raw), declared=True)
    return _infer_text_column(name, text, choices, facts)


def _infer_text_column(name: str, text: TextColumn, choices: ColumnChoices, facts: FileFacts) -> TableColumn:
    is_declared = name in choices.number
    if is_declared and facts.undecided:
        raise DataError(
            f'--number: column "{name}" holds "{facts.undecided}", which has another value with a decimal comma than '
            "with a decimal point; say which with --decimal"
        )
    read = None if facts.undecided else read_numbers(text, facts.mark, is_declared)
    if is_declared and read is not None:
        _refuse_other_numbers(name, read.words, text, facts.where)
    if read is not None:
        plan = ColumnPlan(name, "number", read.form, words=tuple(read.words))
        return _number_column(name, text.spread(read.values, np.nan), choices, plan, read.description)
    dates = _infer_dates(name, text)
    if dates is not None and (dates.kind != "left out" or not is_declared):
        return dates
    if is_declared:
        first = next(iter(text.counts))
        raise DataError(
            f'{facts.where(text.first_row(first))}: --number: column "{name}" holds {shortened(first, 40)!r}, and no '
            "number that reads in exactly one way; write plain numbers, or leave out --number"
        )
    column = _limited_category(name, text, declared=False)
    return replace(column, doubt=_doubt(name, text, column.kind == "left out", facts.mark, facts.undecided))


def _infer_dates(name: str, text: TextColumn) -> TableColumn | None:
    """Return the column if at least 95 % of its rows are dates, and at most three other texts are between them."""
    dated = TextColumn(text.distinct, MISSING | set(ZERO_DATES)) if set(ZERO_DATES) & set(text.counts) else text
    counts = {level: rows for level, rows in text.counts.items() if level not in ZERO_DATES}
    if not counts:
        return None
    levels, rows = pa.array(list(counts), TEXT), np.array(list(counts.values()))
    order = date_order(levels, rows, _DATE_SHARE)
    if order is None:
        return None
    if order in (AMBIGUOUS, MIXED_ZONES):
        reason = "day and month are ambiguous" if order == AMBIGUOUS else order
        about = f"dates, but {reason}; write 2026-11-21"
        values = " and ".join(repr(shortened(text, 30)) for text in list(counts)[:2])
        doubt = (
            f'"{name}" holds {values}, where {order}, and is left out; write 2026-11-21, or --category "{name}" keeps '
            "the texts"
        )
        return TableColumn(name, "left out", about, text.n_missing, doubt=doubt)
    in_order: DateOrder = order  # type: ignore[assignment]  # no other text is left
    level_days = parse_dates(levels, in_order)
    words = [level for level, day in zip(counts, level_days, strict=True) if np.isnan(day)]
    has_others = bool(words) and date_order(pa.array(words, TEXT), np.ones(len(words))) is not None
    if len(words) > _MOST_WORDS or any(map(in_another_form, words)) or has_others:
        return None
    days = text.spread(parse_dates(dated.distinct, in_order), np.nan)
    notes = f"; {', '.join(sorted(set(ZERO_DATES) & set(text.counts)))} read as missing" if dated is not text else ""
    return _date_column(name, days, ColumnPlan(name, "date", dates=in_order, words=tuple(words)), notes)


def indicator(column: TableColumn, raw: pa.ChunkedArray, names: Collection[str]) -> TableColumn | None:
    """Return the column that is 1 where ``column`` has a text in place of a number or date, None if it has none.

    ``names`` are those of all other columns.
    """
    plan = column.plan
    if plan is None or not plan.words:
        return None
    name = shortened(f"{column.name} is {' or '.join(plan.words)}", 70)
    while name in names:
        name += "'"
    own_plan = ColumnPlan(name, "indicator", words=plan.words, source=column.name)
    values = pd.Series(words_mask(TextColumn(raw), plan.words))
    return TableColumn(name, "number", f"1 in {counted(int(values.sum()))}, 0 in all others", 0, values, own_plan)


def _category_fault(levels: int, rows: int, is_category: bool) -> str | None:
    """Return why a text with so many different values in so many rows is not a category, or None."""
    if rows >= _FEW_ROWS and levels == rows:
        return "a different value in every row, like an id or free text"
    if rows >= _FEW_ROWS and levels > rows / 2 and not is_category:
        return f"{levels:,} different values in {rows:,} rows, like ids or free text"
    if levels > MOST_LEVELS:
        return f"{levels:,} different values, more than {MOST_LEVELS}; --category keeps it"
    return None


def _limited_category(name: str, text: TextColumn, declared: bool) -> TableColumn:
    if reason := _category_fault(len(text.counts), len(text) - text.n_missing, declared):
        return TableColumn(name, "left out", reason, text.n_missing)
    return _category_column(name, text)


def _category_column(name: str, text: TextColumn) -> TableColumn:
    values = as_categories(text)
    missing, levels = int(values.isna().sum()), list(values.cat.categories)
    if len(levels) < 2:
        return _constant_column(name, levels[0], missing)
    common = [str(level) for level in values.value_counts().index[:4]]
    about = f"{len(levels):,} values: {_values_text(common)}"
    return TableColumn(name, "category", about, missing, values, ColumnPlan(name, "category", levels=tuple(levels)))


def as_categories(text: TextColumn) -> pd.Series:
    """Return categorical text in which levels are spelt as in every format: True as ``true``, 1.0 as ``1``."""
    codes, levels = text.encoded
    code_of: dict[str, int] = {}
    level_codes = [code_of.setdefault(level, len(code_of)) for level in same_spelling(levels)]
    values = np.array([*level_codes, -1], dtype=np.int64)[codes]
    return pd.Series(pd.Categorical.from_codes(values, categories=pd.Index(list(code_of), dtype=object)))


def _number_column(
    name: str, numbers: npt.NDArray[np.float64], choices: ColumnChoices, plan: ColumnPlan, notes: str = ""
) -> TableColumn:
    values = pd.Series(numbers)
    if infinite := int(np.isinf(numbers).sum()):
        values, notes = values.where(np.isfinite(values)), f"{notes}; {infinite:,} infinite values read as missing"
    if plan.words:
        notes += f"; {join_first(plan.words, _MOST_WORDS_SHOWN)} read as missing, with an indicator"
    present = values.dropna()
    missing = len(values) - len(present)
    if present.empty:
        return TableColumn(name, "left out", f"empty{notes}", missing)
    if present.min() == present.max() and not plan.words:
        if abs(present.iloc[0]) >= LARGEST_EXACT:
            return TableColumn(name, "left out", "numbers too large to tell apart; --category keeps them", missing)
        return _constant_column(name, as_text(present.iloc[0]), missing)
    if name not in choices.number and (reason := _identifier_reason(name, present)):
        return TableColumn(name, "left out", reason, missing)
    about = f"{_number_text(present.min())} to {_number_text(present.max())}{notes}"
    plan = replace(plan, is_flag=plan.form == NumberForm() and bool(present.isin([0, 1]).all()))
    return TableColumn(name, "number", about, missing, values, plan)


def _identifier_reason(name: str, numbers: pd.Series) -> str | None:
    """Return why a number only identifies rows, or None."""
    # to count different numbers takes the longest, and comes last
    if len(numbers) < _FEW_ROWS or not (numbers == numbers.round()).all() or numbers.nunique() < len(numbers):
        return None
    if numbers.max() - numbers.min() == len(numbers) - 1:
        return _COUNTERS[0]
    if _ID.fullmatch(name):
        return _COUNTERS[1]
    return None


def _date_column(name: str, days: npt.NDArray[np.float64], plan: ColumnPlan, notes: str = "") -> TableColumn:
    values = pd.Series(days)
    present = values.dropna()
    if present.min() == present.max() and not plan.words:
        return _constant_column(name, as_date(present.iloc[0]), len(values) - len(present))
    unit = "as days since 1970" if plan.dates not in MONTHS else "the first day of each as days since 1970"
    if plan.words:
        notes += f"; {', '.join(plan.words)} read as missing, with an indicator"
    description = f"{as_date(present.min())} to {as_date(present.max())}, {unit}{notes}"
    return TableColumn(name, "date", description, len(values) - len(present), values, plan)


def _constant_column(name: str, value: str, missing: int) -> TableColumn:
    description = f"constant: {shortened(value, 20)}{' or missing' if missing else ''}"
    return TableColumn(name, "left out", description, missing)


def _values_text(values: list[str]) -> str:
    return join_first([shortened(value, 20) for value in values], 3)


def _number_text(number: float) -> str:
    is_whole = float(number).is_integer() or abs(number) >= 1e4
    return f"{number:,.0f}" if is_whole and abs(number) < 1e12 else f"{number:.4g}"


def _doubt(name: str, text: TextColumn, left_out: bool, mark: Mark, undecided: str) -> str:
    """Return why a column of text is no number, with two of its values and the option that helps, or an empty text.

    ``undecided`` is a value that has two readings. The text is empty where few values look like numbers.
    """
    treatment = "is left out" if left_out else "is a category"
    if undecided:
        other = next((level for level in text.counts if level != undecided), undecided)
        return (
            f'"{name}" holds {undecided!r} and {other!r}, and nothing says whether the mark is a decimal mark or '
            f"groups thousands, so it {treatment}; --decimal . or --decimal , says which"
        )
    levels = list(text.counts)
    texts = normalised(pa.array(levels, TEXT))
    like_number = pc.match_substring_regex(texts, _LIKE_NUMBER).fill_null(False).to_pylist()
    codes = pc.match_substring_regex(texts, CODE).fill_null(False).to_pylist()
    alike = [level for level, is_like in zip(levels, like_number, strict=True) if is_like]
    rows, n_rows = sum(text.counts[level] for level in alike), sum(text.counts.values())
    if 2 * rows <= n_rows or any(codes):
        return ""
    words = [level for level, is_like in zip(levels, like_number, strict=True) if not is_like]
    for read in (read_numbers(text, one, is_declared=True) for one in (mark, OTHER_MARK[mark])):
        if read is None or not read.words or _other_number(read.words) is not None:
            continue
        others = set(read.words)
        numbers = [level for level in levels if level not in others]
        n_read = sum(text.counts[level] for level in numbers)
        if len(numbers) >= _FEWEST_NUMBERS and 2 * n_read > n_rows and len(words) <= _MOST_WORDS_NAMED:
            return (
                f'"{name}" holds numbers such as {numbers[0]!r} and {join_first(map(repr, read.words), 5)}, and '
                f'{treatment}; --number "{name}" reads the numbers and takes all else as missing'
            )
    first, second = alike[0], words[0] if words else _of_another_shape(alike)
    if _SHORT_DATE.match(first[:30]):
        fault, advice = "dates with years of two digits", "write years of four digits"
    else:
        fault, advice = "not plain numbers written alike", "write plain numbers"
    remedy = f'--category "{name}" keeps the texts' if left_out else f'--drop "{name}" leaves it out'
    return (
        f'"{name}" holds {shortened(first, 20)!r} and {shortened(second, 20)!r}, which are {fault}, and {treatment}; '
        f"{advice}, or {remedy}"
    )


def _of_another_shape(levels: Sequence[str]) -> str:
    """Return the first text that is written in another way than the first one, or else the second text."""

    def shape(level: str) -> str:
        return re.sub("[0-9]+", "0", level[:50])

    return next((level for level in levels if shape(level) != shape(levels[0])), levels[min(1, len(levels) - 1)])


def _refuse_other_numbers(name: str, words: Sequence[str], text: TextColumn, where: Callable[[int], str]) -> None:
    """Raise DataError for a text with digits between the numbers that the user asked for, unless it is a limit.

    ``where`` says in words where a row is.
    """
    if (word := _other_number(words)) is not None:
        raise DataError(
            f'{where(text.first_row(word))}: --number: column "{name}" holds {shortened(word, 40)!r}, which is not '
            "written like its other numbers; write plain numbers, leave the field empty, or leave out --number"
        )


def _other_number(words: Sequence[str]) -> str | None:
    """Return the first text with digits that is no limit, such as ``10-20``. ``--number`` refuses it."""
    others = (word for word in words if any(letter.isdigit() for letter in word) and not word.startswith(_LIMIT))
    return next(others, None)
