"""``probcal table``"""

from __future__ import annotations

from pathlib import Path

import click

from probcal.cli.options import (
    DATA,
    FINE,
    data_dir_option,
    folders_argument,
    format_option,
    manual,
    selection,
    stores_at,
    warn_of_other_data,
)

FORMATS = ("markdown", "latex", "csv", "html")


@click.command(
    short_help="Print tables of results beside the paper's.",
    epilog=manual(
        "probcal table results/uci\nprobcal table results/uci --format latex > tables.tex\nprobcal table results/\n"
        "probcal table results/uci results/uci-native --together\nprobcal table results/uci -d adult -l svm\n"
        "probcal table results/mine --data-dir ~/data",
        environment=DATA,
        exits=FINE,
    ),
)
@folders_argument
@format_option(*FORMATS, help="latex and html go into other documents; csv has a line for every number and no formula.")
@selection
@click.option("--together", is_flag=True, help="Experiments of one paper side by side, in one set of tables.")
@data_dir_option
def table(
    folders: tuple[Path, ...],
    format_: str,
    together: bool,
    datasets: tuple[str, ...],
    learners: tuple[str, ...],
    methods: tuple[str, ...],
    data_dir: str | None,
) -> None:
    """Print the tables of each FOLDER of results, or of every experiment below it.

    There is a table for each metric: a row a data set, a column a learner under a method, each number a mean over the
    splits with its standard deviation, and the published number and the difference beside it where a paper has one.
    Results of other data than their cards and files hold now are counted as stale, and a warning names the data sets.
    """
    from probcal.reporting.tables import tables_text
    from probcal.store.selection import Selection

    every = [store for folder in folders for store in stores_at(folder)]
    stores = warn_of_other_data(Selection(datasets, learners, methods).stores(every), data_dir)
    click.echo(tables_text(*stores, format=format_, side_by_side=together), nl=False)
