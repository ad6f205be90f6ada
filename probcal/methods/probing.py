"""Probing: class probabilities from binary classifiers (Langford & Zadrozny 2005).

Each probe is a classifier trained with the positive class weighted (1-p)/p, so that it says 1 where it
holds D(1|x) > p. The number of probes that say 1 tells in which interval between thresholds the
probability lies.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from probcal.methods.binary import (
    drawn_seed,
    fit_on_sample,
    fresh_copy,
    is_count,
    is_range,
    likelier_class,
    two_classes,
    two_columns,
)
from probcal.methods.importance import TotalWeight, importance_weights, rejection_sample
from probcal.methods.minimax import Interval, Loss, interval

_CHOICES = {
    "loss": ("log_loss", "squared_error"),
    "weighting": ("auto", "weight", "rejection"),
    "discretisation": ("train", "uniform"),
    "total_weight": (None, "n"),
}
_EQUAL = 1e-9
"""Gains this close are a tie: [0, .5] and [.5, 1] gain the same, but rounding would prefer one."""


def _splits_as_it_goes(method: ProbingClassifier) -> bool:
    if method.discretisation == "uniform":
        raise AttributeError('discretisation="uniform" has other thresholds for every n_probes, so it has no stages')
    return True


class ProbingClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Probability estimates for two classes from any classifier, by Algorithms 1 and 2 of the paper.

    Parameters
    ----------
    estimator : classifier with ``fit`` and ``predict``; only its labels are used, never its scores.
    n_probes : number of classifiers; the paper uses 100.
    loss : ``"log_loss"`` (cross entropy, as in the paper's experiments) or ``"squared_error"``; decides
        which interval is split next and where (section 3, "Loss Details").
    weighting : how a classifier gets its importance weights i_p: ``"weight"`` as ``sample_weight``,
        ``"rejection"`` by rejection sampling, ``"auto"`` as ``sample_weight`` where ``fit`` takes it.
    discretisation : ``"train"`` weighs each interval by the training rows that lie in it, as printed;
        ``"uniform"`` takes the thresholds t / (n_probes + 1), as Theorem 2 assumes.
    total_weight : None leaves i_p as printed; ``"n"`` rescales the weights to sum to the number of rows.
    clip : estimates are projected to this range, so that no loss is infinite.
    n_jobs : processes that fit probes ahead of need; the result does not depend on it.
    random_state : seed. Each threshold has a random stream of its own, so the order of fitting, and
        ``n_probes``, never change the classifier of a threshold.

    Attributes
    ----------
    classes_ : (2,) labels in sorted order; probabilities are of the second.
    thresholds_ : (n_fitted,) thresholds p, rising. Fewer than ``n_probes`` only if no interval that
        floating point can still split is left.
    estimators_ : the fitted classifiers in the order of ``thresholds_``.
    order_ : (n_fitted,) int, the places in ``estimators_`` of the classifiers in the order of fitting.
    estimates_ : (n_fitted + 1,) the probability reported for each number of votes, from 0 up.
    """

    def __init__(
        self,
        estimator: Any,
        n_probes: int = 100,
        *,
        loss: Loss = "log_loss",
        weighting: Literal["auto", "weight", "rejection"] = "auto",
        discretisation: Literal["train", "uniform"] = "train",
        total_weight: TotalWeight = None,
        clip: tuple[float, float] = (0.001, 0.999),
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_probes = n_probes
        self.loss = loss
        self.weighting = weighting
        self.discretisation = discretisation
        self.total_weight = total_weight
        self.clip = clip
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> ProbingClassifier:
        """Algorithm 1. X: (n_rows, n_columns), passed on untouched; y: (n_rows,) labels of two kinds.

        Raises ValueError for a parameter that is not as documented, for labels that are missing or of
        other than two kinds, and for ``weighting="weight"`` with a learner that takes no weights.
        """
        self.check_parameters()
        labels, self.classes_ = two_classes(X, y)
        probes = _Probes(self, X, labels)
        if self.discretisation == "uniform":
            intervals = self._uniform_intervals()
            probes.fit_ahead([one.b for one in intervals[:-1]])
            fitted = [probes.take(one.b)[0] for one in intervals[:-1]]
            chosen = [one.b for one in intervals[:-1]]
        else:
            intervals, fitted, chosen = self._refine(probes, n_rows=len(labels))
        self.thresholds_ = np.array([one.b for one in intervals[:-1]])
        self.order_ = np.searchsorted(self.thresholds_, chosen)
        self.estimators_ = fitted
        self.estimates_ = np.clip([one.p for one in intervals], *self.clip)
        return self

    def votes(self, X: Any) -> np.ndarray:
        """How many probes say the second class: (n_rows,) int, from 0 to the number of probes."""
        check_is_fitted(self)
        return sum(self._says_one(place, X) for place in range(len(self.estimators_)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Algorithm 2: (n_rows, 2) probabilities of ``classes_``.

        Counting votes is the same as sorting them, which makes them monotone (section 3).
        """
        votes = self.votes(X)
        return two_columns(self.estimates_[votes])

    @available_if(_splits_as_it_goes)
    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """(n_rows, 2) probabilities after 1, 2, ... probes, each array a new one.

        Those after t are the ones of ``n_probes=t`` with the same seed, to the last bit. Every probe predicts
        once. AttributeError with ``discretisation="uniform"``.
        """
        check_is_fitted(self)
        intervals, before = [interval(0.0, 1.0, self.loss)], []
        votes: Any = 0
        for place in self.order_.tolist():
            split = bisect(before, place)
            insort(before, place)
            intervals[split : split + 1] = intervals[split].split(self.loss)
            votes = votes + self._says_one(place, X)
            yield two_columns(np.clip([one.p for one in intervals], *self.clip)[votes])

    def predict(self, X: Any) -> np.ndarray:
        """The likelier class of each row: (n_rows,) labels."""
        return likelier_class(self, X)

    def _says_one(self, place: int, X: Any) -> np.ndarray:
        return (self.estimators_[place].predict(X) == self.classes_[1]).astype(np.int64)

    def _refine(self, probes: _Probes, n_rows: int) -> tuple[list[Interval], list[Any], list[float]]:
        """Steps 1 and 2: intervals in rising order, the classifiers at their borders, thresholds as chosen."""
        intervals, fitted, order = [interval(0.0, 1.0, self.loss)], [], []
        votes = np.zeros(n_rows, dtype=np.int64)
        for step in range(self.n_probes):
            rows_in = np.bincount(votes, minlength=len(intervals))
            gains = np.array(
                [n * one.gain if one.can_be_split else -1.0 for n, one in zip(rows_in, intervals, strict=True)]
            )
            if gains.max() < 0:
                break
            equal = gains >= gains.max() * (1 - _EQUAL)
            chosen = int(np.argmax(equal))  # the first, so ties go to the lowest interval
            threshold = intervals[chosen].p
            next_best = np.argsort(-gains, kind="stable")[: self.n_probes - step]
            probes.fit_ahead([threshold, *(intervals[i].p for i in next_best if gains[i] > 0)])
            classifier, says_one = probes.take(threshold)
            intervals[chosen : chosen + 1] = intervals[chosen].split(self.loss)
            fitted.insert(chosen, classifier)
            order.append(threshold)
            votes += says_one
        return intervals, fitted, order

    def _uniform_intervals(self) -> list[Interval]:
        edges = np.arange(self.n_probes + 2) / (self.n_probes + 1)
        return [interval(float(a), float(b), self.loss) for a, b in pairwise(edges)]

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {choices}, not {getattr(self, name)!r}")
        if not is_count(self.n_probes):
            raise ValueError(f"n_probes must be a whole number from 1, not {self.n_probes!r}")
        if not is_range(self.clip):
            raise ValueError(f"clip must be two rising numbers within [0, 1], not {self.clip!r}")
        if self.weighting == "weight" and not has_fit_parameter(self.estimator, "sample_weight"):
            raise ValueError(
                f"{type(self.estimator).__name__}.fit takes no sample_weight; use weighting='rejection' or 'auto'"
            )


class _Probes:
    """Fits the classifier of a threshold, several ahead of need where there are processes for it.

    Fitting ahead is safe because a probe depends on its threshold and on nothing that was fitted
    before it; one that is never taken is dropped.
    """

    def __init__(self, settings: ProbingClassifier, X: Any, labels: np.ndarray) -> None:
        self._settings, self._X, self._labels = settings, X, labels
        self._seed = drawn_seed(settings.random_state)
        self._workers = effective_n_jobs(settings.n_jobs)
        self._ready: dict[float, tuple[Any, np.ndarray]] = {}

    def fit_ahead(self, wanted: list[float]) -> None:
        """Fit as many of the ``wanted`` thresholds as there are workers, if the first is not ready."""
        if self._workers == 1 or wanted[0] in self._ready:
            return
        batch = [p for p in dict.fromkeys(wanted) if p not in self._ready]
        if self._settings.discretisation == "train":
            batch = batch[: self._workers]
        done = Parallel(n_jobs=self._workers)(delayed(self._fit)(p) for p in batch)
        self._ready.update(zip(batch, done, strict=True))

    def take(self, p: float) -> tuple[Any, np.ndarray]:
        """The classifier of threshold ``p`` and, per training row, whether it says the second class."""
        return self._ready.pop(p) if p in self._ready else self._fit(p)

    def _fit(self, p: float) -> tuple[Any, np.ndarray]:
        settings, positive = self._settings, self._labels == self._settings.classes_[1]
        # of p's leading digits: the last may differ between machines, and the stream must not
        random = np.random.default_rng([self._seed, *f"{p:.12g}".encode()])
        classifier = fresh_copy(settings.estimator, random)
        weights = importance_weights(positive, p, settings.total_weight)
        by_weight = settings.weighting == "weight" or (
            settings.weighting == "auto" and has_fit_parameter(settings.estimator, "sample_weight")
        )
        if by_weight:
            classifier.fit(self._X, self._labels, sample_weight=weights)
        else:
            rows = rejection_sample(weights, random)
            classifier = fit_on_sample(classifier, _safe_indexing(self._X, rows), self._labels[rows])
        return classifier, np.asarray(classifier.predict(self._X) == settings.classes_[1])
