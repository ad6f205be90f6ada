"""``probcal status``"""

from __future__ import annotations

from pathlib import Path

import click

from probcal.commands.manual import TRUST, manual
from probcal.commands.options import folder_argument, selection, stores_at, trusted_imports
from probcal.visible import visible


@click.command(
    short_help="Say what is done, failed, stale (and why) or still to run.",
    epilog=manual(
        "probcal status results/uci\nprobcal status results/\nprobcal status results/uci -d adult --cells",
        environment=TRUST,
        exits={0: "told", 2: "a mistake in the call, or an experiment that cannot be read"},
    ),
)
@folder_argument
@click.option("--cells", is_flag=True, help="One line a cell.")
@selection
@trusted_imports
def status(
    folder: Path, cells: bool, datasets: tuple[str, ...], learners: tuple[str, ...], methods: tuple[str, ...]
) -> None:
    """Say what is done, failed, stale (and why) or still to run in a FOLDER of results, and what runs there now.

    Of a folder of several experiments, each is told. The experiment is the one that was run last; where its file
    says something else since, that is told too. A cell is stale when its data, settings, code or the packages behind
    it have changed; probcal run makes it anew.
    """
    from probcal.run.status import status_lines
    from probcal.show.selection import Selection

    asked = Selection(datasets, learners, methods)
    for store in asked.stores(stores_at(folder)):
        for line in status_lines(store, every_cell=cells, takes=asked.takes):
            click.echo(visible(line))
