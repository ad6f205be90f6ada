"""Check that internal links of the pages have targets, also on a code host, and that the navigation has every page."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.glob("*.md")),
    *sorted(DOCS.glob("reference/*.md")),
]


@cache
def prose(page):
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


@cache
def anchors(page):
    """Return the anchors that a code host gives to the headings."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_internal_link_has_an_existing_target():
    lost = []
    for page in PAGES:
        for target in re.findall(r"(?:\]\(|src=\")([^)\s\"]+)[)\"]", prose(page)):
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            ours = not re.match(r"https?:", target)
            if ours and (not file.exists() or (anchor and anchor not in anchors(file))):
                lost.append((page.name, target))
    assert lost == []


def test_every_page_but_the_index_is_in_the_navigation():
    navigation = (DOCS / "index.md").read_text(encoding="utf-8").partition("```{toctree}")[2]
    listed = set(re.findall(r"^(?:.*<)?([\w./-]+?)>?$", navigation, re.MULTILINE))
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES if DOCS in page.parents}
    assert pages - listed == {"index"}


def test_every_shown_result_page_has_a_title():
    conf = runpy.run_path(str(DOCS / "conf.py"))
    left_out = [re.compile(one.removesuffix(".md").replace("*", ".*") + r"(/|$)") for one in conf["exclude_patterns"]]
    without = {
        page.relative_to(ROOT).with_suffix("").as_posix()
        for page in [*(ROOT / "results").glob("*.md"), *(ROOT / "results").glob("*/*.md")]
        if not page.read_text(encoding="utf-8").lstrip().startswith("# ")
    }
    shown = {page for page in without if not any(one.match(page) for one in left_out)}
    assert shown == set(conf["TITLES"])


def test_no_text_follows_a_comment_at_a_line_start():
    """Check this because Markdown reads such a line as HTML: its links fail, and the paragraph ends before it."""
    texts = {page.name: re.sub(r"<!--.*?-->\s*$", "", prose(page), flags=re.MULTILINE) for page in PAGES}
    found = {name: re.findall(r"^ {0,3}<!--.*-->.*\S.*$", text, re.MULTILINE) for name, text in texts.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}
