"""``probcal check``"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from probcal.commands.options import example, stores_at
from probcal.visible import visible


@click.command(
    epilog=example("probcal check results/uci\nprobcal check results/uci --accept\nprobcal check results/ -f json")
)
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...", type=click.Path(path_type=Path))
@click.option("--accept", is_flag=True, help="First take the numbers there are as ours: writes FOLDER/accepted.csv.")
@click.option("-f", "--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
def check(folders: tuple[Path, ...], accept: bool, format_: str) -> None:
    """Hold the results in each FOLDER against the paper's numbers and claims, and against our own accepted ones.

    Exit code 0: nothing new; 1: a deviation or claim without a known reason, drift, an impossible number, a failed
    cell, or nothing to compare.
    """
    from probcal.check.accepted import accept as take
    from probcal.check.accepted import accepted_path
    from probcal.check.experiment import Checked
    from probcal.check.json_text import json_text
    from probcal.check.report import check as check_one
    from probcal.check.text import text

    every = [Checked.of(store) for folder in folders for store in stores_at(folder)]
    for one in every if accept else ():
        click.echo(f"accepted {take(one)} numbers: {accepted_path(one)}", err=True)
    reports = [check_one(one) for one in every]
    click.echo(json_text(reports) if format_ == "json" else visible("\n".join(map(text, reports))), nl=False)
    sys.exit(0 if all(report.ok for report in reports) else 1)
