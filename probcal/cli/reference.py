"""The commands that tell what there is: ``list``, ``schema``, ``completion``, and ``test`` of a component."""

from __future__ import annotations

import sys

import click
from click.shell_completion import get_completion_class

from probcal.cli import options
from probcal.cli import suggestions as complete
from probcal.components.trust import trusting
from probcal.config.schemas import KINDS, schema_path


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


@options.command(
    "Print a shipped experiment or data card, to copy it.",
    "probcal show uci-native > mine.yaml\nprobcal show hepatitis > cards/mine.yaml",
)
@click.argument("name", metavar="NAME", shell_complete=complete.shipped_files)
def show(name: str) -> None:
    """Print the file of the shipped experiment NAME, or of the data set of that name.

    Redirect it into a file of your own and edit that. Give a copied experiment a name and a title of its own, because
    its results go to results/NAME.
    """
    from probcal.config.listing import shipped_text

    click.echo(shipped_text(name), nl=False)


@options.command(
    "Print the JSON Schema of experiment files or data cards.",
    "probcal schema experiment > experiment.schema.json\nprobcal schema card > card.schema.json",
)
@click.argument("kind", type=click.Choice(KINDS))
def schema(kind: str) -> None:
    """Print the JSON Schema of experiment files, or of data cards.

    With the schema, an editor completes keys and names, explains each key, and marks faults while you type. Save it
    beside your file and begin the file with the line below. It works in editors with the YAML language server: VS Code
    with its YAML extension, Neovim, Emacs, Helix.

    \b
      # yaml-language-server: $schema=experiment.schema.json

    A schema checks one file by itself. probcal validate also checks the rest, such as paths of cards.
    """
    click.echo(schema_path(kind).read_text(encoding="utf-8"), nl=False)


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
