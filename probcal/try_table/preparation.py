"""From somebody's table to rows that a card can describe: the target, the columns, the rows that are taken.

Names of columns as a card can have them: each another, none empty, nothing in them that nobody sees.

Which rows of a large table are taken, and with which seed every split has something of every class.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from probcal._io import visible
from probcal.data.card import Card
from probcal.data.splits import split_rows, stream_seed
from probcal.errors import DataError, did_you_mean
from probcal.try_table.column_types import Column, Wishes, guess
from probcal.try_table.data_warnings import warnings
from probcal.try_table.file_reader import Table, read_table
from probcal.try_table.numbers_in_text import Mark, Marks, decimal_marks, number
from probcal.try_table.target import Target, read_target, refuse_rare_classes

_LONGEST = 80


def card_names(names: Iterable[object]) -> list[str]:
    """``names`` in their order, each once: what comes twice has its place behind it, as what is empty is called by it.

    A card reads ``a1..a3`` as three columns and ``*`` as all others, so neither stays as it is.
    """
    found: list[str] = []
    taken: set[str] = set()
    for place, name in enumerate(names, 1):
        clean = cleaned(str(name))
        if not clean or clean == "*":
            clean = f"column {place}"
        while clean in taken:
            clean = f"{clean} ({place})"
        taken.add(clean)
        found.append(clean)
    return found


def cleaned(name: str) -> str:
    """A name as cards have it, if it stands alone; what is longer than 80 letters is cut in the middle."""
    bare = "".join(" " if unicodedata.category(one)[0] in "CZ" else one for one in name)
    return visible(re.sub(r"\.\.+", ".", " ".join(bare.split())), _LONGEST)


def slug(text: str, otherwise: str) -> str:
    """``text`` as the name of a card and of a folder: small letters, digits, ``-`` and ``_``."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_]+", "-", ascii_only).strip("-_")[:40].strip("-_") or otherwise


MOST_ROWS = 10_000
MOST_NUMBERS = 4_000_000
"""Rows times the columns that learners see: of a wide table fewer rows are taken."""
_FEWEST = 1_000
"""Rows that are taken of the widest table."""
_SEEDS_TRIED = 200
_FEWEST_TRAINING = 4


def how_many(n_rows: int, n_columns: int, asked: int | None) -> int:
    """So many rows of a table are taken; ``n_columns``: as learners see it, each level a column."""
    if asked is not None:
        return min(n_rows, asked)
    return min(n_rows, MOST_ROWS, max(_FEWEST, MOST_NUMBERS // max(1, n_columns)))


def sample(labels: npt.NDArray[Any], size: int, seed: int) -> npt.NDArray[np.intp]:
    """(size,) numbers of rows, sorted, each label as often as its share of ``labels`` says, to one row."""
    n = len(labels)
    if size >= n:
        return np.arange(n)
    _, codes = np.unique(labels.astype(str), return_inverse=True)
    shuffled = np.random.default_rng(stream_seed(seed, "sample", n, size)).permutation(n)
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    places = np.floor((np.arange(size) + 0.5) * n / size).astype(np.intp)
    return np.sort(by_class[places])


def balanced_seed(card: Card, y: npt.NDArray[Any], repeats: int, first: int) -> tuple[int, bool]:
    """(the first seed from ``first`` whose splits all have rows of every class on both sides, whether there is one).

    Splits are not stratified. That hardly matters where every class has hundreds of rows, and a class of ten would be
    missing from some test part. ``y``: (n_rows,), as of the ``Dataset``. At least half of what a class can expect,
    at least one row and four to learn from, are asked for; nothing but the labels decides, so no number is favoured.
    """
    counts = np.bincount(y)
    test = len(y) - card.split.n_train(len(y))
    fewest_test = np.maximum(1, counts * test // len(y) // 2)
    fewest_training = np.maximum(_FEWEST_TRAINING, (counts - counts * test // len(y)) // 2)
    for seed in range(first, first + _SEEDS_TRIED):
        tests = (split_rows(card, len(y), one, seed)[1] for one in range(repeats))
        found = (np.bincount(y[rows], minlength=len(counts)) for rows in tests)
        if all((tested >= fewest_test).all() and (counts - tested >= fewest_training).all() for tested in found):
            return seed, True
    return first, False


_SHOWN = 10


@dataclass(frozen=True)
class Asked:
    """What was asked for of the table, as the command line has it."""

    source: str
    target: str | None = None
    positive: str | None = None
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    rows: int | None = None
    seed: int = 0
    decimal: Mark | None = None
    """The decimal mark of the file; found out where none is given."""


@dataclass(frozen=True)
class Prepared:
    """A table ready to be run. ``columns``: all but the target, in the order of the table."""

    table: Table
    target: Target
    columns: list[Column]
    counts: Mapping[str, int]
    """Label -> rows of the whole table that have it; ``target.counts`` are those of the rows that are taken."""
    rows: npt.NDArray[np.intp]
    """The numbers of the labelled rows that are taken, sorted."""
    notes: list[str] = field(default_factory=list)
    """What else should be known before any number is believed."""

    @property
    def n_labelled(self) -> int:
        """Rows that have a label."""
        return sum(self.counts.values())

    @property
    def inputs(self) -> list[Column]:
        """The columns to learn from."""
        return [column for column in self.columns if column.values is not None]

    @property
    def most_levels(self) -> int:
        """Of any category."""
        return max((_width(column) for column in self.inputs), default=1)

    @property
    def width(self) -> int:
        """Columns as most learners see them: one for each level of a category."""
        return sum(map(_width, self.inputs))


def prepare(asked: Asked) -> Prepared:
    """Read the table and guess what is in it. Raises DataError for all that cannot be estimated from."""
    table = read_table(asked.source)
    names = card_names(table.frame.columns)
    where = Path(table.place).name
    place = _place_of_target(asked.target or table.target, list(map(str, table.frame.columns)), names, where)
    target_name = names[place]
    frame = table.frame.set_axis(range(len(names)), axis=1)
    wishes = _wishes(asked, names, target_name, where)
    marks = _marks(table, asked, frame.set_axis(names, axis=1), target_name, wishes)
    target = read_target(target_name, frame[place], where, asked.positive, marks[place])
    labelled = target.labelled
    others = frame[labelled].reset_index(drop=True)
    columns = [
        guess(name, others[one], wishes, table.declared, marks[one]) for one, name in enumerate(names) if one != place
    ]
    read = {target_name, *(column.name for column in columns if column.kind == "number")}
    notes = list(marks.notes({one: name for one, name in enumerate(names) if name in read}))
    notes += _notes(table, target, columns, others.drop(columns=place))
    prepared = Prepared(table, target, columns, target.counts, np.arange(len(others)), notes)
    if not prepared.inputs:
        raise DataError(f"{where}: no column is left to learn from{_why_none(columns)}")
    refuse_rare_classes(target, where)
    return _with_rows(prepared, asked, where)


def _with_rows(prepared: Prepared, asked: Asked, where: str) -> Prepared:
    target, labelled = prepared.target, prepared.target.labelled
    labels = target.labels[labelled]
    size = how_many(len(labels), prepared.width, asked.rows)
    rows = sample(labels, size, asked.seed)
    taken = {label: int((labels[rows] == label).sum()) for label in target.counts}
    of_sample = replace(target, counts=taken)
    refuse_rare_classes(of_sample, f"{where}, a sample of {size:,} of {len(labels):,} rows (--rows takes more)")
    return replace(prepared, target=of_sample, rows=rows)


def _place_of_target(asked: str | None, raw: list[str], names: list[str], where: str) -> int:
    if asked is None:
        raise DataError(f"{where}: which column is to be estimated? name it with --target; there are: {_some(names)}")
    for known in (raw, [name.strip() for name in raw], names):
        places = [place for place, name in enumerate(known) if name in (asked, cleaned(asked))]
        if len(places) == 1:
            return places[0]
        if places:
            raise DataError(f'{where}: {len(places)} columns are called "{asked}"; the target needs a name of its own')
    hint = ""
    if raw and all(_is_number(name) for name in raw):
        hint = "; its first line looks like values, and must hold the names of the columns"
    near = did_you_mean(asked, names)
    raise DataError(f'{where}: there is no column "{asked}"{near}{hint} (it has: {_some(names)})')


def _wishes(asked: Asked, names: list[str], target: str, where: str) -> Wishes:
    said: dict[str, str] = {}
    for option in ("category", "number", "drop"):
        for name in getattr(asked, option):
            if name not in names:
                raise DataError(f'--{option}: {where} has no column "{name}"{did_you_mean(name, names)}')
            if name == target:
                raise DataError(f'--{option}: "{name}" is the target')
            if said.setdefault(name, option) != option:
                raise DataError(f'column "{name}" stands under --{said[name]} and under --{option}')
    return Wishes(asked.category, asked.number, asked.drop)


def _marks(table: Table, asked: Asked, frame: pd.DataFrame, target: str, wishes: Wishes) -> Marks:
    """Decide on the decimal marks from all columns that can hold numbers in text, the target among them."""
    names = list(frame.columns)
    texts = [
        place
        for place, name in enumerate(names)
        if name not in wishes.category and (not table.declared or name == target or name in wishes.number)
    ]
    told = [place for place, name in enumerate(names) if name in wishes.number]
    return decimal_marks({place: frame.iloc[:, place] for place in texts}, table.separator, asked.decimal, told)


def _notes(table: Table, target: Target, columns: list[Column], inputs: pd.DataFrame) -> list[str]:
    notes = []
    unlabelled = int((~target.labelled).sum())
    if unlabelled:
        notes.append(f"{unlabelled:,} of {len(target.labels):,} rows have no {target.name} and are left out")
    raw = [str(name).strip() for name in table.frame.columns]
    renamed = sum(before != after for before, after in zip(raw, card_names(raw), strict=True))
    if renamed:
        has = "1 column has" if renamed == 1 else f"{renamed:,} columns have"
        notes.append(f"{has} another name here than in the table, each a name of its own")
    if any(column.kind == "date" for column in columns):
        notes.append("rows are split at random: if later rows depend on earlier ones, the numbers are too good")
    if twice := _same_rows(inputs, [column.values is not None for column in columns]):
        notes.append(f"rows like an earlier one in every input: {twice:,}; some are learned from and tested on")
    notes.extend(warnings(columns, target.labels[target.labelled]))
    return notes


def _same_rows(inputs: pd.DataFrame, used: list[bool]) -> int:
    kept = inputs.loc[:, used]
    if kept.shape[1] < 3:  # few values make few different rows, and nobody takes that for a copy
        return 0
    return int(kept.duplicated().sum())


def _why_none(columns: Sequence[Column]) -> str:
    reasons = [f"{column.name}: {column.about}" for column in columns[:_SHOWN]]
    return f" ({'; '.join(reasons)})" if reasons else ": it has one column, the target"


def _width(column: Column) -> int:
    return len(column.values.cat.categories) if column.kind == "category" and column.values is not None else 1


def _some(names: list[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f", … {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _is_number(text: str) -> bool:
    return not np.isnan([number(text, "."), number(text, ",")]).all()
