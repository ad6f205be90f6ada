"""``probcal watch``"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probcal.cli import suggestions as complete
from probcal.cli.options import command

if TYPE_CHECKING:
    from probcal.reading.number_form import Mark
    from probcal.watch.watch import Every

_ALARM = 3


@command(
    "Watch calibration over time, and alarm when it changes.",
    "probcal watch log.csv --time scored_at -p p -t y --state watch.json",
    files={"--state FILE": "the monitor and the time of its last row, for the next run"},
    environment=(),
    exits={
        0: "watched, and no alarm",
        2: "a mistake in the call, the table or the state; nothing was written",
        _ALARM: "alarm",
    },
)
@click.argument("table", shell_complete=complete.files)
@click.option("--time", metavar="COLUMN", required=True, help="Date or time of each prediction.")
@click.option(
    "-p", "--probability", metavar="COLUMN", required=True, help="Predicted probability of the positive label."
)
@click.option("-t", "--target", metavar="COLUMN", required=True, help="The observed labels. Empty: not known yet.")
@click.option("--positive", metavar="LABEL", help="The label whose probability is given (default: 1, yes or true).")
@click.option(
    "--every",
    type=click.Choice(["day", "week", "month", "quarter", "year"]),
    default="month",
    show_default=True,
    help="A line of the table for each.",
)
@click.option("--state", metavar="FILE", type=click.Path(path_type=Path), help="Go on from this file, and update it.")
@click.option(
    "--false-alarms",
    metavar="RATE",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.01,
    show_default=True,
    help="Largest probability of a false alarm, over all runs.",
)
@click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark of the file (default: inferred).")
@click.option(
    "-f",
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json: a line for each period, and one for the monitor.",
)
def watch(
    table: str, time: str, probability: str, target: str, positive: str | None, every: Every, state: Path | None,
    false_alarms: float, decimal: Mark | None, format_: str,
) -> None:  # fmt: skip
    """Show the calibration of the predictions in TABLE for each period, and say whether it has changed.

    TABLE is a log of predictions, with their times and with labels as far as they are known. The alarm is valid after
    any number of runs: as long as the predictions are calibrated, it ever comes with at most the probability of
    --false-alarms. With --state, only new rows are read. Exit code 3 tells a cron job or CI of an alarm.
    """
    from probcal.reading.prediction_file import PredictionsRequest
    from probcal.watch.watch import WatchRequest, watch, watched_json, watched_text

    request = PredictionsRequest(table, (probability,), target, positive, None, (), decimal)
    watched = watch(WatchRequest(request, time, every, false_alarms, state))
    click.echo("\n".join(watched_json(watched)) if format_ == "json" else "\n\n".join(watched_text(watched)))
    sys.exit(_ALARM if watched.has_alarm else 0)
