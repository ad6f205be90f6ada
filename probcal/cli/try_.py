"""``probcal try``"""

from __future__ import annotations

import shlex
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probcal._io import visible
from probcal.cli import suggestions as complete
from probcal.cli.options import DATA, JAVA, TRUST, manual, trusted_imports

if TYPE_CHECKING:
    from probcal.try_table.numbers_in_text import Mark


@click.command(
    "try",
    short_help="Rank learners and methods on your own table; no config is needed.",
    epilog=manual(
        "probcal try customers.csv --target left\nprobcal try customers.csv --target left --drop email --save my.yaml\n"
        "probcal try openml:31 -l forest -m direct -m isotonic -j 2",
        files={"results/try-NAME/": "what came out (-o: elsewhere); probcal table, report and plot read it"},
        environment=(*DATA[1:], *TRUST, *JAVA),
        exits={
            0: "all cells are done",
            1: "a cell failed",
            2: "a mistake in the call, or a table that cannot be used",
            130: "interrupted; the same command goes on from there",
        },
    ),
)
@click.argument("table", shell_complete=complete.files)
@click.option("-t", "--target", metavar="COLUMN", help="The column to estimate (of an OpenML id: its own).")
@click.option("--positive", metavar="LABEL", help="The label whose probability is wanted (of two: the rarer).")
@click.option(
    "-l",
    "--learner",
    "learners",
    multiple=True,
    metavar="NAME",
    shell_complete=complete.learners,
    help="Only this learner; may be repeated.",
)
@click.option(
    "-m",
    "--method",
    "methods",
    multiple=True,
    metavar="NAME",
    shell_complete=complete.methods,
    help="Only this method; may be repeated.",
)
@click.option("--category", multiple=True, metavar="COLUMN", help="This column holds categories; may be repeated.")
@click.option("--number", multiple=True, metavar="COLUMN", help="This column holds numbers; may be repeated.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave this column out; may be repeated.")
@click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark of the file (default: found out).")
@click.option("--rows", type=click.IntRange(20), metavar="N", help="Take so many rows (default: 10,000 at most).")
@click.option(
    "--splits", metavar="N", type=click.IntRange(1, 1000), default=10, show_default=True, help="Random splits."
)
@click.option(
    "--seed", metavar="N", type=click.IntRange(0), default=0, show_default=True, help="Seed of all that is drawn."
)
@click.option(
    "-j", "--jobs", metavar="N", type=click.IntRange(1), default=1, show_default=True, help="Cells at a time."
)
@click.option(
    "-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Results folder (default: results/try-…)."
)
@click.option("--save", type=click.Path(path_type=Path), metavar="FILE", help="Write the YAML that runs it again.")
@click.option("--retry-failed", is_flag=True, help="Run cells that failed before once more.")
@click.option("--dry-run", is_flag=True, help="Show columns and plan, and run nothing.")
@trusted_imports
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
    rows: int | None,
    splits: int,
    seed: int,
    jobs: int,
    output: Path | None,
    save: Path | None,
    retry_failed: bool,
    dry_run: bool,
) -> None:
    """Try learners and methods on your own TABLE and rank them; no config is needed.

    TABLE is a CSV file (or any other delimited text), Parquet, ARFF, or an OpenML id, as openml:31. The kinds of
    its columns are guessed and shown. Exit codes are those of probcal run; the same command goes on where it ended.
    """
    from probcal.try_table.preparation import TableRequest
    from probcal.try_table.trial import TrialOptions, try_table

    asked = TableRequest(table, target, positive, category, number, drop, rows, seed, decimal)
    again = shlex.join(["probcal", *sys.argv[1:]])
    wanted = TrialOptions(learners, methods, splits, jobs, output, save, retry_failed, dry_run, again)

    def say(line: str, err: bool = False) -> None:
        click.echo(visible(line), err=err)

    sys.exit(try_table(asked, wanted, say, partial(say, err=True)))
