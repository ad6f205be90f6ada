"""``probcal test``"""

from __future__ import annotations

import sys

import click

from probcal.cli import options
from probcal.cli import suggestions as complete
from probcal.components.trust import trusting


@options.command(
    "Test whether a learner or method works with probcal.",
    "probcal test probing\nprobcal test my_module.MyMethod -l tree -p share=0.2",
    exits={0: "no check failed", 1: "a check failed", 2: "a mistake in the call"},
)
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=complete.components)
@click.option(
    "-l",
    "--learner",
    metavar="NAME",
    shell_complete=complete.learners,
    help="Learner for a method (default: logistic).",
)
@click.option("-p", "--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter; may be repeated.")
@click.option("-v", "--verbose", is_flag=True, help="Show where a check failed.")
def test(names: tuple[str, ...], learner: str | None, params: tuple[str, ...], verbose: bool) -> None:
    """Run the checks that every learner and method must pass on each NAME.

    NAME is a short name (probcal list learners, probcal list methods) or the import path of a class. Python searches
    the current folder for it, too. The class is trusted because you typed its name. For each check, one line shows
    whether it passed, failed or does not apply.
    """
    from probcal.contract.component_test import test_components

    click.get_current_context().with_resource(trusting(*names))  # typed by the user, so trusted
    sys.exit(0 if test_components(names, learner, params, click.echo, tracebacks=verbose) else 1)
