"""Web pages: embeds pictures, fills the parts into the templates and writes the file in one step.

Scripts are known by their digest. Data and pictures are embedded.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from probcal import __version__
from probcal._io import printable, refuse_links_out, refuse_other_kinds, write_atomic
from probcal.errors import ProbcalError, installation, is_installed

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


_SCRIPTS = ("vendor/d3.min.js", "vendor/plot.umd.min.js", "report.js", "charts.js")
"""The page's programs, in the order in which they run."""
_NUMBER = r"[-+\N{MINUS SIGN}]?(inf|[0-9][0-9.,e+]*)"
_NUMBER_TEXT = re.compile(rf"{_NUMBER}[ *]?( %| (to|±) {_NUMBER})?")
"""A cell that never breaks: a number, or an interval such as ``-1.950 to -1.021``."""
_LICENSES = {"D3 7.9.0": "vendor/d3.LICENSE", "Observable Plot 0.6.17": "vendor/plot.LICENSE"}
"""The licenses of the embedded libraries."""

_FILTERS = (
    "probcal.reporting.check.check_text.tallies_text",
    "probcal.reporting.html.charts.line_groups",
    "probcal.reporting.html.charts.sort_value",
)
"""Filters of the templates of experiments. They are imported by the first template that calls them."""


@functools.cache
def read_asset(name: str) -> str:
    """Return the text of a file in ``assets``."""
    text = resources.files("probcal.reporting.html").joinpath("assets", *name.split("/")).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")  # browsers compute the digest of this form


def content_policy() -> str:
    """Return a Content-Security-Policy under which nothing is loaded and no script runs but ours.

    Styles are allowed in attributes, where the charts' library puts them. No style can load anything under this policy.
    """
    hashes = (hashlib.sha256(read_asset(name).encode()).digest() for name in _SCRIPTS)
    digests = " ".join(f"'sha256-{base64.b64encode(one).decode()}'" for one in hashes)
    return (
        f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def script_json(value: Any) -> Markup:
    """Return ``value`` as JSON for a script element of type application/json. Raises ValueError for NaN or infinity."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    # A text such as </script> would end the element. In JSON these letters occur only within strings.
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)  # noqa: S704  # escaped above


_DOCTYPE = b"<!doctype html>"


class ReportError(ProbcalError):
    """Signal that no experiment has a result, or that the page cannot be written to the given path."""


def write_page(text: str, path: Path) -> Path:
    """Write a page in one step and return its path. Raise ReportError where it cannot be written."""
    refuse_page(path)
    try:
        write_atomic(path, text)
    except OSError as error:
        raise ReportError(f"cannot write {path}: {error.strerror or error}; choose another with -o") from None
    return path


def render_charts(template: str, charts: Mapping[str, Any], **content: Any) -> str:
    """Return the text of a page with charts. ``charts`` holds the data of each experiment by its id."""
    return render(
        template,
        data=script_json(charts),
        policy=content_policy(),
        scripts=[Markup(read_asset(name)) for name in _SCRIPTS],  # noqa: S704
        licenses={name: read_asset(file) for name, file in _LICENSES.items()},
        **content,
    )


def render(template: str, **content: Any) -> str:
    """Return the text of a page from a file in ``templates``, in the style of all pages. All texts are escaped."""
    style = Markup(read_asset("report.css"))  # noqa: S704
    return _environment().get_template(template).render(style=style, version=__version__, **content)


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("probcal.reporting.html"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_show_invisible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update({path.rpartition(".")[2]: _filter(path) for path in _FILTERS})
    environment.filters["lines_by_name"] = _lines_by_name
    environment.tests["number_text"] = _NUMBER_TEXT.fullmatch
    return environment


def _filter(path: str) -> Callable[[Any], Any]:
    module, _, name = path.rpartition(".")
    return lambda value: getattr(import_module(module), name)(value)  # noqa: PLW0108  # imported when called


def _lines_by_name(values: Mapping[str, Sequence[str]]) -> list[list[str]]:
    return [[name, ", ".join(values[name])] for name in sorted(values, key=str.lower)]


def _show_invisible(value: Any) -> Any:
    """Return text with invisible characters, and those that change the direction of writing, spelt out."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def refuse_page(path: Path) -> None:
    """Raise ReportError where a page cannot be written, or would replace another file."""
    if path.is_dir():
        raise ReportError(f"{path} is a folder; name a file with -o, such as {path / 'report.html'}")
    if not path.parent.is_dir():
        raise ReportError(f"{path.parent} does not exist; create it first, or choose another place with -o")
    names = (path.name, f"{path.name}.new")
    refuse_links_out(path.parent, names)
    refuse_other_kinds(path.parent, names)
    if path.is_file() and path.stat().st_size and not _is_page(path):
        raise ReportError(f"{path} exists and is no web page, so it is kept; choose another name with -o")


def _is_page(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_DOCTYPE)).lower() == _DOCTYPE
