"""The rows of a data set in the order of its file, and parts of it that another distribution made."""

from __future__ import annotations

import lzma
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from probcal.data.card import Split, find_card, read_card
from probcal.data.load import data_folder, load, obtain
from probcal.errors import DataError

MLC = {
    "ionosphere": "ionosphere",
    "kr-vs-kp": "chess",
    "liver": "liver-disorder",
    "mushroom": "mushroom",
}
"""Card -> name of the MLC++ files NAME.data (trains) and NAME.test. Of Sick there are none."""
MLC_PART = ".data trains"


@dataclass(frozen=True)
class Rows:
    """Hold a data set in file order.

    ``X``: (n_rows, n_columns) inputs. ``y``: (n_rows,), 1 for the positive class. ``classes``: (n_rows,) places of the
    labels in the order in which they first occur. ``parts``: name of a part -> (n_rows,) bool, its rows. ``order``:
    the row numbers in the order of those parts.
    """

    name: str
    X: pd.DataFrame
    y: np.ndarray
    classes: np.ndarray
    parts: dict[str, np.ndarray] = field(default_factory=dict)
    order: np.ndarray | None = None

    @property
    def n(self) -> int:
        return len(self.y)


def read_rows(name: str, folder: str | None = None, mlc: Path | None = None) -> Rows:
    """Read the data set of the card ``name``.

    ``folder`` has the original files (PROBCAL_DATA_DIR unless given), ``mlc`` those of MLC++. Raises ProbcalError when
    the data are not at hand or the parts are not these rows.
    """
    card = read_card(find_card(name))
    obtain(card, data_folder(folder))
    if card.split.kind == "holdout":  # such rows are sorted when they are read; those of a fixed split are not
        split = Split(kind="standard", train=round(0.66 * card.expect.rows))
        checks = card.expect.model_copy(update={"fingerprint": None})
        card = card.model_copy(update={"split": split, "expect": checks})
        obtain(card, data_folder(folder))
    dataset = load(card)
    classes = pd.factorize(dataset.y)[0]
    rows = Rows(name, dataset.X, dataset.y.astype(np.int64), classes)
    return _find_parts(rows, mlc / MLC[name]) if mlc and name in MLC else rows


def _find_parts(rows: Rows, stem: Path) -> Rows:
    """Find the lines of STEM.data and STEM.test among the rows. Equal rows are taken in order of appearance."""
    X, y = rows.X, rows.y
    files = {part: _lines(stem.with_name(f"{stem.name}.{part}")) for part in ("data", "test")}
    file_data = pd.concat(files.values(), ignore_index=True)
    if file_data.shape != (len(X), X.shape[1] + 1):
        raise DataError(f"{stem}: {file_data.shape} values in .data and .test, but the data set has {X.shape}")
    data = X.assign(label=y)
    keys = [pd.util.hash_pandas_object(_canonical_table(table), index=False) for table in (data, file_data)]
    tables = [pd.DataFrame({"key": key, "copy": key.groupby(key).cumcount()}) for key in keys]
    place = tables[0].reset_index().merge(tables[1].reset_index(), on=["key", "copy"], suffixes=("", "_theirs"))
    if len(place) != len(X):
        raise DataError(f"{stem}: only {len(place)} of {len(X)} rows are those of the data set")
    train = np.zeros(len(X), bool)
    train[place["index"][place["index_theirs"] < len(files["data"])]] = True
    order = place.sort_values("index_theirs")["index"].to_numpy()
    return replace(rows, parts={MLC_PART: train, ".test trains": ~train}, order=order)


def _lines(path: Path) -> pd.DataFrame:
    archive = path.with_name(path.name + ".xz")
    text = path.read_text() if path.is_file() else lzma.decompress(archive.read_bytes()).decode()
    records = [line.strip() for line in text.splitlines() if "," in line and not line.startswith("|")]
    lines = [line.rstrip(".").replace(" ", "").split(",") for line in records]
    return pd.DataFrame(lines)


def _canonical_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return numbers as numbers, and names as the rank of their frequency: MLC++ spells many of them out."""
    columns = []
    for column in table.values():
        text = column.astype(object).where(column.notna(), "?").map(str)
        numbers = pd.to_numeric(text.replace("?", np.nan), errors="coerce")
        if numbers.isna().sum() > (text == "?").sum() or text.nunique() <= 2:
            numbers = text.map(text.value_counts())
        columns.append(numbers.to_numpy(np.float64))
    return pd.DataFrame(dict(enumerate(columns)))
