"""Measurement of a file of predictions, as ``probcal measure`` runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from probcal.errors import ProbcalError
from probcal.measure.cross_fitting import (
    calibrate_all_rows,
    cross_fit,
    new_columns,
    refuse_path,
    write_calibrated,
    write_file,
)
from probcal.measure.maps import new_map
from probcal.measure.measurement import default_draws, measure_sections
from probcal.measure.prediction_file import PredictionsRequest, read_predictions
from probcal.measure.text import Measurement, csv_text_of, text_lines

Printer = Callable[[str], None]
_OTHER_FORMATS = (".parquet", ".feather", ".arff", ".xlsx", ".xls", ".json", ".gz", ".zip")


@dataclass(frozen=True)
class MeasureOptions:
    """Hold the options of a measurement. ``map`` is the short name of the map to calibrate with."""

    map: str | None = None
    draws: int | None = None
    seed: int = 0
    output: Path | None = None
    report: Path | None = None
    force: bool = False
    csv: bool = False


def measure(request: PredictionsRequest, options: MeasureOptions, print_line: Printer) -> None:
    """Measure the predictions of a file, calibrate them if asked, and write the files of the options.

    ``print_line`` gets what the command prints. Raises ProbcalError for a file, a column or an option that cannot be
    used, before anything is printed or written.
    """
    _refuse_options(options)
    predictions = read_predictions(request)
    draws = default_draws(predictions) if options.draws is None else options.draws
    calibrated, full_fit = None, None
    if options.map is not None:
        if options.output is not None:
            new_columns(predictions, options.map)
        calibrated = cross_fit(options.map, predictions, options.seed)
        full_fit = calibrate_all_rows(options.map, predictions)
    sections = measure_sections(predictions, calibrated, draws, options.seed)
    measurement = Measurement(predictions, sections, options.map, draws, options.seed)
    if options.report is not None:
        from probcal.measure.measured_page import page  # draws, which takes a second to import

        write_file("--report", options.report, page(measurement, calibrated))
    if options.output is not None and options.map is not None and full_fit is not None:
        write_calibrated(options.output, predictions, options.map, full_fit)
    for line in [csv_text_of(measurement)] if options.csv else text_lines(measurement):
        print_line(line)


def _refuse_options(options: MeasureOptions) -> None:
    """Raise ProbcalError for options that cannot be followed."""
    if options.map is not None:
        new_map(options.map)
    if options.output is not None:
        if options.map is None:
            raise ProbcalError("-o writes calibrated probabilities; name a map with --calibrate, such as beta")
        if options.output.suffix.lower() in _OTHER_FORMATS:
            raise ProbcalError(f"-o writes delimited text, but {options.output} has another suffix; name a .csv file")
        refuse_path("-o", options.output, options.force)
    if options.report is not None:
        refuse_path("--report", options.report, options.force)
    if options.report is not None and options.report == options.output:
        raise ProbcalError(f"-o and --report both name {options.report}; give two files")
