"""The commands that prove and move results folders: ``verify``, ``merge`` and ``convert``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probcal._io import printable
from probcal.cli import options
from probcal.cli import suggestions as complete

if TYPE_CHECKING:
    from probcal.runner.verify import FolderVerification
    from probcal.store.folder import Store
    from probcal.store.stored_experiment import Selection


@options.command(
    "Recompute results from their stored predictions.",
    "probcal verify results/quickstart\nprobcal verify results/uci-random -d adult -l nb\n"
    "probcal verify results/ -f json\nprobcal verify results/uci-random --recompute 300 --seed 1 -j 2",
    environment=(*options.DATA, *options.TRUST),
    exits={
        0: "every done row was recomputed and agrees, or with --recompute every cell that was fitted again",
        1: "a row or summary differs, a done row could not be verified, or no row is done",
        2: "a mistake in the call or in a file; nothing was changed but what is said to be removed",
    },
)
@options.folders_argument
@options.selection
@options.format_option("text", "json", help="json contains every difference and count.")
@click.option("--discard", is_flag=True, help="Remove the results that differ, so that probcal run makes them again.")
@click.option("--recompute", metavar="K", type=click.IntRange(1), help="Fit K random cells again instead.")
@click.option("--seed", metavar="S", type=click.IntRange(0), default=0, help="Seed of the sample (default: 0).")
@click.option("-j", "--jobs", metavar="N", type=click.IntRange(1), default=1, help="Number of cells at a time.")
@options.data_dir_option
@options.trusted_imports
def verify(
    folders: tuple[Path, ...],
    selection: Selection,
    format_: str,
    discard: bool,
    recompute: int | None,
    seed: int,
    jobs: int,
    data_dir: str | None,
) -> None:
    """Recompute every done row of each results FOLDER from its stored predictions, and print the differences.

    This finds results that were edited by hand, a predictions.bin that the run did not write, and a compare.json or
    estimates.json that disagrees with the predictions. A row without stored predictions is never counted as verified.
    Nothing is fitted, and without --discard nothing is changed. A row whose stored predictions were changed or lost
    differs, too, although its metrics may be right.

    With --recompute, K random done cells are fitted again, spread over the columns, and their metrics are compared.
    This needs no stored predictions, but the data. It says how many of all cells can differ at most.
    """
    from probcal.reporting.comparison.split_results import comparison_file_faults
    from probcal.reporting.prediction_summaries import estimates_file_faults
    from probcal.runner.verify import json_text, text
    from probcal.runner.verify import verify as verify_store
    from probcal.store.stored_experiment import StoredExperiment

    if discard and recompute is not None:
        raise click.UsageError("--discard needs stored predictions, and --recompute has none; give one of them")
    stores = options.stores_at(*folders)
    selection.refuse_unknown_names([StoredExperiment.of(store) for store in stores])
    if recompute is not None:
        _recompute(stores, selection, format_, recompute, seed, jobs, data_dir)
    results = [verify_store(store, selection, options.progress_bar("rows")) for store in stores]
    for result in results:
        result.summary_faults += [*comparison_file_faults(result.store), *estimates_file_faults(result.store)]
    if format_ == "json":
        click.echo(json_text(results), nl=False)
    else:
        click.echo(printable("\n".join(text(result, discards=discard) for result in results)), nl=False)
    if discard:
        for result in results:
            _discard(result, selection)
    sys.exit(0 if all(result.ok for result in results) else 1)


def _discard(verification: FolderVerification, selection: Selection) -> None:
    from probcal.store.folder import Store

    store = Store(verification.store.folder)
    cells = verification.differing_cells | {
        cell
        for cell, result in store.impossible_results().items()
        if selection.includes(result.dataset, result.learner, result.method)
    }
    if cells:
        with store.writing(store.name):
            store.discard(cells)
        count, pronoun = ("1 result", "it") if len(cells) == 1 else (f"{len(cells)} results", "them")
        text = f"removed {count} of {store.folder}; repeat probcal run to make {pronoun} again"
        click.echo(printable(text), err=True)  # standard output may be JSON


def _recompute(
    stores: list[Store], selection: Selection, format_: str, n_cells: int, seed: int, jobs: int, data_dir: str | None
) -> None:
    import json
    from dataclasses import asdict

    from probcal.data.load import data_folder
    from probcal.runner.recompute import recompute

    bar = options.progress_bar("cells")
    found = [recompute(store, n_cells, seed, selection, data_folder(data_dir), jobs, bar) for store in stores]
    if format_ == "json":
        click.echo(json.dumps([asdict(one) | {"at_most": one.largest_share} for one in found], indent=1, default=str))
    else:
        click.echo(printable("\n".join(one.text() for one in found)))
    sys.exit(0 if all(one.ok for one in found) else 1)


@options.command(
    "Join results that several machines made of one experiment.",
    "probcal merge results/arena results/machine-a results/machine-b\nprobcal merge results/arena results/machines/",
    files={"OUT/": "a new results folder with all cells, runs and predictions"},
    exits={0: "joined", 2: "the folders do not fit together, or OUT exists; nothing was written"},
)
@click.argument("out", type=click.Path(path_type=Path), shell_complete=complete.folders)
@options.folders_argument
def merge(out: Path, folders: tuple[Path, ...]) -> None:
    """Join the results in each FOLDER, or in every folder below it, into the new folder OUT.

    Use it after machines have run parts of one experiment: other data sets (-d), learners (-l), methods (-m) or an
    interrupted rest. The folders must have the same experiment file, seed, data, code and versions, as far as these
    change a number. Two different results for one cell are refused. A message names the folders and the cell.

    OUT is a results folder like any other: probcal status, verify and table read it, and probcal run -o OUT continues
    it. The order of the folders changes nothing. The folders stay as they are.
    """
    from probcal.runner.merge import merge as merge_stores

    click.echo(printable(merge_stores(options.stores_at(*folders), out).text()), nl=False)


@options.command(
    "Write results of an earlier version in the present form.",
    "probcal convert results/uci\nprobcal convert results/",
    exits={0: "converted, or nothing to do", 2: "a folder cannot be read or written; it is unchanged"},
)
@options.folders_argument
def convert(folders: tuple[Path, ...]) -> None:
    """Move the results in each FOLDER, or in every folder below it, from lines of text to one table, cells.parquet.

    Every command reads both forms. The table takes about a tenth of the space, and tables and reports are made faster.
    A run that ends converts its own folder. Results of code that no witness proves stay stale.
    """
    from probcal.store.folder import TABLE

    for store in options.stores_at(*folders):
        with store.writing(store.name):
            n_results = store.convert()
        click.echo(printable(f"{n_results} results of {store.folder} are in {store.folder / TABLE}"))
