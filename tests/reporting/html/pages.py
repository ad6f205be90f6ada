"""Provide functions that read a written page as a browser's parser does."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

import html5lib

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m"


def parsed(path: Path) -> Element:
    """Return the root of the page. Raise ParseError for what HTML does not allow."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    return parser.parse(path.read_text(encoding="utf-8"))


def text_of(element: Element) -> str:
    """Return the text of an element with single blanks."""
    return " ".join(" ".join(element.itertext()).split())


def by_id(root: Element, id: str) -> Element:
    """Return the only element with this id."""
    [found] = [one for one in root.iter() if one.get("id") == id]
    return found


def headings(root: Element) -> list[int]:
    """Return the levels of all headings, in order."""
    return [int(one.tag[1]) for one in root.iter() if isinstance(one.tag, str) and one.tag in ("h1", "h2", "h3", "h4")]


def dangling(root: Element) -> list[str]:
    """Return the references to ids that do not exist."""
    ids = {one.get("id") for one in root.iter()}
    wanted = [one.get("href", "")[1:] for one in root.iter("a") if one.get("href", "").startswith("#")]
    for name in ("aria-labelledby", "aria-describedby", "data-copies"):
        wanted += [id for one in root.iter() for id in one.get(name, "").split()]
    return [id for id in wanted if id not in ids]
