"""File with the columns of the input and the calibrated probabilities beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from probcal._io import data_text, write_whole
from probcal.data.dataset import as_text
from probcal.errors import ProbcalError
from probcal.measure.predictions import Predictions


def refuse_path(option: str, path: Path, force: bool) -> None:
    """Raise ProbcalError unless ``path`` can be written. ``option`` names it in messages."""
    if path.is_dir():
        raise ProbcalError(f"{option}: {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise ProbcalError(f"{option}: the folder {path.parent} does not exist; create it first, or choose another")
    if path.exists() and not path.is_file():
        raise ProbcalError(f"{option}: {path} is not a regular file; name another")
    if path.exists() and not force:
        raise ProbcalError(f"{option}: {path} already exists and is not overwritten; add --force or choose another")


def new_columns(predictions: Predictions, map: str) -> list[str]:
    """Return the names of the calibrated columns: ``p_beta`` for column ``p`` and the map ``beta``.

    Raises ProbcalError where the table has such a column already.
    """
    names = [f"{column}_{map}" for column in predictions.columns]
    known = {str(name).strip() for name in predictions.table.frame.columns}
    if taken := [name for name in names if name in known]:
        raise ProbcalError(f'-o: the table already has a column "{taken[0]}"; rename it, or leave it out of the table')
    return names


def write_calibrated(path: Path, predictions: Predictions, map: str, calibrated: npt.NDArray[np.float64]) -> None:
    """Write every row and column of the table and the ``calibrated`` probabilities, (n_rows, n_classes), to ``path``.

    The separator and the decimal mark are those of the input. Raises ProbcalError where ``path`` cannot be written.
    """
    table, frame = predictions.table, predictions.table.frame
    columns = [_texts(table.with_words.get(place, frame.iloc[:, place])) for place in range(frame.shape[1])]
    kept = calibrated[:, -len(predictions.columns) :]
    columns += [[repr(float(one)).replace(".", predictions.mark) for one in column] for column in kept.T]
    header = [*(str(name) for name in frame.columns), *new_columns(predictions, map)]
    write_file("-o", path, data_text([header, *zip(*columns, strict=True)], predictions.table.separator or ","))


def write_file(option: str, path: Path, text: str) -> None:
    """Write ``text`` to ``path`` in one step. Raise ProbcalError where that fails."""
    try:
        write_whole(path, text)
    except OSError as error:
        raise ProbcalError(f"{option}: cannot write {path}: {error.strerror or error}; choose another place") from None


def _texts(column: pd.Series) -> list[str]:
    return ["" if one is None else as_text(one) for one in column.astype(object).where(column.notna(), None)]
