"""``probcal list``"""

from __future__ import annotations

import click

from probcal.cli import options


@options.command(
    "List data sets, methods, papers and other names.", "probcal list datasets\nprobcal list papers", name="list"
)
@click.argument(
    "kind", metavar="KIND", type=click.Choice(["datasets", "learners", "methods", "metrics", "papers", "configs"])
)
def list_(kind: str) -> None:
    """List the names of one KIND.

    \b
    datasets   data sets that have a card, with rows, columns and source
    learners   base learners that have a short name
    methods    methods that have a short name
    metrics    metrics
    papers     papers with published numbers, for probcal check
    configs    shipped experiments, as in probcal run NAME
    """
    from probcal.config.listing import listing

    click.echo(listing(kind))
