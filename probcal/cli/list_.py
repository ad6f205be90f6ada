"""``probcal list``"""

from __future__ import annotations

import click

from probcal.cli import options


@options.command(
    "List data sets, learners, methods, metrics or experiments.",
    "probcal list datasets\nprobcal list configs",
    name="list",
)
@click.argument("kind", type=click.Choice(["datasets", "learners", "methods", "metrics", "configs"]))
def list_(kind: str) -> None:
    """List the names that an experiment can use, or the shipped experiments.

    \b
    datasets   data sets that have a card, with rows, columns and source
    learners   base learners that have a short name
    methods    methods that have a short name
    metrics    metrics
    configs    shipped experiments, as in probcal run NAME
    """
    from probcal.config.listing import listing

    click.echo(listing(kind))
