"""Reading the rows of a data set from its original files, under the column names of its card."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from probcal.data.card import Card
from probcal.data.sources.formats import line_numbers, read_arff, read_delimited, read_mat, read_unpacked
from probcal.data.sources.packed_file import OPENERS
from probcal.data.sources.specifications import DataFile, FileSource, LabelFile
from probcal.data.text_values import as_text, respell, stack_frames, text_column
from probcal.errors import DataError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

Digests = dict[Path, str]
"""File -> sha256 of its bytes on the disk, packed or not."""


def missing_files(card: Card, data_dir: Path | str | None) -> list[str]:
    """Return the paths of the files that are missing, or an empty list when the original files can be read.

    ``data_dir`` is the data directory, with one folder per data set. Files of a user's own card may also lie beside
    the card, and must lie there when ``data_dir`` is None. Of several sources, the one that lacks the fewest files
    counts, and the first of equals. A card without a file source gives an empty list.
    """
    folder = set_folder(card, data_dir)
    paths = [[str(folder / name) for name in _missing_names(source, folder)] for source in card.files]
    return min(paths, key=len, default=[])


def read_original_files(card: Card, data_dir: Path | str | None, digests: Digests | None = None) -> pd.DataFrame:
    """Read the rows of the first complete file source of ``card``, ready for ``assemble``.

    The frame is (n_rows, n_columns) in the card's column names. Text is categorical, numbers are float64 (from
    ARFF and MATLAB files only), and missing values are NaN. A file may be plain, .gz or .xz. The digest of each file
    that was read is added to ``digests``.

    Raises DataError when files are missing or damaged, have another checksum than on the card, or hold something
    that the card does not describe. The message names the file and the line.
    """
    folder = set_folder(card, data_dir)
    source = _complete_source(card, folder)
    if source is None:
        if not card.files:
            raise DataError(f"{card.name}: the card names no original files")
        raise DataError(
            f"{card.name}: put these files in place, as they are or packed as .gz or .xz: "
            + ", ".join(missing_files(card, data_dir))
        )
    digests = {} if digests is None else digests
    frames = [_read_labelled(card, source, file, folder, digests) for file in source.files]
    columns = [name for name in card.columns if name != "*"]
    if "*" in card.columns:
        columns += [name for name in frames[0] if name not in card.columns]
    for file, frame in zip(source.files, frames, strict=True):
        _check_columns(frame, columns, folder / file.name)
    rows = stack_frames(frames)
    if source.label_until:
        pattern = re.compile(f"[{re.escape(source.label_until)}]")
        labels = _as_text_column(rows[card.target])
        rows[card.target] = respell(labels, lambda label: pattern.split(label, maxsplit=1)[0].strip())
    for name, spellings in source.rename.items():
        if name not in rows:
            raise DataError(f"{card.name}: rename: there is no column {name!r}{did_you_mean(name, rows.columns)}")
        rows[name] = respell(_as_text_column(rows[name]), lambda value, mapping=spellings: mapping.get(value, value))  # type: ignore[misc]  # the default is of the loop
    return rows.iloc[: source.first_rows]


def original_paths(card: Card, data_dir: Path | str | None) -> list[Path]:
    """Return the files that ``read_original_files`` reads, including label files. Empty while some are missing."""
    folder = set_folder(card, data_dir)
    source = _complete_source(card, folder)
    return [path for name in _names(source) if (path := _find(folder, name))] if source else []


def digest_files(digests: Digests) -> str:
    """Return one digest of the names and bytes of several files, wherever they lie."""
    parts = [[path.name, digest] for path, digest in digests.items()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def origin(card: Card, data_dir: Path | str | None, row: int | None = None) -> str:
    """Return where ``read_original_files`` reads its rows, for a message.

    That is the paths of all files. For one ``row``, counted from 0, it is path and line where the format has lines.
    """
    folder = set_folder(card, data_dir)
    source = _complete_source(card, folder)
    assert source is not None  # its rows were read
    paths = [_find(folder, file.name) for file in source.files]
    for file, path in zip(source.files, paths, strict=True):
        if row is None or _format(source, file) != "delimited":
            break
        lines = line_numbers(_content(path, file, {}), source, file.skip_lines)  # type: ignore[arg-type]  # a row has a number only where its file was found
        if row < len(lines):
            return f"{path}:{lines[row]}"
        row -= len(lines)
    return ", ".join(map(str, paths))


def set_folder(card: Card, data_dir: Path | str | None) -> Path:
    """Return the folder of the files: beside a user's own card if all are there, otherwise in the data directory."""
    name = card.folder or card.name
    if card.own_folder and (
        data_dir is None or any(not _missing_names(source, card.own_folder / name) for source in card.files)
    ):
        return card.own_folder / name
    return Path(data_dir or "DATA_DIR") / name


def _complete_source(card: Card, folder: Path) -> FileSource | None:
    """Return the first source whose files are all in ``folder``. Raise DataError where one lies elsewhere by a link."""
    source = next((source for source in card.files if not _missing_names(source, folder)), None)
    # Files may lead to other data sets by links, but not out of the folder of all data sets.
    depth = len(PurePath(card.folder or card.name).parts)
    root = folder.parents[depth - 1] if depth else folder
    for path in [path for name in _names(source) if (path := _find(folder, name))] if source else []:
        if not (target := path.resolve()).is_relative_to(root.resolve()):
            raise DataError(
                f"{card.name}: {path} leads by a link to {target}, which is not below {root}; copy the file, or name "
                "the folder where all data files are with --data-dir or PROBCAL_DATA_DIR (which may itself be a link)"
            )
    return source


def _names(source: FileSource) -> list[str]:
    return [part.name for file in source.files for part in (file, file.labels) if part]


def _missing_names(source: FileSource, folder: Path) -> list[str]:
    return [name for name in _names(source) if _find(folder, name) is None]


def _find(folder: Path, name: str) -> Path | None:
    candidates = (folder / f"{name}{ending}" for ending in ("", *OPENERS))
    return next((path for path in candidates if path.is_file()), None)


def _read_labelled(card: Card, source: FileSource, file: DataFile, folder: Path, digests: Digests) -> pd.DataFrame:
    """Return the rows of one file, joined with their labels where another file holds these."""
    import pandas as pd

    if file.labels is None:
        return _read(card, source, file, folder, list(card.columns), digests)
    rows = _read(card, source, file, folder, [name for name in card.columns if name != card.target], digests)
    labels = _read(card, source, file.labels, folder, [card.target], digests)
    if file.labels.key is None:
        if len(labels) != len(rows):
            raise DataError(
                f"{folder / file.labels.name}: {len(labels)} labels for the {len(rows)} rows of {file.name}"
            )
        position = slice(None)
    else:
        position = _positions(rows, labels, file, file.labels, folder)
    label_columns = [name for name in labels if name not in rows]
    return pd.concat([rows, labels[label_columns].iloc[position].reset_index(drop=True)], axis=1)


def _positions(
    rows: pd.DataFrame, labels: pd.DataFrame, file: DataFile, label_file: LabelFile, folder: Path
) -> pd.Series:
    import pandas as pd

    for frame, name in ((rows, file.name), (labels, label_file.name)):
        if label_file.key not in frame:
            raise DataError(f"{folder / name}: has no column {label_file.key!r}, the key of the labels")
    # The two files may be in different order.
    label_keys = pd.Index(labels[label_file.key].astype(object))
    if label_keys.has_duplicates:
        duplicate = label_keys[label_keys.duplicated()][0]
        raise DataError(f"{folder / label_file.name}: two labels have {label_file.key} {duplicate}")
    keys = rows[label_file.key].astype(object)
    position = pd.Series(label_keys.get_indexer(keys))
    if (position < 0).any():
        key = keys[position.idxmin()]
        raise DataError(f"{folder / label_file.name}: has no label for {label_file.key} {key} of {file.name}")
    return position


def _read(
    card: Card, source: FileSource, file: DataFile | LabelFile, folder: Path, names: list[str], digests: Digests
) -> pd.DataFrame:
    """Return the rows of one file under the card's column names. ``names`` are used where the file has no header."""
    path = _find(folder, file.name)
    if path is None:
        raise AssertionError(file.name)  # only complete sources are read
    content = _content(path, file, digests)
    format = _format(source, file)
    if format == "arff":
        frame = read_arff(content, path)
    elif format == "mat":
        frame = read_mat(content, path, source.missing)
    else:
        skip = file.skip_lines if isinstance(file, DataFile) else []
        frame = read_delimited(content, path, source, None if source.header else names, skip)
    if source.column_names == "by position":
        if len(frame.columns) != len(names):
            raise DataError(f"{path}: has {len(frame.columns)} columns, and the card names {len(names)}")
        return frame.set_axis(names, axis=1)
    return frame.rename(columns=source.column_names)


def _format(source: FileSource, file: DataFile | LabelFile) -> str:
    return (file.format if isinstance(file, DataFile) else None) or source.format


def _content(path: Path, file: DataFile | LabelFile, digests: Digests) -> bytes:
    """Return the unpacked bytes, after checking their checksum. Raises DataError for a file that is too large."""
    content, digests[path] = read_unpacked(path, packed=path.name != PurePath(file.name).name)
    digest = hashlib.sha256(content).hexdigest()
    if file.sha256 is not None and digest != file.sha256:
        raise DataError(
            f"{path}: is not the file that the card means (sha256 {digest}, on the card {file.sha256}); "
            "get the original file"
        )
    return content


def _check_columns(frame: pd.DataFrame, columns: list[str], path: Path) -> None:
    if frame.columns.has_duplicates:
        duplicate = frame.columns[frame.columns.duplicated()][0]
        raise DataError(f"{path}: two columns are called {duplicate!r}")
    for name in columns:
        if name not in frame:
            raise DataError(f"{path}: has no column {name!r}{did_you_mean(name, frame.columns)}")
    for name in frame:
        if name not in columns:
            raise DataError(f"{path}: has a column {name!r} unknown to the card{did_you_mean(name, columns)}")


def _as_text_column(column: pd.Series) -> pd.Series:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):
        return column
    # Values are renamed as texts.
    return text_column(column.map(as_text, na_action="ignore").astype(object))
