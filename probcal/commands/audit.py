"""``probcal audit``"""

from __future__ import annotations

from pathlib import Path

import click

from probcal.commands.options import example, stores_at


@click.command(
    epilog=example(
        "probcal audit results/audit\nprobcal audit results/audit results/uci --cells\n"
        "probcal audit results/audit -f csv > audit.csv"
    )
)
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-f", "--format", "format_", type=click.Choice(("markdown", "csv")), default="markdown", show_default=True
)
@click.option("-v", "--cells", is_flag=True, help="Show the single numbers too.")
def audit(folders: tuple[Path, ...], format_: str, cells: bool) -> None:
    """Rank variants by their agreement with the published numbers, over all results FOLDERs together.

    Rivals are all columns that stand beside the same published column (variants of a learner or a method,
    or columns of several folders), and all readings of one data set.
    """
    from probcal.check.audit_text import audit_text

    stores = [store for folder in folders for store in stores_at(folder)]
    click.echo(audit_text(*stores, format=format_, cells=cells), nl=False)
