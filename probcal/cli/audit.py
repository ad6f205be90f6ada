"""``probcal audit``"""

from __future__ import annotations

from pathlib import Path

import click

from probcal.cli import options


@options.command(
    "Rank variants by their agreement with the published numbers.",
    "probcal audit results/audit\nprobcal audit results/audit results/uci-random --cells\n"
    "probcal audit results/audit -f csv > audit.csv\nprobcal audit results/published-readings --confirm 3",
)
@options.folders_argument
@options.format_option("markdown", "csv", help="csv has one line for every number.")
@click.option("-v", "--cells", is_flag=True, help="Also show the single numbers.")
@click.option(
    "--confirm",
    type=click.IntRange(min=1),
    metavar="N",
    help="Choose the best variant by the printed digits of N data sets, and show its digits on the others.",
)
def audit(folders: tuple[Path, ...], format_: str, cells: bool, confirm: int | None) -> None:
    """Rank variants by their agreement with the published numbers.

    Each FOLDER holds the results of an experiment that names a paper, or several such folders. All folders are ranked
    together. Columns are rivals when they belong to the same published column: variants of a learner or a method, or
    columns of several folders. Cards that prepare one data set differently (readings) are rivals, too. The
    best rival has the most published numbers within their bands. Ties are sorted by the smallest median distance.

    With --confirm, variants are ranked by the printed digits, on data sets with the paper's own split only. Each choice
    of N data sets has a best variant. The other data sets confirm this variant or not.
    """
    from probcal.reporting.check.audit import audit_text

    stores = options.stores_at(*folders)
    if confirm is not None:
        from probcal.reporting.check.confirmation import confirmation_text

        if format_ != "markdown" or cells:
            raise click.UsageError("--confirm shows its own tables; leave --format and --cells out")
        click.echo(confirmation_text(*stores, scored=confirm), nl=False)
        return
    click.echo(audit_text(*stores, format=format_, cells=cells), nl=False)
