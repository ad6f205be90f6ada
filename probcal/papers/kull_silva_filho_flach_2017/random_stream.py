"""Calibration with one random stream for outer folds, inner folds and fits, as experiments before 2018 ran.

Kull, Silva Filho & Flach (2017) call ``numpy.random.seed(r)`` once for each repetition r. The outer folds, and then for
each of them the inner folds, the learners and the maps, all draw from this one stream. So an inner fold depends on all
draws before it, and a cell can only be reproduced by a replay of its repetition up to its fold.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from probcal._learner_output import learner_probabilities
from probcal._validation import FLAG, Constraint
from probcal.methods._base import ProbabilityMethod
from probcal.methods._multiclass import ZERO_ONE, two_columns
from probcal.methods._shared_fits import Repetition, fit_key, present_fold
from probcal.papers.kull_silva_filho_flach_2017.learners_of_2016 import legacy_isotonic

_INNER = 3
_LEAST = 1e-16
_MOST_STREAMS = 8
_MOST_FOLDS = 2
"""Folds of a stream that stay in memory. An earlier one is replayed again."""
ORDERS = {
    "aistats": ("none", "sigmoid", "isotonic", "beta", "beta_am", "beta_ab"),
    "ejs": ("none", "beta", "beta_ab", "beta_am", "isotonic", "sigmoid"),
}
"""The order in which each of the two papers fits the maps, which decides their draws."""
Map = Callable[[np.ndarray], np.ndarray]


class _Protocol(NamedTuple):
    order: str
    constraint: bool
    one_classifier: bool


class _Fold:
    """Hold the fitted learner for each inner fold, and for each method the map of each inner fold."""

    def __init__(self, learners: list[Any], maps: dict[str, list[Map]]) -> None:
        self.learners, self.maps = learners, maps
        self._scored: tuple[np.ndarray, list[np.ndarray]] | None = None

    def scores(self, X: np.ndarray) -> list[np.ndarray]:
        """Return for each inner fold the scores of the rows, (n_rows,). All six methods ask for those of one ``X``."""
        if self._scored is None or not np.array_equal(self._scored[0], X):
            found = {one: _of_second(one, X) for one in set(self.learners)}
            self._scored = X, [found[one] for one in self.learners]
        return self._scored[1]


class _Stream:
    """Replay a repetition with one learner, as far as its folds are asked for."""

    def __init__(self, repetition: Repetition, learner: Any, protocol: _Protocol) -> None:
        self._repetition, self._learner, self._protocol = repetition, learner, protocol
        self._start()

    def _start(self) -> None:
        # numpy's old generator, since their program seeds it with the number of the repetition.
        self._random = np.random.RandomState(self._repetition.number)
        self._outer = self._repetition.draw_folds(self._repetition.labels, self._repetition.folds, self._random)
        self._next = 0
        self._folds: dict[int, _Fold] = {}

    def fold(self, number: int) -> _Fold:
        if number < self._next and number not in self._folds:
            self._start()
        while self._next <= number:
            self._folds[self._next] = self._replay_next()
            self._next += 1
            self._folds.pop(self._next - 1 - _MOST_FOLDS, None)
        return self._folds[number]

    def _replay_next(self) -> _Fold:
        rows = np.flatnonzero(self._outer != self._next)
        X, y = self._repetition.X[rows], self._repetition.y[rows]
        inner = self._repetition.draw_folds(y, _INNER, self._random)
        # Fitted here and not when it is needed, because its draws come before those of the inner folds.
        one = self._fitted(X, y) if self._protocol.one_classifier else None
        learners: list[Any] = []
        maps: dict[str, list[Map]] = {name: [] for name in ORDERS[self._protocol.order]}
        for number in range(_INNER):
            learner = self._fitted(X[inner != number], y[inner != number])
            p = _of_second(learner, X[inner == number])
            for name, of_method in maps.items():
                of_method.append(self._map(name, p, y[inner == number]))
            learners.append(one or learner)
        return _Fold(learners, maps)

    def _fitted(self, X: np.ndarray, y: np.ndarray) -> Any:
        learner = clone(self._learner)
        seeds = dict.fromkeys(_seeds(learner), self._random)
        return learner.set_params(**seeds).fit(X, y)

    def _map(self, name: str, p: np.ndarray, y: np.ndarray) -> Map:
        if name == "none":
            return lambda p: p
        if name == "isotonic":
            return legacy_isotonic(p, y, spline=self._protocol.order == "aistats")
        features = _FEATURES[name]
        kept = [0] if name in ("sigmoid", "beta_am") else [0, 1]
        fitted = self._regression(features(p), y, intercept=name != "beta_ab")
        # As in their program: a negative slope would make the map fall.
        if name == "beta" and self._protocol.constraint and fitted.coef_.min() < 0:
            kept = [1] if fitted.coef_[0, 0] < 0 else [0]
            fitted = self._regression(features(p)[:, kept], y)
        return lambda p: np.asarray(fitted.predict_proba(features(p)[:, kept])[:, 1])

    def _regression(self, features: np.ndarray, y: np.ndarray, intercept: bool = True) -> LogisticRegression:
        """Return their regression, which is next to unpenalised and takes one seed from the stream."""
        regression = LogisticRegression(
            C=99999999999, solver="liblinear", fit_intercept=intercept, random_state=self._random
        )
        return regression.fit(features, y)


def _of_second(learner: Any, X: np.ndarray) -> np.ndarray:
    return learner_probabilities(learner, X, ZERO_ONE)[:, 1]


def _of_probability(p: np.ndarray) -> np.ndarray:
    return p.reshape(-1, 1)


def _of_beta(p: np.ndarray) -> np.ndarray:
    p = np.clip(p, _LEAST, 1 - _LEAST)
    return np.column_stack([np.log(p), -np.log(1 - p)])


def _of_log_odds(p: np.ndarray) -> np.ndarray:
    p = np.clip(p, _LEAST, 1 - _LEAST)
    return np.asarray(np.log(p / (1 - p)).reshape(-1, 1))


def _of_two(p: np.ndarray) -> np.ndarray:
    p = np.clip(p, _LEAST, 1 - _LEAST)
    return np.column_stack([np.log(2 * p), -np.log(2 * (1 - p))])


_FEATURES = {"sigmoid": _of_probability, "beta": _of_beta, "beta_am": _of_log_odds, "beta_ab": _of_two}
_streams: OrderedDict[Hashable, _Stream] = OrderedDict()
"""Key of repetition, learner and protocol -> its replay, the last used one at the end."""


def _stream(repetition: Repetition, learner: Any, protocol: _Protocol) -> _Stream:
    learner_key = fit_key(learner)
    # Parameters that have no bytes, such as a function, do not tell two learners apart.
    if learner_key is None:
        return _Stream(repetition, learner, protocol)
    key = (repetition.key, repetition.folds, repetition.number, learner_key, protocol)
    if key not in _streams:
        _streams[key] = _Stream(repetition, learner, protocol)
    _streams.move_to_end(key)
    while len(_streams) > _MOST_STREAMS:
        _streams.popitem(last=False)
    return _streams[key]


def _seeds(learner: Any) -> list[str]:
    return [name for name in learner.get_params(deep=True) if name.rpartition("__")[2] == "random_state"]


class LegacyStreamClassifier(ProbabilityMethod):
    """Calibrate as Kull, Silva Filho & Flach (2017) do, with the random stream of their program.

    It can be fitted only by an experiment with a ``legacy_stratified_k_fold`` split, because it needs the other folds
    of its repetition. Each of three inner folds is scored by the learner trained on the other two, and fits a map. The
    prediction is the mean of three mapped probabilities.

    Parameters
    ----------
    estimator : classifier
        Has ``predict_proba``, and predicts two classes. Every ``random_state`` draws from the stream.
    map : {"none", "sigmoid", "isotonic", "beta", "beta_am", "beta_ab"}, default="beta"
        Map of the probabilities. ``"sigmoid"`` is logistic regression on the probability. ``"beta_am"`` is beta
        calibration with a = b. ``"beta_ab"`` is beta calibration that maps 1/2 to 1/2.
    order : {"aistats", "ejs"}, default="aistats"
        The paper. It decides the order in which the six maps draw, and the isotonic regression: ``"aistats"`` ran with
        scikit-learn 0.17, ``"ejs"``, the longer paper, with 0.18.
    constraint : bool, default=True
        Whether ``"beta"``, the map of three parameters, is fitted again without a or b if that is negative. It changes
        the draws of all maps.
    one_classifier : bool, default=False
        Whether the test rows are scored by one classifier of all training rows, and not by the three.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Labels in sorted order.
    estimators_ : list of 3 classifiers
        The learner of each inner fold, or three times the one of all training rows.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X. Only set if all names are strings.
    """

    constraints: ClassVar[dict[str, Constraint]] = {
        "map": ORDERS["aistats"],
        "order": tuple(ORDERS),
        "constraint": FLAG,
        "one_classifier": FLAG,
    }
    needs_one_of = ("predict_proba",)

    def __init__(
        self,
        estimator: Any,
        *,
        map: Literal["none", "sigmoid", "isotonic", "beta", "beta_am", "beta_ab"] = "beta",
        order: Literal["aistats", "ejs"] = "aistats",
        constraint: bool = True,
        one_classifier: bool = False,
    ) -> None:
        self.estimator = estimator
        self.map = map
        self.order = order
        self.constraint = constraint
        self.one_classifier = one_classifier

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]  # the authors' code has no weights
        """Replay the repetition up to the fold whose training rows are ``X`` and ``y``.

        Raises ValueError for an invalid parameter or label, where all labels are equal, and where the caller is not an
        experiment that fits the method on all training rows of such a fold.
        """
        X, labels, _ = self._begin(X, y, None)
        found = present_fold()
        if found is None or len(labels) >= len(found[0].y) or len(self.classes_) != 2:
            raise ValueError(
                f"{type(self).__name__} replays the folds of an experiment: give it a split of kind "
                "legacy_stratified_k_fold, a learner with the encoding native, and a data set of two classes"
            )
        repetition, fold = found
        learner = clone(self.estimator)
        # The stream replaces the seeds, so learners that differ only in them share a replay.
        learner.set_params(**dict.fromkeys(_seeds(learner), 0))
        stream = _stream(repetition, learner, _Protocol(self.order, self.constraint, self.one_classifier))
        done = stream.fold(fold)
        self.estimators_, self._fold = done.learners, done
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict class probabilities, (n_rows, 2). All columns of ``X`` are numbers."""
        self._before_predicting(X)
        # in another layout, sums over the columns are rounded in another way, which moves scores of naive Bayes near 0
        rows = np.ascontiguousarray(X, dtype=np.float64)
        # the sum of the thirds, as they are added there: rounding decides how near to 1 it is
        mean = sum(one(p) / _INNER for one, p in zip(self._fold.maps[self.map], self._fold.scores(rows), strict=True))
        return two_columns(np.clip(mean, 0.0, 1.0))
