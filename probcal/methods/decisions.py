"""Decisions from predicted probabilities: those of the lowest expected cost, and those with a guaranteed rate."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from probcal._learner_output import learner_probabilities, learns_nothing
from probcal._validation import Constraint, Rule, count_rows, group_array, take_rows
from probcal.components.classes import refuse_unmet_need
from probcal.methods._base import drawn_seed, fit_weighted, fresh_copy
from probcal.methods._guaranteed_thresholds import threshold_of_precision, threshold_of_recall
from probcal.methods.direct import DirectClassifier

_MOST_DRAWS = 100
_SHARE = Rule(lambda value: isinstance(value, int | float) and 0 < value < 1, "a number above 0 and below 1")


class CostSensitiveClassifier(DirectClassifier):
    """Decide for the class of the lowest expected cost (Elkan 2001, equation 1).

    Calibrated probabilities make the expected costs right. So give it a calibrated classifier.

    Parameters
    ----------
    estimator : classifier
        Has ``predict_proba``. Wrap a classifier that is fitted already in ``sklearn.frozen.FrozenEstimator``.
    costs : None, pair or array-like of shape (n_classes, n_classes), default=None
        ``costs[i][j]`` is what it costs to decide for class j in a row of class i, in any unit and in the order of
        ``classes_``. A gain is a negative cost. An entry may be the name of a column of X, which holds the cost of each
        row. For two classes, a pair is the cost of a false positive and of a false negative. None: each wrong decision
        costs 1. ``fit`` raises ValueError for costs that do not fit the classes or the columns of X.
    random_state : int, RandomState or None, default=None
        Seed of the classifier.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimator_ : classifier
        The fitted classifier.
    threshold_ : float or None
        For two classes and costs that are numbers: from which probability of the second class on it is decided for. It
        is None otherwise, and where one decision is never worse.

    See Also
    --------
    GuaranteedRateClassifier : Chooses the threshold for a precision or a recall.
    sklearn.model_selection.TunedThresholdClassifierCV : Searches the threshold, for uncalibrated probabilities.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import CostSensitiveClassifier, IsotonicClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> calibrated = IsotonicClassifier(GaussianNB(), random_state=0)
    >>> model = CostSensitiveClassifier(calibrated, costs=(1, 9)).fit(X[:300], y[:300])
    >>> model.threshold_  # 1 / (1 + 9)
    0.1
    """

    def __init__(self, estimator: Any, *, costs: Any = None, random_state: Any = None) -> None:
        self.estimator = estimator
        self.costs = costs
        self.random_state = random_state

    def _begin(
        self, X: Any, y: Any, sample_weight: Any, frequency_weights: bool = False
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        X, labels, weights = super()._begin(X, y, sample_weight, frequency_weights)
        # costs that do not fit are refused before the classifier is fitted, which may take long
        costs = self._costs(X)
        self.threshold_ = _threshold(costs[0]) if len(self.classes_) == 2 and len(costs) == 1 else None
        return X, labels, weights

    def expected_costs(self, X: Any) -> np.ndarray:
        """Predict what each decision costs.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict, with the columns of costs.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Expected cost of deciding for each class, in the unit of ``costs``.

        Raises
        ------
        ValueError
            If X lacks a column of costs, or a cost is missing.
        """
        check_is_fitted(self)
        costs, p = self._costs(X), self.predict_proba(X)
        return np.asarray(np.einsum("ri,rij->rj", p, np.broadcast_to(costs, (len(p), *2 * p.shape[1:]))))

    def predict(self, X: Any) -> np.ndarray:
        """Decide for the class of the lowest expected cost.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to decide, with the columns of costs.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels. Of equal costs, the last class wins, so a probability at the threshold is decided positive.
        """
        if self.costs is None:
            return super().predict(X)
        if getattr(self, "threshold_", None) is not None:
            return np.asarray(self.classes_[(self.predict_proba(X)[:, 1] >= self.threshold_).astype(int)])
        costs = self.expected_costs(X)
        return np.asarray(self.classes_[costs.shape[1] - 1 - np.argmin(costs[:, ::-1], axis=1)])

    def _costs(self, X: Any) -> np.ndarray:
        """Return the costs, (1, n_classes, n_classes), or (n_rows, n_classes, n_classes) if a column holds some."""
        n_classes = len(self.classes_)
        if self.costs is None:
            return 1 - np.eye(n_classes)[None]
        given = self.costs.to_numpy() if hasattr(self.costs, "to_numpy") else self.costs
        rows = [list(one) if np.ndim(one) else one for one in given] if np.ndim(given) else []
        if n_classes == 2 and len(rows) == 2 and not any(isinstance(one, list) for one in rows):
            rows = [[0, rows[0]], [rows[1], 0]]
        if len(rows) != n_classes or any(not isinstance(one, list) or len(one) != n_classes for one in rows):
            raise ValueError(f"costs must have the shape ({n_classes}, {n_classes}), and are {self.costs!r}")
        has_columns = any(isinstance(entry, str) for row in rows for entry in row)
        costs = np.empty((count_rows(X) if has_columns else 1, n_classes, n_classes))
        for i, row in enumerate(rows):
            for j, entry in enumerate(row):
                if isinstance(entry, str) and entry not in getattr(X, "columns", ()):
                    raise ValueError(f"costs name the column {entry!r}, and X has no such column")
                values = np.asarray(X[entry], dtype=np.float64) if isinstance(entry, str) else entry
                if np.ndim(values) > 1:
                    raise ValueError(f"costs name the column {entry!r}, and X has several of this name")
                costs[:, i, j] = values
        if not np.isfinite(costs).all():
            raise ValueError("costs must be finite numbers, and some are missing or infinite")
        return costs


def _rows_of(units: np.ndarray, *parts: np.ndarray) -> list[np.ndarray]:
    """Return the rows of each part of the units. ``units``, (n_rows,), is the unit of each row."""
    return [np.flatnonzero(np.isin(units, part)) for part in parts]


def _threshold(costs: np.ndarray) -> float | None:
    """Return from which probability of the second class on it is the cheaper decision (Elkan 2001, equation 2)."""
    false_positive, false_negative = (costs[0, 1] - costs[0, 0]).item(), (costs[1, 0] - costs[1, 1]).item()
    if false_positive <= 0 or false_negative <= 0:
        return None
    return float(1 / (1 + false_negative / false_positive))  # the sum of huge costs would overflow


class GuaranteedRateClassifier(DirectClassifier):
    """Decide at a threshold whose precision or recall is guaranteed on new rows (learn then test).

    Held-out rows test thresholds that were fixed before. For each, an exact binomial test asks whether the rate is
    below ``at_least``. The probability of any wrong threshold stays below 1 - ``confidence`` (Angelopoulos, Bates,
    Candes, Jordan & Lei 2021, section 2.3). Recall falls with the threshold, so one sequence of tests suffices. For
    precision, a graph shares 1 - ``confidence`` among starts around ``at_least``, with most at half a unit of log-odds
    above it. A threshold that passes hands its share down to the next one (Bretz, Maurer, Brannath & Posch 2009,
    algorithm 1).

    The guarantee holds if held-out and new rows are independent draws of one distribution. It needs no calibration,
    but more precisions can be shown with it. If several rows belong together, such as those of a patient, pass them to
    ``fit`` as ``groups``. Then the groups must be independent draws, and one random row of each held-out group tests.

    Parameters
    ----------
    estimator : classifier
        Has ``predict_proba`` of two classes. A ``FrozenEstimator`` or a ``PrefitClassifier`` is fitted already,
        so all rows test it. Give rows that neither it nor its map has learned from.
    rate : {"precision", "recall"}, default="precision"
        Precision: which share of the rows that are decided positive are positive. The lowest threshold is taken.
        Recall: which share of the positive rows are decided positive. The highest threshold is taken.
    at_least : float, default=0.9
        The rate that is guaranteed.
    confidence : float, default=0.95
        Probability, over draws of the held-out rows, that the guarantee holds.
    holdout_size : float, default=0.5
        Share of the rows, or of the groups, that is held out, drawn at random. Few of them can guarantee little.
    random_state : int, RandomState or None, default=None
        Seed of the classifier and of the held-out rows.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Labels in sorted order. The second one is the positive one.
    estimator_ : classifier
        The fitted classifier.
    threshold_ : float
        From which probability on the second class is decided for. It is infinite if no threshold has the guarantee.
    guarantee_ : str
        The guarantee in words.

    See Also
    --------
    CostSensitiveClassifier : Decides by costs.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from probcal import GuaranteedRateClassifier
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> model = GuaranteedRateClassifier(LogisticRegression(), rate="recall", at_least=0.9, random_state=0).fit(X, y)
    >>> model.guarantee_
    'With confidence 0.95, recall is at least 0.9 at the threshold 0.426 (2000 held-out rows).'
    """

    constraints: ClassVar[dict[str, Constraint]] = {
        "rate": ("precision", "recall"), "at_least": _SHARE, "confidence": _SHARE, "holdout_size": _SHARE
    }  # fmt: skip
    forwards_sample_weight = False

    def __init__(
        self,
        estimator: Any,
        *,
        rate: Literal["precision", "recall"] = "precision",
        at_least: float = 0.9,
        confidence: float = 0.95,
        holdout_size: float = 0.5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.rate = rate
        self.at_least = at_least
        self.confidence = confidence
        self.holdout_size = holdout_size
        self.random_state = random_state

    def fit(  # type: ignore[override]  # the guarantee is for rows of equal weight
        self, X: Any, y: Any, groups: Any = None, **unusable: Any
    ) -> Self:
        """Fit the classifier on a part of the rows, and test thresholds on the others.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows, passed to the classifier unchanged.
        y : array-like of shape (n_rows,)
            Labels of two classes.
        groups : array-like of shape (n_rows,), default=None
            Group of each row. No group both trains and tests. The rate is that of a random row of a new group. A
            classifier whose ``fit`` takes groups gets them, too.
        **unusable : object
            Anything else is refused. A binomial test counts rows alike, so there is no ``sample_weight``.

        Returns
        -------
        self
            The fitted classifier.

        Raises
        ------
        TypeError
            If weights of rows or other arguments are given.
        ValueError
            If a parameter, a label or a group is invalid, there are not two classes, or a part of the rows has one
            class only.

        Warns
        -----
        UserWarning
            If no threshold has the guarantee.
        """
        if unusable:
            raise TypeError(
                f"fit takes no {', '.join(unusable)}: the guarantee counts rows, which count alike; to train with "
                "weights, fit the classifier first and wrap it in FrozenEstimator"
            )
        X, labels, _ = self._begin(X, y, None)
        if len(self.classes_) != 2:
            raise ValueError(f"Only binary classification is supported: y has {len(self.classes_)} classes")
        rng = np.random.default_rng(drawn_seed(self.random_state))
        units = np.arange(len(labels))
        if groups is not None:
            groups = group_array(groups, len(labels))
            units = np.unique(groups, return_inverse=True)[1]
        held_out, learner = np.arange(len(labels)), self.estimator
        if not learns_nothing(learner):
            n_units = int(units.max()) + 1
            for _ in range(_MOST_DRAWS):
                # Not stratified, because the binomial test needs independent rows. A draw that depends on the rows to
                # learn from alone leaves the others independent.
                order = rng.permutation(n_units)
                tests, trains = np.split(order, [round(self.holdout_size * n_units)])
                held_out, training = (tests, trains) if groups is None else _rows_of(units, tests, trains)
                if len(np.unique(labels[training])) == 2:
                    break
            else:
                raise ValueError("the rows to learn from must have both classes; give more rows of the rare one")
            learner = fresh_copy(learner, rng)
            if groups is not None and has_fit_parameter(learner, "groups"):
                learner.fit(take_rows(X, training), labels[training], groups=groups[training])
            else:
                learner = fit_weighted(learner, take_rows(X, training), labels[training], None)
        if groups is not None:  # one random row of each group, so that the rows are independent
            order = rng.permutation(held_out)
            held_out = order[np.unique(units[order], return_index=True)[1]]
        refuse_unmet_need(type(self), learner)
        self.estimator_ = learner
        p = learner_probabilities(learner, take_rows(X, held_out), self.classes_)[:, 1]
        choose = threshold_of_precision if self.rate == "precision" else threshold_of_recall
        self.threshold_ = choose(p, labels[held_out] == self.classes_[1], self.at_least, 1 - self.confidence)
        rows = f"({len(held_out)} held-out {'rows' if groups is None else 'groups, a random row of each'})"
        if np.isinf(self.threshold_):
            self.guarantee_ = f"No threshold has a {self.rate} of {self.at_least} that could be shown {rows}."
            warnings.warn(
                f"{self.guarantee_} No row is decided positive; give more {'rows' if groups is None else 'groups'}",
                stacklevel=2,
            )
        else:
            self.guarantee_ = (
                f"With confidence {self.confidence}, {self.rate} is at least {self.at_least} at the threshold "
                f"{self.threshold_:.3g} {rows}."
            )
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Decide for the second class from ``threshold_`` up.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to decide.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        check_is_fitted(self)
        return np.asarray(self.classes_[(self.predict_proba(X)[:, 1] >= self.threshold_).astype(int)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # few rows show no rate, and then no row is decided positive
        return tags
