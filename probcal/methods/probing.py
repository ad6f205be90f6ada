"""Probing: class probabilities from binary classifiers (Langford & Zadrozny 2005)."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from probcal._validation import check_choices, check_clip, check_counts, check_flag
from probcal.methods._fitting import takes_weights
from probcal.methods._multiclass import Multiclass
from probcal.methods._probes import Train
from probcal.methods._threshold_method import ThresholdMethod
from probcal.methods.importance import TotalWeight, WeightedTraining, Weighting, check_weights_accepted, is_linear
from probcal.methods.refinement import Goal, Loss, Refinement, even_thresholds

_CHOICES = {
    "loss": ("log_loss", "squared_error"),
    "refinement": ("printed", "true_drop"),
    "weighting": ("auto", "weight", "rejection", "costing"),
    "discretisation": ("train", "transductive", "uniform"),
    "total_weight": (None, "n"),
    "multiclass": ("difference", "normalised"),
}


class ProbingClassifier(ThresholdMethod):
    """Predict class probabilities with any classifier, by Probing (Langford & Zadrozny 2005, Algorithms 1 and 2).

    Each probe is a classifier trained with the positive class weighted (1-p)/p, so that it predicts 1 where D(1|x) > p.
    The number of probes that predict 1 tells between which thresholds the probability lies.

    Parameters
    ----------
    estimator : classifier with ``fit`` and ``predict``. Only its predicted labels are used, never its scores.
    n_probes : number of classifiers. The paper uses 100.
    loss : ``"log_loss"`` (cross entropy, as in the paper's experiments) or ``"squared_error"``. It decides which
        interval is split next and where (section 3, "Loss Details").
    refinement : rule for squared error. ``"printed"`` splits the interval with the largest ``|S_a| (b-a)``, as in the
        paper. ``"true_drop"`` takes the largest ``|S_a| (b-a)^2``, which is what the squared error can drop by. Log
        loss has only the paper's rule, which is its true drop.
    weighting : how a classifier gets its importance weights i_p. ``"weight"`` passes them as ``sample_weight`` (a
        Pipeline passes them to its last step). ``"rejection"`` samples rows. ``"costing"`` takes ``n_samples``
        rejection samples per probe, whose classifiers vote by majority (Zadrozny, Langford & Abe 2003). ``"auto"`` is
        ``"weight"`` for linear classifiers that accept weights, and ``"rejection"`` for all others. A classifier that
        fits its training rows without error, such as a fully grown tree, hardly reacts to their weights.
    n_samples : rejection samples per probe with ``weighting="costing"``.
    discretisation : ``"train"`` weighs each interval by its training rows, as printed. ``"transductive"`` weighs it by
        the rows of ``X_test``, an argument of ``fit``. The paper prefers this if they are known. ``"uniform"`` takes
        the thresholds t / (n_probes + 1), as in Theorem 2.
    total_weight : None leaves i_p as printed. ``"n"`` rescales the weights to sum to the number of rows, or to the sum
        of ``sample_weight``.
    multiclass : with k > 2 classes, ``"normalised"`` probes each class against the rest and divides each row by its
        sum. ``"difference"`` probes k - 1 classes and gives the last one 1 - sum, as printed. If that is below the
        lower end of ``clip``, it is set to this end and the row is divided by its sum. The paper's form adds up the
        errors of k - 1 probings in the last class.
    clip : predicted probabilities are clipped to this range, so that no loss is infinite.
    n_jobs : number of processes that fit probes early. Scikit-learn's trees and J48 use threads, and then also predict
        in parallel. The result does not depend on it.
    shortcuts : whether probes are fitted in batches if the learner has a shortcut (see ``probcal.fast_paths``), and
        predict equal rows only once. No vote of a training row changes. Another row's vote can change only if it lies
        within rounding of a boundary. False fits each probe separately and predicts every row.
    random_state : seed. Each threshold has its own random stream, so the order of fitting and ``n_probes`` never change
        the classifier of a threshold.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    probings_ : one ``ThresholdClassifiers`` for two classes. With more, one for each class against the rest.
    thresholds_ : with two classes, (n_fitted,) thresholds p, rising. There are fewer than ``n_probes`` only if floats
        can split no interval any more.
    estimators_ : with two classes, the fitted classifiers in the order of ``thresholds_``.
    order_ : with two classes, (n_fitted,) int, the positions in ``estimators_`` in the order of fitting.
    estimates_ : with two classes, (n_fitted + 1,) the predicted probability of the second class for each number of
        votes, from 0 up.
    n_features_in_, feature_names_in_ : number and names of the columns of X, if it has them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> probing = ProbingClassifier(DecisionTreeClassifier(max_depth=3), n_probes=20, random_state=0)
    >>> probing.fit(X, y).predict_proba(X).shape
    (569, 2)
    """

    hands_weights_on = False

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
        """Return whether ``fit`` needs ``X_test``."""
        return self.discretisation == "transductive"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_test: Any = None) -> Self:
        """Fit the probes by Algorithm 1.

        Parameters
        ----------
        X : rows, (n_rows, n_columns), passed to the learner unchanged.
        y : labels of two or more classes, (n_rows,).
        sample_weight : weights, (n_rows,), not negative, or None. They are multiplied with the importance weights.
        X_test : rows to be predicted later, (n_test_rows, n_columns), only for ``discretisation="transductive"``.

        Raises
        ------
        ValueError
            For an invalid parameter, labels that are missing or all equal, invalid weights, ``weighting="weight"`` with
            a learner that takes none, and ``X_test`` without ``discretisation="transductive"`` or the other way round.
        """
        if self.needs_test_rows != (X_test is not None):
            raise ValueError('fit takes X_test with discretisation="transductive", and only then')
        self._fit_thresholds(X, y, sample_weight, X_test)
        return self

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        check_choices(self, _CHOICES)
        check_flag(self, "shortcuts")
        check_counts(self, "n_probes", "n_samples")
        check_clip(self.clip)
        check_weights_accepted(self)

    def _goal(self) -> Goal:
        return Goal(self.loss, self.refinement)

    def _grid(self) -> np.ndarray | None:
        return even_thresholds(self.n_probes) if self.discretisation == "uniform" else None

    def _training(
        self, X: Any, labels: np.ndarray, classes: np.ndarray, weights: np.ndarray | None, stream: tuple[int, ...]
    ) -> Train:
        weighting = self.weighting
        if weighting == "auto":
            weighting = "weight" if is_linear(self.estimator) and takes_weights(self.estimator) else "rejection"
        return WeightedTraining(
            self.estimator, X, labels, classes, weights, weighting, self.total_weight, self.n_samples, stream
        )
