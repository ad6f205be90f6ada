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

from probcal._io import counted
from probcal.errors import DataError
from probcal.measure.file_columns import (
    LARGEST_RATIO,
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
        self.frame = table.frame.set_axis(range(table.frame.shape[1]), axis=1)
        self.texts = dict(table.texts)
        self.names = [str(name).strip() for name in table.frame.columns]

    def read_percent_signs(self, place: int) -> None:
        """Replace the numbers of a column by hundredths if a per-cent sign follows each of them."""
        raw = self.frame[place]
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
        self.frame = self.frame.copy(deep=False)
        self.frame[place] = without_percent_signs(raw)
        self.texts[place] = text_of(pa.chunked_array([pa.array(self.frame[place], pa.string(), from_pandas=True)]))

    def probabilities(self, place: int, mark: Mark) -> Floats:
        name = self.names[place]
        values, texts = self._read_numbers(place, mark, "a number from 0 to 1")
        bad = (values < -ROUNDING) | (values > 1 + ROUNDING)
        low, high = values.min(), values.max()
        advice = f"the values reach from {low:.4g} to {high:.4g}"
        if low >= 0 and high <= 100 and bad.mean() > _PERCENT_SHARE:
            advice += ", like percent; divide the column by 100"
        else:
            advice += "; scores are no probabilities, but a calibrator of the library with input='score' reads them"
        self.refuse_rows(bad, name, lambda row: f"holds {texts[row]}, and a probability lies from 0 to 1", advice)
        return np.clip(values, 0, 1)

    def weights(self, place: int, mark: Mark) -> Floats:
        values, texts = self._read_numbers(place, mark, "a weight of at least 0")
        self.refuse_rows(
            ~(np.isfinite(values) & (values >= 0)),
            self.names[place],
            lambda row: f"holds the weight {texts[row]}",
            "give finite weights of at least 0",
        )
        if not values.any():
            raise DataError(f'{self.source}: column "{self.names[place]}" is 0 in every row; give a weight above 0')
        largest = float(values.max())
        self.refuse_rows(
            (values > 0) & (values < largest / LARGEST_RATIO),
            self.names[place],
            lambda row: f"holds the weight {texts[row]} beside {largest:.4g}",
            f"give weights that differ by a factor of at most {LARGEST_RATIO:.0e}, or 0",
        )
        return scaled_weights(values)

    def groups(self, place: int) -> npt.NDArray[np.object_]:
        raw = self.frame[place]
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

    def _read_numbers(self, place: int, mark: Mark, kind: str) -> tuple[Floats, npt.NDArray[np.object_]]:
        """Return what ``_numbers`` does. Raise DataError for a missing value or a text."""
        values, texts = self._numbers(place, mark)
        name, missing = self.names[place], np.array([text is None for text in texts])
        self.refuse_rows(missing, name, lambda _: "has no value", f"give every row {kind}, or remove such rows")
        self.refuse_rows(
            np.isnan(values),
            name,
            lambda row: f'holds "{texts[row]}", no number',
            f"give {kind} (for 12 %, write .12; for a decimal comma, add --decimal ,)",
        )
        return values, texts

    def _numbers(self, place: int, mark: Mark) -> tuple[Floats, npt.NDArray[np.object_]]:
        """Return (n_rows,) numbers with NaN for all others, and (n_rows,) the texts, None where there is no value."""
        raw, texts = self.frame[place], texts_of(self.table.frame.iloc[:, place])
        if pd.api.types.is_numeric_dtype(raw) and not pd.api.types.is_bool_dtype(raw):
            return raw.to_numpy(np.float64, na_value=np.nan), texts
        if all(isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in raw.dropna()):
            return np.array([np.nan if pd.isna(value) else float(value) for value in raw]), texts
        codes, levels = pd.factorize(texts_of(raw))
        values = plain_values(list(levels), mark)
        return np.append(values, np.nan)[codes], texts

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
