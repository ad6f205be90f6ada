"""``probcal audit``"""

from __future__ import annotations

from pathlib import Path

import click

from probcal.cli import options


@options.command(
    "Rank variants by their agreement with the published numbers.",
    "probcal audit results/audit\nprobcal audit results/audit results/uci-random --cells\n"
    "probcal audit results/audit -f csv > audit.csv",
)
@options.folders_argument
@options.format_option("markdown", "csv", help="csv has one line for every number.")
@click.option("-v", "--cells", is_flag=True, help="Also show the single numbers.")
def audit(folders: tuple[Path, ...], format_: str, cells: bool) -> None:
    """Rank variants by their agreement with the published numbers.

    Each FOLDER holds the results of an experiment that names a paper, or several such folders. All folders are ranked
    together. Columns are rivals when they belong to the same published column: variants of a learner or a method, or
    columns of several folders. Readings of one data set are rivals, too. The first rivals have the most published
    numbers within their bands. Ties are sorted by the smallest median distance.
    """
    from probcal.papers.check.audit import audit_text

    stores = options.stores_at(*folders)
    click.echo(audit_text(*stores, format=format_, cells=cells), nl=False)
