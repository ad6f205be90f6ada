"""Pictures that are a part of a web page."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from markupsafe import Markup

from probcal.errors import installation, is_installed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LARGEST_SVG = 200_000
"""Number of characters from which a PNG is used, which is then smaller."""
_DPI = 110


def missing_pictures_note() -> str:
    """Return the note about a page without figures, with the line that installs matplotlib."""
    return f"figures need matplotlib, which is not installed; install it with: {installation('matplotlib')}"


@dataclass(frozen=True)
class Picture:
    name: str
    address: Markup
    """A ``data:`` address, so that the picture is part of the page."""
    said: str
    """Description of the picture for readers who cannot see it."""
    width: int
    """Width in CSS pixels. ``height`` has the same unit."""
    height: int


def styled_picture(name: str, figure: Callable[[], Figure]) -> Picture | None:
    """Return the picture of the figure that ``figure`` draws in our look, or None where matplotlib is missing."""
    if not is_installed("matplotlib"):
        return None
    from probcal.reporting.drawing import drawing_style

    with drawing_style():
        return draw_picture(name, figure())


def draw_picture(name: str, figure: Figure) -> Picture:
    """Return a figure as a part of a page, as SVG, or as PNG where that is much smaller."""
    text, points = io.StringIO(), io.BytesIO()
    # No date, so that the same results give the same page.
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    # as an image, in which no script runs
    address = "data:image/svg+xml," + quote(text.getvalue(), safe=" /:=;,()!*?@$[]{}|^`'~+\n")
    if text.tell() > _LARGEST_SVG:
        figure.savefig(points, format="png", dpi=_DPI, metadata={"Software": None})
        address = "data:image/png;base64," + base64.b64encode(points.getvalue()).decode()
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    return Picture(name, Markup(address), _description(figure), width, height)  # noqa: S704  # quoted


def _description(figure: Figure) -> str:
    """Return the heading, the axes of each kind of panel, and the names of the lines."""
    parts = [figure.get_suptitle()]
    axes = [f"{panel.get_ylabel()} against {panel.get_xlabel()}" for panel in figure.axes if panel.get_xlabel()]
    titles = [panel.get_title() for panel in figure.axes if panel.get_title()]
    parts += [f"Panels: {', '.join(titles)}"] if titles else []
    parts += [f"Axes: {', '.join(dict.fromkeys(axes))}"] if axes else []
    labels = [line.get_label() for panel in figure.axes for line in panel.get_lines()]
    # matplotlib gives lines without a name one that begins with an underscore.
    lines = dict.fromkeys(str(label) for label in labels if not str(label).startswith("_"))
    parts += [f"Lines: {', '.join(lines)}"] if lines else []
    return ". ".join(" ".join(part.split()) for part in parts if part) + "."
