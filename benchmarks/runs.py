"""Two processes against one, in wall time: python benchmarks/runs.py [-o FILE]

A run of an experiment with a hundred cells, and ProbingClassifier over trees, scikit-learn's and Weka's J48 (where
Java is at hand), on the first rows of Adult; everything in fresh processes, so that starting workers and Java is in
the figure. Only on an idle machine do wall times say something. Exit code 1 where two processes give other votes or
results than one. Takes some minutes.

    python benchmarks/runs.py --rows 500 --probes 10 --repeats 1 --runs 1 -o -
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import joblib
import numpy as np
import speed
from probing_data import adult, adult_encoded, gaussians

from probcal.errors import ProbcalError
from probcal.store.folder import Store

CONFIG = """
name: hundred
repeats: {repeats}
datasets: [wisconsin, digits-odd]
learners: {{tree: }}
methods: {{probing: {{params: {{n_probes: {probes}}}}}}}
"""
CELLS = 2  # a repetition


def main() -> None:
    parser = speed.parser(__doc__, "runs")
    parser.add_argument("--rows", type=int, default=32_561, help="of Adult (%(default)s)")
    parser.add_argument("--repeats", type=int, default=50, help=f"of {CELLS} cells each (%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="medians of (%(default)s)")
    parser.add_argument("--probes", type=int, default=100, help="(%(default)s)")
    parser.add_argument("--learner", action="append", choices=("sklearn_tree", "j48"), help="both unless given")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = [run(folder, args.repeats, args.probes, args.runs)]
        for learner, X, y in tables(args.rows, args.learner or ("sklearn_tree", "j48")):
            lines.append(probing(folder, learner, X, y, args.probes, args.runs))
    rows = [
        [label, speed.seconds(first), speed.seconds(second), speed.times(first, second), verdict]
        for label, first, second, verdict in lines
    ]
    description = f"Wall seconds, medians of {args.runs} runs, each in a fresh process."
    speed.report(args.out, "runs.py", description, ["", "one process", "two", "ratio", "results"], rows)
    sys.exit(1 if any(row[4] != "the same" for row in rows) else 0)


def tables(rows: int, learners: Sequence[str]) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Learners with the rows of Adult, or generated ones, as they take them."""
    for learner in learners:
        if learner == "j48" and not (find_spec("weka") and find_spec("jpype")):
            print("j48 is left out: the extra weka is not installed", file=sys.stderr)
            continue
        try:
            yield learner, *(adult(rows) if learner == "j48" else adult_encoded(rows))
        except ProbcalError as error:
            print(f"generated rows stand in for Adult's: {error}", file=sys.stderr)
            yield learner, *gaussians(rows)


def run(folder: Path, repeats: int, probes: int, runs: int) -> tuple[str, float, float, str]:
    config = folder / "hundred.yaml"
    config.write_text(CONFIG.format(repeats=repeats, probes=probes), encoding="utf-8")
    measurements = {}
    for jobs in (1, 2):
        folders = [folder / f"{jobs}-{number}" for number in range(runs)]
        measurements[jobs] = median([command_seconds(config, out, jobs) for out in folders]), results(folders[0])
    (first, first_results), (second, second_results) = measurements[1], measurements[2]
    label = f"probcal run, {repeats * CELLS} cells of {first / repeats / CELLS:.1f} s, -j 1 against -j 2"
    return label, first, second, same_text(first_results == second_results)


def command_seconds(config: Path, out: Path, jobs: int) -> float:
    begin = time.perf_counter()
    words = ["run", config, "-o", out, "-j", jobs]
    command = [sys.executable, "-m", "probcal", *map(str, words)]
    subprocess.run(command, check=True, capture_output=True, env=speed.one_blas_thread())
    return time.perf_counter() - begin


def results(folder: Path) -> dict[str, dict[str, float]]:
    return {name: result.metrics for name, result in Store(folder).results().items()}


def probing(folder: Path, learner: str, X: Any, y: np.ndarray, probes: int, runs: int) -> tuple[str, float, float, str]:
    data, labels = folder / f"{learner}.joblib", folder / "labels.joblib"
    joblib.dump((X, y, None), data)
    measurements = {}
    for jobs in (1, 2):
        words = [data, learner, "probing", labels, "--probes", probes, "--n-jobs", jobs]
        costs = [speed.script_cost("probing_once.py", *words)[0] for _ in range(runs)]
        measurements[jobs] = speed.median(costs).wall, joblib.load(labels)
    (first, first_labels), (second, second_labels) = measurements[1], measurements[2]
    is_same = all(np.array_equal(a, b) for a, b in zip(first_labels, second_labels, strict=True))
    label = f"ProbingClassifier, {probes} probes of {learner}, {len(y):,} rows, n_jobs=1 against 2"
    return label, first, second, same_text(is_same)


def same_text(is_same: bool) -> str:
    return "the same" if is_same else "OTHERS"


if __name__ == "__main__":
    main()
