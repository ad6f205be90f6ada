"""``probcal table``"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from probcal.cli import options
from probcal.reporting import FORMATS

if TYPE_CHECKING:
    from probcal.store.stored_experiment import Selection


@options.command(
    "Print tables of results beside the paper's numbers.",
    "probcal table results/uci-random\nprobcal table results/uci-random --format latex > tables.tex\n"
    "probcal table results/\n"
    "probcal table results/uci-random results/uci-native --together\nprobcal table results/uci-random -d adult -l svm\n"
    "probcal table results/mine --data-dir ~/data",
    environment=options.DATA,
)
@options.folders_argument
@options.format_option(
    *FORMATS, help="latex and html are for documents; csv has one line per number, safe for spreadsheets."
)
@options.selection
@click.option("--together", is_flag=True, help="Show experiments of one paper side by side, in one set of tables.")
@options.data_dir_option
def table(folders: tuple[Path, ...], format_: str, together: bool, selection: Selection, data_dir: str | None) -> None:
    """Print the tables of each FOLDER of results, or of every experiment below it.

    There is one table for each metric, with a row for each data set and a column for each learner with a method. Each
    number is the mean over the splits with its standard deviation. Published numbers and differences stand beside it.
    Results count as stale if their card or data files have changed since, and a warning names the data sets.
    """
    from probcal.reporting.tables import tables_text

    stores = options.warn_of_other_data(selection.select_stores(options.stores_at(*folders)), data_dir)
    options.warn_of_unproven(stores)
    click.echo(tables_text(*stores, format=format_, side_by_side=together), nl=False)
    options.note_failures(stores)
