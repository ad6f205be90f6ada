"""Probing: class probabilities from binary classifiers (Langford & Zadrozny 2005).

Each probe is a classifier trained with the positive class weighted (1-p)/p, so that it says 1 where it
holds D(1|x) > p. The number of probes that say 1 tells in which interval between thresholds the
probability lies.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from probcal._validation import refuse_no_count, refuse_no_flag, refuse_no_range, refuse_other_choices
from probcal.methods._multiclass import Multiclass
from probcal.methods._probes import Train
from probcal.methods._threshold_method import ThresholdMethod
from probcal.methods.importance import TotalWeight, WeightedTraining, Weighting, refuse_weights_for_none
from probcal.methods.refinement import Goal, Loss, Refinement, evenly

_CHOICES = {
    "loss": ("log_loss", "squared_error"),
    "refinement": ("printed", "true_drop"),
    "weighting": ("auto", "weight", "rejection", "costing"),
    "discretisation": ("train", "transductive", "uniform"),
    "total_weight": (None, "n"),
    "multiclass": ("difference", "normalised"),
}


class ProbingClassifier(ThresholdMethod):
    """Probability estimates from any classifier, by Algorithms 1 and 2 of Langford & Zadrozny (2005), the paper below.

    Parameters
    ----------
    estimator : classifier with ``fit`` and ``predict``; only its labels are used, never its scores.
    n_probes : number of classifiers; the paper uses 100.
    loss : ``"log_loss"`` (cross entropy, as in the paper's experiments) or ``"squared_error"``; decides
        which interval is split next and where (section 3, "Loss Details").
    refinement : for squared error, ``"printed"`` splits the interval of largest \\|S_a\\|(b-a), the rule of
        the paper; ``"true_drop"`` of largest \\|S_a\\|(b-a)^2, for that is what the squared error can drop by.
        Log loss has one rule, the paper's, which is its true drop.
    weighting : how a classifier gets its importance weights i_p: ``"weight"`` as ``sample_weight`` (a
        Pipeline hands it to its last step), ``"rejection"`` by rejection sampling, ``"costing"`` by
        ``n_samples`` rejection samples a probe whose classifiers vote by majority (Zadrozny, Langford &
        Abe 2003), ``"auto"`` as ``sample_weight`` where ``fit`` takes it and by rejection sampling elsewhere.
    n_samples : rejection samples a probe under ``weighting="costing"``.
    discretisation : ``"train"`` weighs each interval by the training rows that lie in it, as printed;
        ``"transductive"`` by the rows of ``X_test`` that ``fit`` is then given, which the paper calls better
        where they are known; ``"uniform"`` takes the thresholds t / (n_probes + 1), as Theorem 2 assumes.
    total_weight : None leaves i_p as printed; ``"n"`` rescales the weights to sum to the number of rows (to
        the sum of ``sample_weight`` where there is one).
    multiclass : with k > 2 classes, ``"difference"`` probes k - 1 of them against the rest and gives the last
        one 1 - sum, as printed; where that is below the lower end of ``clip`` it is set there and the row
        divided by its sum. ``"normalised"`` probes all k and divides each row by its sum.
    clip : estimates are projected to this range, so that no loss is infinite.
    n_jobs : processes that fit probes ahead of need, or threads where the learner gains by them (scikit-learn's trees,
        J48), which then answer side by side, too; the result does not depend on it.
    shortcuts : whether probes are fitted together where the learner has a shortcut (see ``probcal.fast_paths``), and
        asked about equal rows once. No vote of a training row changes, nor of any other but one that lies within
        rounding of where a label does. False fits and asks each by itself.
    random_state : seed. Each threshold has a random stream of its own, so the order of fitting, and
        ``n_probes``, never change the classifier of a threshold.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    probings_ : a ``ThresholdClassifiers`` for two classes; with more, one for each class put against the rest.
    thresholds_ : with two classes, (n_fitted,) thresholds p, rising. Fewer than ``n_probes`` only if no
        interval that floating point can still split is left.
    estimators_ : with two classes, the fitted classifiers in the order of ``thresholds_``.
    order_ : with two classes, (n_fitted,) int, the places in ``estimators_`` in the order of fitting.
    estimates_ : with two classes, (n_fitted + 1,) the probability of the second one for each number of
        votes, from 0 up.
    n_features_in_, feature_names_in_ : number and names of the columns of X, where it has them.

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
        multiclass: Multiclass = "difference",
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
        """Whether ``fit`` has to be given ``X_test``."""
        return self.discretisation == "transductive"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_test: Any = None) -> Self:
        """Algorithm 1.

        X: (n_rows, n_columns), passed on untouched; y: (n_rows,) labels of two kinds or more;
        sample_weight: (n_rows,), not negative, multiplied with the importance weights; X_test: (n_test_rows,
        n_columns), rows to be asked about later, for ``discretisation="transductive"`` only.

        Raises ValueError for a parameter that is not as documented, for labels that are missing or all
        equal, for weights that are no weights, for ``weighting="weight"`` with a learner that takes none,
        and for ``X_test`` without ``discretisation="transductive"`` or the other way round.
        """
        if self.needs_test_rows != (X_test is not None):
            raise ValueError('fit takes X_test with discretisation="transductive", and only then')
        self._fit_thresholds(X, y, sample_weight, X_test)
        return self

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        refuse_other_choices(self, _CHOICES)
        refuse_no_flag(self, "shortcuts")
        refuse_no_count(self, "n_probes", "n_samples")
        refuse_no_range(self.clip)
        refuse_weights_for_none(self)

    def _goal(self) -> Goal:
        return Goal(self.loss, self.refinement)

    def _grid(self) -> np.ndarray | None:
        return evenly(self.n_probes) if self.discretisation == "uniform" else None

    def _training(
        self, X: Any, labels: np.ndarray, classes: np.ndarray, weights: np.ndarray | None, stream: tuple[int, ...]
    ) -> Train:
        return WeightedTraining(
            self.estimator, X, labels, classes, weights, self.weighting, self.total_weight, self.n_samples, stream
        )
