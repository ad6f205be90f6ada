"""Web page of a measurement: its tables and reliability diagrams, without scripts and without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from probcal._io import printable
from probcal.errors import is_installed
from probcal.measure.measurement import MeasuredSection
from probcal.measure.summary import SummarisedPredictions
from probcal.measure.text import Measurement, description, findings, legend, table
from probcal.reading.prediction_file import FilePredictions
from probcal.reporting.html.charts import Picture, missing_pictures_note, styled_picture
from probcal.reporting.html.page import render

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]
# Number of rows in all resamples of a diagram, which takes some seconds.
_MOST_RESAMPLED_ROWS = 20_000_000
# Base rate below which, or above 1 less which, a diagram has logit axes.
_RARE = 0.02


@dataclass(frozen=True)
class PageSection:
    """Hold one section of the page as the template shows it."""

    name: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    picture: Picture | None
    """None where matplotlib is not installed."""
    has_bands: bool
    """Whether the picture has bars and bands. They need as many rows as the intervals of the table."""


def page(measurement: Measurement) -> str:
    """Return the text of the page."""
    predictions = measurement.predictions
    sections = []
    for section in measurement.sections:
        header, rows = table(section, measurement.map)
        picture = styled_picture(
            f"Reliability: {section.name}", partial(reliability_figure, predictions, section, measurement.map)
        )
        sections.append(PageSection(section.name, header, rows, picture, section.support.has_all))
    legends = [*legend(measurement), *([] if is_installed("matplotlib") else [missing_pictures_note()])]
    return render(
        "measure.html",
        title=f"Measured predictions: {predictions.table.origin_name}",
        about=list(description(predictions)),
        findings=findings(measurement),
        legend=legends,
        top_label=not predictions.is_binary,
        sections=sections,
    )


def reliability_figure(predictions: FilePredictions, section: MeasuredSection, map: str | None) -> Figure:
    """Return the diagram of the given probabilities of a section and, if any, of the calibrated ones.

    With several classes it shows the likeliest class of each row.
    """
    from probcal.plots.reliability import ReliabilityDisplay
    from probcal.reporting.drawing import COLOURS, titled_figure

    stages = {"before": section.p} | ({} if section.calibrated is None else {str(map): section.calibrated})
    has_bands = section.support.has_all and not isinstance(predictions, SummarisedPredictions)
    # the band of one row would have the width 0, and that of millions of rows nearly
    bands = "confidence" if has_bands else None
    figure = titled_figure(printable(section.name, 40), 4.2, 4.2)
    axes = figure.add_subplot()
    scale = "logit" if predictions.is_binary and _is_rare(section) else "linear"
    for number, (name, p) in enumerate(stages.items()):
        ReliabilityDisplay.from_predictions(
            *_binary_predictions(section.y, p), sample_weight=section.weight, bands=bands, name=name, ax=axes,
            n_resamples=min(200, max(40, _MOST_RESAMPLED_ROWS // len(section.y))), color=COLOURS[number],
            scale=scale,
        )  # fmt: skip
    suffix = "" if predictions.is_binary else " of the likeliest class"
    axes.set_xlabel(f"Predicted probability{suffix}")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _is_rare(section: MeasuredSection) -> bool:
    """Return whether one of two classes has less than ``_RARE`` of the weight."""
    share = float(np.average(section.y == 1, weights=section.weight))
    return min(share, 1 - share) < _RARE


def _binary_predictions(y: npt.NDArray[np.int64], p: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return labels 0 and 1 and the probability of 1: of the second of two classes, or of the likeliest of several."""
    if p.ndim == 1 or p.shape[1] == 2:
        return y, p if p.ndim == 1 else p[:, 1]
    top_class = p.argmax(axis=1)
    return (y == top_class).astype(np.int64), p[np.arange(len(top_class)), top_class]
