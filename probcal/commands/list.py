"""``probcal list``"""

from __future__ import annotations

import click

from probcal.commands.options import example


@click.command("list", epilog=example("probcal list datasets"))
@click.argument("kind", type=click.Choice(["datasets", "learners", "methods", "metrics", "configs"]))
def list_(kind: str) -> None:
    """List what a config can name."""
    from probcal.listing import listing

    click.echo(listing(kind))
