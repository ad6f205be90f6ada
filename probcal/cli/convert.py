"""``probcal convert``"""

from __future__ import annotations

from pathlib import Path

import click

from probcal._io import printable
from probcal.cli import options


@options.command(
    "Write results of an earlier version in the present form.",
    "probcal convert results/uci\nprobcal convert results/",
    exits={0: "converted, or nothing to do", 2: "a folder cannot be read or written; it is unchanged"},
)
@options.folders_argument
def convert(folders: tuple[Path, ...]) -> None:
    """Move the results in each FOLDER, or in every folder below it, from lines of text to one table, cells.parquet.

    Every command reads both forms. The table takes about a tenth of the space, and tables and reports are made faster.
    A run that ends converts its own folder. Results of code that no witness proves stay stale.
    """
    from probcal.store.folder import TABLE

    for store in options.stores_at(*folders):
        with store.writing(store.name):
            n_results = store.convert()
        click.echo(printable(f"{n_results} results of {store.folder} are in {store.folder / TABLE}"))
