"""``probcal check``"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from probcal._io import visible
from probcal.cli.options import (
    DATA,
    MISTAKE,
    data_dir_option,
    folders_argument,
    format_option,
    manual,
    stores_at,
    warn_of_other_data,
)


@click.command(
    short_help="Hold results against the paper's numbers and claims.",
    epilog=manual(
        "probcal check results/uci\nprobcal check results/uci --accept\nprobcal check results/ -f json",
        files={"FOLDER/accepted.csv": "our own numbers, as --accept took them"},
        environment=DATA,
        exits={
            0: "nothing new",
            1: "a deviation or claim without a known reason, drift, a failed cell, or nothing to compare",
            **MISTAKE,
        },
    ),
)
@folders_argument
@click.option("--accept", is_flag=True, help="First take the numbers there are as ours: writes FOLDER/accepted.csv.")
@format_option("text", "json", help="json has every number with its band.")
@data_dir_option
def check(folders: tuple[Path, ...], accept: bool, format_: str, data_dir: str | None) -> None:
    """Hold results against the paper's numbers and claims.

    Each FOLDER holds the results of an experiment, or several such folders. Compared are: the numbers with the
    published ones, each within the band that its splits allow; the claims of the paper; and, where FOLDER has an
    accepted.csv, the numbers with those that were accepted. Deviations whose reason is known are listed as such.
    A warning names the data sets of which results are of other data than their cards and files hold now.
    """
    from probcal.papers.check.accepted import accept as take
    from probcal.papers.check.accepted import accepted_path
    from probcal.papers.check.check_text import json_text, text
    from probcal.papers.check.checked_experiment import check as check_one
    from probcal.papers.check.measured_results import Checked

    stores = [store for folder in folders for store in stores_at(folder)]
    every = [Checked.of(store) for store in stores]
    warn_of_other_data(stores, data_dir)
    for one in every if accept else ():
        click.echo(f"accepted {take(one)} numbers: {accepted_path(one)}", err=True)
    reports = [check_one(one) for one in every]
    click.echo(json_text(reports) if format_ == "json" else visible("\n".join(map(text, reports))), nl=False)
    sys.exit(0 if all(report.ok for report in reports) else 1)
