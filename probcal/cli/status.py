"""``probcal status``"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from probcal._io import printable
from probcal.cli import options

if TYPE_CHECKING:
    from probcal.store.stored_experiment import Selection


@options.command(
    "Show which cells are done, failed, stale or still to run.",
    "probcal status results/uci-random\nprobcal status results/\nprobcal status results/uci-random -d adult --cells\n"
    "probcal status results/mine --data-dir ~/data",
    environment=(*options.DATA, *options.TRUST),
    exits={0: "printed", 2: "a mistake in the call, or an experiment or data that cannot be read"},
)
@options.folder_argument
@click.option("--cells", is_flag=True, help="Print one line for each cell.")
@click.option("--strict", is_flag=True, help="Count results as stale that other versions of packages made.")
@options.selection
@options.data_dir_option
@options.trusted_imports
def status(folder: Path, cells: bool, strict: bool, selection: Selection, data_dir: str | None) -> None:
    """Show which cells in a FOLDER of results are done, failed, stale or still to run, and which run now.

    If FOLDER holds several experiments, each is shown as it was last run. A note says if an experiment file has changed
    since. A cell is stale when its data, its settings, your own code or the numbers of a component have changed. The
    reason is shown. probcal run runs stale cells again. Data files are hashed, so no edit is missed. Other versions of
    packages are shown, and make a cell stale only with --strict. probcal run keeps exactly the cells shown as done.
    """
    from probcal.data.load import data_folder
    from probcal.runner.status import status_lines

    originals = data_folder(data_dir)
    stores = selection.select_stores(options.stores_at(folder))
    options.warn_of_unproven(stores)
    for store in stores:
        for line in status_lines(store, every_cell=cells, takes=selection.includes, originals=originals, strict=strict):
            click.echo(printable(line))
