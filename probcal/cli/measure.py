"""``probcal measure``"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from probcal.cli import suggestions as complete
from probcal.cli.options import DATA, command, note_missing_pictures, progress_bar, refuse_clusters
from probcal.methods.registry import map_paths
from probcal.runner.interruption import set_message

if TYPE_CHECKING:
    from probcal.reading.number_form import Mark


@command(
    "Measure a file of predicted probabilities, and calibrate them.",
    "probcal measure predictions.csv --probability p --target y --calibrate beta",
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
@click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark of the file (default: inferred).")
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
@click.option(
    "-f",
    "--format",
    "format_",
    type=click.Choice(["text", "csv"]),
    default="text",
    show_default=True,
    help="csv: all digits.",
)
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write the table with calibrated columns."
)
@click.option("--export", metavar="FILE", type=click.Path(path_type=Path), help="Write the map as JSON, for apply.")
@click.option("--report", metavar="FILE", type=click.Path(path_type=Path), help="Write a web page.")
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
    map_: str | None,
    base_rate: tuple[str, ...],
    cost: str | None,
    decimal: Mark | None,
    label: tuple[str, ...],
    draws: int | None,
    seed: int,
    format_: str,
    output: Path | None,
    export: Path | None,
    report: Path | None,
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
    """
    from probcal.measure.measure import MeasureOptions, measure
    from probcal.metrics.decisions import read_costs
    from probcal.reading.prediction_file import PredictionsRequest

    request = PredictionsRequest(table, probability, target, positive, weight, groups, decimal, label)
    refuse_clusters({"--workers": workers, "--scheduler": scheduler})
    map_files = partial(_map_on_dask, scheduler, workers) if scheduler or workers else _map_here
    costs = None if cost is None else read_costs(cost)
    options = MeasureOptions(
        map_, draws, seed, output, report, force, format_ == "csv", map_files, export, costs, base_rate
    )
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
    from probcal.runner.options import RunOptions

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
