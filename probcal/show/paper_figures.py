"""The figures of papers: metrics along the stages, effects of calibration, sweeps over weights, kept curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from matplotlib.figure import Figure

from probcal.show.before_after import effects_of, n_missing
from probcal.show.calibration_figures import error_figure, ratio_figure
from probcal.show.curves import panels_of, shortfalls
from probcal.show.iso_figures import iso_figures
from probcal.show.kept_curves import kept_panels, lacking
from probcal.show.kept_figure import kept_figure
from probcal.show.outline import Outline
from probcal.show.stages_figure import stages_figure
from probcal.show.summary import Results
from probcal.show.sweeps import left_out, sweeps_of

PAPER, ROC = "paper", "roc"


def paper_figures(
    outline: Outline, untitled: Outline, results: Results, kinds: tuple[str, ...], warn: Callable[[str], None]
) -> Iterator[tuple[str, Figure]]:
    """(name of a file, figure), drawn under the settings of matplotlib as they are.

    ``untitled``: the outline with the titles of the experiment. ``warn`` is told what is missing in a figure. ROC
    curves that are kept are of the kind ``roc`` where no martingale stands beside them, all else is ``paper``.
    """
    if PAPER in kinds:
        yield from _calibration(outline, results, warn)
        sweeps = sweeps_of(untitled, results)
        yield from iso_figures(untitled, sweeps)
        for note in left_out(sweeps):
            warn(note)
        if panels := panels_of(outline, results):
            yield "stages", stages_figure(outline.title, panels)
            for note in shortfalls(outline, results, panels):
                warn(note)
    kept = kept_panels(outline, results)
    protected = any(one.martingales for one in kept)
    if kept and (PAPER if protected else ROC) in kinds:
        yield "protection" if protected else "roc", kept_figure(outline.title, kept)
        for note in lacking(outline, results):
            warn(note)


def _calibration(outline: Outline, results: Results, warn: Callable[[str], None]) -> Iterator[tuple[str, Figure]]:
    effects = effects_of(outline, results)
    if any(len(one.errors) for one in effects):
        yield "calibration-error", error_figure(outline.title, effects)
    if any(one.ratios.size for one in effects):
        yield "loss-ratio", ratio_figure(outline.title, effects)
    missing, planned = n_missing(outline, results) if effects else (0, 0)
    if missing:
        warn(f"{missing} of {planned} cells failed, were not run or have no stages")
