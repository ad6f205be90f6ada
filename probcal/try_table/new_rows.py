"""New rows of a table for an exported model: read as the trial read its table, and given their probabilities."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from probcal._io import counted, data_text, join_first
from probcal.data.dataset import as_text
from probcal.errors import DataError, did_you_mean
from probcal.try_table.column_types import as_text_column
from probcal.try_table.dates_in_text import DateOrder, days, parse_ordered_dates
from probcal.try_table.file_reader import UserTable, read_table
from probcal.try_table.numbers_in_text import Mark, number
from probcal.try_table.preparation import card_names
from probcal.try_table.split_choice import group_column
from probcal.try_table.written_numbers import replace_written_numbers

VERSION = 3


@dataclass(frozen=True)
class InputColumn:
    """Describe how one input column of the trial was read."""

    name: str
    kind: Literal["number", "category", "date"]
    mark: Mark = "."
    written: bool = False
    """Whether units, currencies or times are taken from its numbers."""
    units: tuple[str, ...] = ()
    """The units and currencies of the training rows. A number in another one is missing."""
    asked: bool = False
    """Whether the user declared it as numbers, so that limits and ranges are numbers too."""
    dates: DateOrder = "iso"
    levels: tuple[str, ...] = ()
    """The levels of a category among the training rows."""


@dataclass(frozen=True)
class TableReading:
    """Hold how the table was read: its input columns, its target and what the classes mean."""

    inputs: tuple[InputColumn, ...]
    target: str
    classes: tuple[str, ...]
    """The label of each class number. The second of two is the positive one."""
    labels: Mapping[str, int]
    """Label of the target -> class number."""
    target_mark: Mark
    native: bool
    """Whether the learner gets categories as they are. Unknown levels are then missing values."""
    bound: float
    """The smallest probability that is predicted."""
    groups: InputColumn | None = None
    """The column of groups (as a category) or of time, which is no input."""
    model: str = ""
    """Digest of the file of the model."""


@dataclass(frozen=True)
class NewRows:
    """Hold the input columns ``X``, (n_rows, n_inputs), the whole table as it was read, and what was doubtful."""

    X: pd.DataFrame
    table: UserTable
    warnings: list[str]


def write_reading(reading: TableReading, path: Path) -> None:
    """Write ``reading`` as JSON."""
    content = {"version": VERSION, **asdict(reading)}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load_reading(path: Path) -> TableReading:
    """Return what ``write_reading`` wrote. Raise DataError for another file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("version") != VERSION:
            raise DataError(f"{path}: is of another version of probcal; export the model again")
        inputs = tuple(
            InputColumn(**{**entry, "levels": tuple(entry["levels"]), "units": tuple(entry["units"])})
            for entry in content.pop("inputs")
        )
        groups = content.pop("groups")
        content |= {"groups": groups and InputColumn(**{**groups, "levels": (), "units": tuple(groups["units"])})}
        return TableReading(inputs=inputs, **{**content, "classes": tuple(content["classes"])})
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(f"{path}: says nothing about columns ({error}); export the model again") from None


def read_new_rows(source: str | Path, columns: str | Path) -> NewRows:
    """Read the input columns of the table ``source`` as the file ``columns`` says.

    Raises DataError for a table that cannot be read, or that lacks an input column.
    """
    reading = load_reading(Path(columns))
    table = read_table(str(source))
    names = card_names(table.frame.columns)
    frame = table.frame.set_axis(names, axis=1)
    missing = [column.name for column in reading.inputs if column.name not in names]
    if missing:
        hint = did_you_mean(missing[0], names)
        missing_names = join_first((f'"{name}"' for name in missing), 5)
        raise DataError(f"{source}: the model needs the column{'s' * (len(missing) > 1)} {missing_names}{hint}")
    warnings: list[str] = []
    X = pd.DataFrame(
        {column.name: _read_column(column, frame[column.name], reading.native, warnings) for column in reading.inputs}
    )
    return NewRows(X, table, warnings)


def read_labelled_rows(source: str | Path, columns: str | Path) -> tuple[pd.DataFrame, npt.NDArray[np.int64]]:
    """Return the input columns of the rows that have a label, and their class numbers, (n_rows,).

    Raises DataError as ``read_new_rows`` does, and for a table without the target.
    """
    X, y, _ = _labelled_rows(source, columns)
    return X, y


def read_grouped_rows(
    source: str | Path, columns: str | Path
) -> tuple[pd.DataFrame, npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Return what ``read_labelled_rows`` returns, and the group or the time of each row, (n_rows,).

    Raises DataError as ``read_labelled_rows`` does, and for a table without the column of groups or time.
    """
    X, y, labelled = _labelled_rows(source, columns)
    column = load_reading(Path(columns)).groups
    if column is None or column.name not in labelled:
        raise DataError(f'{source}: has no column "{column.name if column else ""}" of groups or time')
    raw = labelled[column.name]
    if column.kind == "category":
        groups = group_column(column.name, raw).values
        assert groups is not None
        return X, y, groups.cat.codes.to_numpy()
    times = _read_column(column, raw, False, []).to_numpy()
    if n_missing := int(np.isnan(times).sum()):
        raise DataError(f'{source}: column "{column.name}" holds no time that can be read in {counted(n_missing)}')
    return X, y, times


def _labelled_rows(
    source: str | Path, columns: str | Path
) -> tuple[pd.DataFrame, npt.NDArray[np.int64], pd.DataFrame]:
    """Return the input columns and the class numbers of the rows that have a label, and all their columns as read."""
    reading, rows = load_reading(Path(columns)), read_new_rows(source, columns)
    names = card_names(rows.table.frame.columns)
    if reading.target not in names:
        raise DataError(f'{source}: has no target "{reading.target}"')
    place = names.index(reading.target)
    raw = rows.table.word_columns.get(place, rows.table.frame.iloc[:, place])
    y = np.array([_class_of(value, reading) for value in raw.astype(object)])
    labelled = rows.table.frame.set_axis(names, axis=1)[y >= 0].reset_index(drop=True)
    return rows.X[y >= 0].reset_index(drop=True), y[y >= 0], labelled


def _class_of(value: object, reading: TableReading) -> int:
    """Return the class number of a label, or -1 where it is none."""
    if pd.isna(value):
        return -1
    text = " ".join(as_text(value).split())
    if text in reading.labels:
        return reading.labels[text]
    label_number = number(text, reading.target_mark)
    return -1 if np.isnan(label_number) else reading.labels.get(as_text(label_number), -1)


def _read_column(column: InputColumn, raw: pd.Series, native: bool, warnings: list[str]) -> pd.Series:
    if column.kind == "category":
        return _read_category(column, as_text_column(raw), native, warnings)
    if pd.api.types.is_datetime64_any_dtype(raw):
        return pd.Series(days(raw))
    if pd.api.types.is_numeric_dtype(raw) and not pd.api.types.is_bool_dtype(raw):
        values = raw.to_numpy(np.float64, na_value=np.nan)
        return pd.Series(np.where(np.isfinite(values), values, np.nan))
    text = as_text_column(replace_written_numbers(raw, column.asked, column.units) if column.written else raw)
    levels = list(text.cat.categories)
    if column.kind == "date":
        level_values = parse_ordered_dates(levels, column.dates)
    else:
        level_values = np.array([number(level, column.mark) for level in levels], dtype=np.float64)
    bad_levels = [level for level, value in zip(levels, level_values, strict=True) if np.isnan(value)]
    if bad_levels:
        rows = int(text.isin(bad_levels).sum())
        unit_text = f" in {' or '.join(column.units)}" if column.units else ""
        warnings.append(
            f'column "{column.name}": {join_first(map(repr, bad_levels), 5)} in {counted(rows)} is no '
            f"{column.kind}{unit_text}"
            f" and counts as missing{_mark_advice(column, bad_levels)}"
        )
    return pd.Series(np.append(level_values, np.nan)[text.cat.codes.to_numpy()])


def _mark_advice(column: InputColumn, bad_levels: list[str]) -> str:
    """Return what to do if ``bad_levels`` are numbers with another decimal mark than those of the model's table."""
    other_mark: Mark = "," if column.mark == "." else "."
    name = "point" if column.mark == "." else "comma"
    if column.kind != "number" or not any(np.isfinite(number(level, other_mark)) for level in bad_levels):
        return ""
    return f"; the model reads a decimal {name}, so write the numbers of this table with it"


def _read_category(column: InputColumn, text: pd.Series, native: bool, warnings: list[str]) -> pd.Series:
    new_levels = [level for level in text.cat.categories if level not in set(column.levels)]
    if new_levels:
        rows = int(text.isin(new_levels).sum())
        warnings.append(
            f'column "{column.name}": {join_first(map(repr, new_levels), 5)} in {counted(rows)} did not occur when '
            "the model was fitted"
        )
    return text.cat.set_categories([*column.levels, *([] if native else new_levels)])


def clip_probabilities(p: npt.NDArray[np.float64], bound: float) -> npt.NDArray[np.float64]:
    """Return (n_rows, n_classes) the probabilities within the bound, each row divided by its sum."""
    clipped = np.clip(p, bound, 1 - bound)
    return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))


def probability_names(classes: Sequence[str]) -> list[str]:
    """Return the names of the columns of probabilities: that of the positive class, or of each of several."""
    return [f"p({label})" for label in (classes[1:] if len(classes) == 2 else classes)]


def with_probabilities(source: str, folder: Path) -> tuple[str, list[str]]:
    """Return the table ``source`` as CSV with the probabilities of the model in ``folder``, and warnings.

    The columns are the number of the row, those of the table, and the probability of the positive class or of each of
    several classes. Where the table has a column of that name, theirs ends in ``.1``. Columns that an earlier run added
    are replaced, so that the output may be an input again.

    Raises DataError for a table that does not fit the model, and for a model that cannot be read.
    """
    import joblib

    columns, file = folder / "columns.json", folder / "model.joblib"
    reading = load_reading(columns)
    rows = read_new_rows(source, columns)
    try:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}") from None
    if digest != reading.model:
        rows.warnings.append(f"{file} is not the file that was exported; the model card describes another one")
    try:
        model = joblib.load(file)
    except ModuleNotFoundError as error:
        raise DataError(f"{file}: needs the module {error.name}; install the package that has it") from None
    p = clip_probabilities(model.predict_proba(rows.X), reading.bound)
    probabilities = p[:, 1:] if len(reading.classes) == 2 else p
    frame = rows.table.frame.copy()
    header = [str(name) for name in frame.columns]
    frame.columns = range(len(header))
    for place, column in rows.table.word_columns.items():
        frame[place] = column
    if old_columns := _earlier_columns(header, reading):
        names = join_first((f'"{header[place]}"' for place in old_columns), 5)
        rows.warnings.append(f"the columns {names} of an earlier run of predict.py are replaced")
        frame = frame.drop(columns=old_columns)
    kept_names = [header[place] for place in frame.columns]
    number_name, *p_names = _added_names(kept_names, reading.classes)
    cells = frame.astype(object).where(frame.notna(), "")
    lines: Iterator[list[str]] = (
        [str(place), *map(as_text, row), *(f"{value:.6g}" for value in row_p)]
        for place, (row, row_p) in enumerate(zip(cells.to_numpy(), probabilities, strict=True), 1)
    )
    return data_text([[number_name, *kept_names, *p_names], *lines]), rows.warnings


def _added_names(header: Sequence[str], classes: Sequence[str]) -> list[str]:
    """Return the names of the row number and of the probabilities, none of which is in ``header``."""
    names = []
    for name in ("row", *probability_names(classes)):
        places = (f"{name}.{place}" for place in count(1))
        names.append(name if name not in header else next(candidate for candidate in places if candidate not in header))
    return names


def _earlier_columns(header: Sequence[str], reading: TableReading) -> list[int]:
    """Return the places of the columns that ``with_probabilities`` added to this table before, or none.

    An input of the model is never such a column, because its values are needed.
    """
    end = len(header) - len(probability_names(reading.classes))
    number_name, *p_names = _added_names(header[1:end], reading.classes)
    places = [0, *range(end, len(header))]
    inputs = {column.name for column in reading.inputs}
    is_match = end > 0 and [header[place] for place in places] == [number_name, *p_names]
    return places if is_match and inputs <= set(card_names(header[1:end])) else []
