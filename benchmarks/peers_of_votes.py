"""Methods that count votes, against scikit-learn and against loops that follow the paper line by line."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from peers_data import SEED, Peer, RowRecorder, Rows, largest_difference, naive_bayes, number_rows, tree
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier

from probcal import BaggedVoteClassifier, ProbingClassifier, WeightSweepClassifier

BAGS, PROBES, LEVELS = 20, 25, 19
TIE_TOLERANCE = 1e-9


def bagging_by_means(rows: Rows) -> float:
    """scikit-learn's bag, its trees grown anew on the rows that ours were grown on."""
    model = BaggedVoteClassifier(RowRecorder(tree()), BAGS, voting="means", clip=(0, 1), random_state=SEED)
    model.fit(number_rows(rows.X), rows.y)
    peer = BaggingClassifier(tree(), BAGS, random_state=SEED).fit(rows.X, rows.y)
    peer.estimators_ = [tree().fit(rows.X[bag.rows_], rows.y[bag.rows_]) for bag in model.estimators_]
    return largest_difference(model.predict_proba(number_rows(rows.X_test)), peer.predict_proba(rows.X_test))


def bagging_by_votes(rows: Rows) -> float:
    model = BaggedVoteClassifier(RowRecorder(tree()), BAGS, voting="votes", clip=(0, 1), random_state=SEED)
    model.fit(number_rows(rows.X), rows.y)
    trees = [tree().fit(rows.X[bag.rows_], rows.y[bag.rows_]) for bag in model.estimators_]
    share = sum(member.predict(rows.X_test) for member in trees) / BAGS
    return largest_difference(model.predict_proba(number_rows(rows.X_test))[:, 1], share)


def probing_with_log_loss(rows: Rows) -> float:
    model = ProbingClassifier(naive_bayes(), PROBES, weighting="weight", random_state=SEED).fit(rows.X, rows.y)
    return largest_difference(model.predict_proba(rows.X_test)[:, 1], naive_probing(naive_bayes(), rows))


def probing_with_even_thresholds(rows: Rows) -> float:
    model = even_probing().fit(rows.X, rows.y)
    votes = np.zeros(len(rows.y_test), dtype=int)
    for i in range(1, LEVELS + 1):
        weights = importances(i / (LEVELS + 1), rows.y)
        weights *= len(rows.y) / weights.sum()
        votes += tree().fit(rows.X, rows.y, weights).predict(rows.X_test)
    return largest_difference(model.predict_proba(rows.X_test)[:, 1], (votes + 0.5) / (LEVELS + 1))


def sweep(rows: Rows) -> float:
    model = WeightSweepClassifier(tree(), weighting="weight", random_state=SEED).fit(rows.X, rows.y)
    return largest_difference(
        model.predict_proba(rows.X_test), even_probing().fit(rows.X, rows.y).predict_proba(rows.X_test)
    )


def even_probing() -> ProbingClassifier:
    return ProbingClassifier(
        tree(),
        LEVELS,
        loss="squared_error",
        discretisation="uniform",
        weighting="weight",
        total_weight="n",
        clip=(0, 1),
        random_state=SEED,
    )


def naive_probing(learner: Any, rows: Rows) -> np.ndarray:
    """Algorithms 1 and 2 of Langford & Zadrozny (2005) under log loss, as printed, with every vote taken anew."""
    models: dict[float, Any] = {}
    for _ in range(PROBES):
        votes = sum((model.predict(rows.X) for model in models.values()), np.zeros(len(rows.y), dtype=int))
        ends = [0.0, *sorted(models), 1.0]
        gains = [int((votes == n).sum()) * gain(a, b) for n, (a, b) in enumerate(pairwise(ends))]
        n = next(n for n, value in enumerate(gains) if value >= max(gains) * (1 - TIE_TOLERANCE))
        p = minimax(ends[n], ends[n + 1])
        models[p] = clone(learner).fit(rows.X, rows.y, importances(p, rows.y))
    ends = [0.0, *sorted(models), 1.0]
    votes = sum(model.predict(rows.X_test) for model in models.values())
    return np.array([min(max(minimax(ends[n], ends[n + 1]), 0.001), 0.999) for n in votes])


def importances(p: float, y: np.ndarray) -> np.ndarray:
    """i_p(y) = (1-p)/p y + (1-y)."""
    return (1 - p) / p * y + (1 - y)


def entropy(p: float) -> float:
    return -sum(q * math.log(q) for q in (p, 1 - p) if q > 0)


def minimax(a: float, b: float) -> float:
    return 1 / (1 + math.exp((entropy(b) - entropy(a)) / (b - a)))


def gain(a: float, b: float) -> float:
    p = minimax(a, b)
    return (1 - a) * math.log((1 - a) / (1 - p)) + (a * math.log(a / p) if a > 0 else 0.0)


PEERS = [
    Peer("BaggedVote, means", "scikit-learn BaggingClassifier, same bags", 1e-12, bagging_by_means),
    Peer("BaggedVote, votes", "share of scikit-learn trees, same bags", 1e-12, bagging_by_votes),
    Peer("Probing, log loss", "the paper's formulas in a loop", 1e-9, probing_with_log_loss),
    Peer("Probing, uniform", "a tree a threshold in a loop", 1e-12, probing_with_even_thresholds),
    Peer("WeightSweep", "Probing, uniform", 0.0, sweep),
]
