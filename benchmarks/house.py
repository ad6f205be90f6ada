"""Count and draw the structure of the package from its own imports: python benchmarks/house.py

Prints how many modules and lines there are, and which folders import each other. Writes docs/figures/house.svg: each
folder stands above all folders that it imports. Imports inside functions count, too, because they are arrows as well.
"""

from __future__ import annotations

import ast
import statistics
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "probcal"
TOP = "probcal"
"""The name under which the modules beside the folders are counted."""


def main() -> None:
    sources = {file: file.read_text(encoding="utf-8") for file in sorted(PACKAGE.rglob("*.py"))}
    imports = folder_imports(sources)
    lines: dict[str, int] = defaultdict(int)
    for file, text in sources.items():
        lines[folder_of(file)] += text.count("\n")
    functions = [
        node.end_lineno - node.lineno + 1
        for text in sources.values()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]
    comments = sum(line.lstrip().startswith("#") for text in sources.values() for line in text.splitlines())
    module_lines = [text.count("\n") for text in sources.values()]
    print(f"modules {len(sources)}, lines {sum(module_lines):,}, of a module {statistics.median(module_lines):.0f}")
    print(f"functions {len(functions):,}, lines of a function {statistics.median(functions):.0f} (medians)")
    print(f"lines that are a comment {100 * comments / sum(module_lines):.1f} %")
    print("folders that import each other:", ", ".join(mutual_pairs(imports)) or "none")
    for names in (["tests"], ["benchmarks", "research", "reliability"]):
        print(f"{', '.join(names)}: {sum(count_lines(ROOT / name) for name in names):,} lines")
    pages = [*(ROOT / "docs").glob("*.md")]
    print(f"pages {len(pages)}, words {sum(len(page.read_text(encoding='utf-8').split()) for page in pages):,}")
    draw(imports, lines, ROOT / "docs" / "figures" / "house.svg")


def folder_of(file: Path) -> str:
    first = file.relative_to(PACKAGE).parts[0]
    return first if (PACKAGE / first).is_dir() else TOP


def folder_imports(sources: dict[Path, str]) -> dict[str, set[str]]:
    """Return folder -> the other folders that it imports, without the modules at the top, which all may import."""
    imports: dict[str, set[str]] = {folder_of(file): set() for file in sources if folder_of(file) != TOP}
    for file, text in sources.items():
        if (folder := folder_of(file)) == TOP:
            continue
        for node in ast.walk(ast.parse(text)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            parts = {name.split(".")[1] for name in names if name.startswith("probcal.")}
            imports[folder] |= parts & imports.keys() - {folder}
    return imports


def mutual_pairs(imports: dict[str, set[str]]) -> list[str]:
    return [f"{a} and {b}" for a in sorted(imports) for b in sorted(imports[a]) if a < b and a in imports[b]]


def count_lines(folder: Path) -> int:
    return sum(file.read_text(encoding="utf-8").count("\n") for file in folder.rglob("*.py"))


def floors(imports: dict[str, set[str]]) -> dict[str, int]:
    """Return the floor of each folder: one above the highest that it imports. Folders in a circle share a floor."""
    heights: dict[str, int] = dict.fromkeys(imports, 0)
    for _ in imports:  # the longest way down has fewer steps than there are folders
        for folder, others in imports.items():
            below = [heights[other] for other in others if folder not in imports[other]]
            heights[folder] = max([heights[folder], *(height + 1 for height in below)])
    return heights


def direct(imports: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Return the imports that no longer way implies, so that the drawing stays readable."""
    below: dict[str, set[str]] = {}

    def reach(folder: str, seen: frozenset[str] = frozenset()) -> set[str]:
        if folder not in below:
            others = imports[folder] - seen
            below[folder] = others.union(*(reach(other, seen | {folder}) for other in others))
        return below[folder]

    return [
        (folder, other)
        for folder in imports
        for other in imports[folder]
        if not any(other in reach(middle) for middle in imports[folder] - {other})
    ]


def draw(imports: dict[str, set[str]], lines: dict[str, int], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "house", "svg.fonttype": "none", "font.size": 9})
    from matplotlib import pyplot as plt

    rows: dict[int, list[str]] = defaultdict(list)
    for folder, height in floors(imports).items():
        rows[height].append(folder)
    figure, axes = plt.subplots(figsize=(9, 0.85 * len(rows) + 0.4))
    centers = {}
    for height, folders in rows.items():
        for place, folder in enumerate(sorted(folders)):
            centers[folder] = ((place + 0.5) / len(folders), height)
    for folder, other in direct(imports):
        axes.annotate(
            "", centers[other], centers[folder],
            arrowprops={"arrowstyle": "-|>", "color": "#8a8f98", "lw": 0.8, "shrinkA": 14, "shrinkB": 16},
        )  # fmt: skip
    for folder, (x, y) in centers.items():
        axes.text(
            x, y, f"{folder}\n{lines[folder]:,} lines", ha="center", va="center", linespacing=1.3,
            bbox={"boxstyle": "round,pad=0.35", "facecolor": "#eef2f7", "edgecolor": "#4a6fa5"},
        )  # fmt: skip
    axes.set(xlim=(0, 1), ylim=(-0.6, max(rows) + 0.6))
    axes.set_axis_off()
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
