"""``probcal report``"""

from __future__ import annotations

from pathlib import Path

import click

from probcal.cli import options


@options.command(
    "Write one web page about results.",
    "probcal report results/uci-random\nprobcal report results/uci-random results/uci-native -o both.html",
    files={
        "FOLDER/report.html": "the page (-o: elsewhere)",
        "FOLDER/estimates.json": "a summary of predictions.bin for its figures",
        "FOLDER/compare.json": "a summary of predictions.bin for its statistics",
    },
    environment=options.DATA,
    exits={0: "written"},
)
@options.folders_argument
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to write (default: FOLDER/report.html; for several experiments, report.html here).",
)
@options.data_dir_option
def report(folders: tuple[Path, ...], output: Path | None, data_dir: str | None) -> None:
    """Write one web page about each results FOLDER, or about every experiment below it.

    The page has the tables with the published numbers, the figures, the failed cells, the provenance of the numbers
    and the commands to reproduce them. It needs no network and no other file. A warning names the data sets whose
    cards or files have changed since the results were made.
    """
    from probcal.reporting.html import write_report

    stores = list({store.folder.resolve(): store for store in options.stores_at(*folders)}.values())
    options.warn_of_other_data(stores, data_dir)
    path = output or (stores[0].folder / "report.html" if len(stores) == 1 else Path("report.html"))
    click.echo(write_report(stores, path))
    options.note_missing_pictures()
