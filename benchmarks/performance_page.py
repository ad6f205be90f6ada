"""Puts tables of results into the pages in docs that quote them: python benchmarks/performance_page.py

A block from "<!-- FILE -->" to "<!-- end -->" of a page holds what the file says. To be run after any of the scripts
that write such a file.
"""

from __future__ import annotations

import re

from speed import ROOT

PAGES = ("docs/performance.md", "docs/production.md", "docs/watch.md", "docs/protection.md", "docs/reliability.md")
BLOCK = re.compile(r"<!-- (results/\S+\.md) -->\n(.*?)<!-- end -->", re.DOTALL)


def main() -> None:
    for name in PAGES:
        page = ROOT / name
        page.write_text(BLOCK.sub(quote_file, page.read_text(encoding="utf-8")), encoding="utf-8")


def quote_file(block: re.Match[str]) -> str:
    return f"<!-- {block[1]} -->\n{(ROOT / block[1]).read_text(encoding='utf-8')}<!-- end -->"


if __name__ == "__main__":
    main()
