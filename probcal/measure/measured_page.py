"""Web page of a measurement: its tables and reliability diagrams, without scripts and without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

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
    """Return the diagram of the given probabilities of a section and, if any, of the calibrated ones."""
    from probcal.reporting import reliability_figure as drawing  # matplotlib takes a second to import

    stages = {"before": section.p} | ({} if section.calibrated is None else {str(map): section.calibrated})
    # the band of one row would have the width 0, and that of millions of rows nearly
    has_bands = section.support.has_all and not isinstance(predictions, SummarisedPredictions)
    positive = float(np.average(section.y == 1, weights=section.weight))
    is_rare = predictions.is_binary and min(positive, 1 - positive) < _RARE
    return drawing.reliability_figure(
        printable(section.name, 40), section.y, stages, section.weight, has_bands, "logit" if is_rare else "linear"
    )
