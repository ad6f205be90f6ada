"""Maps as files: ``measure --export`` writes one with a record of its data, and ``probcal apply`` uses it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from probcal import __version__
from probcal._io import data_text
from probcal.deploy.map_files import column_names, read_map, write_output
from probcal.errors import DataError
from probcal.measure.base_rate import weighting_text
from probcal.measure.maps import map_paths
from probcal.measure.measurement import Interval, MeasuredSection
from probcal.methods.calibrators.map_file import map_to_json
from probcal.reading.file_columns import Floats
from probcal.reading.number_form import Mark
from probcal.reading.prediction_file import FilePredictions, calibrated_names, number_columns
from probcal.reading.table import UserTable, read_table
from probcal.reading.text_column import is_text

_PACKAGES = ("numpy", "scipy", "scikit-learn")


def exported_map(
    calibrator: Any, predictions: FilePredictions, section: MeasuredSection, name: str, seed: int,
    base_rates: Sequence[float] | None = None,
) -> str:  # fmt: skip
    """Return the map as JSON, with an audit record: the data, and the metrics of ``section`` before and after.

    The metrics after are those of maps of the other folds, so no row was judged by a map that saw it. The map in the
    file is fitted on all rows. ``base_rates`` of the classes are those that the rows of ``section`` are weighted to.
    """
    weighting: dict[str, Any] = {}
    if base_rates is not None:
        weighting = {
            "base_rates": dict(zip(predictions.classes, base_rates, strict=True)),
            "weighting": weighting_text(predictions, base_rates),
        }
    audit = {
        "data": predictions.table.origin_name,
        "sha256": predictions.table.digest,
        "rows": section.n_rows,
        "target": predictions.target,
        "probability": [*predictions.columns],
        "shares": {label: float(share) for label, share in predictions.shares().items()},
        "map": name,
        **weighting,
        "judged_by": f"maps fitted on the other 4 of 5 stratified folds, seed {seed}; 95 % bootstrap intervals",
        "metrics": {
            line.quantity.name: {"before": _numbers(line.before), "after": _numbers(line.after)}
            for line in section.lines
            if line.after is not None
        },
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"probcal": __version__} | {package: version(package) for package in _PACKAGES},
    }
    return map_to_json(calibrator, audit)


def _numbers(interval: Interval | None) -> list[float | str | None]:
    bounds = () if interval is None else (interval.value, interval.low, interval.high)
    return [None if math.isnan(one) else one if math.isfinite(one) else str(one) for one in bounds]


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
    _write(table, new_names, calibrated[:, -len(columns) :], mark, output, print_text)


def _short_name(calibrator: Any) -> str:
    name = type(calibrator).__name__
    return next((short for short, path in map_paths().items() if path.endswith(f".{name}")), "calibrated")


def _write(
    table: UserTable, names: list[str], calibrated: Floats, mark: Mark, output: Path | None,
    print_text: Callable[[str], None],
) -> None:  # fmt: skip
    columns = [column.cast(pa.large_string()) if is_text(column.type) else column for column in table.columns]
    new: list[Any] = [pa.array(np.ascontiguousarray(column)) for column in calibrated.T]
    is_parquet = output is not None and output.suffix.lower() == ".parquet"
    if mark == "," and not is_parquet:
        new = [pa.array([repr(value).replace(".", ",") for value in column.to_pylist()]) for column in new]
    whole = pa.Table.from_arrays([*columns, *new], names=[*(str(name) for name in table.names), *names])
    if is_parquet:
        content = pa.BufferOutputStream()
        pq.write_table(whole, content)
        data = content.getvalue().to_pybytes()
    else:
        data = _delimited(whole, table.separator)
    if output is None:
        print_text(data.decode())
        return
    write_output(output, data)


def _delimited(table: pa.Table, separator: str | None) -> bytes:
    """Return a table as delimited text, with quotes only if a text needs them."""
    delimiter = separator if separator and len(separator.encode()) == 1 else ","
    for style in ("none", "needed"):  # the first refuses a table with such a text, and the second quotes all texts
        content = pa.BufferOutputStream()
        options = pyarrow.csv.WriteOptions(include_header=False, delimiter=delimiter, quoting_style=style)
        try:
            pyarrow.csv.write_csv(table, content, options)
            break
        except pa.ArrowInvalid:
            continue
    return data_text([table.column_names], delimiter).encode() + bytes(content.getvalue().to_pybytes())
