"""``probcal plot``"""

from __future__ import annotations

from pathlib import Path

import click

from probcal.commands.options import example, stores_at
from probcal.visible import visible


@click.command(epilog=example("probcal plot results/figure1"))
@click.argument("folder", type=click.Path(path_type=Path))
def plot(folder: Path) -> None:
    """Draw the figures of the results FOLDER, or of every experiment below it, as PNG and SVG into its figures/."""
    from probcal.show.figures import plot

    for path in plot(stores_at(folder), warn=lambda line: click.echo(f"note: {visible(line)}", err=True)):
        click.echo(path)
