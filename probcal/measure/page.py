"""Web page of a measurement: its tables and reliability diagrams, without scripts and without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probcal.measure.picture import reliability_figure
from probcal.measure.predictions import place_name
from probcal.measure.summary import Measurement, description, findings, legend, table
from probcal.reporting.drawing import look
from probcal.reporting.html.charts import Picture, picture
from probcal.reporting.html.page import render


@dataclass(frozen=True)
class PageSection:
    """Hold one section of the page as the template shows it."""

    name: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    picture: Picture


def page(measurement: Measurement, calibrated: npt.NDArray[np.float64] | None) -> str:
    """Return the text of the page. ``calibrated`` holds the cross-fitted probabilities, or None."""
    predictions = measurement.predictions
    sections = []
    for one in measurement.sections:
        header, rows = table(one, measurement.map)
        with look():
            figure = reliability_figure(predictions, one, calibrated, measurement.map)
            drawn = picture(f"Reliability: {one.name}", figure)
        sections.append(PageSection(one.name, header, rows, drawn))
    return render(
        "measure.html",
        title=f"Measured predictions: {place_name(predictions.table)}",
        about=list(description(predictions)),
        findings=findings(measurement),
        legend=legend(measurement),
        top_label=not predictions.two_classes,
        sections=sections,
    )
