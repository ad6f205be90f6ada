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
        Whether probes are fitted in batches if the learner has a shortcut (see ``probcal.fast_paths``), and predict
        equal rows only once. No vote of a training row changes. Another row's vote can change only if it lies within
        rounding of a boundary. False fits each probe separately and predicts every row.
    random_state : int, RandomState, Generator or None, default=None
        Seed. Each threshold has its own random stream. So the order of fitting and ``n_probes`` never change the
        classifier of a threshold.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    probings_ : list of ThresholdClassifiers
        One for two classes. With more classes, one for each probed class against the rest.
    thresholds_ : ndarray of shape (n_fitted,)
        Thresholds p, rising. Only with two classes. There are fewer than ``n_probes`` only if floats can split no
        interval any more.
    estimators_ : list of classifiers
        The fitted classifiers in the order of ``thresholds_``. Only with two classes.
    order_ : ndarray of shape (n_fitted,), dtype int
        Positions in ``estimators_`` in the order of fitting. Only with two classes.
    estimates_ : ndarray of shape (n_fitted + 1,)
        Predicted probability of the second class for each number of votes, from 0 up. Only with two classes.
    n_features_in_ : int
        Number of columns of X. Only set if X has columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X. Only set if all names are strings.

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
        """Check the constructor parameters.

        Raises
        ------
        ValueError
            If a parameter is invalid, or if ``weighting="weight"`` is set for a learner that takes no weights.
        """
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
