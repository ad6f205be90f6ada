"""``probcal apply``"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probcal.cli import suggestions as complete
from probcal.cli.options import command

if TYPE_CHECKING:
    from probcal.deploy.map_files import Form
    from probcal.reading.number_form import Mark


@command(
    "Calibrate a table with an exported map.",
    "probcal apply map.json new.csv -o calibrated.csv",
    files={
        "-o FILE": "the table with the calibrated probabilities: CSV, or Parquet if its name ends with .parquet. With "
        "--as, the map"
    },
    environment=(),
    exits={0: "calibrated, or written", 2: "a mistake in the call, the map or the table; nothing was written"},
)
@click.argument("map_", metavar="MAP", type=click.Path(path_type=Path), shell_complete=complete.files)
@click.argument("table", required=False, shell_complete=complete.files)
@click.option(
    "--as",
    "form",
    type=click.Choice(["sql", "python", "onnx"]),
    help="Write the map, of two classes, as an SQL expression, a Python function or an ONNX graph. It reads no TABLE.",
)
@click.option(
    "-p",
    "--probability",
    multiple=True,
    metavar="COLUMN",
    help="Column to calibrate (default: those of the map). Repeat it in the order of the classes.",
)
@click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark of the file (default: inferred).")
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write to this file (default: print)."
)
@click.option("--force", is_flag=True, help="Overwrite the file of -o.")
def apply(
    map_: Path, table: str | None, form: Form | None, probability: tuple[str, ...], decimal: Mark | None,
    output: Path | None, force: bool,
) -> None:  # fmt: skip
    """Add calibrated probabilities to TABLE with the map in the JSON file MAP. No label is needed.

    TABLE is a CSV file (or other delimited text), Parquet or ARFF, or - for standard input. Each row is kept as it is,
    and has a new column, such as p_beta. MAP is a file of probcal measure --export, or of to_json of a map. Reading
    it runs no code.

    With --as, the map is written for another program, and no TABLE is read: probcal apply map.json --as sql
    """
    from probcal.deploy.map_files import apply_map, write_form
    from probcal.reading.output_file import refuse_path

    if output is not None:
        refuse_path("-o", output, force)
    print_text = partial(click.echo, nl=False)
    if form is not None and table is None:
        write_form(map_, form, output, probability, print_text)
    elif form is None and table is not None:
        apply_map(map_, table, output, probability, decimal, print_text)
    else:
        raise click.UsageError("give the TABLE to calibrate, or --as with the form of the map, not both")
