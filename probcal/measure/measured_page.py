"""Web page of a measurement: its tables and reliability diagrams, without scripts and without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from probcal._io import printable
from probcal.errors import is_installed
from probcal.measure.measured_part import MeasuredSection
from probcal.measure.summary import Summary
from probcal.measure.text import Measurement, description, findings, legend, table, tests_tables
from probcal.metrics.reliability import top_label
from probcal.reading.prediction_file import FilePredictions
from probcal.reporting.html.page import Picture, missing_pictures_note, render, styled_picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from probcal.reporting.reliability_figure import Scale

# Width and height of a diagram and of a panel of a class, in inches.
_DIAGRAM, _PANEL = 4.2, 3.2


@dataclass(frozen=True)
class PageSection:
    """Hold one section of the page as the template shows it."""

    name: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    picture: Picture | None
    """None where matplotlib is not installed."""
    no_bands: str
    """Why the picture has no bars and bands, empty where it has them."""


def page(measurement: Measurement, scale: Scale | None = None) -> str:
    """Return the text of the page. ``scale`` is that of all diagrams, None for the one that suits their base rate."""
    predictions = measurement.predictions
    legends = [*legend(measurement), *([] if is_installed("matplotlib") else [missing_pictures_note()])]
    return render(
        "measure.html",
        title=f"Measured predictions: {predictions.table.origin_name}",
        about=list(description(predictions)),
        findings=findings(measurement),
        legend=legends,
        top_label=not predictions.is_binary,
        sections=[_page_section(measurement, one, scale) for one in measurement.sections],
        likeliest=None if measurement.likeliest is None else table(measurement.likeliest, measurement.map),
        classes=[_page_section(measurement, one, scale, _PANEL) for one in measurement.classes],
        n_classes=len(predictions.classes),
        is_wide=measurement.map is not None,
        tests=list(tests_tables(measurement)),
    )


def _page_section(
    measurement: Measurement, section: MeasuredSection, scale: Scale | None, size: float = _DIAGRAM
) -> PageSection:
    header, rows = table(section, measurement.map)
    if size == _PANEL:  # it stands below the name of its class, which may be long
        header = ["measure", *header[1:]]
    draw = partial(reliability_figure, measurement.predictions, section, measurement.map, scale, size)
    picture = styled_picture(f"Reliability: {section.name}", draw)
    return PageSection(section.name, header, rows, picture, _no_bands(measurement.predictions, section))


def _no_bands(predictions: FilePredictions, section: MeasuredSection) -> str:
    """Return why a diagram has no bars and bands, empty where it has them."""
    if predictions.cluster is not None:
        return "Bars and bands need independent rows, and the rows of a cluster are not independent"
    if not section.support.has_all:  # the band of one row would have the width 0
        return "There are too few rows for bars and bands"
    # the band of millions of rows has nearly the width 0
    return "Bars and bands need single rows" if isinstance(predictions, Summary) else ""


def reliability_figure(
    predictions: FilePredictions, section: MeasuredSection, map: str | None, scale: Scale | None = None,
    size: float = _DIAGRAM,
) -> Figure:  # fmt: skip
    """Return the diagram of the given probabilities of a section and, if any, of the calibrated ones.

    ``size`` is its width and height in inches.
    """
    from probcal.reporting import reliability_figure as drawing  # matplotlib takes a second to import

    if section.calibrated is None:
        stages = {"predictions": section.p}
    else:
        stages = {"before": section.p, str(map): section.calibrated}
    has_bands = not _no_bands(predictions, section)
    if scale is None:
        is_several = section.p.ndim == 2 and not predictions.is_binary
        shown = top_label(section.y, section.p)[0] if is_several else section.y == 1
        scale = drawing.usual_scale(float(np.average(shown, weights=section.weight)))
    title = printable(section.name, 40) if size == _DIAGRAM else ""  # a panel stands below its heading
    is_likeliest = size == _DIAGRAM and not predictions.is_binary
    return drawing.reliability_figure(title, section.y, stages, section.weight, has_bands, scale, size, is_likeliest)
