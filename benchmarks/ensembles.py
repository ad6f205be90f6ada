"""Probing of ensembles against a loop of fits, and what a shared table could save: python benchmarks/ensembles.py

For each library, ProbingClassifier with 20 probes of its classifier on Adult, against the loop that everyone writes at
the same thresholds: fit and labels of the training rows, in one thread. "Of it votes" is the second prediction of these
rows: the first one chooses the thresholds, and the loop needs only one. "Table" is the library's own work on the rows
before the first tree: bins for LightGBM, CatBoost and HistGradientBoosting. It is timed once by itself. "At most" is
the ratio if all probes shared it, which is the loop over the loop less all tables but one. Exit code 1 where a label
differs.

    python benchmarks/ensembles.py --library lightgbm --rows 3000 --probes 3 -o -
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import speed
from probing_data import adult_encoded
from probing_once import loop
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
from threadpoolctl import threadpool_limits

from probcal import ProbingClassifier


def main() -> None:
    parser = speed.parser(__doc__, "ensembles")
    parser.add_argument("--library", action="append", choices=LIBRARIES, help="all unless given")
    parser.add_argument("--rows", type=int, default=10_000, help="the first of Adult (%(default)s)")
    parser.add_argument("--probes", type=int, default=20, help="(%(default)s)")
    args = parser.parse_args()
    X, y = adult_encoded(args.rows)
    rows, has_difference = [], False
    for name in args.library or LIBRARIES:
        with threadpool_limits(1):
            cells, n_differ = measure(name, X, y, args.probes)
        rows.append([name, *cells])
        has_difference |= n_differ > 0
    description = (
        f"CPU seconds of fit and labels of the {len(y):,} training rows of Adult, {X.shape[1]} columns, 100 trees,"
        f" {args.probes} probes, one thread, once."
    )
    headers = ["library", "loop", "ProbingClassifier", "of it votes", "ratio", "table", "at most", "labels that differ"]
    speed.report(args.out, "ensembles.py", description, headers, rows, "lightgbm", "catboost")
    sys.exit(1 if has_difference else 0)


def measure(name: str, X: np.ndarray, y: np.ndarray, n_probes: int) -> tuple[list[str], int]:
    """Return the cells of a library's line, and how many labels differ."""
    learner, table = LIBRARIES[name]
    learner().fit(X[:500], y[:500]).predict(X[:500])  # loads what the library loads at first
    probing = ProbingClassifier(learner(), n_probes, weighting="weight", random_state=0)
    _, fit = speed.costs_of(lambda: probing.fit(X, y))
    _, votes = speed.costs_of(lambda: probing.votes(X))
    cpu = fit.cpu + votes.cpu
    labels, naive = speed.costs_of(lambda: loop(learner(), X, y, probing.thresholds_))
    n_differ = int((labels != (probing.threshold_models_[0].predicted_labels(X) == 1)).sum())
    cells = [speed.seconds(naive.cpu), speed.seconds(cpu), speed.seconds(votes.cpu), speed.times(naive.cpu, cpu)]
    if table is None:
        return [*cells, "none", "1.00x", str(n_differ)], n_differ
    _, one_fit = speed.costs_of(lambda: table(X, y))
    minimum = naive.cpu - (n_probes - 1) * one_fit.cpu
    return [*cells, speed.seconds(one_fit.cpu), speed.times(naive.cpu, minimum), str(n_differ)], n_differ


def lightgbm() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=100, random_state=0, n_jobs=1, verbose=-1)


def lightgbm_bins(X: np.ndarray, y: np.ndarray) -> None:
    from lightgbm import Dataset

    Dataset(X, y, params={"num_threads": 1, "verbose": -1}).construct()


def catboost() -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(iterations=100, random_seed=0, thread_count=1, verbose=0, allow_writing_files=False)


def catboost_bins(X: np.ndarray, y: np.ndarray) -> None:
    from catboost import Pool

    Pool(X, y, thread_count=1).quantize()


def hist() -> Any:
    return HistGradientBoostingClassifier(random_state=0, early_stopping=False)


def hist_bins(X: np.ndarray, y: np.ndarray) -> None:
    _BinMapper(n_bins=256, random_state=0, n_threads=1).fit_transform(X)


def forest() -> Any:
    return RandomForestClassifier(100, random_state=0, n_jobs=1)


LIBRARIES: dict[str, tuple[Callable[[], Any], Callable[[np.ndarray, np.ndarray], None] | None]] = {
    "lightgbm": (lightgbm, lightgbm_bins),
    "catboost": (catboost, catboost_bins),
    "hist": (hist, hist_bins),
    "forest": (forest, None),
}


if __name__ == "__main__":
    main()
