"""The figures of experiments, as files that are the same to the byte whenever they are drawn from the same results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from probcal.errors import ProbcalError
from probcal.paper.published import Published
from probcal.show.before_after import Effect, effects_of, n_missing
from probcal.show.calibration_figures import error_figure, ratio_figure
from probcal.show.curves import panels_of, shortfalls
from probcal.show.drawing import look, save
from probcal.show.iso_figures import iso_figures
from probcal.show.kept_curves import kept_panels, lacking
from probcal.show.kept_figure import kept_figure
from probcal.show.outline import Outline
from probcal.show.stages_figure import stages_figure
from probcal.show.sweeps import left_out, sweeps_of
from probcal.store import Store

_LONGEST_NAME = 16
_CURVES_OF = {
    "iso_probability": "a sweep over class weights (weight_sweep) of two classes and two numeric columns",
    "training_rows": "the same, and drawn with iso_probability alone",
    "scores": "a sweep over class weights of two classes, with .5 among its levels, around a learner with scores",
    "martingale": "methods that protect",
    "roc": "any method on two classes",
}
"""Curve -> what has it, for whoever asked for one that nothing here has."""


class NothingToDraw(ProbcalError):
    """No result has what a figure shows."""


def plot(stores: Iterable[Store], warn: Callable[[str], None]) -> list[Path]:
    """Draw what the results of ``stores`` allow, each into its folder's ``figures/``; the files written.

    ``warn`` is told what is missing in a figure that was drawn. Raises NothingToDraw when there is none
    to draw, StoreError when a folder cannot be shown, UnknownPaper when it follows a paper that is not there.
    """
    stores, written = list(stores), []
    for store in stores:
        untitled, results = Outline.of(store), store.results()
        outline = _titled(untitled)
        if effects := effects_of(outline, results):
            written += _calibration(outline, effects, store.folder / "figures")
            missing, planned = n_missing(outline, results)
            if missing:
                warn(f"{store.folder}: {missing} of {planned} cells failed, were not run or have no stages")
        with look():
            sweeps = sweeps_of(untitled, results)
            for name, figure in iso_figures(untitled, sweeps):
                written += save(figure, store.folder / "figures" / name)
            for note in left_out(sweeps):
                warn(f"{store.folder}: {note}")
        if panels := panels_of(outline, results):
            with look():
                written += save(stages_figure(outline.title, panels), store.folder / "figures" / "stages")
            for note in shortfalls(outline, results, panels):
                warn(f"{store.folder}: {note}")
        if kept := kept_panels(outline, results):
            with look():
                name = "protection" if any(one.martingales for one in kept) else "roc"
                written += save(kept_figure(outline.title, kept), store.folder / "figures" / name)
            for note in lacking(outline, results):
                warn(f"{store.folder}: {note}")
    if not written:
        folders = ", ".join(str(store.folder) for store in stores)
        if not any(store.results() for store in stores):
            raise NothingToDraw(f"nothing has been run yet in {folders}; probcal run fills a folder of results")
        if asked := {name for store in stores for name in Outline.of(store).curves}:
            raise NothingToDraw(
                f"no first repetition in {folders} that is done has a curve that its experiment asks for: "
                + "; ".join(f"{name} is of {of}" for name, of in _CURVES_OF.items() if name in asked)
            )
        raise NothingToDraw(
            f"no result in {folders} tells a metric after every stage; add the line  stages: [cxe]  to the experiment"
            " file and run it again (methods without stages have none: probing has them), or the line  curves: [roc]  "
            "for ROC curves,  curves: [martingale, roc]  for methods that protect and  curves: [iso_probability, "
            "training_rows, scores]  for a sweep over class weights of two numeric columns"
        )
    return written


def _calibration(outline: Outline, effects: list[Effect], folder: Path) -> list[Path]:
    with look():
        errors = any(len(one.errors) for one in effects)
        ratios = any(one.ratios.size for one in effects)
        written = save(error_figure(outline.title, effects), folder / "calibration-error") if errors else []
        return written + (save(ratio_figure(outline.title, effects), folder / "loss-ratio") if ratios else [])


def _titled(outline: Outline) -> Outline:
    """With names short enough to stand beside a line: the paper's, or those of the experiment file."""
    if outline.paper:
        outline = outline.titled(Published.read(outline.paper).titles)
    if all(len(row.title) <= _LONGEST_NAME for row in outline.datasets):
        return outline
    return outline.titled({row.name: row.name for row in outline.datasets})
