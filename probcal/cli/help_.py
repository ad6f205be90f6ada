"""``probcal help``"""

from __future__ import annotations

import click

from probcal.cli import options
from probcal.cli import suggestions as complete
from probcal.errors import ProbcalError, did_you_mean


@options.command(
    "Show the help of a command.",
    "probcal help\nprobcal help run",
    name="help",
)
@click.argument("command", required=False, shell_complete=complete.commands)
@click.pass_context
def help_(context: click.Context, command: str | None) -> None:
    """Show the help of COMMAND, or the list of all commands.

    This prints the same as probcal COMMAND --help.
    """
    root = context.find_root()
    group = root.command
    assert isinstance(group, click.Group)
    if command is None:
        click.echo(root.get_help())
        return
    found = group.commands.get(command)
    if found is None:
        known = sorted(group.commands)
        raise ProbcalError(
            f'there is no command "{command}"{did_you_mean(command, known)} (there are: {", ".join(known)})'
        )
    with click.Context(found, info_name=command, parent=root) as command_context:
        click.echo(found.get_help(command_context))
