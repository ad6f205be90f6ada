"""``probcal status``"""

from __future__ import annotations

from pathlib import Path

import click

from probcal.commands.options import example, stores_at, trusted_imports
from probcal.visible import visible


@click.command(epilog=example("probcal status results/uci"))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--cells", is_flag=True, help="One line a cell.")
@trusted_imports
def status(folder: Path, cells: bool) -> None:
    """Say what is done, failed, stale (and why) or still to run in the results FOLDER, and what runs there now.

    The experiment is the one that was run last; where its file has changed since, that is said.
    """
    from probcal.run.status import status_lines

    for store in stores_at(folder):
        for line in status_lines(store, every_cell=cells):
            click.echo(visible(line))
