"""Single columns of a table of predictions: probabilities, weights and groups, checked line by line."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from probcal._io import counted
from probcal.errors import DataError
from probcal.measure.file_columns import (
    LARGEST_RATIO,
    SIGN,
    group_names,
    percent_signs,
    scaled_weights,
    texts_of,
    without_percent_signs,
)
from probcal.reading.number_form import Mark, plain_values, rounded_numbers
from probcal.reading.table import UserTable
from probcal.reading.text_column import text_of

Floats = npt.NDArray[np.float64]

MISSING_GROUP = "(missing)"
_MOST_GROUPS = 50
ROUNDING = 1e-6
"""How far a probability may lie beyond 0 or 1: ten roundings of float32."""
_PERCENT_SHARE = 0.5
"""Share of the rows. Percent lie mostly above 1, and a slip of the pen is a single row."""


def place_name(table: UserTable) -> str:
    """Return the name of the file, ``standard input`` or ``openml:ID``, for messages."""
    return table.place if table.place.startswith("openml:") else Path(table.place).name


class ColumnReader:
    """Read single columns of one table, by their places. ``source`` names the table in messages."""

    def __init__(self, table: UserTable) -> None:
        self.table, self.source = table, place_name(table)
        self.texts = dict(table.texts)
        self.names = [str(name).strip() for name in table.names]
        self._series: dict[int, pd.Series] = {}

    def column(self, place: int) -> pd.Series:
        """Return a column as pandas has it. It takes a while for many distinct texts."""
        if place not in self._series:
            self._series[place] = self.table.pandas_column(place)
        return self._series[place]

    def read_percent_signs(self, place: int) -> None:
        """Replace the numbers of a column by hundredths if a per-cent sign follows each of them."""
        if place not in self.texts or not pc.any(pc.match_substring_regex(self.texts[place].distinct, SIGN)).as_py():
            return
        raw = self.column(place)
        signs, given = percent_signs(raw), raw.notna().to_numpy()
        if signs.sum() <= _PERCENT_SHARE * given.sum():  # single signs are refused like any other text
            return
        texts = texts_of(raw)
        self.refuse_rows(
            given & ~signs,
            self.names[place],
            lambda row: f'holds "{texts[row]}" without the per-cent sign of {counted(int(signs.sum()), "other row")}',
            "write all values of the column alike",
        )
        self._series[place] = without_percent_signs(raw)
        self.texts[place] = text_of(pa.chunked_array([pa.array(self._series[place], pa.string(), from_pandas=True)]))

    def probabilities(self, place: int, mark: Mark) -> Floats:
        name = self.names[place]
        values = self._read_numbers(place, mark, "a number from 0 to 1")
        bad = (values < -ROUNDING) | (values > 1 + ROUNDING)
        low, high = values.min(), values.max()
        advice = f"the values reach from {low:.4g} to {high:.4g}"
        if low >= 0 and high <= 100 and bad.mean() > _PERCENT_SHARE:
            advice += ", like percent; divide the column by 100"
        else:
            advice += "; scores are no probabilities, but a calibrator of the library with input='score' reads them"
        self.refuse_rows(
            bad, name, lambda row: f"holds {self._text(place, row)}, and a probability lies from 0 to 1", advice
        )
        return np.clip(values, 0, 1)

    def weights(self, place: int, mark: Mark) -> Floats:
        values = self._read_numbers(place, mark, "a weight of at least 0")
        self.refuse_rows(
            ~(np.isfinite(values) & (values >= 0)),
            self.names[place],
            lambda row: f"holds the weight {self._text(place, row)}",
            "give finite weights of at least 0",
        )
        if not values.any():
            raise DataError(f'{self.source}: column "{self.names[place]}" is 0 in every row; give a weight above 0')
        largest = float(values.max())
        self.refuse_rows(
            (values > 0) & (values < largest / LARGEST_RATIO),
            self.names[place],
            lambda row: f"holds the weight {self._text(place, row)} beside {largest:.4g}",
            f"give weights that differ by a factor of at most {LARGEST_RATIO:.0e}, or 0",
        )
        return scaled_weights(values)

    def groups(self, place: int) -> npt.NDArray[np.object_]:
        raw = self.column(place)
        texts = texts_of(raw)
        self.refuse_rows(
            rounded_numbers(raw),
            self.names[place],
            lambda row: f"holds {texts[row]}, a number whose last digits may be lost",
            "write the names of groups as text",
        )
        groups = group_names(raw, MISSING_GROUP)
        if (n := len(set(groups))) > _MOST_GROUPS:
            raise DataError(
                f'--group: column "{self.names[place]}" of {self.source} has {n:,} different values, and at most '
                f"{_MOST_GROUPS} groups are measured; join groups, or name another column"
            )
        return groups

    def _read_numbers(self, place: int, mark: Mark, kind: str) -> Floats:
        """Return (n_rows,) numbers. Raise DataError for a missing value or a text."""
        name = self.names[place]
        if (values := self._plain_numbers(place, mark)) is not None:
            return values
        values, missing = self._numbers(place, mark), self.column(place).isna().to_numpy()
        self.refuse_rows(missing, name, lambda _: "has no value", f"give every row {kind}, or remove such rows")
        self.refuse_rows(
            np.isnan(values),
            name,
            lambda row: f'holds "{self._text(place, row)}", no number',
            f"give {kind} (for 12 %, write .12; for a decimal comma, add --decimal ,)",
        )
        return values

    def _plain_numbers(self, place: int, mark: Mark) -> Floats | None:
        """Return the numbers of a column of plain numbers with a decimal point, or None: no value is read in Python."""
        column = self.table.columns[place]
        if place not in self.texts:
            is_plain = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
            values = column.to_numpy().astype(np.float64) if is_plain and not column.null_count else None
        else:
            numbers = self.texts[place].point_numbers if mark == "." else None
            values = None if numbers is None else self.texts[place].spread(numbers, np.nan)
        return None if values is None or np.isnan(values).any() else np.asarray(values, dtype=np.float64)

    def _numbers(self, place: int, mark: Mark) -> Floats:
        """Return (n_rows,) numbers with NaN for all others."""
        raw = self.column(place)
        if pd.api.types.is_numeric_dtype(raw) and not pd.api.types.is_bool_dtype(raw):
            return np.asarray(raw.to_numpy(np.float64, na_value=np.nan))
        if all(isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in raw.dropna()):
            return np.array([np.nan if pd.isna(value) else float(value) for value in raw])
        codes, levels = pd.factorize(texts_of(raw))
        values = plain_values(list(levels), mark)
        return np.asarray(np.append(values, np.nan)[codes])

    def _text(self, place: int, row: int) -> str:
        """Return a value as it stands in the file, for messages."""
        return str(texts_of(self.table.pandas_column(place).iloc[[row]])[0])

    def refuse_rows(self, bad: Any, column: str | None, fault: Callable[[int], str], advice: str) -> None:
        """Raise DataError with the first row of ``bad``, (n_rows,) bool, and the number of such rows."""
        if not (n := int(np.count_nonzero(bad))):
            return
        row = int(np.argmax(bad))
        lines = self.table.lines
        location = f"{self.source}:{lines[row]}" if lines is not None else f"{self.source}, row {row + 1}"
        prefix = "" if column is None else f'column "{column}" '
        suffix = f" (and {n - 1:,} more of {len(bad):,} rows)" if n > 1 else ""
        raise DataError(f"{location}: {prefix}{fault(row)}{suffix}; {advice}")
