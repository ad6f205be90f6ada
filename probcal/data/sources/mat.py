"""Reader of MATLAB files as mldata.org wrote them: a variable of the file is one column, or several of one type."""

from __future__ import annotations

import io
from collections.abc import Collection

import numpy as np
import pandas as pd

from probcal.data.dataset import text_column
from probcal.errors import DataError

_ORDER = "mldata_descr_ordering"
"""The variable that lists the others in the order of their columns."""


def read_mat(content: bytes, path: object, missing: Collection[str]) -> pd.DataFrame:
    """Read the variables of a file of mldata.org. Numbers become float64, cells of text become categorical.

    A variable of k > 1 columns gives NAME_1 to NAME_k. A text of ``missing`` becomes NaN. A number that stands for
    a missing value stays as it is. mldata.org wrote -2147483648, see ``missing_codes`` of a card. ``path`` is
    for messages.

    Raises DataError when the file is no MATLAB file of mldata.org.
    """
    from scipy.io import loadmat

    try:
        variables = loadmat(io.BytesIO(content))
    except Exception as error:  # a damaged file may make the reader raise anything
        raise DataError(f"{path}: is not a sound MATLAB file: {error}") from None
    if _ORDER not in variables:
        raise DataError(f"{path}: has no variable {_ORDER}, which the files of mldata.org have")
    names = [_text(name) for name in variables[_ORDER].ravel()]
    if absent := [name for name in names if name not in variables]:
        raise DataError(f"{path}: has no variable {absent[0]!r}, which {_ORDER} lists")
    columns: dict[str, pd.Series] = {}
    for name in names:
        table = np.atleast_2d(variables[name])  # columns x rows
        if table.dtype.kind not in "Oif":
            raise DataError(f"{path}: the variable {name!r} holds neither numbers nor text")
        titles = [name] if len(table) == 1 else [f"{name}_{number}" for number in range(1, len(table) + 1)]
        columns |= {title: _column(values, missing) for title, values in zip(titles, table, strict=True)}
    if len({len(column) for column in columns.values()}) != 1:
        raise DataError(f"{path}: its variables do not have the same number of rows")
    return pd.DataFrame(columns)


def _column(values: np.ndarray, missing: Collection[str]) -> pd.Series:
    if values.dtype != object:
        return pd.Series(values.astype(np.float64))
    texts = [_text(value) for value in values]
    return text_column([None if text in missing else text for text in texts])


def _text(cell: object) -> str:
    """Return the text of a cell, which may be empty."""
    return "".join(map(str, np.asarray(cell).ravel())).strip()
