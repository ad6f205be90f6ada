"""Probing: class probabilities from binary classifiers (Langford & Zadrozny 2005).

Read it in three files. Here is how the classifier of a threshold is trained under importance weights: steps 2(d) and
2(e) of Algorithm 1. ``refinement`` is Algorithm 1 itself, from the thresholds to the classifiers, and the votes
(Algorithm 2). ``_probes`` fits many weighted classifiers and predicts with them, in batches or early where that is
exact. ``_multiclass`` only clips the probabilities and joins those of several classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone
from sklearn.linear_model._base import LinearClassifierMixin

from probcal._learner_output import last_step, predicted_classes
from probcal._validation import CLIP, COUNT, FLAG, Constraint
from probcal.fast_paths.fast_path import FastPath
from probcal.methods._base import fit_on_sample, fit_weighted, fresh_copy, sampler, takes_weights
from probcal.methods._multiclass import Multiclass
from probcal.methods._probes import Train
from probcal.methods.refinement import Loss, Refinement, ThresholdLoss, ThresholdMethod, even_thresholds

Weighting = Literal["auto", "weight", "rejection", "costing"]
TotalWeight = Literal["n"] | None


def importance_weights(
    positive: np.ndarray, p: float, total_weight: TotalWeight = None, row_weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the importance weights i_p(y), (n_rows,): (1-p)/p for ``positive`` rows and 1 for the others.

    The best classifier under these weights predicts 1 exactly where D(1|x) > p (Langford & Zadrozny 2005, Corollary 1).
    ``row_weights``, (n_rows,), multiply them. With ``total_weight="n"`` they sum to the number of rows or to the sum of
    ``row_weights``, so that a regularised learner sees the same amount of data for every p.
    """
    weights = np.where(positive, (1 - p) / p, 1.0)
    total: float = len(weights)
    if row_weights is not None:
        weights, total = weights * row_weights, row_weights.sum()
    return weights if total_weight is None else weights * (total / weights.sum())


def class_weights(positive: np.ndarray, p: float, total_weight: TotalWeight = None) -> tuple[float, float]:
    """Return the ``importance_weights`` of a negative and of a positive row, exact to the last bit.

    Row weights multiply these values. With ``total_weight="n"`` the order of the factors would then change the last
    bit.
    """
    ratio = (1 - p) / p
    if total_weight is None:
        return 1.0, ratio
    scale = len(positive) / float(np.where(positive, ratio, 1.0).sum())
    return scale, ratio * scale


def rejection_sample(weights: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return the rising numbers of the rows of one rejection sample, which keeps row i with probability w_i / Z."""
    # Z is the largest weight, the smallest valid value, so that no row is dropped without need (Zadrozny, Langford &
    # Abe 2003, section 2.3)
    return np.flatnonzero(random.random(len(weights)) * weights.max() < weights)


def random_stream(stream: tuple[int, ...], p: float) -> np.random.Generator:
    """Return the random generator of threshold ``p``, which does not depend on the order or place of fitting."""
    # only leading digits of p: the last may differ between machines, and the stream must not
    return np.random.default_rng([*stream, *f"{p:.12g}".encode()])


class MajorityVote:
    """Predict the majority label of fitted classifiers (Zadrozny, Langford & Abe 2003, section 2.3.2).

    The second of the two ``classes`` is predicted if more than half of the classifiers predict it.
    """

    def __init__(self, classifiers: list[Any], classes: np.ndarray) -> None:
        self.classifiers, self.classes_ = classifiers, classes

    def predict(self, X: Any) -> np.ndarray:
        """Return the majority label of each row, (n_rows,)."""
        votes = np.sum([predicted_classes(one, X, self.classes_) for one in self.classifiers], axis=0)
        labels: np.ndarray = self.classes_[(2 * votes > len(self.classifiers)).astype(np.int64)]
        return labels


@dataclass(frozen=True, eq=False)
class WeightedTraining:
    """Train on rows of two ``classes`` weighted by i_p: steps 2(d) and 2(e) of Algorithm 1.

    A copy of ``estimator`` is fitted for each threshold. ``row_weights``, (n_rows,) or None, multiply i_p. ``stream``
    seeds the random streams. ``weighting``, ``total_weight`` and ``n_samples`` are as in ``ProbingClassifier``.
    """

    estimator: Any
    X: Any
    labels: np.ndarray
    classes: np.ndarray
    row_weights: np.ndarray | None
    weighting: Weighting
    total_weight: TotalWeight
    n_samples: int
    stream: tuple[int, ...]

    def __call__(self, p: float) -> Any:
        """Return the classifier of threshold ``p``."""
        random = random_stream(self.stream, p)
        weights = importance_weights(self.labels == self.classes[1], p, self.total_weight, self.row_weights)
        if self.weighting == "weight":
            return fit_weighted(fresh_copy(self.estimator, random), self.X, self.labels, weights)
        if self.weighting == "costing":
            return MajorityVote([self._on_sample(weights, random) for _ in range(self.n_samples)], self.classes)
        return self._on_sample(weights, random)

    @property
    def weighs_classes(self) -> bool:
        """Return whether the learner's weights are exactly those of ``class_weights`` times ``row_weights``."""
        # with both, the weights are rescaled after the product, and a fast path would round in another order
        return self.weighting == "weight" and (self.row_weights is None or self.total_weight is None)

    def fit_batch(self, fast_path: FastPath, thresholds: list[float]) -> Any:
        """Return what ``fast_path`` makes for ``thresholds``: a list of classifiers, with None where it makes none."""
        positive = self.labels == self.classes[1]
        weights = np.array([class_weights(positive, p, self.total_weight) for p in thresholds])
        return fast_path.fit(clone(self.estimator), self.X, self.labels, weights, self.row_weights)

    @cached_property
    def _sample(self) -> Callable[[np.ndarray], Any]:
        return sampler(self.estimator, self.X)

    def _on_sample(self, weights: np.ndarray, random: np.random.Generator) -> Any:
        classifier = fresh_copy(self.estimator, random)
        rows = rejection_sample(weights, random)
        return fit_on_sample(classifier, self._sample(rows), self.labels[rows])


def is_linear(estimator: Any) -> bool:
    """Return whether the boundary of a classifier is known to be a plane. The last step of a Pipeline decides.

    It is for scikit-learn's linear classifiers, and for a learner with ``kernel="linear"``.
    """
    learner = last_step(estimator)
    return isinstance(learner, LinearClassifierMixin) or getattr(learner, "kernel", None) == "linear"


def chosen_weighting(method: Any) -> Weighting:
    """Return the ``weighting`` of a method, where ``"auto"`` is decided by its ``estimator``."""
    if method.weighting != "auto":
        weighting: Weighting = method.weighting
        return weighting
    # a learner that fits its rows without error, such as a tree, hardly reacts to weights; a plane cannot
    return "weight" if is_linear(method.estimator) and takes_weights(method.estimator) else "rejection"


def check_weights_accepted(method: Any) -> None:
    """Raise ValueError if ``weighting`` of a method is ``"weight"`` and its ``estimator`` takes no weights."""
    if method.weighting == "weight" and not takes_weights(method.estimator):
        raise ValueError(
            f"{type(method.estimator).__name__}.fit takes no sample_weight; use weighting='rejection' or 'auto'"
        )


class ProbingClassifier(ThresholdMethod):
    """Predict class probabilities with any classifier, by Probing (Langford & Zadrozny 2005, Algorithms 1 and 2).

    Each probe is a classifier trained with the positive class weighted (1-p)/p, so that it predicts 1 where D(1|x) > p.
    The number of probes that predict 1 tells between which thresholds the probability lies.

    Parameters
    ----------
    estimator : classifier
        Has ``fit`` and ``predict``. Only its predicted labels are used, never its scores.
    n_probes : int, default=100
        Number of classifiers. The paper uses 100.
    loss : {"log_loss", "squared_error"}, default="log_loss"
        Loss that the thresholds are chosen for. It decides which interval is split next and where (section 3, "Loss
        Details"). ``"log_loss"`` is the cross entropy, as in the paper's experiments.
    refinement : {"printed", "true_drop"}, default="printed"
        Rule for squared error. ``"printed"`` splits the interval with the largest ``|S_a| (b-a)``, as in the paper.
        ``"true_drop"`` takes the largest ``|S_a| (b-a)^2``, which is proportional to the largest possible drop of the
        squared error. Log loss has only the paper's rule, which is its true drop.
    weighting : {"auto", "weight", "rejection", "costing"}, default="auto"
        How a classifier gets its importance weights i_p.

        - ``"weight"`` passes them as ``sample_weight``. A Pipeline passes them to its last step.
        - ``"rejection"`` samples rows.
        - ``"costing"`` takes ``n_samples`` rejection samples per probe. Their classifiers vote by majority (Zadrozny,
          Langford & Abe 2003).
        - ``"auto"`` is ``"weight"`` for linear classifiers that accept weights, and ``"rejection"`` for all others.

        A classifier that fits its training rows without error, such as a fully grown tree, hardly reacts to their
        weights.
    n_samples : int, default=10
        Number of rejection samples per probe. Only used with ``weighting="costing"``.
    discretisation : {"train", "transductive", "uniform"}, default="train"
        How the thresholds are chosen.

        - ``"train"`` weighs each interval by its training rows, as printed.
        - ``"transductive"`` weighs it by the rows of ``X_test``, an argument of ``fit``. The paper prefers this if
          these rows are known.
        - ``"uniform"`` takes the thresholds t / (n_probes + 1), as in Theorem 2.
    total_weight : {None, "n"}, default=None
        None leaves i_p as printed. ``"n"`` rescales the weights to sum to the number of rows, or to the sum of
        ``sample_weight``.
    multiclass : {"normalised", "difference"}, default="normalised"
        Rule for k > 2 classes.

        - ``"normalised"`` probes each class against the rest and divides each row by its sum.
        - ``"difference"`` probes k - 1 classes and gives the last one 1 - sum, as printed. If that is below the lower
          end of ``clip``, it is set to this end and the row is divided by its sum. The paper's form adds up the errors
          of k - 1 probings in the last class.
    clip : tuple of (float, float), default=(0.001, 0.999)
        The predicted probability of each probed class is clipped to this range, so that no loss is infinite. With more
        than two classes the clipped rows are then divided by their sum.
    n_jobs : int or None, default=None
        Number of processes that fit probes early. None means 1, and -1 means all processors, as in joblib.
        Scikit-learn's trees and J48 use threads, and then also predict in parallel. The result does not depend on it.
    shortcuts : bool, default=True
        Whether probes are fitted in batches if the learner has a fast path (see ``probcal.fast_paths``), and predict
        equal rows only once. No vote of a training row changes. Another row's vote can change only if it lies within
        rounding of a boundary. False fits each probe separately and predicts every row.
    random_state : int, RandomState, Generator or None, default=None
        Seed. Each threshold has its own random stream. So the order of fitting and ``n_probes`` never change the
        classifier of a threshold.

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
    RelabelingClassifier : Changes labels at random instead of weighting rows.
    WeightSweepClassifier : Fits a fixed grid of class weights.
    BaggedVoteClassifier : Counts the votes of classifiers of bootstrap samples.
    SigmoidClassifier : Calibrates scores, if the learner has any.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import log_loss
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from probcal import ProbingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    >>> probing = ProbingClassifier(tree, n_probes=20, random_state=0).fit(X[:300], y[:300])
    >>> round(log_loss(y[300:], probing.predict_proba(X[300:])), 2)
    0.14
    >>> round(log_loss(y[300:], tree.fit(X[:300], y[:300]).predict_proba(X[300:])), 2)
    1.05
    """

    forwards_sample_weight = False
    constraints: ClassVar[dict[str, Constraint]] = {
        "loss": ("log_loss", "squared_error"),
        "refinement": ("printed", "true_drop"),
        "weighting": ("auto", "weight", "rejection", "costing"),
        "discretisation": ("train", "transductive", "uniform"),
        "total_weight": (None, "n"),
        "multiclass": ("difference", "normalised"),
        "shortcuts": FLAG,
        "n_probes": COUNT,
        "n_samples": COUNT,
        "clip": CLIP,
    }

    def __init__(
        self,
        estimator: Any,
        n_probes: int = 100,
        *,
        loss: Loss = "log_loss",
        refinement: Refinement = "printed",
        weighting: Weighting = "auto",
        n_samples: int = 10,
        discretisation: Literal["train", "transductive", "uniform"] = "train",
        total_weight: TotalWeight = None,
        multiclass: Multiclass = "normalised",
        clip: tuple[float, float] = (0.001, 0.999),
        n_jobs: int | None = None,
        shortcuts: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_probes = n_probes
        self.loss = loss
        self.refinement = refinement
        self.weighting = weighting
        self.n_samples = n_samples
        self.discretisation = discretisation
        self.total_weight = total_weight
        self.multiclass = multiclass
        self.clip = clip
        self.n_jobs = n_jobs
        self.shortcuts = shortcuts
        self.random_state = random_state

    @property
    def needs_test_rows(self) -> bool:
        """Return whether ``fit`` needs ``X_test``.

        Returns
        -------
        bool
            True with ``discretisation="transductive"``.
        """
        return self.discretisation == "transductive"

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, X_test: Any = None, *, frequency_weights: bool = False
    ) -> Self:
        """Fit the probes by Algorithm 1.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows, passed to the learner unchanged.
        y : array-like of shape (n_rows,)
            Labels of two or more classes.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, not negative. They are multiplied with the importance weights. Only their ratios count:
            their mean is first made 1. A row of weight 0 is left out. None means equal weights.
        X_test : array-like or DataFrame of shape (n_test_rows, n_columns), default=None
            Rows to be predicted later. Only for ``discretisation="transductive"``, which needs them.
        frequency_weights : bool, default=False
            Whether the weights are whole numbers that say how often each row occurs. A row of weight 2 then counts as
            two rows.

        Returns
        -------
        self
            The fitted method.

        Raises
        ------
        ValueError
            If a parameter, a label or a weight is invalid, if all labels are equal, or if the lengths of ``X`` and
            ``y`` differ. If ``weighting="weight"`` is set for a learner that takes no weights. If ``X_test`` is given
            without ``discretisation="transductive"``, or missing with it. If the learner is a FrozenEstimator.

        Warns
        -----
        UserWarning
            If the learner has its own ``class_weight``.
        """
        if self.needs_test_rows != (X_test is not None):
            raise ValueError('fit takes X_test with discretisation="transductive", and only then')
        self._fit_thresholds(X, y, sample_weight, frequency_weights, X_test)
        return self

    def check_parameters(self) -> None:
        super().check_parameters()
        check_weights_accepted(self)

    def _threshold_loss(self) -> ThresholdLoss:
        return ThresholdLoss(self.loss, self.refinement)

    def _grid(self) -> np.ndarray | None:
        return even_thresholds(self.n_probes) if self.discretisation == "uniform" else None

    def _training(
        self, X: Any, labels: np.ndarray, classes: np.ndarray, weights: np.ndarray | None, stream: tuple[int, ...]
    ) -> Train:
        return WeightedTraining(
            self.estimator, X, labels, classes, weights, chosen_weighting(self), self.total_weight, self.n_samples,
            stream,
        )  # fmt: skip
