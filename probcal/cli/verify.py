"""``probcal verify``"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probcal._io import printable
from probcal.cli import options

if TYPE_CHECKING:
    from probcal.store.outline import Selection


@options.command(
    "Recompute results from their stored predictions.",
    "probcal verify results/quickstart\nprobcal verify results/uci-random -d adult -l nb\n"
    "probcal verify results/ -f json",
    environment=options.TRUST,
    exits={
        0: "every done row was recomputed and agrees",
        1: "a row or summary differs, a done row could not be verified, or no row is done",
    },
)
@options.folders_argument
@options.selection
@options.format_option("text", "json", help="json contains every difference and count.")
@options.trusted_imports
def verify(
    folders: tuple[Path, ...],
    selection: Selection,
    format_: str,
) -> None:
    """Recompute every done row of each results FOLDER from its stored predictions, and print the differences.

    This finds results that were edited by hand, a predictions.bin that the run did not write, and a compare.json or
    estimates.json that disagrees with the predictions. A row without stored
    predictions is never counted as verified. Nothing is fitted or changed.
    """
    from probcal.reporting.comparison.split_results import comparison_file_faults
    from probcal.reporting.prediction_summaries import estimates_file_faults
    from probcal.runner.verify import json_text, text
    from probcal.runner.verify import verify as verify_store
    from probcal.store.outline import Outline

    stores = options.stores_at(*folders)
    selection.refuse_unknown_names([Outline.of(store) for store in stores])
    results = [verify_store(store, selection, options.progress_bar("rows")) for store in stores]
    for result in results:
        result.summary_faults += [*comparison_file_faults(result.store), *estimates_file_faults(result.store)]
    click.echo(json_text(results) if format_ == "json" else printable("\n".join(map(text, results))), nl=False)
    sys.exit(0 if all(result.ok for result in results) else 1)
