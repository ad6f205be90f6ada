"""Preparation of a table: its target, its columns with valid names, its splits, and a sample of rows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from probcal._io import counted, join_first
from probcal.data.text_values import respell
from probcal.errors import DataError, did_you_mean
from probcal.metrics.checked_rows import effective_rows
from probcal.reading.decimal_mark import Marks, decimal_marks
from probcal.reading.file_columns import FileColumn
from probcal.reading.levels import same_spelling
from probcal.reading.number_form import Mark
from probcal.reading.reading_options import READ_AS_IT_IS, ReadingOptions
from probcal.reading.table import UserTable, read_table
from probcal.reading.table_plan import ColumnPlan, TablePlan, card_names, clean_name
from probcal.reading.target import (
    Target,
    blank_notes,
    read_target,
    read_word_labels,
    refuse_rare_classes,
    refuse_rounded_labels,
    refuse_unknown_labels,
)
from probcal.reading.text_column import TextColumn, text_of
from probcal.try_table import choices
from probcal.try_table.column_types import ColumnChoices, FileFacts, TableColumn, indicator, infer_column
from probcal.try_table.column_warnings import warnings
from probcal.try_table.split_choice import (
    SplitChoice,
    choose_splits,
    draw_sample,
    group_column,
    refuse_few_groups,
    sample_size,
    time_column,
    weight_column,
)
from probcal.try_table.warning_codes import refuse_unknown_codes, shown_warnings

_MOST_NAMES = 10
_UNEVEN = 4
"""How many times as many rows there must be as Kish's effective number of rows for a note on it."""


def slug(text: str, default: str) -> str:
    """Return ``text`` as the name of a card and of a folder: small letters, digits, ``-`` and ``_``."""
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9_]+", "-", ascii_only).strip("-_")[:40].strip("-_") or default


@dataclass(frozen=True)
class TableRequest:
    """Hold the options of the command line that describe the table."""

    source: str
    target: str | None = None
    positive: str | None = None
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    rows: int | None = None
    seed: int = 0
    decimal: Mark | None = None
    """The decimal mark of the file. None means that it is inferred."""
    label: tuple[str, ...] = ()
    """Words such as NA that are labels of the target, although they usually mean a missing value."""
    group: str | None = None
    """The column whose rows of one value stay on one side of a split."""
    time: str | None = None
    """The column that orders the rows in time."""
    weight: str | None = None
    """The column of the weights of the rows."""
    ignore: tuple[str, ...] = ()
    """Codes of warnings that are not shown."""
    reading: ReadingOptions = READ_AS_IT_IS


@dataclass(frozen=True)
class PreparedTable:
    """Hold a table ready to run. ``columns`` holds all but the target, in the order of the table."""

    table: UserTable
    target: Target
    columns: list[TableColumn]
    counts: Mapping[str, int]
    """Label -> number of its rows in the whole table. ``target.counts`` counts the used rows."""
    rows: npt.NDArray[np.intp]
    """The numbers of the used labelled rows, sorted."""
    target_mark: Mark = "."
    """The decimal mark of labels that are numbers."""
    split: SplitChoice = field(default_factory=lambda: choose_splits(10))
    enriched_classes: Mapping[str, int] = field(default_factory=dict)
    """Rare class -> number of its used rows, more than its share."""
    notes: list[str] = field(default_factory=list)
    """Notes to read before you trust any result."""
    ignored: tuple[str, ...] = ()
    """Codes of warnings that are not shown."""

    def raw_column(self, place: int) -> pd.Series:
        """Return one column of the labelled rows as it was read, (n_labelled,). Many different texts take a while."""
        return self.table.pandas_column(place)[self.target.label_mask].reset_index(drop=True)

    @property
    def n_labelled(self) -> int:
        """Return the number of rows that have a label."""
        return sum(self.counts.values())

    @property
    def inputs(self) -> list[TableColumn]:
        """Return the columns to learn from."""
        return [column for column in self.stored_columns if column.kind not in ("group", "time", "weight")]

    @property
    def split_column(self) -> TableColumn | None:
        """Return the column of groups or of time, by which rows are split."""
        return next((column for column in self.columns if column.kind in ("group", "time")), None)

    @property
    def stored_columns(self) -> list[TableColumn]:
        """Return the columns to learn from, the one by which rows are split, and that of the weights."""
        return [column for column in self.columns if column.kind != "left out"]

    @property
    def class_names(self) -> list[str]:
        """Return the name of each class, in the order of the class numbers. The second of two is the positive one."""
        names = list(self.target.class_counts)
        return names if self.target.positive is None else names[::-1]

    @property
    def table_class_counts(self) -> dict[str, int]:
        """Return the rows of each class in the whole table."""
        return replace(self.target, counts=self.counts).class_counts

    @property
    def weight(self) -> npt.NDArray[np.float64] | None:
        """Return the weights of the labelled rows, (n_labelled,), all above 0. None without ``--weight``."""
        weights = [column.values.to_numpy(np.float64) for column in self.columns if column.kind == "weight"]
        return weights[0] if weights else None

    @property
    def class_shares(self) -> npt.NDArray[np.float64]:
        """Return the share of each class in the weight of the whole table, in the order of ``class_names``."""
        if self.weight is None:
            counts = np.array([self.table_class_counts[name] for name in self.class_names])
            return np.asarray(counts / counts.sum())
        sums = np.bincount(self.class_numbers, self.weight, minlength=len(self.class_names))
        return np.asarray(sums / sums.sum())

    @property
    def class_numbers(self) -> npt.NDArray[np.int64]:
        """Return the class number of each labelled row, (n_labelled,)."""
        code_of = {name: code for code, name in enumerate(self.class_names)}
        return np.array([code_of[name] for name in self.target.classes[self.target.label_mask]], dtype=np.int64)

    @property
    def sample_weights(self) -> npt.NDArray[np.float64]:
        """Return the weights of the used rows, (n_used,). Rows of a class that the sample has more of weigh less."""
        assert self.weight is not None
        counts, table_counts = self.target.class_counts, self.table_class_counts
        factors = np.array([table_counts[name] / counts[name] for name in self.class_names])
        if not self.enriched_classes:
            factors = np.ones(len(factors))
        return np.asarray(self.weight[self.rows] * factors[self.class_numbers[self.rows]])

    @property
    def class_weights(self) -> tuple[float, ...] | None:
        """Return the rows of each class in the table over those in the sample, by class number.

        It is None where the sample has the classes in their shares, and where ``sample_weights`` make up for them.
        """
        if not self.enriched_classes or self.weight is not None:
            return None
        counts, table_counts = self.target.class_counts, self.table_class_counts
        return tuple(table_counts[name] / counts[name] for name in self.class_names)

    @property
    def bound(self) -> float:
        """Return the bound of probabilities for all labelled rows."""
        if self.weight is None:
            return choices.bound(self.table_class_counts.values())
        return choices.bound((self.class_shares * self.n_labelled).tolist())

    @property
    def most_levels(self) -> int:
        """Return the largest number of levels of a category."""
        return max((_width(column) for column in self.inputs), default=1)

    @property
    def width(self) -> int:
        """Return the number of columns as most learners get them: one for each level of a category."""
        return sum(map(_width, self.inputs))

    def plan_of_new_rows(self, is_native: bool = False, is_nested: bool = False) -> TablePlan:
        """Return how the table was read, for new rows.

        ``is_native`` says that the learner gets categories as they are, and ``is_nested`` that the method needs the
        column of groups or time.
        """
        target, names = self.target, self.class_names
        split_column, groups = self.split_column, None
        if split_column is not None and is_nested:
            groups = split_column.plan or ColumnPlan(split_column.name, "category")
        class_of = dict(zip(target.labels[target.label_mask], target.classes[target.label_mask], strict=True))
        return TablePlan(
            inputs=tuple(column.plan for column in self.inputs if column.plan is not None),
            target=target.name,
            classes=tuple(names),
            labels={label: names.index(class_name) for label, class_name in class_of.items()},
            target_mark=self.target_mark,
            native=is_native,
            bound=self.bound,
            groups=groups,
            reading=self.table.reading,
            weight=next((column.name for column in self.columns if column.kind == "weight"), None),
        )

    def training_rows(self) -> tuple[pd.DataFrame, np.ndarray, np.ndarray | None]:
        """Return the inputs of all labelled rows, their class numbers, and their group or time where they have one."""
        X = pd.DataFrame({column.name: column.values for column in self.inputs})
        y = self.class_numbers
        split_column = self.split_column
        if split_column is None:
            return X, y, None
        return X, y, np.asarray(split_column.values.cat.codes if split_column.kind == "group" else split_column.values)


def prepare(request: TableRequest, n_splits: int = 10) -> PreparedTable:
    """Read the table and infer its types. Raise DataError for a table that cannot be used."""
    refuse_unknown_codes(request.ignore)
    split = choose_splits(n_splits, request.group, request.time)
    table = read_table(request.source, request.reading)
    names = card_names(table.names)
    table_name = table.origin_name
    target_index = _target_index(request.target or table.target, table, names, table_name)
    target_name = names[target_index]
    user_labels = [word for word in (*request.label, request.positive) if word is not None]
    if pa.types.is_floating(table.columns[target_index].type):
        refuse_rounded_labels(target_name, table.columns[target_index].to_pandas(), table_name)
    target_text = table.texts.get(target_index)
    plain = text_of(table.columns[target_index]) if target_text is None else target_text
    labels, words = read_word_labels(
        target_name,
        plain.categories(),
        plain.with_words(plain.words).categories() if plain.words else None,
        user_labels,
    )
    levels = list(labels.cat.categories)
    # labels are spelt alike in every format: 1.0 as 1, and True as true
    labels = respell(labels, dict(zip(levels, same_spelling(levels), strict=True)).get)
    if missing := table.missing_words(target_index):
        table = replace(table, notes=[*table.notes, "missing values written as " + ", ".join(map(repr, missing))])
    choices = _column_choices(request, names, target_name, table_name)
    marks = _marks(table, request, names, target_index, choices, labels)
    target_mark = marks[target_index] if target_index in table.texts else "."
    weight, n_weightless = None, 0
    if request.weight is not None:
        weight_index = names.index(request.weight)
        weight = FileColumn(table, weight_index).weights(marks[weight_index] if weight_index in table.texts else ".")
        if n_weightless := int(((weight == 0) & labels.notna()).sum()):
            words = [*words, f"left out: {counted(n_weightless)} of weight 0"]
            labels = labels.where(weight > 0)
        known = weight[labels.notna().to_numpy()]
        if (n_effective := effective_rows(known, known**2)) < len(known) / _UNEVEN:
            note = f"the weights are uneven: {counted(len(known))} count like {n_effective:,.0f} of equal weight"
            words = [*words, note]
    target = read_target(target_name, labels, table_name, target_mark, request.positive)
    words = [*words, *blank_notes(target, table.columns[target_index])]
    columns = _infer_columns(table, names, target, choices, marks, split, request.weight, weight)
    number_names = {target_name, *(column.name for column in columns if column.kind == "number")}
    notes = list(marks.notes({index: name for index, name in enumerate(names) if name in number_names}))
    notes += [*words, *_notes(table, target, columns, n_weightless, request.ignore)]
    refuse_unknown_labels(request.label, target, table_name)
    prepared = PreparedTable(
        table,
        target,
        columns,
        target.counts,
        np.arange(int(target.label_mask.sum())),
        target_mark,
        split,
        notes=notes,
        ignored=request.ignore,
    )
    if not prepared.inputs:
        raise DataError(f"{table_name}: no column is left to learn from{_exclusion_text(columns)}")
    refuse_rare_classes(target, table_name)
    return _sample_rows(prepared, request, table_name)


def _infer_columns(
    table: UserTable, names: list[str], target: Target, choices: ColumnChoices, marks: Marks, split: SplitChoice,
    weight_name: str | None, weight: npt.NDArray[np.float64] | None,
) -> list[TableColumn]:  # fmt: skip
    """Return the columns of the labelled rows, and after them the indicators of texts between numbers."""
    labelled = pa.array(target.label_mask)
    rows = np.flatnonzero(target.label_mask)
    columns, indicators = [], []
    for index, name in enumerate(names):
        if name == target.name:
            continue
        raw = table.columns[index] if len(rows) == table.n_rows else table.columns[index].filter(labelled)
        facts = FileFacts(
            marks[index], marks.undecided.get(index, ""), table.declares_numbers, lambda row: table.where(rows[row])
        )
        if name == weight_name and weight is not None:
            columns.append(weight_column(name, weight[rows]))
        elif name == split.column and split.kind == "group_k_fold":
            columns.append(group_column(name, raw))
        elif name == split.column:
            column = infer_column(name, raw, ColumnChoices(), facts)
            if column.is_counter:  # which orders the rows, although nothing can be learned from it
                column = infer_column(name, raw, ColumnChoices(number=[name]), facts)
            columns.append(time_column(name, column))
        else:
            text = table.texts.get(index) if len(rows) == table.n_rows else None
            columns.append(infer_column(name, raw, choices, facts, text))
            indicators.append(indicator(columns[-1], raw, names))
    return [*columns, *(column for column in indicators if column is not None)]


def _sample_rows(prepared: PreparedTable, request: TableRequest, table_name: str) -> PreparedTable:
    target, labelled = prepared.target, prepared.target.label_mask
    labels = target.labels[labelled]
    size = sample_size(len(labels), prepared.width, request.rows)
    sample = draw_sample(target.classes[labelled], labels, size, request.seed)
    counts = {label: int((labels[sample.rows] == label).sum()) for label in target.counts}
    sample_target = replace(target, counts=counts)
    refuse_rare_classes(
        sample_target, f"{table_name}, a sample of {size:,} of {len(labels):,} rows (--rows takes more)"
    )
    result = replace(prepared, target=sample_target, rows=sample.rows, enriched_classes=sample.enriched_classes)
    refuse_few_groups(result.columns, sample.rows, prepared.split)
    return result


def _target_index(target: str | None, table: UserTable, names: list[str], table_name: str) -> int:
    raw = list(table.names)
    if target is None:
        raise DataError(
            f"{table_name}: no target is given; name it with --target; there are: {join_first(names, _MOST_NAMES)}"
        )
    for spellings in (raw, [name.strip() for name in raw], names):
        indices = [index for index, name in enumerate(spellings) if name in (target, clean_name(target))]
        if len(indices) == 1:
            return indices[0]
        if indices:
            raise DataError(f'{table_name}: {len(indices)} columns are called "{target}"; give the target another name')
    hint = table.header_hint(target) or did_you_mean(target, names)
    raise DataError(f'{table_name}: there is no column "{target}"{hint} (it has: {join_first(names, _MOST_NAMES)})')


def _column_choices(request: TableRequest, names: list[str], target: str, table_name: str) -> ColumnChoices:
    options: dict[str, str] = {}
    for option in ("category", "number", "drop"):
        for name in getattr(request, option):
            if name not in names:
                raise DataError(f'--{option}: {table_name} has no column "{name}"{did_you_mean(name, names)}')
            if name == target:
                raise DataError(f'--{option}: "{name}" is the target')
            if options.setdefault(name, option) != option:
                raise DataError(f'column "{name}" is given with --{options[name]} and with --{option}; give one')
    split_options = (("group", request.group), ("time", request.time))
    for option, column in (*split_options, ("weight", request.weight)):
        if column is not None and column not in names:
            raise DataError(f'--{option}: {table_name} has no column "{column}"{did_you_mean(column, names)}')
        if column == target:
            raise DataError(f'--{option}: "{column}" is the target')
        if column in options:
            raise DataError(f'column "{column}" is given with --{options[column]} and with --{option}; give one')
    for option, column in split_options:
        if column is not None and column == request.weight:
            raise DataError(f'column "{column}" is given with --{option} and with --weight; give one')
    return ColumnChoices(request.category, request.number, request.drop)


def _marks(
    table: UserTable, request: TableRequest, names: list[str], target: int, choices: ColumnChoices, labels: pd.Series
) -> Marks:
    """Return the decimal marks, decided from all columns with numbers as text, the ``labels`` among them."""
    texts = {
        index: column
        for index, column in table.texts.items()
        if names[index] not in (*choices.category, *choices.drop)
        and (not table.declares_numbers or names[index] in choices.number)
    }
    if target in table.texts:
        texts[target] = TextColumn(pa.array(labels.astype(object).where(labels.notna(), None), pa.large_string()), ())
    numbers = [index for index, name in enumerate(names) if name in (*choices.number, request.weight)]
    marks = decimal_marks(texts, table.separator, request.decimal, numbers)
    if request.weight is not None:
        marks.refuse_undecided(names.index(request.weight), request.weight, table.origin_name)
    return marks


def _notes(
    table: UserTable, target: Target, columns: list[TableColumn], n_weightless: int, ignored: Collection[str]
) -> list[str]:
    notes = []
    n_unlabelled = int((~target.label_mask).sum()) - n_weightless
    if n_unlabelled:
        notes.append(f"{n_unlabelled:,} of {len(target.labels):,} rows have no {target.name} and are left out")
    raw = [str(name).strip() for name in table.names]
    n_renamed = sum(old != new for old, new in zip(raw, card_names(raw), strict=True))
    if n_renamed:
        subject = counted(n_renamed, "column has", "columns have")
        notes.append(f"{subject} another name here than in the table, so that each name is unique")
    notes.extend(shown_warnings(warnings(columns, target.labels[target.label_mask]), ignored))
    return notes


def _exclusion_text(columns: Sequence[TableColumn]) -> str:
    reasons = [f"{column.name}: {column.about}" for column in columns[:_MOST_NAMES]]
    return f" ({'; '.join(reasons)})" if reasons else ": it has one column, the target"


def _width(column: TableColumn) -> int:
    return len(column.values.cat.categories) if column.kind == "category" else 1
