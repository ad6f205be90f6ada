"""The commands on a file of predicted probabilities: ``measure``, ``apply`` and ``watch``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from click.core import ParameterSource

from probcal.cli import suggestions as complete
from probcal.cli.options import (
    DATA,
    command,
    decimal_option,
    format_option,
    note_missing_pictures,
    print_note,
    progress_bar,
    reading_options,
    refuse_clusters,
)
from probcal.methods.registry import map_paths
from probcal.runner.interruption import set_message

if TYPE_CHECKING:
    from probcal.deploy.map_files import Form
    from probcal.reading.number_form import Mark
    from probcal.reading.periods import Every
    from probcal.reading.reading_options import ReadingOptions


_PERIODS = click.Choice(["day", "week", "month", "quarter", "year"])


@command(
    "Measure a file of predicted probabilities, and calibrate them.",
    "probcal measure predictions.csv --probability p --target y --calibrate beta\n"
    "probcal measure visits.csv -p p -t y --group ward --cluster patient",
    files={
        "-o FILE": "the table with the calibrated probabilities of a map of all rows",
        "--export FILE": "the map of all rows as JSON, with the metrics before and after",
        "--report FILE": "a web page with the tables and reliability diagrams",
    },
    environment=DATA[2:],
    exits={0: "measured", 2: "a mistake in the call or in the table; nothing was written"},
    interrupted="interrupted; the same command starts again from the beginning",
)
@click.argument("table", shell_complete=complete.files)
@click.option(
    "-p",
    "--probability",
    multiple=True,
    metavar="COLUMN",
    help="Predicted probability of the positive label. For several classes repeat it, or write 'p_*'.",
)
@click.option("-t", "--target", metavar="COLUMN", help="The observed labels.")
@click.option("--positive", metavar="LABEL", help="The label whose probability is given (default: 1, yes or true).")
@click.option("-w", "--weight", metavar="COLUMN", help="Weights of the rows. Only their ratios count.")
@click.option(
    "-g", "--group", "groups", multiple=True, metavar="COLUMN", help="Measure each group, too; may be repeated."
)
@click.option(
    "--cluster",
    metavar="COLUMN",
    help="Rows of one value belong together (a patient's), so they count less: --group of probcal try.",
)
@click.option("--time", metavar="COLUMN", help="Date or time of each row. Measure each period, too.")
@click.option("--every", type=_PERIODS, default="month", show_default=True, help="The periods of --time.")
@click.option(
    "--grades",
    metavar="COLUMN|N",
    help="Test each rating grade, too (binomial, Jeffreys): a column, or N bins of the probability.",
)
@click.option(
    "-c",
    "--calibrate",
    "map_",
    metavar="MAP",
    shell_complete=complete.maps,
    help=f"Calibrate with a map: {', '.join(sorted(map_paths()))}.",
)
@click.option(
    "--base-rate",
    multiple=True,
    metavar="RATE",
    help="With --calibrate prior: share of the positive label where the probabilities will be used, or label=share "
    "for each class.",
)
@click.option(
    "--cost",
    metavar="FP:FN",
    help="Measure decisions, too, by the cost of false positives and false negatives, such as 1:200.",
)
@decimal_option
@reading_options
@click.option("--label", multiple=True, metavar="WORD", help="This word, such as NA, is a label; may be repeated.")
@click.option(
    "--draws",
    type=click.IntRange(0, 100_000),
    metavar="N",
    help="Bootstrap draws (default: 1000; fewer for big files). 0: only intervals in closed form.",
)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of the folds and of the draws.",
)
@format_option("text", "csv", "json", help="csv, json: all digits.")
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write the table with calibrated columns."
)
@click.option("--export", metavar="FILE", type=click.Path(path_type=Path), help="Write the map as JSON, for apply.")
@click.option("--report", metavar="FILE", type=click.Path(path_type=Path), help="Write a web page.")
@click.option(
    "--scale",
    type=click.Choice(["linear", "logit"]),
    help="Axes of --report (default: logit if under 2 % or over 98 % of the rows are positive).",
)
@click.option("--scheduler", metavar="ADDRESS", help="Read many files on the Dask cluster at this address.")
@click.option("--workers", metavar="N", type=click.IntRange(1), help="Read many files on a local Dask cluster.")
@click.option("--force", is_flag=True, help="Overwrite the files of -o, --export and --report.")
def measure(
    table: str,
    probability: tuple[str, ...],
    target: str | None,
    positive: str | None,
    weight: str | None,
    groups: tuple[str, ...],
    cluster: str | None,
    time: str | None,
    every: Every,
    grades: str | None,
    map_: str | None,
    base_rate: tuple[str, ...],
    cost: str | None,
    decimal: Mark | None,
    reading: ReadingOptions,
    label: tuple[str, ...],
    draws: int | None,
    seed: int,
    format_: Literal["text", "csv", "json"],
    output: Path | None,
    export: Path | None,
    report: Path | None,
    scale: Literal["linear", "logit"] | None,
    scheduler: str | None,
    workers: int | None,
    force: bool,
) -> None:
    """Measure the predicted probabilities in TABLE, with 95 % intervals. No model is needed.

    TABLE is a CSV file (or other delimited text), Parquet or ARFF, or - for standard input. It may also be a folder
    of Parquet files, or a pattern such as 'logs/day-??.parquet'. More than 5 million rows are summarised in constant
    memory. Give rows that the model was not trained on. With --calibrate, a map from predicted to calibrated
    probabilities is judged on rows that it was not fitted on (5 folds), and the tables show the metrics before and
    after.

    --group ward makes a table for each ward. --cluster patient says that the rows of a patient belong together: each
    draw of the bootstrap takes all of them or none, they are in one fold, and tests count the variance over patients.
    """
    from probcal.measure.measure import MeasureOptions, measure
    from probcal.metrics.decisions import read_costs
    from probcal.reading.prediction_file import PredictionsRequest

    if time is None and click.get_current_context().get_parameter_source("every") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--every needs --time, the column of the dates.")
    request = PredictionsRequest(
        table, probability, target, positive, weight, groups, decimal, label, reading, time=time, every=every,
        grades=grades, cluster=cluster,
    )  # fmt: skip
    refuse_clusters({"--workers": workers, "--scheduler": scheduler})
    map_files = partial(_map_on_dask, scheduler, workers) if scheduler or workers else _map_here
    dask = "--scheduler" if scheduler else "--workers" if workers else None
    costs = None if cost is None else read_costs(cost)
    options = MeasureOptions(
        map_, draws, seed, output, report, force, format_, map_files, export, costs, base_rate, scale, dask,
        shlex.join(["probcal", *sys.argv[1:]]),
    )  # fmt: skip
    on_terminal = sys.stderr.isatty()
    measure(request, options, click.echo, _print_early if on_terminal else None, progress_bar("tables"))
    if report is not None:
        note_missing_pictures()


def _map_here(function: Callable[[Path], Any], files: list[Path]) -> Iterator[Any]:
    return map(function, progress_bar("files")(files))


def _map_on_dask(
    scheduler: str | None, workers: int | None, function: Callable[[Path], Any], files: list[Path]
) -> Iterator[Any]:
    from distributed import CancelledError, KilledWorker

    from probcal.errors import ProbcalError
    from probcal.runner.dask import open_client
    from probcal.runner.run_options import RunOptions

    # Workers have another current folder.
    absolute = [path.resolve() for path in files]
    with open_client(RunOptions(Path(), scheduler=scheduler, workers=workers)) as client:
        # Not pure: a file may have changed since the cluster read a file of this name.
        futures = client.map(function, absolute, pure=False)
        # In the order of the files, so that sums are the same wherever they are computed.
        for future in progress_bar("files")(futures):
            try:
                yield future.result()
            except (KilledWorker, CancelledError) as error:
                raise ProbcalError(f"the cluster lost the workers of a file: {error}; run the command again") from None


def _print_early(line: str) -> None:
    click.echo(line, err=True)
    # The intervals are drawn next, and an interruption leaves these values as they are.
    set_message(
        "interrupted; the values above are final, their bootstrap intervals are missing, and no file was written"
    )


@command(
    "Calibrate a table with an exported map.",
    "probcal apply map.json new.csv -o calibrated.csv",
    files={
        "-o FILE": "the table with the calibrated probabilities: CSV, or Parquet if its name ends with .parquet. With "
        "--as, the map"
    },
    environment=(),
    exits={0: "calibrated, or written", 2: "a mistake in the call, the map or the table; nothing was written"},
)
@click.argument("map_", metavar="MAP", type=click.Path(path_type=Path), shell_complete=complete.files)
@click.argument("table", required=False, shell_complete=complete.files)
@click.option(
    "--as",
    "form",
    type=click.Choice(["sql", "python", "onnx"]),
    help="Write the map, of two classes, as an SQL expression, a Python function or an ONNX graph. It reads no TABLE.",
)
@click.option(
    "-p",
    "--probability",
    multiple=True,
    metavar="COLUMN",
    help="Column to calibrate (default: those of the map). For several classes repeat it in their order, or name "
    "columns after the classes: 'p_*'.",
)
@decimal_option
@reading_options
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write to this file (default: print)."
)
@click.option("--force", is_flag=True, help="Overwrite the file of -o.")
def apply(
    map_: Path, table: str | None, form: Form | None, probability: tuple[str, ...], decimal: Mark | None,
    reading: ReadingOptions, output: Path | None, force: bool,
) -> None:  # fmt: skip
    """Add calibrated probabilities to TABLE with the map in the JSON file MAP. No label is needed.

    TABLE is a CSV file (or other delimited text), Parquet or ARFF, or - for standard input. Each row is kept as it is,
    and has a new column, such as p_beta, which is empty where the row has no probability. MAP is a file of probcal
    measure --export, or of to_json of a map. Reading it runs no code.

    With --as, the map is written for another program, and no TABLE is read: probcal apply map.json --as sql
    """
    from probcal.deploy.map_files import apply_map, write_form
    from probcal.reading.output_file import refuse_other_format, refuse_path
    from probcal.reading.reading_options import READ_AS_IT_IS

    if output is not None:
        refuse_path("-o", output, force)
        if form is None:
            refuse_other_format("-o", output, has_parquet=True)
    print_text = partial(click.echo, nl=False)
    if form is not None and table is None:
        if decimal is not None or reading != READ_AS_IT_IS:
            raise click.UsageError("--as reads no TABLE; leave out --decimal, --missing, --sheet and --skip-lines")
        write_form(map_, form, output, probability, print_text)
    elif form is None and table is not None:
        apply_map(map_, table, output, probability, decimal, print_text, print_note, reading)
    else:
        raise click.UsageError("give the TABLE to calibrate, or --as with the form of the map, not both")


_ALARM = 3


@command(
    "Watch calibration over time, and alarm when it changes.",
    "probcal watch log.csv --time scored_at -p p -t y --state watch.json",
    files={"--state FILE": "the monitor and the time of its last row, for the next run"},
    environment=(),
    exits={
        0: "watched, and no alarm",
        2: "a mistake in the call, the table or the state; nothing was written",
        _ALARM: "alarm",
    },
)
@click.argument("table", shell_complete=complete.files)
@click.option("--time", metavar="COLUMN", help="Date or time of each prediction.")
@click.option(
    "-p", "--probability", metavar="COLUMN", required=True, help="Predicted probability of the positive label."
)
@click.option("-t", "--target", metavar="COLUMN", help="The observed labels. Empty: not known yet.")
@click.option("--positive", metavar="LABEL", help="The label whose probability is given (default: 1, yes or true).")
@click.option(
    "-g", "--group", "groups", multiple=True, metavar="COLUMN", help="Watch each group, too; may be repeated."
)
@click.option(
    "--every",
    type=_PERIODS,
    default="month",
    show_default=True,
    help="A line of the table for each.",
)
@click.option("--state", metavar="FILE", type=click.Path(path_type=Path), help="Go on from this file, and update it.")
@click.option(
    "--plan",
    is_flag=True,
    help="Only say how many labels an alarm and a new map take, for the column -p. Labels and times are not read.",
)
@click.option(
    "--false-alarms",
    metavar="RATE",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.01,
    show_default=True,
    help="Largest probability of any false alarm, over all runs and groups.",
)
@decimal_option
@reading_options
@format_option("text", "json", help="json: a line for each period and group, and for each monitor.")
@click.option("--report", metavar="FILE", type=click.Path(path_type=Path), help="Write a web page of all rows.")
@click.option("--force", is_flag=True, help="Replace the file of --report, if it is no page of watch.")
def watch(
    table: str, time: str | None, probability: str, target: str | None, positive: str | None, groups: tuple[str, ...],
    every: Every, state: Path | None, plan: bool, false_alarms: float, decimal: Mark | None, reading: ReadingOptions,
    format_: str, report: Path | None, force: bool,
) -> None:  # fmt: skip
    """Show the calibration of the predictions in TABLE for each period, and say whether it has changed.

    TABLE is a log of predictions, with their times and with labels as far as they are known. The alarm is valid after
    any number of runs: as long as the predictions are calibrated, any alarm ever comes with at most the probability of
    --false-alarms. With --state, only rows count whose label is new, also where labels come late. Exit code 3 tells a
    cron job or CI of an alarm.
    """
    from probcal.reading.output_file import refuse_path, write_output
    from probcal.reading.prediction_file import PredictionsRequest
    from probcal.watch.text import watched_json, watched_text
    from probcal.watch.watch import WatchRequest, watch

    if plan:
        from probcal.watch.plan import plan_of_log, planned_json, planned_text

        n_rows, planned = plan_of_log(table, probability, decimal, false_alarms, reading)
        text = "\n".join(planned_json(planned)) if format_ == "json" else "\n\n".join(planned_text(n_rows, planned))
        click.echo(text)
        return
    if time is None or target is None:
        raise click.UsageError(f"Missing option '{'--time' if time is None else '-t'}'; only --plan goes without it.")
    if report is not None:
        for name, other in (("TABLE", Path(table)), ("--state", state)):
            if other is not None and report.exists() and other.exists() and report.samefile(other):
                raise click.UsageError(f"--report: {report} is also {name}; name another file.")
        from probcal.watch.page import is_own_page

        refuse_path("--report", report, force or is_own_page(report))
    request = PredictionsRequest(
        table, (probability,), target, positive, None, groups, decimal, reading=reading, few_labels=True
    )
    watched = watch(WatchRequest(request, time, every, false_alarms, state))
    lines = watched_json(watched) if format_ == "json" else watched_text(watched)
    text = ("\n" if format_ == "json" else "\n\n").join(lines)
    page_text = None
    if report is not None:
        from probcal.watch.page import page

        page_text = page(watched, every)
    if report is not None and page_text is not None:
        write_output("--report", report, page_text)
        note_missing_pictures()
    click.echo(text)
    sys.stdout.flush()
    if state is not None:
        watched.state.write(state)  # last, because its rows are never shown again
    sys.exit(_ALARM if watched.monitors.has_alarm else 0)
