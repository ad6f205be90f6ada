"""``probcal try``"""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probcal._io import printable
from probcal.cli import options
from probcal.cli import suggestions as complete
from probcal.errors import ProbcalError

if TYPE_CHECKING:
    from probcal.reading.number_form import Mark
    from probcal.reading.reading_options import ReadingOptions


@options.command(
    "Rank learners and methods on your own table; no config is needed.",
    "probcal try customers.csv --target left\nprobcal try customers.csv --target left --drop email --save my.yaml\n"
    "probcal try openml:31 -l forest -m direct -m isotonic -j 2\nprobcal try 2024.csv --target left --test 2025.csv\n"
    "cat customers.csv | probcal try - --target left",
    name="try",
    files={
        "results/try-NAME/": "the results, of other settings in NAME-2 (-o: elsewhere); probcal table, report and plot "
        "read them",
        "DIR/ of --export": "the fitted model, predict.py, train.py, a model card, predictions of held-out rows",
    },
    environment=(*options.DATA[1:], *options.TRUST, *options.JAVA),
    exits={0: "all cells are done", 1: "a cell failed", 2: "a mistake in the call, or a table that cannot be used"},
    interrupted=options.KEPT_CELLS,
)
@click.argument("table", shell_complete=complete.files)
@click.option("-t", "--target", metavar="COLUMN", help="The column to predict (default for OpenML: its own target).")
@click.option("--positive", metavar="LABEL", help="The label whose probability to predict (default: the rarer of two).")
@options.learner_option
@options.method_option
@click.option("--category", multiple=True, metavar="COLUMN", help="This column holds categories; may be repeated.")
@click.option("--number", multiple=True, metavar="COLUMN", help="This column holds numbers; may be repeated.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave this column out; may be repeated.")
@options.decimal_option
@options.reading_options
@click.option("--label", multiple=True, metavar="WORD", help="This word, such as NA, is a label; may be repeated.")
@click.option("--group", metavar="COLUMN", help="Rows of one value stay on one side of a split (one customer's rows).")
@click.option("--time", metavar="COLUMN", help="Train on earlier rows and test on later ones.")
@click.option("-w", "--weight", metavar="COLUMN", help="Weights of the rows. Only their ratios count.")
@click.option(
    "--test",
    metavar="FILE",
    shell_complete=complete.files,
    help="Let the winner predict this file once, after the ranking.",
)
@click.option(
    "--metric",
    metavar="NAME",
    shell_complete=complete.measures,
    help="Rank by log-loss (default), brier, rms, auc, c_emp, ece, accuracy, or one of probcal list metrics.",
)
@click.option("--cost", metavar="FP:FN", help="Rank by the cost of false positives and false negatives, such as 1:5.")
@click.option("--rows", type=click.IntRange(20), metavar="N", help="Use N rows (default: at most 10,000).")
@click.option(
    "--splits",
    metavar="N",
    type=click.IntRange(2, 1000),
    default=10,
    show_default=True,
    help="Splits: five stratified folds, twice.",
)
@click.option("--budget", type=options.Seconds(), help="Also tune boosting for so long, such as 10m.")
@click.option(
    "--trials", metavar="N", type=click.IntRange(1, 1000), help="Settings of each search (default: what fits --budget)."
)
@click.option(
    "--seed", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="Seed of all random draws."
)
@click.option(
    "-j", "--jobs", metavar="N", type=click.IntRange(1), default=1, show_default=True, help="Number of cells at a time."
)
@click.option(
    "-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Results folder (default: results/try-…)."
)
@click.option("--save", type=click.Path(path_type=Path), metavar="FILE", help="Save the experiment as a YAML file.")
@click.option(
    "--export", type=click.Path(path_type=Path), metavar="DIR", help="Fit the best and write it, ready to use."
)
@click.option(
    "--ignore", multiple=True, metavar="CODE", help="Silence a warning by its code, such as dates; may be repeated."
)
@click.option("--retry-failed", is_flag=True, help="Run failed cells again.")
@click.option("--dry-run", is_flag=True, help="Show the columns and the plan, and run nothing.")
@options.trusted_imports
def try_(
    table: str,
    target: str | None,
    positive: str | None,
    learners: tuple[str, ...],
    methods: tuple[str, ...],
    category: tuple[str, ...],
    number: tuple[str, ...],
    drop: tuple[str, ...],
    decimal: Mark | None,
    reading: ReadingOptions,
    label: tuple[str, ...],
    group: str | None,
    time: str | None,
    weight: str | None,
    test: str | None,
    metric: str | None,
    cost: str | None,
    rows: int | None,
    splits: int,
    budget: float | None,
    trials: int | None,
    seed: int,
    jobs: int,
    output: Path | None,
    save: Path | None,
    export: Path | None,
    ignore: tuple[str, ...],
    retry_failed: bool,
    dry_run: bool,
) -> None:
    """Try learners and methods on your own TABLE and rank them; no config is needed.

    TABLE is a CSV file (or other delimited text), Parquet, ARFF, an OpenML id such as openml:31, or - for standard
    input. The type of each column is inferred and printed. Exit codes are those of probcal run. After an interruption,
    the same command continues.

    -l takes logistic, nb, tree, svm, forest, boosting, lightgbm, xgboost and catboost, and the names of probcal list
    learners. -m takes the names of probcal list methods.
    """
    from probcal.metrics.decisions import read_costs
    from probcal.try_table.boosting_search import SearchRequest
    from probcal.try_table.measures import LOSS, cost_measure, measure_named
    from probcal.try_table.preparation import TableRequest
    from probcal.try_table.trial import TrialOptions, try_table

    if metric and cost:
        raise ProbcalError("--metric and --cost: both name what ranks; give one of them")
    measure = cost_measure(read_costs(cost)) if cost else measure_named(metric or LOSS.name)
    request = TableRequest(
        table,
        target,
        positive,
        category,
        number,
        drop,
        rows,
        seed,
        decimal,
        label,
        group=group,
        time=time,
        weight=weight,
        ignore=ignore,
        reading=reading,
    )
    command = shlex.join(["probcal", *sys.argv[1:]])
    trial = TrialOptions(
        learners, methods, splits, jobs, output, save, retry_failed, dry_run, command, measure, export, test,
        SearchRequest(budget, trials) if budget or trials else None,
    )  # fmt: skip

    def say(line: str, err: bool = False) -> None:
        click.echo(printable(line), err=err)

    sys.exit(try_table(request, trial, say, partial(say, err=True)))
