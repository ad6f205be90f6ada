"""``probcal schema``"""

from __future__ import annotations

import click

from probcal.cli.options import FINE, manual
from probcal.config.schemas import KINDS, schema_path


@click.command(
    short_help="Print the JSON Schema of experiment files or data cards.",
    epilog=manual(
        "probcal schema experiment > experiment.schema.json\nprobcal schema card > card.schema.json",
        exits=FINE,
    ),
)
@click.argument("kind", type=click.Choice(KINDS))
def schema(kind: str) -> None:
    """Print the JSON Schema of experiment files, or of data cards.

    With it an editor completes keys and names, explains each key, and marks faults as they are typed. Save it beside
    your file and let the file begin with this line, which editors with the YAML language server read (VS Code with
    its YAML extension, Neovim, Emacs, Helix):

    \b
      # yaml-language-server: $schema=experiment.schema.json

    A schema sees one file. What it cannot see, such as whether a path leads to a card, probcal validate tells.
    """
    click.echo(schema_path(kind).read_text(encoding="utf-8"), nl=False)
