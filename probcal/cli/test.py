"""``probcal test``"""

from __future__ import annotations

import sys

import click

from probcal.cli import suggestions as complete
from probcal.cli.options import manual
from probcal.config.components import trusting


@click.command(
    short_help="Run a learner or method through the checks that all must pass.",
    epilog=manual(
        "probcal test probing\nprobcal test my_module.MyMethod -l tree -p share=0.2",
        exits={0: "no check failed", 1: "one did", 2: "a mistake in the call"},
    ),
)
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=complete.components)
@click.option(
    "-l",
    "--learner",
    metavar="NAME",
    shell_complete=complete.learners,
    help="What a method is built around (default: logistic).",
)
@click.option("-p", "--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter; may be repeated.")
@click.option("-v", "--verbose", is_flag=True, help="Show where a check failed.")
def test(names: tuple[str, ...], learner: str | None, params: tuple[str, ...], verbose: bool) -> None:
    """Run each learner or method NAME through the checks that all must pass.

    NAME is a short name (probcal list learners, probcal list methods) or the import path of a class, which is found
    where Python finds modules, this folder among them, and is trusted because you typed it. A line tells of each
    check whether it passed, failed, or does not apply.
    """
    from probcal.contract.component_test import test_components

    click.get_current_context().with_resource(trusting(*names))  # typed by the user, so trusted
    sys.exit(0 if test_components(names, learner, params, click.echo, tracebacks=verbose) else 1)
