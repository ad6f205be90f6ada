"""``probcal plot``"""

from __future__ import annotations

from pathlib import Path

import click

from probcal._io import visible
from probcal.cli.options import (
    DATA,
    MISTAKE,
    data_dir_option,
    folder_argument,
    manual,
    selection,
    stores_at,
    warn_of_other_data,
)

RANKS = "ranks"
KINDS = ("paper", "reliability", "scores", "roc", "cost-curves", RANKS)


@click.command(
    short_help="Draw the figures of results.",
    epilog=manual(
        "probcal plot results/uci\nprobcal plot results/uci --kind reliability --kind roc -d adult\n"
        "probcal plot results/figure1 --kind paper",
        files={"FOLDER/figures/": "the figures", "FOLDER/estimates.json": "what they need of predictions.bin"},
        environment=DATA,
        exits={0: "drawn", **MISTAKE},
    ),
)
@folder_argument
@click.option("-k", "--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only this kind; may be repeated.")
@selection
@data_dir_option
def plot(
    folder: Path,
    kinds: tuple[str, ...],
    datasets: tuple[str, ...],
    learners: tuple[str, ...],
    methods: tuple[str, ...],
    data_dir: str | None,
) -> None:
    """Draw the figures of the results FOLDER, or of every experiment below it, as PNG and SVG into its figures/.

    \b
    paper        the papers' figures, of what the experiment keeps for them
    reliability  observed shares against estimates, with 95 % intervals
    scores       how often each estimate is given to positive and to negative rows
    roc          ROC curves
    cost-curves  expected cost of the best threshold at every ratio of costs
    ranks        mean ranks by each metric, with their critical differences

    Those between the first and the last are drawn of the estimates behind the results, one file a data set. What they
    need of these is kept in FOLDER/estimates.json, from which they are drawn where predictions.bin is not. A warning
    names the data sets of which results are of other data than their cards and files hold now.
    """
    from probcal.analysis.ranks_figure import draw_ranks
    from probcal.reporting.figures import NothingToDraw
    from probcal.reporting.figures import plot as draw
    from probcal.store.outline import Outline
    from probcal.store.selection import Selection

    stores, asked = stores_at(folder), Selection(datasets, learners, methods)
    asked.refuse_unknown([Outline.of(store) for store in stores])
    warn_of_other_data(asked.stores(stores), data_dir)
    chosen = kinds or KINDS
    diagrams = draw_ranks(stores, asked) if RANKS in chosen else []
    for path in diagrams:
        click.echo(path)
    others = tuple(kind for kind in chosen if kind != RANKS)
    if not others:
        if not diagrams:
            raise NothingToDraw(f"no two columns in {folder} have results of the same two data sets, to be ranked by")
        return
    try:
        for path in draw(stores, lambda line: click.echo(f"note: {visible(line)}", err=True), others, asked):
            click.echo(path)
    except NothingToDraw:
        if not diagrams:
            raise
