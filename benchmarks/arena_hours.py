"""Say how many hours the experiment ``arena`` takes, before it runs.

    python benchmarks/arena_hours.py --data-dir DIR

Every learner is fitted on six tables, and a few maps on three of them. The times are those of the processor, so that a
machine that does other work gives the same hours. The other cells follow from them. The seconds of a fit are a constant
times a power of the training rows times a power of the columns, by least squares. Those of a map have the rows only. A
method of a hundred fits takes a hundred times as long as one fit. A method that takes each of k classes against the
rest takes k times as long as with two classes. So do maps and boosting.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from probcal.config.experiment import Experiment, find_config, read_experiment
from probcal.runner import execute
from probcal.runner.cell import Cell, cells_of
from probcal.runner.data_step import current_data
from probcal.runner.fit_predict import limit_blas_threads

MAP_TABLES = ("arena-sonar", "arena-yeast", "arena-jm1")
TABLES = (*MAP_TABLES, "arena-heart-h", "arena-spambase", "arena-scene-classification")
"""Two classes, 137 to 3,000 training rows and 8 to 294 columns."""
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
    limit_blas_threads()
    execute.time = SimpleNamespace(perf_counter=time.process_time)  # type: ignore[assignment]
    experiment = read_experiment(find_config("arena"))
    seconds = measure_times(experiment, folder)
    print_table(experiment, seconds)


Times = dict[tuple[str, str], list[tuple[int, int, float]]]
"""(learner, ``fit`` or ``map``) -> (training rows, columns, processor seconds) of each table."""


def measure_times(experiment: Experiment, folder: Path) -> Times:
    """Return the times of one fit and of one map on each table."""
    results: Times = defaultdict(list)
    for table in TABLES:
        subset = experiment.select((table,))
        data = current_data(subset.used_cards(), folder)
        data.obtain(subset.used_cards(), folder, print)
        times: dict[tuple[str, str], list[float]] = defaultdict(list)
        rows = columns = 0
        for cell in cells_of(data.bind_cards(subset)):
            learner, method = cell.column.learner.name, cell.column.method.name
            fits = {"direct": 1, "fold_mean": 5 if learner == "svm" else 0}.get(method, 0)  # the svm is never alone
            if not (fits or (table in MAP_TABLES and method in ("fold_mean", *MAPS))):
                continue
            result = execute.execute(cell, {}, "hours").result
            if result.status != "done":
                raise SystemExit(f"{cell.id}: {result.message}")
            rows, columns = result.n_train or 0, cell.card.expect.columns
            if fits:
                times[learner, "fit"].append(result.seconds / fits)
            elif method in MAPS:
                times[learner, "map"].append(result.seconds)
        for kind, values in times.items():
            results[kind].append((rows, columns, float(np.mean(values))))
    return results


def powers(times: list[tuple[int, int, float]], with_columns: bool) -> np.ndarray:
    """Return the logarithm of the constant and the powers of rows and columns, (3,), by least squares."""
    logs = np.log(np.array(times))
    features = np.column_stack([np.ones(len(logs)), logs[:, 0], logs[:, 1]])[:, : 3 if with_columns else 2]
    coefficients = np.zeros(3)
    coefficients[: features.shape[1]] = np.linalg.lstsq(features, logs[:, 2], rcond=None)[0]
    return coefficients


def expected_seconds(cell: Cell, laws: dict[tuple[str, str], np.ndarray]) -> float:
    """Return the expected seconds of a cell."""
    learner, method, card = cell.column.learner.name, cell.column.method.name, cell.card
    classes = len(card.expect.classes or {}) if card.task == "multiclass" else 1
    law = laws[learner, "fit" if method in FITS else "map"]
    seconds = float(np.exp(law @ [1, np.log(cell.used_split.n_train(card.expect.rows)), np.log(card.expect.columns)]))
    per_class = method not in FITS or method.startswith(("probing", "weight_sweep")) or learner in BOOSTING
    return OVERHEAD + seconds * FITS.get(method, 1) * (classes if per_class else 1)


def print_table(experiment: Experiment, times: Times) -> None:
    """Print the hours of one core for each learner and kind of method, as a table in Markdown."""
    laws = {kind: powers(values, kind[1] == "fit") for kind, values in times.items()}
    hours: dict[tuple[str, str], float] = defaultdict(float)
    learners: dict[str, None] = {}
    for cell in cells_of(experiment):
        learner, method = cell.column.learner.name, cell.column.method.name
        learners[learner] = None
        hours[learner, method if method in FITS else "maps"] += expected_seconds(cell, laws) / 3600
    kinds = ["direct", "fold_mean", "maps", *list(FITS)[2:]]
    print(f"| learner | {' | '.join([*kinds, 'all'])} |")
    print(f"|:--{'|:--:' * (len(kinds) + 1)}|")
    for learner in learners:
        row = [hours[learner, kind] for kind in kinds]
        print(f"| {learner} | {' | '.join(f'{value:.2f}' for value in [*row, sum(row)])} |")
    row = [sum(hours[learner, kind] for learner in learners) for kind in kinds]
    print(f"| all | {' | '.join(f'{value:.2f}' for value in [*row, sum(row)])} |")
    print(f"\n{sum(row):.1f} hours of one core, {sum(row) / 2:.1f} of two")


if __name__ == "__main__":
    main()
