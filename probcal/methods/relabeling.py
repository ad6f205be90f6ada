"""Halck's relabeling, which changes labels at random where Probing changes weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from probcal._validation import CLIP, COUNT, Constraint
from probcal.methods._base import fit_on_sample, fresh_copy
from probcal.methods._multiclass import Multiclass
from probcal.methods._probes import Train
from probcal.methods.probing import random_stream
from probcal.methods.refinement import Loss, ThresholdLoss, ThresholdMethod, even_thresholds


class RelabelingClassifier(ThresholdMethod):
    """Probe with changed labels: the method of Halck (2002), as described by Langford & Zadrozny (2005, section 2).

    For a threshold p < 1/2 each negative row becomes positive with probability (1/2 - p) / (1 - p). For p > 1/2 each
    positive row becomes negative with probability 1 - 1/(2p). A row of probability p is then equally likely to be
    positive or negative. The best classifier for these labels, without weights, predicts 1 where D(1|x) > p.

    Votes and predictions are those of ``ProbingClassifier``, so with ``discretisation="train"`` the two methods differ
    in nothing else. Halck's own choice of thresholds is not known to us.

    Parameters
    ----------
    estimator : classifier
        Has ``fit`` and ``predict``. Only its predicted labels are used, never its scores. It needs no weights.
    n_probes : int, default=100
        Number of classifiers.
    loss : {"log_loss", "squared_error"}, default="log_loss"
        As in ``ProbingClassifier``.
    discretisation : {"train", "uniform"}, default="uniform"
        ``"uniform"`` takes the thresholds t / (n_probes + 1). ``"train"`` is as in ``ProbingClassifier``. It puts most
        thresholds near 0 and 1. There nearly half of a class is relabeled: the labels are mostly noise.
    multiclass : {"normalised", "difference"}, default="normalised"
        As in ``ProbingClassifier``.
    clip : tuple of (float, float), default=(0.001, 0.999)
        As in ``ProbingClassifier``.
    n_jobs : int or None, default=None
        As in ``ProbingClassifier``.
    random_state : int, RandomState, Generator or None, default=None
        Seed. Each threshold has its own random stream.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    threshold_models_ : list of ThresholdClassifiers
        One for two classes. With more classes, one for each probed class against the rest.
    thresholds_ : ndarray of shape (n_fitted,)
        Thresholds p, rising. Only with two classes. There are fewer than ``n_probes`` only if floats can split no
        interval any more.
    estimators_ : list of classifiers
        The fitted classifiers in the order of ``thresholds_``. Only with two classes.
    order_ : ndarray of shape (n_fitted,), dtype int
        Positions in ``estimators_`` in the order of fitting. Only with two classes.
    probabilities_ : ndarray of shape (n_fitted + 1,)
        Predicted probability of the second class for each number of votes, from 0 up. Only with two classes.
    n_features_in_ : int
        Number of columns of X. Only set if X has columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X. Only set if all names are strings.

    See Also
    --------
    ProbingClassifier : Weights rows instead of changing labels, and draws nothing for linear classifiers.
    WeightSweepClassifier : Fits a fixed grid of class weights.
    BaggedVoteClassifier : Counts the votes of classifiers of bootstrap samples.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.svm import LinearSVC
    >>> from probcal import RelabelingClassifier
    >>> X, y = make_classification(600, random_state=0)
    >>> relabeling = RelabelingClassifier(LinearSVC(), n_probes=9, random_state=0).fit(X[:400], y[:400])
    >>> relabeling.thresholds_.round(2)
    array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    >>> relabeling.predict_proba(X[400:403])[:, 1].round(2)
    array([0.55, 0.85, 0.96])
    """

    constraints: ClassVar[dict[str, Constraint]] = {
        "loss": ("log_loss", "squared_error"),
        "discretisation": ("train", "uniform"),
        "multiclass": ("difference", "normalised"),
        "n_probes": COUNT,
        "clip": CLIP,
    }

    def __init__(
        self,
        estimator: Any,
        n_probes: int = 100,
        *,
        loss: Loss = "log_loss",
        discretisation: Literal["train", "uniform"] = "uniform",
        multiclass: Multiclass = "normalised",
        clip: tuple[float, float] = (0.001, 0.999),
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_probes = n_probes
        self.loss = loss
        self.discretisation = discretisation
        self.multiclass = multiclass
        self.clip = clip
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _threshold_loss(self) -> ThresholdLoss:
        return ThresholdLoss(self.loss)

    def _grid(self) -> np.ndarray | None:
        return even_thresholds(self.n_probes) if self.discretisation == "uniform" else None

    def _training(
        self, X: Any, labels: np.ndarray, classes: np.ndarray, weights: np.ndarray | None, stream: tuple[int, ...]
    ) -> Train:
        return _RelabeledTraining(self.estimator, X, labels, classes, self._weights_for_learner(weights), stream)


@dataclass(frozen=True, eq=False)
class _RelabeledTraining:
    estimator: Any
    X: Any
    labels: np.ndarray
    classes: np.ndarray
    row_weights: np.ndarray | None
    stream: tuple[int, ...]

    def __call__(self, p: float) -> Any:
        random = random_stream(self.stream, p)
        classifier = fresh_copy(self.estimator, random)
        return fit_on_sample(classifier, self.X, relabeled(self.labels, self.classes, p, random), self.row_weights)


def relabeled(labels: np.ndarray, classes: np.ndarray, p: float, random: np.random.Generator) -> np.ndarray:
    """Return ``labels`` of two ``classes`` with random changes, after which 1/2 replaces the threshold ``p``."""
    # changes in one class are enough to move the threshold from p to 1/2
    changed, chance = (classes[0], (0.5 - p) / (1 - p)) if p < 0.5 else (classes[1], 1 - 0.5 / p)
    other = classes[1] if p < 0.5 else classes[0]
    return np.where((labels == changed) & (random.random(len(labels)) < chance), other, labels)
