"""Periods of a column of dates, such as months: the times of rows as days, and the names of their periods."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from probcal.errors import DataError
from probcal.reading.dates import AMBIGUOUS, MIXED_ZONES, DateOrder, date_order, parse_dates, typed_days
from probcal.reading.file_columns import MOST_GROUPS, named_column
from probcal.reading.table import UserTable
from probcal.reading.text_column import is_date, is_text

Every = Literal["day", "week", "month", "quarter", "year"]


def days_of(table: UserTable, name: str) -> npt.NDArray[np.float64]:
    """Return the column of time as days since 1970, (n_rows,)."""
    place = named_column(table, "--time", name).index
    column = table.columns[place]
    if is_date(column.type):
        days = typed_days(column)
    elif is_text(column.type):
        text = table.texts[place]
        # each text must be a date, however frequent, and the one that is none is named below
        order = date_order(text.distinct, np.ones(len(text.distinct)), share=0.5)
        if order is None or order in (AMBIGUOUS, MIXED_ZONES):
            reason = "holds no dates" if order is None else order
            raise DataError(
                f'--time: column "{name}" of {table.origin_name} {reason}; write dates such as 2026-11-28 or '
                "2026-11-28 14:30"
            )
        days = np.asarray(text.spread(parse_dates(text.distinct, cast("DateOrder", order)), np.nan), dtype=np.float64)
    else:
        raise DataError(f'--time: column "{name}" of {table.origin_name} holds no dates; write them as 2026-11-28')
    if (missing := np.isnan(days)).any():
        row = int(np.argmax(missing))
        value = table.pandas_column(place).iloc[row]
        fault = "has no date" if value is None or value != value else f'holds "{value}", no date like the others'
        raise DataError(f'{table.where(row)}: column "{name}" {fault}; give each row its time')
    return days


def period_names(days: npt.NDArray[np.float64], every: Every) -> npt.NDArray[Any]:
    """Return the period of each day number, (n_rows,), such as 2026-11, 2026-Q4 or the Monday of a week."""
    dates = np.floor(days).astype(np.int64).astype("datetime64[D]")
    if every == "day":
        return dates.astype(str)
    if every == "week":
        return (dates - (dates.astype(np.int64) + 3) % 7).astype(str)  # day 0, 1970-01-01, was a Thursday
    if every == "quarter":
        months = dates.astype("datetime64[M]").astype(np.int64)
        return np.array([f"{1970 + month // 12}-Q{month % 12 // 3 + 1}" for month in months.tolist()])
    return dates.astype("datetime64[M]" if every == "month" else "datetime64[Y]").astype(str)


def refuse_many_periods(names: Collection[str], column: str, every: Every) -> None:
    """Raise DataError for more periods than groups are measured."""
    if len(names) > MOST_GROUPS:
        raise DataError(
            f'--time: column "{column}" has {len(names):,} periods of a {every}, and at most {MOST_GROUPS} are '
            "measured; name a longer one with --every"
        )
