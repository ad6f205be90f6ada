"""The commands that show results: ``status``, ``table``, ``report`` and ``plot``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from probcal._io import printable
from probcal.cli import options
from probcal.errors import require
from probcal.reporting import FORMATS

if TYPE_CHECKING:
    from probcal.store.folder import Store
    from probcal.store.stored_experiment import Selection

RANKS = "ranks"
FIGURE_KINDS = ("paper", "reliability", "scores", "roc", "cost-curves", "decision-curves", RANKS)


@options.command(
    "Show which cells are done, failed, stale or still to run.",
    "probcal status results/uci-random\nprobcal status results/\nprobcal status results/uci-random -d adult --cells\n"
    "probcal status results/mine --data-dir ~/data",
    environment=(*options.DATA, *options.TRUST),
    exits={0: "printed", 2: "a mistake in the call, or an experiment or data that cannot be read"},
)
@options.folder_argument
@click.option("--cells", is_flag=True, help="Print one line for each cell.")
@click.option("--strict", is_flag=True, help="Count results as stale that other versions of packages made.")
@options.selection
@options.data_dir_option
@options.trusted_imports
def status(folder: Path, cells: bool, strict: bool, selection: Selection, data_dir: str | None) -> None:
    """Show which cells in a FOLDER of results are done, failed, stale or still to run, and which run now.

    If FOLDER holds several experiments, each is shown as it was last run. A note says if an experiment file has changed
    since. A cell is stale when its data, its settings, your own code or the numbers of a component have changed. The
    reason is shown. probcal run runs stale cells again. Data files are hashed, so no edit is missed. Other versions of
    packages are shown, and make a cell stale only with --strict. probcal run keeps exactly the cells shown as done.
    """
    from probcal.data.load import data_folder
    from probcal.runner.status import status_lines

    originals = data_folder(data_dir)
    stores = selection.select_stores(options.stores_at(folder))
    options.warn_of_unproven(stores)
    for store in stores:
        for line in status_lines(store, selection, originals, every_cell=cells, strict=strict):
            click.echo(printable(line))


@options.command(
    "Print tables of results beside the paper's numbers.",
    "probcal table results/uci-random\nprobcal table results/uci-random --format latex > tables.tex\n"
    "probcal table results/\n"
    "probcal table results/uci-random results/uci-native --together\nprobcal table results/uci-random -d adult -l svm\n"
    "probcal table results/mine --data-dir ~/data",
    environment=options.DATA,
)
@options.folders_argument
@options.format_option(
    *FORMATS, help="latex and html are for documents; csv has one line per number, safe for spreadsheets."
)
@options.selection
@click.option("--together", is_flag=True, help="Show experiments of one paper side by side, in one set of tables.")
@options.data_dir_option
def table(folders: tuple[Path, ...], format_: str, together: bool, selection: Selection, data_dir: str | None) -> None:
    """Print the tables of each FOLDER of results, or of every experiment below it.

    There is one table for each metric, with a row for each data set and a column for each learner with a method. Each
    number is the mean over the splits with its standard deviation. Published numbers and differences stand beside it.
    If no package here has the published numbers, a warning says so, and the tables have only yours.
    Results count as stale if their card or data files have changed since, and a warning names the data sets.
    """
    from probcal.reporting.tables import tables_text

    stores = options.selected_stores(selection, folders)
    stores = options.warn_of_other_data(stores if together else options.without_absent_papers(stores), data_dir)
    options.warn_of_unproven(stores)
    click.echo(tables_text(*stores, format=format_, side_by_side=together), nl=False)
    options.note_failures(stores)


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
    stores = options.without_absent_papers(stores)
    options.warn_of_other_data(stores, data_dir)
    path = output or (stores[0].folder / "report.html" if len(stores) == 1 else Path("report.html"))
    click.echo(write_report(stores, path))
    options.note_missing_pictures()


@options.command(
    "Draw the figures of results.",
    "probcal plot results/uci-random\nprobcal plot results/uci-random --kind reliability --kind roc -d adult\n"
    "probcal plot results/figure1 --kind paper",
    files={"FOLDER/figures/": "the figures", "FOLDER/estimates.json": "a summary of predictions.bin"},
    environment=options.DATA,
    exits={0: "drawn"},
)
@options.folder_argument
@click.option(
    "-k", "--kind", "kinds", multiple=True, type=click.Choice(FIGURE_KINDS), help="Only this kind; may be repeated."
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for the figures (default: FOLDER/figures; of several experiments, each has a folder in DIR).",
)
@options.selection
@options.data_dir_option
def plot(folder: Path, kinds: tuple[str, ...], output: Path | None, selection: Selection, data_dir: str | None) -> None:
    """Draw the figures of the results FOLDER, or of every experiment below it, as PNG and SVG.

    \b
    paper            the papers' figures, from the curves of the experiment
    reliability      observed frequency against predicted probability, with 95 %
                     intervals
    scores           histograms of predictions for positive and negative rows
    roc              ROC curves
    cost-curves      expected cost of the best threshold, at every ratio of costs
    decision-curves  net benefit of acting on the predictions, by threshold
    ranks            mean ranks by each metric, with critical differences

    The figures go into FOLDER/figures/ or into -o. All kinds but paper and ranks are drawn from the stored predictions,
    one file for each data set. A summary of the predictions is stored in FOLDER/estimates.json, so that you can draw
    them again without predictions.bin. A warning names the data sets whose cards or files have changed since the
    results were made.
    """
    require("matplotlib", "probcal plot")
    from probcal.reporting.comparison.ranks_figure import draw_ranks
    from probcal.reporting.drawing import figures_folder
    from probcal.reporting.figures import FigureError
    from probcal.reporting.figures import plot as draw
    from probcal.store.stored_experiment import StoredExperiment

    stores = options.without_absent_papers(options.stores_at(folder))
    selection.refuse_unknown_names([StoredExperiment.of(store) for store in stores])
    options.warn_of_other_data(selection.select_stores(stores), data_dir)
    figure_kinds = kinds or FIGURE_KINDS

    def folder_of(store: Store) -> Path:
        if output is None:
            return figures_folder(store)
        return output.resolve() / store.folder.relative_to(folder)

    diagrams = draw_ranks(stores, selection, folder_of) if RANKS in figure_kinds else []
    for path in diagrams:
        click.echo(path)
    chart_kinds = tuple(kind for kind in figure_kinds if kind != RANKS)
    if not chart_kinds:
        if not diagrams:
            raise FigureError(f"{folder} has no ranks: they need two columns with results on the same two data sets")
        return
    try:
        for path in draw(stores, options.print_note, chart_kinds, selection, folder_of):
            click.echo(path)
    except FigureError:
        # Without curves to draw, the diagrams of ranks are still a result.
        if not diagrams:
            raise
