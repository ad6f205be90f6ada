"""``probcal completion``"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from probcal.cli import options

SHELLS = ("bash", "zsh", "fish")


@options.command(
    "Print the completion script for a shell.",
    'eval "$(probcal completion bash)"\nprobcal completion fish > ~/.config/fish/completions/probcal.fish',
)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script with which SHELL completes commands, options, names and files after TAB.

    \b
    bash (4.4 or newer): add this line to ~/.bashrc:
      eval "$(probcal completion bash)"
    zsh: add this line to ~/.zshrc, after compinit:
      eval "$(probcal completion zsh)"
    fish: add this line to ~/.config/fish/config.fish:
      probcal completion fish | source

    The shell then completes shipped experiments and YAML files, folders of results, formats, and the data sets,
    learners and methods of the experiment on the line.
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise AssertionError(shell)  # click knows every shell in SHELLS
    main = click.get_current_context().find_root().command
    click.echo(kind(main, {}, "probcal", "_PROBCAL_COMPLETE").source())
