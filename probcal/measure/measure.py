"""Measurement of a file of predictions, as ``probcal measure`` runs it, and the files that it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from probcal.errors import ProbcalError
from probcal.measure.machine_text import csv_text_of, json_text_of
from probcal.measure.maps import (
    FOLDS,
    PRIOR,
    cross_fit,
    cross_fit_cells,
    excess_cost,
    exported_map,
    fit_all_rows,
    read_base_rates,
    refuse_map,
    weighted_to,
    weighting_text,
)
from probcal.measure.measured_part import MeasuredSection
from probcal.measure.measurement import class_sections, default_draws, likeliest_section, measure_sections
from probcal.measure.part_tests import part_tests
from probcal.measure.summary import SummarisedPredictions
from probcal.measure.text import Measurement, text_lines, value_lines
from probcal.metrics.decisions import Costs
from probcal.reading.labelled_rows import read_labelled_predictions
from probcal.reading.output_file import delimited_with_columns, refuse_other_format, refuse_path, write_output
from probcal.reading.prediction_file import FilePredictions, PredictionsRequest, calibrated_names, read_predictions

if TYPE_CHECKING:
    from probcal.measure.file_summaries import Mapper
    from probcal.reading.table import UserTable

Printer = Callable[[str], None]
FEWEST_ASKED_DRAWS = 20
# From so many rows on, the values are printed before their intervals.
_MANY_ROWS = 100_000
_CLEAR = 4.0
"""Standard deviations between the mean probability and the base rate that are no chance."""


@dataclass(frozen=True)
class MeasureOptions:
    """Hold the options of a measurement. ``map`` is the short name of the map to calibrate with."""

    map: str | None = None
    draws: int | None = None
    seed: int = 0
    output: Path | None = None
    report: Path | None = None
    force: bool = False
    format: Literal["text", "csv", "json"] = "text"
    map_files: Mapper | None = None
    """Applies a function to each file and returns the values in their order, such as on a cluster. None: one by one."""
    export: Path | None = None
    """Where the map of all rows is written."""
    costs: Costs | None = None
    """What wrong decisions cost, for two classes."""
    base_rate: tuple[str, ...] = ()
    """What ``--base-rate`` names: a number, or a ``label=rate`` for each class."""
    scale: Literal["linear", "logit"] | None = None
    """Scale of the diagrams of the report. None: the one that suits the base rate."""
    dask: str | None = None
    """The option that names a Dask cluster, for a note where it has no effect."""
    command: str | None = None
    """The command line, for the record of the map."""


def measure(
    request: PredictionsRequest, options: MeasureOptions, print_line: Printer,
    print_early: Printer | None = None, progress: Callable[[list[Any]], Iterable[Any]] = iter,
) -> None:  # fmt: skip
    """Measure the predictions of a file, calibrate them if asked, and write the files of the options.

    ``print_line`` gets what the command prints. For a file whose intervals take seconds, ``print_early`` gets the table
    of values before them, and ``progress`` wraps the list of tables whose intervals are drawn. Raises ProbcalError for
    a file, a column or an option that cannot be used, before anything is printed or written.
    """
    _refuse_options(options)
    predictions = _read(request, options)
    if options.costs is not None and not predictions.is_binary:
        raise ProbcalError(
            f"--cost is for two classes, and these are {len(predictions.classes)}; give one --probability column and "
            "its label with --positive, or leave out --cost"
        )
    if predictions.grades is not None and (predictions.has_weights or options.base_rate):
        raise ProbcalError(
            "--grades: the tests need rows that count alike, and --weight or --base-rate weights them; leave one out"
        )
    base_rates = read_base_rates(options.base_rate, predictions.classes) if options.base_rate else None
    draws = default_draws(predictions) if options.draws is None else options.draws
    calibrated, full_fit, names = None, None, []
    if options.map is not None:
        if options.output is not None:  # refuses a name that the table has already
            names = calibrated_names(predictions.table, predictions.columns, options.map, "-o: the table")
        if isinstance(predictions, SummarisedPredictions):
            predictions = cross_fit_cells(options.map, predictions)
        else:
            calibrated = cross_fit(options.map, predictions, options.seed, base_rates)
        full_fit = fit_all_rows(options.map, predictions, base_rates)
    measured = predictions
    if base_rates is not None:
        measured = weighted_to(predictions, base_rates)
        notes = [*predictions.notes, weighting_text(predictions, base_rates), *_base_rate_note(predictions)]
        predictions = replace(predictions, notes=notes)

    def show_values(sections: list[MeasuredSection]) -> None:
        assert print_early is not None
        for line in value_lines(Measurement(predictions, sections, options.map, draws, options.seed, options.costs)):
            print_early(line)

    is_slow = print_early is not None and draws > 0 and predictions.n_rows >= _MANY_ROWS
    sections = measure_sections(
        measured, calibrated, draws, options.seed, show_values if is_slow else None, progress, options.costs
    )
    measurement = Measurement(
        predictions, sections, options.map, draws, options.seed, options.costs,
        class_sections(measured, calibrated, draws, options.seed), part_tests(measured),
        likeliest_section(measured, calibrated, draws, options.seed),
        "" if options.costs is None else excess_cost(measured, options.costs, calibrated, options.seed),
    )  # fmt: skip
    if options.report is not None:
        from probcal.measure.measured_page import page  # draws, which takes a second to import

        write_output("--report", options.report, page(measurement, options.scale))
    if options.output is not None and full_fit is not None:
        p = full_fit.predict_proba(predictions.p)[:, -len(predictions.columns) :]
        write_output("-o", options.output, delimited_with_columns(predictions.table, names, p, predictions.mark))
    if options.export is not None and options.map is not None:
        write_output(
            "--export",
            options.export,
            exported_map(
                full_fit,
                predictions,
                sections[0],
                options.map,
                options.seed,
                draws,
                base_rates,
                options.costs,
                options.command,
            ),
        )
    if options.format == "text":
        for line in text_lines(measurement):
            print_line(line)
    else:
        print_line(csv_text_of(measurement) if options.format == "csv" else json_text_of(measurement))


def _base_rate_note(predictions: FilePredictions) -> list[str]:
    """Return a note if the predictions of two classes are clearly made for another base rate than that of the file."""
    if not predictions.is_binary:
        return []
    weight = predictions.weight / predictions.weight.sum()
    p, y = predictions.p, predictions.y
    difference = float(weight @ (p - y))
    deviation = float(np.sqrt((weight**2) @ (p * (1 - p))))
    if predictions.cluster is not None:
        deviation = float(np.linalg.norm(np.bincount(predictions.cluster[1], weight * (p - y))))
    if abs(difference) <= _CLEAR * deviation:
        return []
    return [
        f"the mean probability is {weight @ p:.4g}, and the base rate {weight @ y:.4g}: these predictions are not of "
        "this file's base rate, which prior assumes. Fit prior on rows like those of the model, or take another map"
    ]


def _read(request: PredictionsRequest, options: MeasureOptions) -> FilePredictions:
    """Return all rows of the source of a request, or their summary where they are too many."""
    from probcal.measure import file_summaries, many_files  # import Parquet, which other files do not need

    files = many_files.parquet_files(request.source)
    path = Path(request.source)
    if files is None and path.suffix == ".parquet" and path.is_file():
        files = [path]
    if files is None:
        return _read_whole(request, options)
    if (n_rows := many_files.n_rows_of(files)) <= many_files.EXACT_ROWS:
        table = None if files == [path] else many_files.joined_table(request.source, files, request.reading)
        return _read_whole(request, options, table)
    limit = f"and these are {n_rows:,}; give at most {many_files.EXACT_ROWS:,}"
    if options.output is not None:
        raise ProbcalError(f"-o keeps all rows, {limit}, or write the map with --export and use probcal apply")
    if options.map == PRIOR:
        raise ProbcalError(f"--calibrate {PRIOR} weights single rows, {limit}, or take another map")
    if request.grades is not None:
        raise ProbcalError(f"--grades keeps all rows, {limit}")
    if request.cluster is not None:
        raise ProbcalError(
            f"--cluster keeps all rows, to draw those of a cluster together, {limit}, such as those of some clusters"
        )
    if request.target is None:
        raise ProbcalError(f"{request.source}: name the column of the labels with --target")
    mapped = options.map_files or map
    columns = many_files.probability_names(files[0], request)
    if len(columns) == 1:
        request, folds = replace(request, probability=columns), 1 if options.map is None else FOLDS
        return file_summaries.summarised(request.source, files, request, mapped, folds, options.seed)
    if len(columns) == 2:
        raise ProbcalError(f"--probability names the columns of both classes, {limit}, or name that of one class alone")
    if options.map is not None:
        raise ProbcalError(
            f"--calibrate of several classes fits each row with all its probabilities, {limit}, or take one class "
            "against all others, such as --probability p_cat --positive cat"
        )
    return file_summaries.summarised_classes(request.source, files, request, columns, mapped)


def _read_whole(
    request: PredictionsRequest, options: MeasureOptions, table: UserTable | None = None
) -> FilePredictions:
    # -o writes every row, and one without a label has no held-out prediction
    read = read_labelled_predictions if options.output is None else read_predictions
    predictions = read(request, table)
    if options.output is None:  # nothing writes the columns again, and a million rows of text are 80 MB
        predictions = replace(predictions, table=replace(predictions.table, columns=[]))
    if options.dask is None:
        return predictions
    note = f"{options.dask} has no effect: only many files with more than 5,000,000 rows are read on a cluster"
    return replace(predictions, notes=[*predictions.notes, note])


def _refuse_options(options: MeasureOptions) -> None:
    if options.draws is not None and 0 < options.draws < FEWEST_ASKED_DRAWS:
        raise ProbcalError(
            f"--draws {options.draws}: an interval needs at least {FEWEST_ASKED_DRAWS} draws; 0 gives intervals in"
            " closed form, where a metric has one"
        )
    refuse_map(options.map, bool(options.base_rate))
    if options.output is not None:
        if options.map is None:
            raise ProbcalError("-o writes calibrated probabilities; name a map with --calibrate, such as beta")
        refuse_other_format("-o", options.output)
    if options.scale is not None and options.report is None:
        raise ProbcalError("--scale is for the diagrams of --report; name a file with --report, or leave --scale out")
    if options.export is not None and options.map is None:
        raise ProbcalError("--export writes a map; name it with --calibrate, such as beta")
    files = {"-o": options.output, "--report": options.report, "--export": options.export}
    given = {option: path for option, path in files.items() if path is not None}
    for option, path in given.items():
        refuse_path(option, path, options.force)
        if same := [other for other, known in given.items() if known == path and other != option]:
            raise ProbcalError(f"{option} and {same[0]} both name {path}; give two files")
