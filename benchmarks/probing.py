"""A hundred fits against Probing, and whether one vote differs: python benchmarks/probing.py [--data D] [--learner L]

For each learner the loop that everyone writes (clone, weight the positive rows (1-p)/p, fit, predict) at the
thresholds that ProbingClassifier chose, with scikit-learn's defaults and with the settings that the shortcut stands
for, against ProbingClassifier itself: fit and votes on the training rows. Every run is a fresh process with one BLAS
thread that finds its rows in a file; CPU seconds, wall seconds and peak memory are medians. Labels, one for each row
and threshold, are held against those of the loop with the shortcut's settings. Where the loop would take a quarter of
an hour or more, every 10th or 50th threshold is timed, once, and its seconds multiplied; the table says so. Exit code
1 where a label differs.

    python benchmarks/probing.py --learner gaussian_nb --rows 2000 --probes 10 --runs 1 -o -
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import speed
from probing_data import SEED, adult, adult_encoded, gaussians
from probing_learners import LEARNERS

from probcal.errors import ProbcalError

DATA: dict[str, Callable[[int | None], tuple[Any, np.ndarray]]] = {
    "adult": adult_encoded,
    "adult-mixed": adult,
    "gaussians": lambda rows: gaussians(rows or 200_000),
}
NUMERIC_LEARNERS = ("gaussian_nb", "logistic", "linear_svm")
MIXED_LEARNERS = ("kernel_nb", "kernel_nb_shares", "c45")
LEARNERS_OF_DATA = {
    "adult": (*NUMERIC_LEARNERS, "hinge_svm"),
    "adult-mixed": MIXED_LEARNERS,
    "gaussians": NUMERIC_LEARNERS,
}
SHORT_SECONDS = 1.0
"""CPU seconds."""
STEPS = {("adult", "hinge_svm"): 10, ("gaussians", "linear_svm"): 10}
WAY_NAMES = {"default": "loop, as it comes", "tight": "loop, as tight", "probing": "ProbingClassifier"}


def main() -> None:
    parser = speed.parser(__doc__, "probing")
    parser.add_argument("--data", action="append", choices=DATA, help="all unless given")
    choices = (*NUMERIC_LEARNERS, "hinge_svm", *MIXED_LEARNERS)
    parser.add_argument("--learner", action="append", choices=choices, help="all unless given")
    parser.add_argument("--runs", type=int, default=3, help="medians of (%(default)s)")
    parser.add_argument("--rows", type=int, help="the first of each data set (all)")
    parser.add_argument("--probes", type=int, default=100, help="(%(default)s)")
    args = parser.parse_args()
    rows, has_difference = [], False
    for data in args.data or DATA:
        learners = [
            learner for learner in LEARNERS_OF_DATA[data] if learner in (args.learner or LEARNERS_OF_DATA[data])
        ]
        if not learners:
            continue
        try:
            X, y = DATA[data](args.rows)
        except ProbcalError as error:
            sys.exit(f"{error}\nPROBCAL_DATA_DIR=DIR names the folder of original files; --data gaussians needs none")
        with tempfile.TemporaryDirectory() as folder:
            for learner in learners:
                step = STEPS.get((data, learner), 1) if args.rows is None else 1
                results = measure(Path(folder), X, y, learner, args.probes, step, args.runs if step == 1 else 1)
                has_difference |= results["probing"][1] > 0
                rows += lines(f"{data}, {len(y):,} x {X.shape[1]}", learner, results, step)
        del X, y
    description = (
        f"Fit and votes on the training rows, {args.probes} thresholds, medians of {args.runs} runs, of three times"
        f" as many where they take less than {SHORT_SECONDS:g} s, each a fresh process. The Gaussians are drawn from"
        f" seed {SEED}. Ratio: CPU seconds over ProbingClassifier's."
    )
    headers = ["data", "learner", "", "CPU", "wall", "ratio", "peak, MB", "labels that differ"]
    speed.report(args.out, "probing.py", description, headers, rows)
    sys.exit(1 if has_difference else 0)


def measure(
    folder: Path, X: Any, y: np.ndarray, learner: str, probes: int, step: int, runs: int
) -> dict[str, tuple[speed.Cost, float]]:
    """Way -> (the cost, seconds of all thresholds; the share of labels that differ from the tight loop's)."""
    data, out = folder / "data.joblib", folder / "labels.joblib"
    costs, labels, thresholds = {}, {}, None
    for way in ("probing", *ways(learner)):
        joblib.dump((X, y, thresholds), data)
        samples = repeat((data, learner, way, out, "--probes", probes), runs)
        points, bits = joblib.load(out)
        labels[way] = np.unpackbits(bits, axis=0, count=len(y))
        if way == "probing":
            n_thresholds, part = len(points), slice(step // 2, None, step)
            thresholds, labels[way], costs[way] = points[part], labels[way][:, part], speed.median(samples)
        else:
            costs[way] = scale_cost(speed.median(samples), len(points), n_thresholds)
    reference = labels[ways(learner)[-1]]
    return {way: (costs[way], float((labels[way] != reference).mean())) for way in (*ways(learner), "probing")}


def repeat(words: tuple[Any, ...], runs: int) -> list[speed.Cost]:
    costs = [speed.script_cost("probing_once.py", *words)[0] for _ in range(runs)]
    if runs > 1 and speed.median(costs).cpu < SHORT_SECONDS:  # there it tells what else the machine does
        costs += [speed.script_cost("probing_once.py", *words)[0] for _ in range(2 * runs)]
    return costs


def ways(learner: str) -> tuple[str, ...]:
    """The loops: one where the defaults are as tight."""
    entry = LEARNERS[learner]
    return ("default",) if entry.tight is entry.default else ("default", "tight")


def scale_cost(cost: speed.Cost, n_fits: int, n_thresholds: int) -> speed.Cost:
    return speed.Cost(cost.wall * n_thresholds / n_fits, cost.cpu * n_thresholds / n_fits, cost.peak)


def lines(data: str, learner: str, results: dict[str, tuple[speed.Cost, float]], step: int) -> list[list[str]]:
    base, rows = results["probing"][0], []
    for way, (cost, share) in results.items():
        label = (
            WAY_NAMES[way]
            if way == "probing" or step == 1
            else f"{WAY_NAMES[way]}; every {step}th threshold, once, scaled"
        )
        ratio = "" if way == "probing" else speed.times(cost.cpu, base.cpu)
        difference = f"{share:.3%}" if share else "0"
        row = [
            data,
            learner,
            label,
            speed.seconds(cost.cpu),
            speed.seconds(cost.wall),
            ratio,
            f"{cost.peak:.0f}",
            difference,
        ]
        rows.append(row)
    return rows


if __name__ == "__main__":
    main()
