"""Say how many hours the experiment ``arena`` takes, before it runs.

    python benchmarks/arena_hours.py --data-dir DIR

Every learner is fitted on three tables, alone, in five folds, and with a few maps. The times are those of the
processor, so that a machine that does other work gives the same hours. The other cells follow from them: a method of a
hundred fits takes a hundred times as long as one fit. Times of other numbers of training rows lie on straight lines
between the three tables, on logarithmic scales. A method that takes each of k classes against the rest takes k times as
long as with two classes. So do maps and boosting.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from probcal.config.experiment import find_config, read_experiment
from probcal.runner import execute
from probcal.runner.data_step import data_now
from probcal.runner.fit_predict import one_thread_each
from probcal.runner.plan import Cell, cells_of

TABLES = ("arena-sonar", "arena-yeast", "arena-jm1")
"""Two classes, and 137, 979 and 3,000 training rows."""
MAPS = ("sigmoid", "isotonic", "beta", "venn_abers", "matrix_scaling")
FITS = {
    "direct": 1,
    "fold_mean": 5,
    "probing.fits100": 100,
    "probing.fits20": 20,
    "weight_sweep": 19,
    "bagging.fits100": 100,
    "bagging.fits20": 20,
    "reseeded": 20,
}
"""Method -> how often it fits the learner. All others are maps, and share the fits of fold_mean."""
BOOSTING = ("hist", "lightgbm", "catboost")
OVERHEAD = 0.02
"""Seconds of a cell to measure its predictions and to store them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data-dir", type=Path, required=True, help="the folder of original files")
    folder = parser.parse_args().data_dir
    one_thread_each()
    execute.time = SimpleNamespace(perf_counter=time.process_time)  # type: ignore[assignment]
    experiment = read_experiment(find_config("arena"))
    seconds = measured(experiment, folder)
    print_table(experiment, seconds)


def measured(experiment: Any, folder: Path) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Return (learner, ``fit`` or ``map``) -> (training rows, processor seconds) of each table."""
    found = defaultdict(list)
    for table in TABLES:
        small = experiment.selected((table,))
        data = data_now(small.cards_read(), folder)
        data.obtain(small.cards_read(), folder, print)
        times: dict[tuple[str, str], list[float]] = defaultdict(list)
        for cell in cells_of(data.bound(small)):
            learner, method = cell.column.learner.name, cell.column.method.name
            if method in ("fold_mean", *MAPS):
                result = execute.execute(cell, {}, "hours").result
                if result.status != "done":
                    raise SystemExit(f"{cell.id}: {result.message}")
                times[learner, "fit" if method == "fold_mean" else "map"].append(result.seconds)
                rows = result.n_train or 0
        for kind, of_kind in times.items():
            found[kind].append((rows, float(np.mean(of_kind)) / (5 if kind[1] == "fit" else 1)))
    return dict(found)


def expected(cell: Cell, seconds: dict[tuple[str, str], list[tuple[int, float]]]) -> float:
    """Return the expected seconds of a cell."""
    learner, method, card = cell.column.learner.name, cell.column.method.name, cell.card
    classes = len(card.expect.classes or {}) if card.task == "multiclass" else 1
    known = np.log(seconds[learner, "fit" if method in FITS else "map"])
    n = np.log(cell.used_split.n_train(card.expect.rows))
    near = known[:2] if n < known[1, 0] else known[1:]
    slope = max(float(np.diff(near[:, 1])[0] / np.diff(near[:, 0])[0]), 0.0)
    one = float(np.exp(near[0, 1] + slope * (n - near[0, 0])))
    own_classes = method not in FITS or method.startswith(("probing", "weight_sweep")) or learner in BOOSTING
    return OVERHEAD + one * FITS.get(method, 1) * (classes if own_classes else 1)


def print_table(experiment: Any, seconds: dict[tuple[str, str], list[tuple[int, float]]]) -> None:
    """Print the hours of one core for each learner and kind of method, as a table in Markdown."""
    hours: dict[tuple[str, str], float] = defaultdict(float)
    learners: dict[str, None] = {}
    for cell in cells_of(experiment):
        learner, method = cell.column.learner.name, cell.column.method.name
        kind = method if method in FITS else "maps"
        learners[learner] = None
        hours[learner, kind] += expected(cell, seconds) / 3600
    kinds = ["direct", "fold_mean", "maps", *list(FITS)[2:]]
    print(f"| learner | seconds of a fit of {', '.join(f'{n:,}' for n, _ in seconds['nb', 'fit'])} rows |", end="")
    print(" | ".join([*kinds, "all"]), "|")
    print(f"|{'---|' * (len(kinds) + 3)}")
    for learner in learners:
        fits = ", ".join(f"{one:.3f}" for _, one in seconds[learner, "fit"])
        each = [hours[learner, kind] for kind in kinds]
        print(f"| {learner} | {fits} | {' | '.join(f'{one:.2f}' for one in [*each, sum(each)])} |")
    each = [sum(hours[learner, kind] for learner in learners) for kind in kinds]
    print(f"| all | | {' | '.join(f'{one:.2f}' for one in [*each, sum(each)])} |")
    print(f"\n{sum(each):.1f} hours of one core, {sum(each) / 2:.1f} of two")


if __name__ == "__main__":
    main()
