"""``probcal check``"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from probcal._io import printable
from probcal.cli import options


@options.command(
    "Compare results with the paper's numbers and claims.",
    "probcal check results/uci-random\nprobcal check results/uci-random --accept\n"
    "probcal check results/uci-random --power\nprobcal check results/ -f json",
    files={"FOLDER/accepted.csv": "our own numbers, stored by --accept"},
    environment=options.DATA,
    exits={
        0: "nothing new, or --power",
        1: "a deviation or claim without a known reason, a changed number, a failed, stale or "
        "missing cell, no comparison, or unproven results",
    },
)
@options.folders_argument
@click.option("--accept", is_flag=True, help="First store the present numbers in FOLDER/accepted.csv, as accepted.")
@click.option("--power", is_flag=True, help="Print only what the check would let pass, and exit with 0.")
@options.format_option("text", "json", help="json has every number with its band.")
@options.data_dir_option
def check(folders: tuple[Path, ...], accept: bool, power: bool, format_: str, data_dir: str | None) -> None:
    """Compare results with the paper's numbers and claims.

    Each FOLDER holds the results of an experiment, or several such folders. The command checks three things:

    \b
    - whether each number agrees with the published one, within the band that
      its splits allow, and within one unit of the last printed digit where
      nothing is drawn at random
    - whether the paper's claims hold
    - whether the numbers still equal those in FOLDER/accepted.csv, if it exists

    It begins with figures of agreement. Beside each is the same figure for
    shuffled columns and for one plain column everywhere. With --power, the
    command only prints which share of these it would let pass.

    In a checkout of probcal, its own results count as unproven while no
    witnesses were computed with the present numeric code.

    Deviations with a known reason are listed separately. A warning names the data sets whose cards or files have
    changed since the results were made.
    """
    from probcal.papers.check.accepted import accept_numbers as store_accepted
    from probcal.papers.check.accepted import accepted_path
    from probcal.papers.check.checked_experiment import check as check_experiment
    from probcal.papers.check.findings import CheckedResults
    from probcal.reporting.check.check_text import json_of, json_text, power_json, power_text, report_text

    stores = options.stores_at(*folders)
    experiments = [CheckedResults.of(store) for store in stores]
    options.warn_of_other_data(stores, data_dir)
    # Before the check, which compares with them.
    for experiment in experiments if accept else ():
        click.echo(f"accepted {store_accepted(experiment)} numbers: {accepted_path(experiment)}", err=True)
    reports = [check_experiment(experiment) for experiment in experiments]
    if power:
        figures = [power_json(report) for report in reports]
        click.echo(json_of(figures) if format_ == "json" else printable("\n".join(map(power_text, reports))), nl=False)
        return
    doubts = options.warn_of_unproven(stores)
    click.echo(json_text(reports) if format_ == "json" else printable("\n".join(map(report_text, reports))), nl=False)
    sys.exit(0 if all(report.ok for report in reports) and not doubts else 1)
