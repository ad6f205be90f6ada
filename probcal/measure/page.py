"""Web page of a measurement: its tables and reliability diagrams, without scripts and without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from probcal.errors import is_installed
from probcal.measure.measurement import Section
from probcal.measure.predictions import place_name
from probcal.measure.summary import Measurement, description, findings, legend, table
from probcal.reporting.html.charts import NO_PICTURES, Picture, picture_in_look
from probcal.reporting.html.page import render

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class PageSection:
    """Hold one section of the page as the template shows it."""

    name: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    picture: Picture | None
    """None where matplotlib is not installed."""


def page(measurement: Measurement, calibrated: npt.NDArray[np.float64] | None) -> str:
    """Return the text of the page. ``calibrated`` holds the cross-fitted probabilities, or None."""
    predictions = measurement.predictions
    sections = []
    for one in measurement.sections:
        header, rows = table(one, measurement.map)
        drawn = picture_in_look(f"Reliability: {one.name}", partial(_reliability, measurement, one, calibrated))
        sections.append(PageSection(one.name, header, rows, drawn))
    legends = [*legend(measurement), *([] if is_installed("matplotlib") else [NO_PICTURES])]
    return render(
        "measure.html",
        title=f"Measured predictions: {place_name(predictions.table)}",
        about=list(description(predictions)),
        findings=findings(measurement),
        legend=legends,
        top_label=not predictions.two_classes,
        sections=sections,
    )


def _reliability(measurement: Measurement, section: Section, calibrated: npt.NDArray[np.float64] | None) -> Figure:
    from probcal.measure.picture import reliability_figure

    return reliability_figure(measurement.predictions, section, calibrated, measurement.map)
