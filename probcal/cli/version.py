"""``probcal version``"""

from __future__ import annotations

import click

from probcal.cli.options import FINE, manual, versions_text


@click.command(
    short_help="Show the versions of probcal, Python and its packages.",
    epilog=manual("probcal version", exits=FINE),
)
def version() -> None:
    """Show the version of probcal, and those of Python and the packages behind the numbers.

    This prints the same as probcal --version. Copy it into a bug report.
    """
    click.echo(versions_text())
