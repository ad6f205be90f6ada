"""The commands that compare results: ``check``, ``audit``, ``compare`` and ``leaderboard``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probcal._io import printable
from probcal.cli import options
from probcal.cli import suggestions as complete
from probcal.errors import ProbcalError

if TYPE_CHECKING:
    from probcal.store.stored_experiment import Selection

FORMATS = ("markdown", "json", "csv")
GROUPINGS = ("size", "balance", "classes", "learner")


@options.command(
    "Compare results with the paper's numbers and claims.",
    "probcal check results/uci-random\nprobcal check results/uci-random --accept\n"
    "probcal check results/uci-random --power\nprobcal check results/ -f json",
    files={"FOLDER/accepted.csv": "our own numbers, stored by --accept"},
    environment=options.DATA,
    exits={
        0: "nothing new, or --power",
        1: "a deviation or claim without a known reason, a changed or vanished number, a failed, stale or "
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
    changed since the results were made. The command imports no module of yours, so it cannot see whether your code has
    changed. A note names your modules, and other versions of packages. Neither changes the exit code.
    """
    from probcal.papers.check.accepted import accept_numbers as store_accepted
    from probcal.papers.check.accepted import accepted_path
    from probcal.papers.check.checked_experiment import check as check_experiment
    from probcal.papers.check.findings import CheckedResults
    from probcal.papers.published import UnknownPaper
    from probcal.reporting.check.check_text import json_of, json_text, power_json, power_text, report_text

    stores = options.stores_at(*folders)
    try:
        experiments = [CheckedResults.of(store) for store in stores]
    except UnknownPaper as error:
        shown = shlex.join(map(str, folders))
        raise ProbcalError(f"{error}; without them, this command shows the results: probcal table {shown}") from None
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
    options.note_unchecked(stores)
    sys.exit(0 if all(report.ok for report in reports) and not doubts else 1)


@options.command(
    "Rank variants by their agreement with the published numbers.",
    "probcal audit results/audit\nprobcal audit results/audit results/uci-random --cells\n"
    "probcal audit results/audit -f csv > audit.csv\nprobcal audit results/published-readings --confirm 3",
)
@options.folders_argument
@options.format_option("markdown", "csv", help="csv has one line for every number.")
@click.option("-v", "--cells", is_flag=True, help="Also show the single numbers.")
@click.option(
    "--confirm",
    type=click.IntRange(min=1),
    metavar="N",
    help="Choose the best variant by the printed digits of N data sets, and show its digits on the others.",
)
def audit(folders: tuple[Path, ...], format_: str, cells: bool, confirm: int | None) -> None:
    """Rank variants by their agreement with the published numbers.

    Each FOLDER holds the results of an experiment that names a paper, or several such folders. All folders are ranked
    together. Columns are rivals when they belong to the same published column: variants of a learner or a method, or
    columns of several folders. Cards that prepare one data set differently (readings) are rivals, too. The
    best rival has the most published numbers within their bands. Ties are sorted by the smallest median distance.

    With --confirm, variants are ranked by the printed digits, on data sets with the paper's own split only. Each choice
    of N data sets has a best variant. The other data sets confirm this variant or not.
    """
    from probcal.reporting.check.audit import audit_text

    stores = options.stores_at(*folders)
    if confirm is not None:
        from probcal.reporting.check.confirmation import confirmation_text

        if format_ != "markdown" or cells:
            raise click.UsageError("--confirm shows its own tables; leave --format and --cells out")
        click.echo(confirmation_text(*stores, scored=confirm), nl=False)
        return
    click.echo(audit_text(*stores, format=format_, cells=cells), nl=False)


@options.command(
    "Test which differences between methods are significant.",
    "probcal compare results/uci-random\nprobcal compare results/uci-random results/uci-native -f csv > tests.csv\n"
    "probcal compare results/uci-random -f json\nprobcal compare results/uci-random -l j48",
    files={"FOLDER/compare.json": "a summary of predictions.bin"},
    environment=options.DATA,
)
@options.folders_argument
@options.format_option(*FORMATS, help="csv has every test; markdown and json have at most 10,000 pairs of a metric.")
@options.selection
@options.data_dir_option
def compare(folders: tuple[Path, ...], format_: str, selection: Selection, data_dir: str | None) -> None:
    """Test which differences between methods in each results FOLDER are significant.

    \b
    The output has:
    - mean ranks with Friedman's test and critical differences
    - tests of every two methods of a learner, with Holm's correction:
      corrected resampled t-test, bootstrap of the test rows or Wilcoxon's
      signed-rank test
    - how often the paper's claims and the best methods hold over random draws
      of the splits

    If predictions are stored, a summary of them is written to FOLDER/compare.json. A warning names the data sets whose
    cards or files have changed since the results were made.
    """
    from probcal.reporting.comparison.claim_support import compare
    from probcal.reporting.comparison.comparison_tables import comparison_parts

    stores = options.without_absent_papers(options.selected_stores(selection, folders))
    options.warn_of_other_data(stores, data_dir)
    comparisons = [compare(store, options.progress_bar("steps")) for store in stores]
    for part in comparison_parts(comparisons, format_):
        click.echo(printable(part) if format_ == "markdown" else part, nl=False)


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
    type=click.Choice(GROUPINGS),
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
