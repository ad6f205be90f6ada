"""``probcal plot``"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from probcal._io import printable
from probcal.cli import options
from probcal.errors import require

if TYPE_CHECKING:
    from probcal.store.folder import Store
    from probcal.store.stored_experiment import Selection

RANKS = "ranks"
KINDS = ("paper", "reliability", "scores", "roc", "cost-curves", "decision-curves", RANKS)


@options.command(
    "Draw the figures of results.",
    "probcal plot results/uci-random\nprobcal plot results/uci-random --kind reliability --kind roc -d adult\n"
    "probcal plot results/figure1 --kind paper",
    files={"FOLDER/figures/": "the figures", "FOLDER/estimates.json": "a summary of predictions.bin"},
    environment=options.DATA,
    exits={0: "drawn"},
)
@options.folder_argument
@click.option("-k", "--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this kind; may be repeated.")
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

    stores = options.stores_at(folder)
    selection.refuse_unknown_names([StoredExperiment.of(store) for store in stores])
    options.warn_of_other_data(selection.select_stores(stores), data_dir)
    figure_kinds = kinds or KINDS

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
        for path in draw(stores, _print_note, chart_kinds, selection, folder_of):
            click.echo(path)
    except FigureError:
        # Without curves to draw, the diagrams of ranks are still a result.
        if not diagrams:
            raise


def _print_note(line: str) -> None:
    click.echo(f"note: {printable(line)}", err=True)
