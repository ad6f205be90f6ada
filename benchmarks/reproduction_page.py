"""Puts numbers of results into README.md and pages of docs: python benchmarks/reproduction_page.py

What stands from "<!-- results/FOLDER WORDS -->" to "<!-- end -->" is what WORDS ask of that folder, a number within a
sentence or a table; ``reproduction_blocks`` says what can be asked. To be run after results/ has changed.
"""

from __future__ import annotations

import re

from reproduction_blocks import block_text
from speed import ROOT

from probcal.reporting.comparison.ranks_figure import draw_ranks
from probcal.store.folder import Store

PAGES = (
    "README.md",
    "docs/beta-calibration.md",
    "docs/check.md",
    "docs/performance.md",
    "docs/reproduction.md",
    "docs/reproduction-conclusions.md",
    "docs/statistics.md",
    "docs/weka.md",
    "docs/which-method.md",
)
BLOCK = re.compile(r"<!-- results/(\S+) ([^>]+?) -->(\n?)(.*?)<!-- end -->", re.DOTALL)


def main() -> None:
    draw_ranks([Store(ROOT / "results" / "uci-random")])
    for name in PAGES:
        page = ROOT / name
        page.write_text(BLOCK.sub(fill_block, page.read_text(encoding="utf-8")), encoding="utf-8")


def fill_block(block: re.Match[str]) -> str:
    """Return the block with what its folder says, or as it stands while the folder has no results."""
    folder, words, line_end, _ = block.groups()
    if not (ROOT / "results" / folder / "experiment.json").is_file():
        return block[0]
    return f"<!-- results/{folder} {words} -->{line_end}{block_text(folder, words)}{line_end}<!-- end -->"


if __name__ == "__main__":
    main()
