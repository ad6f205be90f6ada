"""Reliability diagram of a section: observed frequencies against predicted probabilities, before and after."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from probcal._io import visible
from probcal.measure.measurement import Section
from probcal.measure.predictions import Predictions
from probcal.plots.reliability import ReliabilityDisplay
from probcal.reporting.drawing import COLOURS, titled_figure

Floats = npt.NDArray[np.float64]
_RESAMPLED = 20_000_000
"""Number of rows in all resamples of a diagram, which takes some seconds."""


def reliability_figure(
    predictions: Predictions, section: Section, calibrated: Floats | None, map: str | None
) -> Figure:
    """Return the diagram of the given probabilities and, if any, of the ``calibrated`` ones, (n_rows, n_classes).

    With several classes it shows the likeliest class of each row.
    """
    rows = section.rows
    stages = {"before": predictions.p[rows]} | ({} if calibrated is None else {str(map): calibrated[rows]})
    figure = titled_figure(visible(section.name, 40), 4.2, 4.2)
    axes = figure.add_subplot()
    for number, (name, p) in enumerate(stages.items()):
        ReliabilityDisplay.from_predictions(
            *_two_classes(predictions.y[rows], p), sample_weight=predictions.weight[rows], bands="confidence",
            n_resamples=min(200, max(40, _RESAMPLED // len(rows))), name=name, ax=axes, color=COLOURS[number],
        )  # fmt: skip
    of = "" if predictions.two_classes else " of the likeliest class"
    axes.set_xlabel(f"Predicted probability{of}")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _two_classes(y: npt.NDArray[np.int64], p: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return labels 0 and 1 and the probability of 1: of the second of two classes, or of the likeliest of several."""
    if p.ndim == 1 or p.shape[1] == 2:
        return y, p if p.ndim == 1 else p[:, 1]
    top = p.argmax(axis=1)
    return (y == top).astype(np.int64), p[np.arange(len(top)), top]
