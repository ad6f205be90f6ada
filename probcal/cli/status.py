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
    short_help="Say what is done, failed, stale (and why) or still to run.",
    epilog=manual(
        "probcal status results/uci\nprobcal status results/\nprobcal status results/uci -d adult --cells\n"
        "probcal status results/mine --data-dir ~/data",
        environment=(*DATA, *TRUST),
        exits={0: "told", 2: "a mistake in the call, or an experiment or data that cannot be read"},
    ),
)
@folder_argument
@click.option("--cells", is_flag=True, help="One line a cell.")
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
    """Say what is done, failed, stale (and why) or still to run in a FOLDER of results, and what runs there now.

    Of a folder of several experiments, each is told. The experiment is the one that was run last; where its file
    says something else since, that is told too. A cell is stale when its data, settings, code or the packages behind
    it have changed; probcal run makes it anew. The data files are hashed, so that an edit is never missed; what says
    done here is what probcal run would keep.
    """
    from probcal.data.load import data_folder
    from probcal.runner.status import status_lines
    from probcal.store.selection import Selection

    asked, originals = Selection(datasets, learners, methods), data_folder(data_dir)
    for store in asked.stores(stores_at(folder)):
        for line in status_lines(store, every_cell=cells, takes=asked.takes, originals=originals):
            click.echo(visible(line))
