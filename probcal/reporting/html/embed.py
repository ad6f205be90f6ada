"""Content embedded in the page: scripts known by their digest, data and pictures."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from importlib import resources
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

_SCRIPTS = ("vendor/d3.min.js", "vendor/plot.umd.min.js", "report.js", "charts.js")


_LICENSES = {"D3 7.9.0": "vendor/d3.LICENSE", "Observable Plot 0.6.17": "vendor/plot.LICENSE"}


@functools.cache
def asset(name: str) -> str:
    """Return the text of a file in ``assets``."""
    text = resources.files("probcal.reporting.html").joinpath("assets", *name.split("/")).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")  # browsers compute the digest of this form


@functools.cache
def scripts() -> tuple[str, ...]:
    """Return the page's programs, in the order in which they run."""
    return tuple(asset(name) for name in _SCRIPTS)


def licenses() -> dict[str, str]:
    """Return the licenses of the embedded libraries."""
    return {name: asset(file) for name, file in _LICENSES.items()}


def policy() -> str:
    """Return a Content-Security-Policy under which nothing is loaded and no script runs but ``scripts``.

    Styles are allowed in attributes, where the charts' library puts them. No style can load anything under this policy.
    """
    known = " ".join(f"'sha256-{_digest(text)}'" for text in scripts())
    return (
        f"default-src 'none'; script-src {known}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def data(value: Any) -> Markup:
    """Return ``value`` as JSON for a script element of type application/json. Raises ValueError for NaN or infinity."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":  # in JSON they occur only within strings
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def svg_address(svg: str) -> Markup:
    """Return a picture as the address of an image, in which no script runs."""
    return Markup("data:image/svg+xml," + quote(svg, safe=" /:=;,()!*?@$[]{}|^`'~+\n"))


def png_address(points: bytes) -> Markup:
    return Markup("data:image/png;base64," + base64.b64encode(points).decode())
