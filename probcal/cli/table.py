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
    short_help="Print tables of results beside the paper's numbers.",
    epilog=manual(
        "probcal table results/uci\nprobcal table results/uci --format latex > tables.tex\nprobcal table results/\n"
        "probcal table results/uci results/uci-native --together\nprobcal table results/uci -d adult -l svm\n"
        "probcal table results/mine --data-dir ~/data",
        environment=DATA,
        exits=FINE,
    ),
)
@folders_argument
@format_option(*FORMATS, help="latex and html are for documents; csv has one line per number, safe for spreadsheets.")
@selection
@click.option("--together", is_flag=True, help="Show experiments of one paper side by side, in one set of tables.")
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

    There is one table for each metric, with a row for each data set and a column for each learner with a method. Each
    number is the mean over the splits with its standard deviation. Published numbers and differences stand beside it.
    Results count as stale if their card or data files have changed since, and a warning names the data sets.
    """
    from probcal.reporting.tables import tables_text
    from probcal.store.selection import Selection

    every = [store for folder in folders for store in stores_at(folder)]
    stores = warn_of_other_data(Selection(datasets, learners, methods).stores(every), data_dir)
    click.echo(tables_text(*stores, format=format_, side_by_side=together), nl=False)
