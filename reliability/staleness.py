"""What an edit of probcal's own code makes stale, held against what ran: python reliability/staleness.py

Every cell of the quickstart is run in small under a tracer, which tells the modules that it ran code of. Then each
module that this process loaded, from a copy of the package, is edited, once by a remark and once by a statement, and
the keys are made anew.
Exit code 1 where an edit of what a cell ran was missed, or a remark was not. Writes results/reliability/staleness.md.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "results" / "reliability" / "staleness.md"

CHECKED = ("probcal.data.sources.generated", "probcal.data.cache", "probcal.data.dataset")
"""Behind ``probcal.data.load``: what they make of a source is told by the checksum of the values."""


def measures(module: str) -> bool:
    return f"{module}.".startswith("probcal.metrics.")


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(tried(Path(sys.argv[1]))))
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in ("probcal", "configs", "datasets"):
            shutil.copytree(ROOT / name, Path(folder) / name, ignore=shutil.ignore_patterns("__pycache__"))
        environment = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, __file__, folder]
        done = subprocess.run(command, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    lines = [
        f"Written by `python reliability/staleness.py`. Python {platform.python_version()}.",
        "",
        f"{found['cells']} cells of the quickstart, {found['modules']} modules of probcal that their process loads,"
        " each edited separately:",
        "",
        "| edit | modules | stale cells expected | missed | stale without need |",
        "|---|---:|---:|---:|---:|",
        f"| a comment and a docstring | {found['modules']} | 0 | 0 | {found['remarks']} |",
        f"| a statement | {found['modules']} | {found['ran']} | {found['missed']} | {found['needless']} |",
        "",
        "Counted by module and cell. The last column has cells that import the module but run none of it.",
    ]
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    sys.exit(1 if found["missed"] or found["remarks"] else 0)


def tried(folder: Path) -> dict[str, int]:
    from probcal.config.experiment import read_experiment
    from probcal.data.load import obtain
    from probcal.runner.fingerprint import EXEMPT_MODULES
    from probcal.runner.plan import cells_of
    from probcal.runner.run import small_experiment

    experiment = small_experiment(read_experiment(folder / "configs" / "quickstart.yaml"))
    for card in experiment.used_cards():
        obtain(card)
    cells, package = cells_of(experiment), folder / "probcal"
    uncounted = {*EXEMPT_MODULES, *CHECKED}
    ran = {cell.id: {one for one in modules_run(cell, package) - uncounted if not measures(one)} for cell in cells}
    before = digests(cells)
    counts = dict.fromkeys(("modules", "remarks", "ran", "missed", "needless"), 0)
    for file in sorted(package.rglob("*.py")):
        name, text = module_of(file, package), file.read_text(encoding="utf-8")
        if name not in sys.modules:
            continue
        file.write_text("# A remark.\n" + text + '\n"""A docstring."""\n', encoding="utf-8")
        remarked = stale(before, digests(cells))
        file.write_text(text + "\nTHE_EDIT = 1\n", encoding="utf-8")
        edited = stale(before, digests(cells))
        file.write_text(text, encoding="utf-8")
        using = {cell for cell, modules in ran.items() if name in modules}
        counts["modules"] += 1
        counts["remarks"] += len(remarked)
        counts["ran"] += len(using)
        counts["missed"] += len(using - edited)
        counts["needless"] += len(edited - using)
        if using - edited:
            print(f"missed: {name}: {sorted(using - edited)[:3]}", file=sys.stderr)
    return {"cells": len(cells), **counts}


def modules_run(cell, package: Path) -> set[str]:
    """The modules of the package that functions were run of in this process."""
    from probcal.runner.execute import execute

    files: set[str] = set()
    sys.setprofile(lambda frame, event, argument: files.add(frame.f_code.co_filename))
    outcome = execute(cell, {}, "run")
    sys.setprofile(None)
    assert outcome.result.status == "done", outcome.result.traceback
    return {module_of(Path(file), package) for file in files if package in Path(file).parents}


def module_of(file: Path, package: Path) -> str:
    parts = ("probcal", *file.relative_to(package).with_suffix("").parts)
    return ".".join(parts).removesuffix(".__init__")


def digests(cells) -> dict[str, dict[str, str]]:
    from probcal.runner import fingerprint as code
    from probcal.runner import fingerprint as keys

    for module in (code, keys):
        for function in vars(module).values():
            if hasattr(function, "cache_clear"):
                function.cache_clear()
    fingerprints = keys.Fingerprints()
    return {cell.id: fingerprints.key(cell) for cell in cells}


def stale(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> set[str]:
    of_metrics = dict.fromkeys(("metrics", "asked"))  # these make no result stale
    return {cell for cell, key in after.items() if {**key, **of_metrics} != {**before[cell], **of_metrics}}


if __name__ == "__main__":
    main()
