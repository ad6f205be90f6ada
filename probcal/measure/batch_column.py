"""One column of a batch of a Parquet file: probabilities, weights, labels, groups and periods, checked row by row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from probcal.data.text_values import as_text
from probcal.errors import DataError
from probcal.reading.dates import parse_dates, typed_days
from probcal.reading.file_columns import MOST_GROUPS, ROUNDING, Floats
from probcal.reading.periods import Every, period_names, refuse_many_periods
from probcal.reading.text_column import TEXT, is_date, is_text

# Their ratio is the largest of one file, and the squares of these weights have finite sums.
_WEIGHTS = (1e-15, 1e15)


class BatchColumn:
    """Hold one column of a batch. ``first`` is the number of its first row in the file, counted from 0."""

    def __init__(self, path: Path, name: str, values: pa.Array, first: int) -> None:
        self._path, self._name, self._values, self._first = path, name, values, first

    def __len__(self) -> int:
        return len(self._values)

    def row_name(self, row: int) -> str:
        """Return the file and the number of a row of the batch, for messages."""
        return f"{self._path}, row {self._first + row + 1:,}"

    def probabilities(self) -> Floats:
        p = self._numbers()
        self._refuse((p < -ROUNDING) | (p > 1 + ROUNDING), "a probability lies from 0 to 1")
        return np.clip(p, 0, 1)

    def weights(self) -> Floats:
        weight = self._numbers()
        self._refuse(~np.isfinite(weight) | (weight < 0), "a weight is at least 0 and finite")
        # files are read apart, so no common scale can be found that keeps all sums finite
        low, high = _WEIGHTS
        self._refuse(
            (weight > 0) & ((weight < low) | (weight > high)),
            f"many files need weights from {low:g} to {high:g}, or 0; multiply all weights by one number",
        )
        return weight

    def periods(self, every: Every) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Return the number of each row's period, (n_rows,), and the names of the periods."""
        kind = self._values.type
        if is_date(kind):
            days = typed_days(pa.chunked_array([self._values]))
        elif is_text(kind):
            # the order of day and month would need the texts of all files
            days = parse_dates(self._values.cast(TEXT), "year month day")
        else:
            raise DataError(f'{self._path}: column "{self._name}" has the type {kind}; write dates as 2026-11-28')
        self._refuse(np.isnan(days), "give each row its time, written as 2026-11-28 or 2026-11-28 14:30")
        whole, places = np.unique(np.floor(days), return_inverse=True)
        names, numbers = np.unique(period_names(whole, every), return_inverse=True)
        refuse_many_periods(names.tolist(), self._name, every)
        return np.asarray(numbers[places], np.int64), names.tolist()

    def levels(self, missing: str | None) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Return the number of each row's value, (n_rows,), and the values as text. ``missing`` stands for none."""
        if missing is None:
            self._refuse(self._values.is_null().to_numpy(zero_copy_only=False), "each row needs a label")
        encoded = self._values if pa.types.is_dictionary(self._values.type) else self._values.dictionary_encode()
        texts = [" ".join(as_text(value).split()) for value in encoded.dictionary.to_pylist()]
        names = list(dict.fromkeys([*texts, *([] if missing is None else [missing])]))
        if len(names) > MOST_GROUPS + 1:
            raise DataError(
                f'{self._path}: column "{self._name}" has {len(names):,} different values, and at most {MOST_GROUPS}'
                " are measured; name another column"
            )
        # a text of the column may be spelled as the group of missing values is, and is then the same group
        of_missing = [] if missing is None else [names.index(missing)]
        places = np.array([*map(names.index, texts), *of_missing], dtype=np.int64)
        return places[encoded.indices.fill_null(len(texts)).to_numpy().astype(np.int64)], names

    def _numbers(self) -> Floats:
        kind = self._values.type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
            raise DataError(f'{self._path}: column "{self._name}" has the type {kind}; write numbers')
        values = pc.fill_null(self._values.cast(pa.float64()), np.nan).to_numpy()
        self._refuse(np.isnan(values), "each row needs a number")
        return np.asarray(values)

    def _refuse(self, bad: npt.NDArray[np.bool_], rule: str) -> None:
        if bad.any():
            row = int(np.argmax(bad))
            value = self._values[row].as_py()
            text = "nothing" if value is None else f"{value!r}"
            raise DataError(f'{self.row_name(row)}: column "{self._name}" holds {text}; {rule}')
