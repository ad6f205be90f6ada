"""``probcal schema``"""

from __future__ import annotations

import click

from probcal.cli import options
from probcal.config.schemas import KINDS, schema_path


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
