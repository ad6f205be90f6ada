"""The steps of ``probcal apply``: a map in a file gives the rows of a table their calibrated probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from probcal.deploy.map_files import column_names, read_map
from probcal.errors import DataError
from probcal.methods.registry import map_paths
from probcal.reading.added_columns import delimited_with_columns, parquet_with_columns
from probcal.reading.number_form import Mark
from probcal.reading.output_file import write_output
from probcal.reading.prediction_file import calibrated_names, number_columns
from probcal.reading.table import read_table


def apply_map(
    path: Path, source: str, output: Path | None, probability: Sequence[str], decimal: Mark | None,
    print_text: Callable[[str], None],
) -> None:  # fmt: skip
    """Write the rows of a table with the probabilities that the map in ``path`` gives them.

    ``probability`` names the columns of the scores, in the order of the classes. Without it, they are those that the
    map was fitted on. Raises ProbcalError, before anything is written, for a map or a table that cannot be used.
    """
    calibrator, audit = read_map(path)
    names = column_names(path, audit, probability)
    table = read_table(source)
    scores, columns, mark = number_columns(table, names, decimal, as_probabilities=calibrator.input == "probability")
    try:
        calibrated = calibrator.predict_proba(scores if scores.shape[1] > 1 else scores[:, 0])
    except ValueError as error:
        raise DataError(f"{path} does not fit {table.origin_name}: {error}") from None
    new_names = calibrated_names(table, columns, _short_name(calibrator), table.origin_name)
    added = calibrated[:, -len(columns) :]
    if output is not None and output.suffix.lower() == ".parquet":
        write_output("-o", output, parquet_with_columns(table, new_names, added))
        return
    content = delimited_with_columns(table, new_names, added, mark)
    if output is None:
        print_text(content)
    else:
        write_output("-o", output, content)


def _short_name(calibrator: Any) -> str:
    name = type(calibrator).__name__
    return next((short for short, path in map_paths().items() if path.endswith(f".{name}")), "calibrated")
