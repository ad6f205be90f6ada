"""``probcal test``"""

from __future__ import annotations

import sys

import click

from probcal.commands.options import example
from probcal.trust import trusting


@click.command(epilog=example("probcal test probing\nprobcal test my_module.MyMethod -l tree -p share=0.2"))
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("-l", "--learner", metavar="NAME", help="What a method is built around (default: logistic).")
@click.option("-p", "--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter; may be repeated.")
@click.option("-v", "--verbose", is_flag=True, help="Show where a check failed.")
def test(names: tuple[str, ...], learner: str | None, params: tuple[str, ...], verbose: bool) -> None:
    """Run each learner or method NAME, a short name or an import path, through the checks that all must pass.

    Exit code 0: none failed, 1: one did, 2: a mistake in the call.
    """
    from probcal.contract.command import test_components

    click.get_current_context().with_resource(trusting(*names))  # typed by the user, so trusted
    sys.exit(0 if test_components(names, learner, params, click.echo, tracebacks=verbose) else 1)
