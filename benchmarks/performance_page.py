"""Puts tables of results into the pages in docs that quote them: python benchmarks/performance_page.py

A block from "<!-- FILE -->" to "<!-- end -->" of a page holds what the file says. The block "missed goals" holds each
line of results/speed that is above its goal, with the reason. Run it after any of the scripts that write such a file.
"""

from __future__ import annotations

import re

from speed import ROOT
from tabulate import tabulate

PAGES = ("docs/performance.md", "docs/production.md", "docs/watch.md", "docs/protection.md", "docs/reliability.md")
BLOCK = re.compile(r"<!-- (results/\S+\.md|missed goals) -->\n(.*?)<!-- end -->", re.DOTALL)
MISSED = ("ABOVE", "MISSED")
"""What a script writes into a line that is above its goal."""
REASONS = {
    "Brier score": "it checks every label and prediction first",
    "ECE, 15 bins": "it checks every label and prediction first, and searches the bin of one near an edge",
    "isotonic, centered fit": "it checks, pools equal scores, takes log-odds and centers the runs",
    "isotonic map": "it sorts the scores first, which not every processor does fast: .47x in an earlier version of it",
    "sigmoid map": "it returns both probabilities with all their digits, by two exponentials a row, not one",
    "beta map": "it returns both probabilities with all their digits, by two exponentials a row, not one",
    "Venn-Abers map, 1,000 rows": "each row is searched among a million scores",
    "harness, per trivial cell": "each cell goes to another process, so that it can crash alone, and to the disk",
    "probcal run of ten trivial cells": "to import scikit-learn, pandas and SciPy once takes as long as the goal",
    "probcal status of 84,000 cells": "it plans every cell to see which are stale",
    "probcal table of 84,000 cells": "it imports pandas and makes an object for each cell",
    "import of IsotonicClassifier": "nearly all of it imports scikit-learn",
    "try --dry-run, 100,000 rows, 20 columns": "scikit-learn, SciPy and pandas are imported, for about two seconds",
    "try --dry-run, 1,000,000 rows, 20 columns": "a slower processor than in an earlier version of the table, 9.7 s",
    "measure --group --report, 1,000,000 rows": "a slower processor than in an earlier version of the table, 10.7 s",
    "measure --group --report, 3,000 rows": "most of it imports SciPy, pandas and matplotlib",
}
"""Line of a table -> why it is above its goal."""


def main() -> None:
    for name in PAGES:
        page = ROOT / name
        page.write_text(BLOCK.sub(quote, page.read_text(encoding="utf-8")), encoding="utf-8")


def quote(block: re.Match[str]) -> str:
    text = missed_goals() if block[1] == "missed goals" else (ROOT / block[1]).read_text(encoding="utf-8")
    return f"<!-- {block[1]} -->\n{text}<!-- end -->"


def missed_goals() -> str:
    """Return the Markdown table of all lines that are above their goal. Raises KeyError for one without a reason."""
    rows = []
    for path in sorted((ROOT / "results" / "speed").glob("*.md")):
        for line in path.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not line.startswith("|") or not set(MISSED) & set(cells):
                continue
            is_ratio = "ABOVE" in cells[:3]  # ratio, goal, ABOVE, name, or else: name, (on what,) measured, goal
            goal = next(place for place, cell in enumerate(cells) if cell.startswith(("<", ">")))
            name = cells[3] if is_ratio else ", ".join(cells[: goal - 1])
            measured = cells[4] if is_ratio and cells[goal].endswith("s") else cells[goal - 1]
            rows.append([f"[{name}](../results/speed/{path.name})", measured, cells[goal], REASONS[name]])
    return tabulate(rows, ["line", "measured", "goal", "reason"], tablefmt="pipe") + "\n"


if __name__ == "__main__":
    main()
