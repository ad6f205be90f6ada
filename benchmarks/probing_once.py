"""One way of Probing in a process of its own: python benchmarks/probing_once.py DATA LEARNER WAY LABELS [OPTION ...]

DATA: joblib's file of (X, y, thresholds or None). WAY: "probing" is ProbingClassifier(weighting="weight") with its
shortcuts, "slow" without, "default" and "tight" are plain loops of the learner as it comes and as the shortcut stands
for it. Fit and votes on the training rows are timed; the thresholds and the label that each gave to each row go to
LABELS.
"""

from __future__ import annotations

import argparse
from typing import Any

import joblib
import numpy as np
import speed
from probing_learners import LEARNERS
from sklearn.base import clone

from probcal import ProbingClassifier

WAYS = ("probing", "slow", "default", "tight")


def main() -> None:
    parser = argparse.ArgumentParser(description="One way of Probing, timed.")
    parser.add_argument("data")
    parser.add_argument("learner", choices=LEARNERS)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("labels")
    parser.add_argument("--probes", type=int, default=100)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--no-labels", action="store_true", help="write the thresholds only")
    args = parser.parse_args()
    X, y, thresholds = joblib.load(args.data)
    learner = LEARNERS[args.learner]
    if args.way in ("probing", "slow"):
        slow = {"shortcuts": False} if args.way == "slow" else {}
        settings = {"weighting": "weight", "n_jobs": args.n_jobs, "random_state": 0}  # the shortcuts are for weights
        probing = ProbingClassifier(learner.tight(), args.probes, **settings, **slow)
        _, cost = speed.costs_of(lambda: probing.fit(X, y).votes(X))
        labels = None if args.no_labels else probing.threshold_models_[0].predicted_labels(X)
        thresholds = probing.thresholds_
    else:
        estimator = learner.tight() if args.way == "tight" else learner.default()
        labels, cost = speed.costs_of(lambda: loop(estimator, X, y, thresholds))
    joblib.dump((thresholds, None if args.no_labels else np.packbits(labels, axis=0)), args.labels)
    speed.print_cost(cost)


def loop(estimator: Any, X: Any, y: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """(n_rows, n_thresholds) bool: what a hundred lines of everyday scikit-learn come to."""
    labels = np.empty((len(y), len(thresholds)), dtype=bool)
    for column, p in enumerate(thresholds):
        weights = np.where(y == 1, (1 - p) / p, 1.0)
        labels[:, column] = clone(estimator).fit(X, y, sample_weight=weights).predict(X) == 1
    return labels


if __name__ == "__main__":
    main()
