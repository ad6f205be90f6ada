"""ARFF, the format of Weka and of OpenML: dense files only."""

from __future__ import annotations

from pathlib import Path

import arff
import numpy as np
import pandas as pd

from probcal.data.text_columns import text_column
from probcal.errors import DataError


def read_arff(content: bytes, path: Path) -> pd.DataFrame:
    """The rows of a dense ARFF file: numeric attributes as float64, all others as categorical text.

    Raises DataError, naming the line where it is known, when the file is not sound ARFF. ``path`` is for messages.
    """
    try:
        table = arff.loads(content.decode("utf-8", "backslashreplace"))
    except arff.ArffException as error:
        # its own text of itself fails where the file holds a percent sign
        fault = error.message.replace("%d", str(error.line), 1).partition(", at line")[0].rstrip(".")
        raise DataError(f"{path}:{max(error.line, 1)}: is not sound ARFF: {fault}") from None
    except Exception as error:  # the parser stumbles over some faults that it does not look for
        raise DataError(f"{path}: is not sound ARFF: {error}") from None
    if not table["data"]:
        raise DataError(f"{path}: holds no data")
    columns = zip(*table["data"], strict=True)
    return pd.DataFrame(
        {
            name: _column(kind, values)
            for (name, kind), values in zip(table["attributes"], columns, strict=True)
        }
    )


def _column(kind: str | list[str], values: tuple[object, ...]) -> pd.Series:
    if isinstance(kind, str) and kind in ("NUMERIC", "REAL", "INTEGER"):
        return pd.Series(np.array(values, dtype=np.float64))
    return text_column(values)
