"""Web pages: fills the parts into the templates and writes the file in one step.

Scripts are known by their digest. Data and pictures are embedded.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from probcal import __version__
from probcal._io import printable, refuse_links_out, refuse_other_kinds, write_atomic
from probcal.errors import ProbcalError

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
