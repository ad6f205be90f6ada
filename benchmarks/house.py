"""Count and draw the structure of the package from its own imports: python benchmarks/house.py

Prints how many modules and lines there are, and which folders import each other. Follows the experiment file through a
run of the quickstart, and the rows through a fit of Probing: which functions get them, and how often a call carries
them up to a folder above. Writes docs/figures/house.svg: each folder stands above all folders that it imports. Imports
inside functions count, too, because they are arrows as well.
"""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "probcal"
TOP = "probcal"
"""The name under which the modules beside the folders are counted."""
ROWS = (401, 7)
"""Shape of the rows that are followed, which nothing else has."""


def main() -> None:
    sys.path.insert(0, str(ROOT))  # so that what is followed is this package
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
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    print(f"checkout {sum(path.stat().st_size for path in paths if path.is_file()) / 2**20:.0f} MB")
    heights = floors(imports)
    print("the experiment of the quickstart gets to", follow(run_quickstart, is_experiment, heights))
    print("the rows of a fit of Probing get to", follow(fit_probing, is_rows, heights))
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


def follow(call: Callable[[], object], is_followed: Callable[[Any], bool], heights: dict[str, int]) -> str:
    """Return how many functions of the package get a followed value while ``call`` runs in this process."""
    functions: set[tuple[str, str]] = set()
    upward: set[tuple[str, str]] = set()

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(PACKAGE)):
            return
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if not any(is_followed(frame.f_locals[name]) for name in names if name in frame.f_locals):
            return
        functions.add((code.co_filename, code.co_qualname))
        caller = frame.f_back
        while caller and not caller.f_code.co_filename.startswith(str(PACKAGE)):
            caller = caller.f_back
        ends = [folder_of(Path(one.f_code.co_filename)) for one in (caller, frame) if one]
        if len(ends) == 2 and TOP not in ends and heights[ends[0]] < heights[ends[1]]:
            upward.add((code.co_filename, code.co_qualname))

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    files = {file for file, _ in functions}
    return f"{len(functions)} functions in {len(files)} files, and up to a folder above in {len(upward)} functions"


def run_quickstart() -> None:
    from click.testing import CliRunner

    from probcal.cli.main import main as command

    with tempfile.TemporaryDirectory() as folder:
        words = ["run", str(ROOT / "configs" / "quickstart.yaml"), "-j", "2", "-o", folder]
        CliRunner().invoke(command, words, catch_exceptions=False)


def is_experiment(value: Any) -> bool:
    """Return whether the value is the file, or what was read from it."""
    return type(value).__name__ == "Experiment" or (
        isinstance(value, str | Path) and str(value).endswith("quickstart.yaml")
    )


def fit_probing() -> None:
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    from probcal import ProbingClassifier

    X = np.random.default_rng(0).normal(size=ROWS)
    ProbingClassifier(LogisticRegression(), 20, random_state=0).fit(X, X[:, 0] > 0)


def is_rows(value: Any) -> bool:
    return getattr(value, "shape", None) == ROWS


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
