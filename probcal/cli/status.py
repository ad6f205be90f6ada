"""``probcal status``"""

from __future__ import annotations

from pathlib import Path

import click

from probcal._io import visible
from probcal.cli.options import (
    DATA,
    TRUST,
    data_dir_option,
    folder_argument,
    manual,
    selection,
    stores_at,
    trusted_imports,
)


@click.command(
    short_help="Show which cells are done, failed, stale or still to run.",
    epilog=manual(
        "probcal status results/uci\nprobcal status results/\nprobcal status results/uci -d adult --cells\n"
        "probcal status results/mine --data-dir ~/data",
        environment=(*DATA, *TRUST),
        exits={0: "printed", 2: "a mistake in the call, or an experiment or data that cannot be read"},
    ),
)
@folder_argument
@click.option("--cells", is_flag=True, help="Print one line for each cell.")
@selection
@data_dir_option
@trusted_imports
def status(
    folder: Path,
    cells: bool,
    datasets: tuple[str, ...],
    learners: tuple[str, ...],
    methods: tuple[str, ...],
    data_dir: str | None,
) -> None:
    """Show which cells in a FOLDER of results are done, failed, stale or still to run, and which run now.

    If FOLDER holds several experiments, each is shown, as it was last run. A note says if its file has changed since.
    A cell is stale when its data, settings, code or packages have changed, and the reason is shown. probcal run runs
    stale cells again. Data files are hashed, so no edit is missed. probcal run keeps exactly the cells shown as done.
    """
    from probcal.data.load import data_folder
    from probcal.runner.status import status_lines
    from probcal.store.selection import Selection

    selected, originals = Selection(datasets, learners, methods), data_folder(data_dir)
    for store in selected.stores(stores_at(folder)):
        for line in status_lines(store, every_cell=cells, takes=selected.takes, originals=originals):
            click.echo(visible(line))
