"""``probcal leaderboard``"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from probcal._io import printable
from probcal.cli import options
from probcal.cli import suggestions as complete

if TYPE_CHECKING:
    from probcal.store.stored_experiment import Selection

FORMATS = ("markdown", "json", "csv")
KINDS = ("size", "balance", "classes", "learner")


@options.command(
    "Rank the methods over all tables.",
    "probcal leaderboard results/defaults\nprobcal leaderboard results/defaults --by size --metric cxe\n"
    "probcal leaderboard results/defaults -l forest -m sigmoid -m beta\n"
    "probcal leaderboard results/defaults --by learner -f csv > ranks.csv",
    environment=options.DATA,
)
@options.folders_argument
@options.format_option(*FORMATS, help="csv and json contain every interval.")
@options.selection
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    shell_complete=complete.metrics,
    help="Only this metric; may be repeated. Default: those of cxe, brier (or rms), c_emp, smece and refinement that "
    "were measured.",
)
@click.option(
    "--by",
    "kind",
    type=click.Choice(KINDS),
    help="Split the tables by training rows (size), by the share of the rarest class (balance) or by the number of "
    "classes; or split by learner.",
)
@options.data_dir_option
def leaderboard(
    folders: tuple[Path, ...],
    format_: str,
    selection: Selection,
    metrics: tuple[str, ...],
    kind: str | None,
    data_dir: str | None,
) -> None:
    """Rank the methods of each results FOLDER over its tables (data sets).

    On each table and for each learner, the means over the splits decide which method wins. Each table counts once,
    whatever the number of its learners. The numbers are:

    \b
    - Elo: rating from the wins over each other method, by maximum
      likelihood (Bradley-Terry). The learner alone has 1000. A method
      with 400 points more than another wins ten times as often as it
      loses against it
    - 95 %: interval from 1,000 draws of the tables with replacement
    - mean rank: 1 is the best. Bold: not significantly different from
      the best (Friedman's test and Nemenyi's critical difference)
    - better: share of tables on which the method is better than the
      learner alone
    - win rate: share of the other methods that the method beats
    - seconds: geometric mean of the seconds to fit and to predict, with
      the fits that a cell shares with other cells. Bold: no method that
      is as fast has a higher Elo

    A method without a number for a table and learner is left out there. With -m, the learner alone is still shown.
    """
    from probcal.reporting.comparison.leaderboard_tables import experiment_boards, leaderboard_text
    from probcal.store.stored_experiment import StoredExperiment

    stores = options.stores_at(*folders)
    selection.refuse_unknown_names([StoredExperiment.of(store) for store in stores])
    selected_stores = selection.select_stores(stores)
    options.warn_of_other_data(selected_stores, data_dir)
    paths = {store.folder for store in selected_stores}
    boards = [experiment_boards(store, selection, metrics, kind or "") for store in stores if store.folder in paths]
    output = leaderboard_text(boards, format_)
    click.echo(printable(output) if format_ == "markdown" else output, nl=False)
