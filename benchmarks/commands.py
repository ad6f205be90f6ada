"""What commands on stored results cost, and the start of a run: python benchmarks/commands.py [--only NAME] [-o FILE]

CPU seconds of whole processes with their workers: a run of ten trivial cells, most of which is imports in two
processes, the commands that read the largest stored experiments, and the comparison of 500 methods with drawn numbers.
The stored experiments are copied first, so that nothing is written into this repository, and no proof of its numeric
code is looked for. Takes some minutes.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
import speed
from harness import PROBCAL, adopt_workers, config, cpu, row

from probcal.store.cell_result import CellResult
from probcal.store.table_file import write_table

RESULTS = speed.ROOT / "results"
MANY_CELLS, MANY_COLUMNS = "beta-calibration-ejs", "arena-ensembles"
"""Experiments of 84,000 cells, and of many learners with many methods on 82 data sets."""
N_METHODS, N_DATASETS, N_SPLITS = 500, 20, 10
SCIKIT_LEARN = "import sklearn.calibration, sklearn.isotonic, sklearn.model_selection"


def main() -> None:
    parser = speed.parser(__doc__, "commands")
    names = ("run", "status", "table", "report", "compare", "import")
    parser.add_argument("--only", action="append", choices=names, help="all unless given")
    parser.add_argument("--runs", type=int, default=3, help="medians of (%(default)s)")
    args = parser.parse_args()
    adopt_workers()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        figures = {
            "run": ("run of ten trivial cells", 1.5, ["run", config(place, 1, 10), "--refit", "-o", f"{place}/run"]),
            "status": ("status of 84,000 cells", 2.0, ["status", copied(MANY_CELLS, place)]),
            "table": ("table of 84,000 cells", 2.0, ["table", copied(MANY_CELLS, place)]),
            "report": (
                "report of 82 data sets", 20.0, ["report", copied(MANY_COLUMNS, place), "-o", str(place / "page.html")]
            ),
            "compare": (f"compare of {N_METHODS} methods", 30.0, ["compare", drawn(place / "drawn")]),
        }  # fmt: skip
        rows = []
        for name in [name for name in args.only or names if name in figures]:
            label, target, words = figures[name]
            seconds = statistics.median(cpu([*PROBCAL, *words]) for _ in range(args.runs))
            rows.append(row(f"probcal {label}", seconds, target, "s", "one process and its workers"))
        if not args.only or "import" in args.only:
            seconds, alone = (
                statistics.median(cpu([sys.executable, "-c", code]) for _ in range(args.runs))
                for code in ("from probcal import IsotonicClassifier; IsotonicClassifier", SCIKIT_LEARN)
            )
            rows.append(
                row("import of IsotonicClassifier", seconds, 0.8, "s", f"scikit-learn alone {alone:.2f} s")
            )
    description = f"CPU seconds, medians of {args.runs} processes."
    speed.report(args.out, "commands.py", description, ["figure", "measured", "target", "", "how"], rows)


def copied(name: str, place: Path) -> str:
    """Return the path of a copy of a stored experiment, beside the cards that it reads."""
    copy = place / "results" / name
    if not copy.exists():
        for folder in ("configs", "datasets"):
            if not (place / folder).exists():
                (place / folder).symlink_to(speed.ROOT / folder)
        shutil.copytree(RESULTS / name, copy)
    return str(copy)


def drawn(folder: Path) -> str:
    """Return a results folder of many methods of one learner, whose numbers are drawn."""
    folder.mkdir()
    random, methods = np.random.default_rng(0), [f"method{number}" for number in range(N_METHODS)]
    datasets = [f"data{number}" for number in range(N_DATASETS)]
    columns = [{"learner": "learner", "method": name, "label": name, "group": "learner"} for name in methods]
    description = {
        "name": "drawn", "title": "Drawn numbers", "metrics": ["cxe", "rms", "auc"], "columns": columns,
        "datasets": [{"name": name, "title": name, "split": "holdout"} for name in datasets],
        "repetitions": dict.fromkeys(datasets, N_SPLITS),
    }  # fmt: skip
    (folder / "experiment.json").write_text(json.dumps(description), encoding="utf-8")
    write_table(
        folder / "cells.parquet",
        (
            CellResult(
                dataset, split, "learner", method, "done", "run", 0.1,
                metrics={"cxe": loss, "rms": loss / 2, "auc": 1 - loss / 2}, n_train=100, n_test=50,
            )
            for dataset in datasets
            for split in range(N_SPLITS)
            for method, loss in zip(methods, (0.3 + 0.01 * random.random(N_METHODS)).tolist(), strict=True)
        ),
    )  # fmt: skip
    return str(folder)


if __name__ == "__main__":
    main()
