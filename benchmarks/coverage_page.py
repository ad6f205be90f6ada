"""Writes docs/coverage.md from docs/coverage.csv: python benchmarks/coverage_page.py"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAPERS = {
    "langford": ("Langford & Zadrozny (2005)", "reproduction.md"),
    "gao": ("Gao, Parameswaran & Peng (2017)", "calibration.md"),
    "nalbantov": ("Nalbantov & Ivanov (2019)", "isoprobability.md"),
    "vovk": ("Vovk, Petej & Gammerman (2021)", "protection.md"),
    "kull": ("Kull, Silva Filho & Flach (2017)", "beta-calibration.md"),
}
STATES = ("done", "partly", "not")


def rows() -> list[dict[str, str]]:
    """Return the lines of the table: paper, item, where, implemented, tested, state, remark."""
    with (ROOT / "docs" / "coverage.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def links(paths: str) -> str:
    return ", ".join(f"[{Path(path).stem}](../{path})" for path in paths.split())


def page() -> str:
    """Return the whole page."""
    every = rows()
    text = [
        "# What is covered of the five papers",
        "",
        "Each algorithm, theorem, claim, figure and remark of the five papers has a row here. *Where* is the",
        "section of the paper. A file of `configs` is run by `probcal run NAME`, and one of `research` by",
        "`python -m research.NAME`. *Partly* and *not* have their reason.",
        "",
        "| paper | done | partly | not | items |",
        "|:--|:--:|:--:|:--:|:--:|",
    ]
    for key, (title, own) in PAPERS.items():
        count = Counter(row["state"] for row in every if row["paper"] == key)
        text.append(f"| [{title}]({own}) | {' | '.join(str(count[one]) for one in STATES)} | {count.total()} |")
    count = Counter(row["state"] for row in every)
    text.append(f"| all | {' | '.join(str(count[one]) for one in STATES)} | {count.total()} |")
    for key, (title, _) in PAPERS.items():
        text += ["", f"## {title}", "", "| item | where | implemented | tested by | state |", "|:--|:--|:--|:--|:--|"]
        for row in every:
            if row["paper"] == key:
                state = f"{row['state']}: {row['remark']}" if row["remark"] else row["state"]
                cells = (row["item"], row["where"], links(row["implemented"]), links(row["tested"]), state)
                text.append(f"| {' | '.join(cells)} |")
    text += [
        "",
        "For Kull, Silva Filho & Flach, only the authors' result files and programs were read, not the text of the two",
        "papers.",
        "",
        "`python benchmarks/coverage_page.py` writes this page from `docs/coverage.csv`.",
        "",
    ]
    return "\n".join(text)


if __name__ == "__main__":
    (ROOT / "docs" / "coverage.md").write_text(page(), encoding="utf-8")
