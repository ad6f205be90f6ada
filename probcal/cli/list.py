"""``probcal list``"""

from __future__ import annotations

import click

from probcal.cli.options import FINE, manual


@click.command(
    "list",
    short_help="List what an experiment can name.",
    epilog=manual("probcal list datasets\nprobcal list configs", exits=FINE),
)
@click.argument("kind", type=click.Choice(["datasets", "learners", "methods", "metrics", "configs"]))
def list_(kind: str) -> None:
    """List what an experiment can name, or the shipped experiments.

    \b
    datasets   the data sets that have a card, with rows, columns and source
    learners   the base learners that have a short name
    methods    the methods that have a short name
    metrics    what can be measured
    configs    the experiments that come with probcal, as probcal run takes them
    """
    from probcal.config.listing import listing

    click.echo(listing(kind))
