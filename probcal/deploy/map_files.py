"""Maps in files of users: read, applied to the rows of a table, and written in the form of another program."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from probcal._io import counted, join_first
from probcal.deploy.formula_text import map_to_python, map_to_sql
from probcal.deploy.onnx_graph import map_to_onnx
from probcal.errors import DataError, ProbcalError
from probcal.methods.calibrators.map_file import map_from_json
from probcal.methods.registry import map_paths
from probcal.reading.labelled_rows import Bools, rows_of
from probcal.reading.number_form import Mark
from probcal.reading.output_file import delimited_with_columns, parquet_with_columns, write_output
from probcal.reading.prediction_file import (
    calibrated_names,
    label_of_name,
    labels_of_columns,
    number_columns,
    probability_columns,
)
from probcal.reading.reading_options import READ_AS_IT_IS, ReadingOptions
from probcal.reading.table import UserTable, read_table

Form = Literal["sql", "python", "onnx"]
_MOST_BYTES = 1 << 30
_MOST_NAMES = 5


def read_map(path: Path, source: str = "") -> tuple[Any, dict[str, Any]]:
    """Return the map in a JSON file and its audit record. No code of the file is run.

    ``source`` is the table that follows it in the command. Raises ProbcalError if the file cannot be read or holds no
    map.
    """
    advice = "the first file must be a map, as --export and to_json write it"
    if source.endswith(".json") and path.suffix != ".json":
        advice = f"the first file must be the map: probcal apply {shlex.join([source, str(path)])}"
    try:
        if path.is_file() and path.stat().st_size > _MOST_BYTES:
            raise ProbcalError(f"{path} is larger than a map can be; {advice}")
        text = path.read_text(encoding="utf-8-sig")  # editors may write a mark
        calibrator = map_from_json(text)
    except OSError as error:
        raise ProbcalError(f"{path}: {error.strerror or error}; {advice}") from None
    except ValueError as error:
        raise ProbcalError(f"{path}: {error}; {advice}") from None
    audit = json.loads(text).get("audit")
    return calibrator, audit if isinstance(audit, dict) else {}


def column_names(path: Path, calibrator: Any, audit: dict[str, Any], given: Sequence[str]) -> list[str]:
    """Return the names of the columns of scores: those ``given``, or else those that the map was fitted on.

    These are in the audit record, or those of a frame that ``fit`` got. Raises ProbcalError if there are none.
    """
    names = [*given] or audit.get("probability") or list(getattr(calibrator, "feature_names_in_", ()))
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not names:
        raise ProbcalError(
            f"{path} does not name its columns; name them with --probability, in the order of the classes"
        )
    return names


def write_form(
    path: Path, form: Form, output: Path | None, given: Sequence[str], print_text: Callable[[str], None]
) -> None:
    """Write the map in ``path`` as SQL, Python or ONNX. ``given`` names its columns in SQL.

    Raises ProbcalError if the map has no such form, and MissingPackage without the package onnx.
    """
    calibrator, audit = read_map(path)
    if given and form != "sql":
        raise ProbcalError(f"--probability names the columns of --as sql, and --as {form} has none; leave it out")
    if form == "onnx" and output is None:
        raise ProbcalError("--as onnx: an ONNX graph is no text; name its file with -o, such as -o map.onnx")
    try:
        content: str | bytes
        if form == "sql":
            names = column_names(path, calibrator, audit, given)
            names = _in_class_order(names, calibrator, str(path), is_sure=True) if given else names
            content = map_to_sql(calibrator, names) + "\n"
        else:
            content = map_to_python(calibrator) if form == "python" else map_to_onnx(calibrator)
    except ValueError as error:
        raise ProbcalError(f"{path}: {error}") from None
    if output is None:
        print_text(str(content))
        return
    write_output("-o", output, content)


def apply_map(
    path: Path, source: str, output: Path | None, probability: Sequence[str], decimal: Mark | None,
    print_text: Callable[[str], None], print_note: Callable[[str], None], reading: ReadingOptions = READ_AS_IT_IS,
) -> None:  # fmt: skip
    """Write the rows of a table with the probabilities that the map in ``path`` gives them.

    ``probability`` names the columns of the scores, in the order of the classes. Without it, they are those that the
    map was fitted on. A row that lacks one of them gets no probability, and a note says so. Raises ProbcalError, before
    anything is written, for a map or a table that cannot be used.
    """
    calibrator, audit = read_map(path, source)
    names = column_names(path, calibrator, audit, probability)
    table = read_table(source, reading)
    found = probability_columns(table, names)
    if probability:
        found_names = [column.name for column in found]
        names = _in_class_order(found_names, calibrator, table.origin_name, is_sure=len(found) == len(names))
    lacks = np.logical_or.reduce([column.missing_mask for column in found])
    if lacks.all():
        raise DataError(f"{table.origin_name}: no row has a value in each column of the map ({', '.join(names)})")
    scores, columns, mark, notes = number_columns(
        rows_of(table, ~lacks), names, decimal, as_probabilities=calibrator.input == "probability"
    )
    fitted_names = getattr(calibrator, "feature_names_in_", None)
    try:
        if fitted_names is not None and len(fitted_names) == len(columns):
            # the columns are named by the user or the map, so they are those of the fit under any name
            calibrated = calibrator.predict_proba(pd.DataFrame(scores, columns=fitted_names))
        else:
            calibrated = calibrator.predict_proba(scores if scores.shape[1] > 1 else scores[:, 0])
    except ValueError as error:
        raise DataError(f"{path} does not fit {table.origin_name}: {error}") from None
    class_name = f".{type(calibrator).__name__}"
    short_name = next((name for name, path in map_paths().items() if path.endswith(class_name)), "calibrated")
    new_names = calibrated_names(table, columns, short_name, table.origin_name)
    added = np.full((table.n_rows, len(columns)), np.nan)
    added[~lacks] = calibrated[:, -len(columns) :]
    for note in [*notes, *_missing_note(table, lacks, columns, new_names)]:
        print_note(note)
    if output is not None and output.suffix.lower() == ".parquet":
        write_output("-o", output, parquet_with_columns(table, new_names, added))
        return
    content = delimited_with_columns(table, new_names, added, mark)
    if output is None:
        print_text(content)
    else:
        write_output("-o", output, content)


def _in_class_order(names: list[str], calibrator: Any, source: str, is_sure: bool) -> list[str]:
    """Return the names of columns in the order of the classes that they name, such as ``p_cat`` and ``p_dog``.

    Names without classes stay in their order if it ``is_sure``, because the user gave each of them. Raises DataError
    otherwise, and for the probability of the first of two classes alone.
    """
    labels = [str(label) for label in calibrator.classes_]
    if len(names) == 1 and len(labels) == 2 and label_of_name(names[0]) == labels[0]:
        raise DataError(
            f'{source}: column "{names[0]}" is of "{labels[0]}", and the map takes the probability of "{labels[1]}"; '
            "name its column with --probability"
        )
    if len(names) != len(labels):  # one column, or a number that the map refuses
        return names
    try:
        of_columns = labels_of_columns(names, labels, source)
    except DataError:
        if is_sure:
            return names
        raise DataError(
            f"{source}: the columns {join_first(names, 10)} do not name the classes of the map, "
            f"{join_first(labels, 10)}; repeat --probability for each of them, in the order of the classes"
        ) from None
    return [names[of_columns.index(label)] for label in labels]


def _missing_note(table: UserTable, lacks: Bools, columns: Sequence[str], new_names: Sequence[str]) -> list[str]:
    """Return a note that counts the rows of ``lacks``, (n_rows,), and names the first, or none if there are none."""
    rows = np.flatnonzero(lacks)
    if not len(rows):
        return []
    places, kind = (rows + 1, "row") if table.lines is None else (table.lines[rows], "line")
    old, new = (join_first((f'"{name}"' for name in names), _MOST_NAMES) for names in (columns, new_names))
    return [
        f"{len(rows):,} of {counted(table.n_rows)} {'has' if len(rows) == 1 else 'have'} no value in {old}, so {new} "
        f"{'is' if len(new_names) == 1 else 'are'} empty there "
        f"({kind}{'s' * (len(rows) > 1)} {join_first(map(str, places.tolist()), _MOST_NAMES)})"
    ]
