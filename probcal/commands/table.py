"""``probcal table``"""

from __future__ import annotations

from pathlib import Path

import click

from probcal.commands.options import example, stores_at

FORMATS = ("markdown", "latex", "csv", "html")


@click.command(
    epilog=example(
        "probcal table results/uci\nprobcal table results/uci --format latex > tables.tex\nprobcal table results/\n"
        "probcal table results/uci results/uci-native --together"
    )
)
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-f", "--format", "format_", type=click.Choice(FORMATS), default="markdown", show_default=True)
@click.option("--together", is_flag=True, help="Experiments of one paper side by side, in one set of tables.")
def table(folders: tuple[Path, ...], format_: str, together: bool) -> None:
    """Print the tables of each results FOLDER, or of every experiment below it."""
    from probcal.show.tables import tables_text

    stores = [store for folder in folders for store in stores_at(folder)]
    click.echo(tables_text(*stores, format=format_, side_by_side=together), nl=False)
