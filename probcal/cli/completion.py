"""``probcal completion``"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from probcal.cli.options import FINE, manual

SHELLS = ("bash", "zsh", "fish")


@click.command(
    short_help="Print what makes a shell complete probcal's commands.",
    epilog=manual(
        'eval "$(probcal completion bash)"\nprobcal completion fish > ~/.config/fish/completions/probcal.fish',
        exits=FINE,
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print what makes SHELL complete probcal's commands, options, names and files after TAB.

    \b
    bash (4.4 or newer), this line in ~/.bashrc:
      eval "$(probcal completion bash)"
    zsh, this line in ~/.zshrc, after compinit:
      eval "$(probcal completion zsh)"
    fish, this line in ~/.config/fish/config.fish:
      probcal completion fish | source

    Offered are shipped experiments and YAML files, the data sets, learners and methods of the experiment that the
    line names, folders of results, and formats.
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise AssertionError(shell)  # SHELLS are those that click knows
    main = click.get_current_context().find_root().command
    click.echo(kind(main, {}, "probcal", "_PROBCAL_COMPLETE").source())
