"""Reliability diagram of a section: observed frequencies against predicted probabilities, before and after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from probcal._io import visible
from probcal.measure.measurement import Section
from probcal.measure.predictions import Predictions
from probcal.metrics.curves import wilson
from probcal.reporting.drawing import GREY, LineStyle, titled_figure
from probcal.reporting.prediction_summaries import RELIABILITY_BINS

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bins:
    """Hold the bins of a reliability diagram, (n_bins,) each, by rising prediction."""

    mean: Floats
    """Weighted mean prediction."""
    observed: Floats
    """Observed frequency, weighted."""
    low: Floats
    """Lower end of Wilson's 95 % interval of ``observed``."""
    high: Floats


def bins(y: npt.NDArray[np.int64], p: Floats, weight: Floats, n_bins: int = RELIABILITY_BINS) -> Bins:
    """Return at most ``n_bins`` bins of nearly equal weight. Rows with equal predictions are in one bin.

    ``y`` is (n_rows,) of 0 and 1. The interval uses Kish's effective number of rows, (sum w)^2 / sum w^2.
    """
    _, of_row = np.unique(p, return_inverse=True)
    weights = np.bincount(of_row, weight)
    middle = (np.cumsum(weights) - weights / 2) / weights.sum()
    number = np.minimum((middle * n_bins).astype(int), n_bins - 1)[of_row]
    _, place = np.unique(number, return_inverse=True)
    total = np.bincount(place, weight)
    observed = np.bincount(place, weight * y) / total
    low, high = wilson(observed, total**2 / np.bincount(place, weight**2))
    return Bins(np.bincount(place, weight * p) / total, observed, low, high)


def reliability_figure(
    predictions: Predictions, section: Section, calibrated: Floats | None, map: str | None
) -> Figure:
    """Return the diagram of the given probabilities and, if any, of the ``calibrated`` ones, (n_rows, n_classes).

    With several classes it shows the likeliest class of each row.
    """
    rows = section.rows
    stages = {"before": predictions.p[rows]} | ({} if calibrated is None else {str(map): calibrated[rows]})
    figure = titled_figure(visible(section.name, 40), 3.6, 3.6)
    axes = figure.add_subplot()
    axes.axline((0, 0), slope=1, color=GREY, linewidth=0.6, zorder=0)
    for number, (name, p) in enumerate(stages.items()):
        drawn, style = bins(*_two_classes(predictions.y[rows], p), predictions.weight[rows]), LineStyle(number)
        axes.vlines(drawn.mean, drawn.low, drawn.high, color=style.colour, linewidth=0.8, alpha=0.7, clip_on=False)
        axes.plot(drawn.mean, drawn.observed, label=name, **style.of_points())
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", ylabel="Observed frequency")
    of = "" if predictions.two_classes else " of the likeliest class"
    axes.set_xlabel(f"Mean predicted probability{of}")
    axes.spines[["top", "right"]].set_visible(False)
    if calibrated is not None:
        axes.legend(loc="best", fontsize="small", edgecolor="none")
    return figure


def _two_classes(y: npt.NDArray[np.int64], p: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return labels 0 and 1 and the probability of 1: of the second of two classes, or of the likeliest of several."""
    if p.ndim == 1 or p.shape[1] == 2:
        return y, p if p.ndim == 1 else p[:, 1]
    top = p.argmax(axis=1)
    return (y == top).astype(np.int64), p[np.arange(len(top)), top]
