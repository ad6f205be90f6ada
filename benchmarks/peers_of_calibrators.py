"""Methods that map scores to probabilities, against scikit-learn, SciPy, the packages behind them and brute force."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from peers_data import (
    FOLDS,
    N_FOLDS,
    SEED,
    Peer,
    RowRecorder,
    Rows,
    largest_difference,
    logistic,
    naive_bayes,
    number_rows,
    tree,
)
from scipy.optimize import isotonic_regression, minimize_scalar
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression

from probcal import (
    BetaCalibrationClassifier,
    IsotonicClassifier,
    SigmoidClassifier,
    TemperatureClassifier,
    VennAbersClassifier,
)

BRUTE_ROWS = 150


def fixed_learner_difference(
    classifier: Callable[..., Any], learner: Callable[[], Any], method: str, **settings: Any
) -> Callable:
    """Ours on the training rows, scikit-learn's around the very learner that ours has fitted."""

    def difference(rows: Rows) -> float:
        model = classifier(learner(), calibration="train", random_state=SEED, **settings).fit(rows.X, rows.y)
        peer = CalibratedClassifierCV(FrozenEstimator(model.estimator_), method=method).fit(rows.X, rows.y)
        return largest_difference(model.predict_proba(rows.X_test), peer.predict_proba(rows.X_test))

    return difference


def cross_val_difference(classifier: Callable[..., Any], method: str, **settings: Any) -> Callable[[Rows], float]:
    """Both with a map for each of the same folds."""

    def difference(rows: Rows) -> float:
        model = classifier(logistic(), ensemble=True, cv=FOLDS, random_state=SEED, **settings).fit(rows.X, rows.y)
        peer = CalibratedClassifierCV(logistic(), method=method, cv=FOLDS).fit(rows.X, rows.y)
        return largest_difference(model.predict_proba(rows.X_test), peer.predict_proba(rows.X_test))

    return difference


def isotonic_scikit_learn(rows: Rows) -> float:
    """On the estimates of a tree, most of which are ties; scikit-learn also ties scores less than 1e-15 apart."""
    model, score = fit_isotonic(tree(), rows)
    peer = IsotonicRegression(out_of_bounds="clip").fit(score(rows.X), rows.y)
    return largest_difference(model.predict_proba(rows.X_test)[:, 1], peer.predict(score(rows.X_test)))


def isotonic_scipy(rows: Rows) -> float:
    """At the scores of the training rows: SciPy's says nothing of what lies between them."""
    model, score = fit_isotonic(naive_bayes(), rows)
    _, place, count = np.unique(score(rows.X), return_inverse=True, return_counts=True)
    peer = isotonic_regression(np.bincount(place, rows.y) / count, weights=count)
    return largest_difference(model.predict_proba(rows.X)[:, 1], peer.x[place])


def fit_isotonic(learner: Any, rows: Rows) -> tuple[IsotonicClassifier, Callable[[np.ndarray], np.ndarray]]:
    """(it, the scores that it is a function of)."""
    model = IsotonicClassifier(learner, scores="probability", calibration="train", clip=(0, 1), random_state=SEED)
    model.fit(rows.X, rows.y)
    return model, lambda X: model.estimator_.predict_proba(X)[:, 1]


def venn_abers_brute_force(rows: Rows) -> float:
    """p0 and p1 of each test row by two isotonic regressions of its own, on estimates of which many are near 0 or 1."""
    model = VennAbersClassifier(RowRecorder(naive_bayes()), scores="log_odds", calibration="holdout", random_state=SEED)
    model.fit(number_rows(rows.X), rows.y)
    (learner,) = model.estimators_
    held_out = np.setdiff1d(np.arange(len(rows.y)), learner.rows_)
    scores, test_scores = (log_odds(learner, number_rows(X)) for X in (rows.X, rows.X_test[:BRUTE_ROWS]))
    expected = [
        [isotonic_value(scores[held_out], rows.y[held_out], score, label) for label in (0, 1)] for score in test_scores
    ]
    return largest_difference(model.predict_interval(number_rows(rows.X_test[:BRUTE_ROWS])), expected)


def log_odds(learner: Any, X: np.ndarray) -> np.ndarray:
    log_p0, log_p1 = np.log(np.maximum(learner.predict_proba(X), np.finfo(float).tiny)).T
    return log_p1 - log_p0


def isotonic_value(scores: np.ndarray, y: np.ndarray, score: float, label: int) -> float:
    """Isotonic regression at an added row: the max over a <= score of the min over b >= score of mean y in [a, b]."""
    distinct, place = np.unique(np.append(scores, score), return_inverse=True)
    positive = np.append(0, np.cumsum(np.bincount(place, np.append(y, label))))
    count = np.append(0, np.cumsum(np.bincount(place)))
    i = int(np.searchsorted(distinct, score))
    means = (positive[None, i + 1 :] - positive[: i + 1, None]) / (count[None, i + 1 :] - count[: i + 1, None])
    return float(means.min(axis=1).max())


def cross_venn_abers_package(rows: Rows) -> float:
    from venn_abers import VennAbersCV

    model = VennAbersClassifier(logistic(), scores="probability", ensemble=True, cv=FOLDS, random_state=SEED)
    with ignore_warnings():
        peer = VennAbersCV(logistic(), inductive=False, n_splits=N_FOLDS, shuffle=True, random_state=SEED)
        peer.fit(rows.X, rows.y)
        expected = peer.predict_proba(rows.X_test)
    return largest_difference(model.fit(rows.X, rows.y).predict_proba(rows.X_test), expected)


def beta_package(rows: Rows) -> float:
    """The package's regression stops where no gradient is above 1e-4, which leaves it this far from the minimum."""
    from betacal import BetaCalibration

    model = BetaCalibrationClassifier(logistic(), targets="labels", calibration="train", random_state=SEED)
    model.fit(rows.X, rows.y)
    learner = logistic().fit(rows.X, rows.y)
    with ignore_warnings():
        peer = BetaCalibration("abm").fit(learner.predict_proba(rows.X)[:, 1], rows.y)
        expected = peer.predict(learner.predict_proba(rows.X_test)[:, 1])
    return largest_difference(model.predict_proba(rows.X_test)[:, 1], expected)


def temperature_search(rows: Rows) -> float:
    """Against a search for the temperature of least log loss, with probabilities of at least a power of 1 / 2n."""
    model = TemperatureClassifier(logistic(), cv=FOLDS, ensemble=False).fit(rows.X, rows.y)
    p = np.empty(len(rows.y))
    for learn, rest in FOLDS.split(rows.X, rows.y):
        p[rest] = logistic().fit(rows.X[learn], rows.y[learn]).predict_proba(rows.X[rest])[:, 1]
    smallest = 0.5 / len(rows.y)

    def log_odds(p: np.ndarray, bound: float) -> np.ndarray:
        return np.log(np.maximum(p, bound)) - np.log(np.maximum(1 - p, bound))

    def loss(log: float, bound: float) -> float:
        z = np.exp(log) * log_odds(p, bound)
        return float((np.logaddexp(0, z) - rows.y * z).sum())

    powers = [smallest**power for power in range(1, 7)]
    n_powers = sum(power > np.minimum(p, 1 - p).min() for power in powers)  # a lower bound changes no row
    bounds = powers[: n_powers + 1]
    results = [minimize_scalar(loss, bracket=(-3, 3), args=(bound,), tol=1e-12) for bound in bounds]
    best, bound = min(zip(results, bounds, strict=True), key=lambda pair: pair[0].fun)
    learner = logistic().fit(rows.X, rows.y)
    peer = expit(np.exp(best.x) * log_odds(learner.predict_proba(rows.X_test)[:, 1], bound))
    columns = np.maximum(np.column_stack([1 - peer, peer]), smallest)
    return largest_difference(model.predict_proba(rows.X_test), columns / columns.sum(axis=1, keepdims=True))


@contextmanager
def ignore_warnings() -> Iterator[None]:
    """Keep the packages from changing NumPy's error state and the warning filters of this process."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


SCIKIT_LEARN = "scikit-learn CalibratedClassifierCV"
PEERS = [
    Peer(
        "Sigmoid, scores",
        f"{SCIKIT_LEARN}, prefit",
        1e-7,
        fixed_learner_difference(SigmoidClassifier, logistic, "sigmoid", clip=(0, 1)),
    ),
    Peer(
        "Sigmoid, probability",
        f"{SCIKIT_LEARN}, prefit",
        1e-7,
        fixed_learner_difference(SigmoidClassifier, naive_bayes, "sigmoid", scores="probability", clip=(0, 1)),
    ),
    Peer(
        "Sigmoid, cross-validated",
        f"{SCIKIT_LEARN}, same folds",
        1e-7,
        cross_val_difference(SigmoidClassifier, "sigmoid", clip=(0, 1)),
    ),
    Peer("Isotonic", "scikit-learn IsotonicRegression", 1e-15, isotonic_scikit_learn),
    Peer("Isotonic", "SciPy isotonic_regression", 1e-15, isotonic_scipy),
    Peer(
        "Isotonic, cross-validated",
        f"{SCIKIT_LEARN}, same folds",
        1e-15,
        cross_val_difference(IsotonicClassifier, "isotonic", clip=(0, 1)),
    ),
    Peer("VennAbers, inductive", "brute force: both labels tried", 1e-12, venn_abers_brute_force),
    Peer("VennAbers, cross", "venn-abers VennAbersCV", 1e-12, cross_venn_abers_package),
    Peer("BetaCalibration", "betacal BetaCalibration", 1e-3, beta_package),
    Peer("temperature", "a search for the least log loss", 1e-6, temperature_search),
]
