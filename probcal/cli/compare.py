"""``probcal compare``"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from probcal._io import printable
from probcal.cli import options

if TYPE_CHECKING:
    from probcal.store.stored_experiment import Selection

FORMATS = ("markdown", "json", "csv")


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

    stores = selection.select_stores(options.stores_at(*folders))
    options.warn_of_other_data(stores, data_dir)
    comparisons = [compare(store, options.progress_bar("steps")) for store in stores]
    for part in comparison_parts(comparisons, format_):
        click.echo(printable(part) if format_ == "markdown" else part, nl=False)
