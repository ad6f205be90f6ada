"""Figures of experiments as files. The same results always give the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path

from matplotlib.figure import Figure

from probcal.errors import ProbcalError
from probcal.papers.check.comparison import attach_paper
from probcal.reporting.drawing import draw_styled, figures_folder, save_figure
from probcal.reporting.paper_figures import PAPER, paper_figures
from probcal.reporting.prediction_figures import ESTIMATE_KINDS, estimate_figures
from probcal.reporting.prediction_summaries import pictures_of
from probcal.reporting.stored_curves import missing_cells
from probcal.store.folder import Store
from probcal.store.stored_experiment import Selection, StoredExperiment

KINDS = (PAPER, *ESTIMATE_KINDS)
_FULL_SELECTION = Selection()
_LONGEST_NAME = 16
_CURVE_METHODS = {
    "iso_probability": "a sweep over class weights (weight_sweep) of two classes and two numeric columns",
    "training_rows": "the same, and drawn with iso_probability alone",
    "scores": "a sweep over class weights of two classes, with .5 among its levels, around a learner with scores",
    "martingale": "methods that protect",
    "roc": "any method on two classes",
}
"""Curve -> methods that have it, for the message when nothing has it."""


class FigureError(ProbcalError):
    """Signal that no result has what a figure shows."""


def plot(
    stores: Iterable[Store],
    warn: Callable[[str], None],
    kinds: Sequence[str] = KINDS,
    selection: Selection = _FULL_SELECTION,
    folder_of: Callable[[Store], Path] = figures_folder,
) -> Iterator[Path]:
    """Draw what the results of ``stores`` allow, each into its ``folder_of``, and yield the files.

    ``warn`` receives notes on what is missing in a figure. Where the predictions exist, what figures need of them is
    written to the folder's ``estimates.json``. Raises FigureError when there is no figure to draw, StoreError when
    a folder cannot be shown, UnknownPaper when it follows an unknown paper, and ProbcalError for names in
    ``selection`` that no store has.
    """
    stores, any_drawn = list(stores), False
    selection.refuse_unknown_names([StoredExperiment.of(store) for store in stores])
    for store in stores:
        notes: list[str] = []
        figures = _figures(store, tuple(kinds), selection, notes.append)
        for paths in draw_styled(figures, partial(_save_with_own_name, folder_of(store), set())):
            any_drawn = True
            yield from paths
        for note in dict.fromkeys(notes):
            warn(f"{store.folder}: {note}")
    if not any_drawn:
        raise _no_figure_error(stores, kinds)


def _figures(
    store: Store, kinds: tuple[str, ...], selection: Selection, warn: Callable[[str], None]
) -> Iterator[tuple[str, Figure]]:
    stored, results = StoredExperiment.of(store), store.results()
    own_experiment = selection.select(stored)
    yield from paper_figures(shorten_titles(own_experiment), own_experiment, results, kinds, warn)
    estimate_kinds = [kind for kind in ESTIMATE_KINDS if kind in kinds]
    if not estimate_kinds:
        return
    pictures = pictures_of(store, stored, results, keep=True)
    any_drawn = False
    for named_figure in estimate_figures(own_experiment, results, pictures.figures, estimate_kinds):
        any_drawn = True
        yield named_figure
    notes = pictures.notes(own_experiment)
    if any_drawn:
        notes += missing_cells(own_experiment, results, own_experiment.columns)
    for note in notes:
        warn(note)


def build_prediction_figures(store: Store, kind: str, selection: Selection) -> list[Figure]:
    """Return the figures of a ``kind`` of ``ESTIMATE_KINDS``, one for each data set, without writing anything.

    Raises FigureError, and ProbcalError for names in ``selection`` that the store does not have.
    """
    stored, results = StoredExperiment.of(store), store.results()
    selection.refuse_unknown_names([stored])
    selected_experiment = selection.select(stored)
    pictures = pictures_of(store, stored, results).figures
    figures = list(
        draw_styled(estimate_figures(selected_experiment, results, pictures, [kind]), lambda _, figure: figure)
    )
    if not figures:
        raise _no_figure_error([store], [kind])
    return figures


def _save_with_own_name(folder: Path, taken: set[str], name: str, figure: Figure) -> list[Path]:
    candidates = (f"{name}-{number}" if number > 1 else name for number in count(1))
    # Names that differ by case only are one name on some systems, such as macOS.
    own_name = next(one for one in candidates if one.casefold() not in taken)
    taken.add(own_name.casefold())
    return save_figure(figure, folder / own_name)


def _no_figure_error(stores: Sequence[Store], kinds: Sequence[str]) -> FigureError:
    folders = ", ".join(str(store.folder) for store in stores)
    if not any(store.results() for store in stores):
        return FigureError(f"nothing has been run yet in {folders}; probcal run fills a folder of results")
    if PAPER not in kinds:
        return FigureError(
            f"no result in {folders} has what --kind {' --kind '.join(kinds)} draws. It needs predictions, which"
            " probcal run keeps in predictions.bin, or an estimates.json of the same results. ROC and cost curves need "
            "two classes"
        )
    if curve_names := {name for store in stores for name in StoredExperiment.of(store).curves}:
        return FigureError(
            f"no done first repetition in {folders} has a curve that its experiment asks for: "
            + "; ".join(f"{name} needs {methods}" for name, methods in _CURVE_METHODS.items() if name in curve_names)
        )
    need, advice = "has a metric after every stage", ""
    if set(kinds) > {PAPER}:
        need = "has stored predictions or a metric after every stage"
        advice = "run the experiment again for figures of predictions; "
    return FigureError(
        f"no result in {folders} {need}; {advice}add the line  stages: [cxe]  to the experiment file and run it again "
        "(methods without stages have none: probing has them), or the line  curves: [martingale, roc]  for methods "
        "that protect and  curves: [iso_probability, training_rows, scores]  for a sweep over class weights of two "
        "numeric columns"
    )


def shorten_titles(stored: StoredExperiment) -> StoredExperiment:
    """Return the experiment with names short enough for a line: the paper's, or those of the experiment file."""
    stored, _ = attach_paper(stored)
    if all(len(row.title) <= _LONGEST_NAME for row in stored.datasets):
        return stored
    return stored.with_titles({row.name: row.name for row in stored.datasets})
