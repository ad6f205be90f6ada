"""``probcal merge``"""

from __future__ import annotations

from pathlib import Path

import click

from probcal._io import printable
from probcal.cli import options
from probcal.cli import suggestions as complete


@options.command(
    "Join results that several machines made of one experiment.",
    "probcal merge results/arena results/machine-a results/machine-b\nprobcal merge results/arena results/machines/",
    files={"OUT/": "a new results folder with all cells, runs and predictions"},
    exits={0: "joined", 2: "the folders do not fit together, or OUT exists; nothing was written"},
)
@click.argument("out", type=click.Path(path_type=Path), shell_complete=complete.folders)
@options.folders_argument
def merge(out: Path, folders: tuple[Path, ...]) -> None:
    """Join the results in each FOLDER, or in every folder below it, into the new folder OUT.

    Use it after machines have run parts of one experiment: other data sets (-d), learners (-l), methods (-m) or an
    interrupted rest. The folders must have the same experiment file, seed, data, code and versions, as far as these
    change a number. Two different results for one cell are refused. A message names the folders and the cell.

    OUT is a results folder like any other: probcal status, verify and table read it, and probcal run -o OUT continues
    it. The order of the folders changes nothing. The folders stay as they are.
    """
    from probcal.runner.merge import merge as merge_stores

    click.echo(printable(merge_stores(options.stores_at(*folders), out).text()), nl=False)
