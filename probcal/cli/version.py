"""``probcal version``"""

from __future__ import annotations

import click

from probcal.cli import options


@options.command(
    "Show the versions of probcal, Python and its packages.",
    "probcal version",
)
def version() -> None:
    """Show the version of probcal, and those of Python and the packages behind the numbers.

    This prints the same as probcal --version. Copy it into a bug report.
    """
    click.echo(options.versions_text())
