"""What one row costs through a calibrated model: python benchmarks/one_row.py [--learner LEARNER] [-o FILE]

Each calibrated model predicts one row (an array) many times, in turn with the fitted classifiers that it holds, one
after another. Both p50 and p99 should be at most 1.3 times those of the classifiers plus .1 ms, and the pickle at most
10 KB larger than those of the classifiers and of the maps. CalibratedClassifierCV of scikit-learn stands beside it.
Every figure is CPU time, because on a shared machine the p99 of wall time is a turn of another process. It is the
median of several rounds in one process with one thread. Takes eight minutes.

    python benchmarks/one_row.py --learner gaussian_nb --calls 50 --rounds 1 -o -
"""

from __future__ import annotations

import json
import pickle
import statistics
import sys
import time
from typing import Any

import numpy as np
import speed
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import probcal

LEARNERS = {
    "logistic": LogisticRegression(),
    "forest": RandomForestClassifier(100, random_state=0),
    "hist_boosting": HistGradientBoostingClassifier(random_state=0),
    "gaussian_nb": GaussianNB(),
}
MAPS = {
    "sigmoid": "SigmoidClassifier",
    "isotonic": "IsotonicClassifier",
    "beta": "BetaCalibrationClassifier",
    "temperature": "TemperatureClassifier",
    "spline": "SplineClassifier",
    "quadratic": "QuadraticClassifier",
    "venn_abers": "VennAbersClassifier",
}
OF_SCIKIT_LEARN = ("sigmoid", "isotonic")
FACTOR, MILLISECONDS, KILOBYTES = 1.3, 0.1, 10
"""The targets: a time at most FACTOR times that of the classifiers plus MILLISECONDS, KILOBYTES more in a pickle."""
Percentiles = list[float]
"""p50 and p99 in ms."""


def main() -> None:
    parser = speed.parser(__doc__, "one_row")
    parser.add_argument("--learner", action="append", choices=LEARNERS, help="all unless given")
    parser.add_argument("--rows", type=int, default=2000, help="rows to fit (%(default)s)")
    parser.add_argument("--calls", type=int, default=300, help="predictions in a round (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="medians of (%(default)s)")
    parser.add_argument("--once", choices=LEARNERS, help="measure one learner in this process")
    args = parser.parse_args()
    if args.once:
        print(
            json.dumps(
                {"wall": 0, "cpu": 0, "peak": 0, "figures": measure(args.once, args.rows, args.calls, args.rounds)}
            )
        )
        return
    rows = []
    for learner in args.learner or LEARNERS:
        words = ["--rows", args.rows, "--calls", args.calls, "--rounds", args.rounds]
        _, extra = speed.script_cost("one_row.py", "--once", learner, *words)
        rows += [[learner, *line(figures)] for figures in extra["figures"]]
    description = (
        f"{args.rows:,} rows to fit, 20 columns, 5 folds. CPU time in ms of one row. `models` are the fitted "
        f"classifiers alone, {args.calls} predictions in turn with these of the calibrated model, medians of "
        f"{args.rounds} rounds. `x p50` and `x p99` are the time of the calibrated model less {MILLISECONDS:g} ms, "
        f"over that of its models: at most {FACTOR:g}. `more KB` is the pickle of the calibrated model less those of "
        f"its models and maps: at most {KILOBYTES}."
    )
    headers = ["learner", "map", "ensemble", "x p50", "x p99", "more KB", "target", "p50", "models p50", "p99"]
    headers += ["models p99", "scikit-learn p50", "p99", "pickle, MB", "of scikit-learn"]
    speed.report(args.out, "one_row.py", description, headers, rows)
    sys.exit(0)


def line(figures: dict[str, Any]) -> list[str]:
    ours, models, theirs = figures["ours"], figures["models"], figures["theirs"]
    ratios = [max(own - MILLISECONDS, 0) / bare for own, bare in zip(ours, models, strict=True)]
    missed = [name for name, ratio in zip(("p50", "p99"), ratios, strict=True) if ratio > FACTOR]
    missed += ["KB"] if figures["more"] > KILOBYTES else []
    times = [f"{value:.3f}" for pair in zip(ours, models, strict=True) for value in pair]
    beside = ["", ""] if theirs is None else [f"{value:.3f}" for value in theirs]
    return [
        figures["map"], str(figures["ensemble"]), *(f"{ratio:.2f}" for ratio in ratios), f"{figures['more']:.1f}",
        f"MISSED {', '.join(missed)}" if missed else "holds", *times, *beside, f"{figures['pickle']:.2f}",
        "" if theirs is None else f"{figures['their_pickle']:.2f}",
    ]  # fmt: skip


def measure(learner: str, n_rows: int, n_calls: int, n_rounds: int) -> list[dict[str, Any]]:
    X, y = make_classification(n_rows + 1, n_informative=8, flip_y=0.2, random_state=0)
    X, y, row = X[:-1], y[:-1], X[-1:].copy()
    figures = []
    for name, kind in MAPS.items():
        for ensemble in (True, False):
            estimator = clone(LEARNERS[learner])
            ours = getattr(probcal, kind)(estimator, ensemble=ensemble, random_state=0).fit(X, y)
            compared = [[ours], ours.estimators_]
            theirs = None
            if name in OF_SCIKIT_LEARN:
                theirs = CalibratedClassifierCV(estimator, method=name, ensemble=ensemble).fit(X, y)
                compared.append([theirs])
            of_ours, of_models, *of_theirs = percentiles(compared, row, n_calls, n_rounds)
            parts = pickled(ours.estimators_) + pickled(ours.calibrators_)
            figures.append(
                {"map": name, "ensemble": ensemble, "ours": of_ours, "models": of_models}
                | {"theirs": of_theirs[0] if of_theirs else None, "more": (pickled(ours) - parts) / 1000}
                | {"pickle": pickled(ours) / 1e6, "their_pickle": pickled(theirs) / 1e6}
            )
    return figures


def percentiles(compared: list[list[Any]], row: np.ndarray, n_calls: int, n_rounds: int) -> list[Percentiles]:
    """p50 and p99 of the predictions of each list of models, which take turns, so that all meet the same machine."""
    rounds: list[list[Percentiles]] = [[] for _ in compared]
    for _ in range(n_rounds):
        times: list[list[float]] = [[] for _ in compared]
        for _ in range(n_calls):
            for models, own in zip(compared, times, strict=True):
                start = time.process_time()
                for model in models:
                    model.predict_proba(row)
                own.append(time.process_time() - start)
        for own, kept in zip(times, rounds, strict=True):
            kept.append([float(value) * 1000 for value in np.percentile(own, [50, 99])])
    return [[statistics.median(column) for column in zip(*kept, strict=True)] for kept in rounds]


def pickled(value: Any) -> int:
    return len(pickle.dumps(value))


if __name__ == "__main__":
    main()
