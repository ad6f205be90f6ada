"""Gradient boosting tuned on refinement, then calibrated: the settings and the number of trees of one library."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from probcal._validation import Constraint, Rule, is_count, take_rows
from probcal.methods._base import drawn_seed, fresh_copy
from probcal.methods.calibrators._calibrated_classifier import CalibratedMethod, Calibration, Ensemble
from probcal.methods.calibrators._calibration_rows import FoldScores, Rows
from probcal.methods.calibrators._calibrator import Calibrator, Input
from probcal.methods.calibrators.beta import QuadraticCalibrator
from probcal.methods.calibrators.scaling import MatrixScalingCalibrator, TemperatureCalibrator

Params = dict[str, Any]

_MOST_TREES = 400
# The sum of the learning rates of all trees. Most optima lie far below it.
_LONGEST_WAY = 20.0
_FEWEST_TREES = 50
_SMALLEST_STAGE = 5
_N_STAGES = 16
_USUAL_RATE = 0.1


@dataclass(frozen=True)
class _Space:
    """Hold the names of a library for what the search draws. An empty name means that the library has none."""

    trees: str
    leaves: str = ""
    depth: str = ""
    rows: str = ""
    """Fewest rows in a leaf."""
    weight: str = ""
    """Smallest sum of p (1 - p) in a leaf, which is at most a quarter of its rows."""
    penalty: str = ""
    columns: str = ""
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def draw(self, random: np.random.Generator) -> Params:
        """Return a setting. Its numbers have three digits, so that a line of code can repeat it."""
        rate, leaves = _log_uniform(random, 0.02, 0.3), round(_log_uniform(random, 4, 64))
        rows, penalty = round(_log_uniform(random, 1, 64)), _log_uniform(random, 0.001, 30)
        values = {
            "learning_rate": rate,
            self.leaves: leaves,
            self.depth: round(math.log2(leaves)),
            self.rows: rows,
            self.weight: rows / 4,
            self.penalty: penalty,
            self.columns: float(f"{random.uniform(0.3, 1):.3g}"),
        }
        return {name: value for name, value in values.items() if name}


def _log_uniform(random: np.random.Generator, low: float, high: float) -> float:
    return float(f"{math.exp(random.uniform(math.log(low), math.log(high))):.3g}")


_SPACES = {
    "HistGradientBoostingClassifier": _Space(
        "max_iter", leaves="max_leaf_nodes", rows="min_samples_leaf", penalty="l2_regularization",
        columns="max_features", fixed={"early_stopping": False},
    ),
    "LightGBM": _Space(
        "n_estimators", leaves="num_leaves", rows="min_child_samples", penalty="reg_lambda",
        columns="colsample_bytree",
    ),
    "XGBoost": _Space(
        "n_estimators", depth="max_depth", weight="min_child_weight", penalty="reg_lambda",
        columns="colsample_bytree",
    ),
    "CatBoost": _Space("iterations", depth="depth", penalty="l2_leaf_reg", columns="rsm"),
}  # fmt: skip
"""Class of the estimator -> the names of its parameters."""


class TunedBoostingClassifier(CalibratedMethod):
    """Tune gradient boosting on its refinement error, and calibrate it (Berta, Holzmueller, Jordan & Bach 2025).

    The log loss is the sum of a calibration error and a refinement error. The refinement error is the smallest log loss
    that any map of the predictions has. A map after training mends the former, so training should minimize the latter.
    The log loss itself leads to a compromise of both. ("Rethinking early stopping: refine, then calibrate", arXiv
    2501.19195. Its estimate, TS-refinement, is the log loss after temperature scaling on the validation rows.)

    Each setting is fitted once for each fold, on the other folds. The probabilities of all held-out rows, after several
    numbers of trees, give the refinement error. The setting and the number of trees with the smallest one are fitted
    again on folds, with a map: the quadratic one, and structured matrix scaling for more than two classes. No row
    chooses a setting or fits a map with a classifier that has seen it.

    Parameters
    ----------
    estimator : classifier
        A HistGradientBoostingClassifier of scikit-learn, or LightGBM, XGBoost or CatBoost of ``probcal.learners``.
    n_settings : int, default=20
        Number of settings. The first one is that of ``estimator``. The others are drawn: the learning rate from .02 to
        .3, 4 to 64 leaves (or a depth of 2 to 6), 1 to 64 rows in a leaf, an L2 penalty from .001 to 30, and 30 to
        100 % of the columns.
    ensemble : {"auto", True, False}, default="auto"
        As in SigmoidClassifier.
    cv : int, cross-validation generator or list of pairs, default=3
        Folds, as in SigmoidClassifier.
    random_state : int, RandomState or None, default=None
        Seed of the settings, the classifiers and the folds. None draws a new seed at each ``fit``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimators_ : list of classifiers
        Fitted classifiers of the best setting.
    calibrators_ : list of Calibrators
        Their maps.
    best_params_ : dict
        The parameters of the best setting, with the number of trees.
    trials_ : list of dicts
        For each setting ``params``, with its best number of trees, and ``refinement``, the refinement error in bits.

    See Also
    --------
    QuadraticClassifier : Calibrates any classifier as it is.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.metrics import log_loss
    >>> from probcal import TunedBoostingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = TunedBoostingClassifier(HistGradientBoostingClassifier(), n_settings=3, random_state=0)
    >>> print(round(log_loss(y[300:], model.fit(X[:300], y[:300]).predict_proba(X[300:])), 2))
    0.1
    """

    constraints: ClassVar[dict[str, Constraint]] = {
        "n_settings": Rule(lambda value: is_count(value) and value >= 1, "a whole number from 1"),
    }
    prefers = "predict_proba"
    scores: Any = "auto"
    calibration: Calibration = "cross_val"
    holdout_size = 0.25
    best_params_: Params
    trials_: list[dict[str, Any]]

    def __init__(
        self,
        estimator: Any,
        *,
        n_settings: int = 20,
        ensemble: Ensemble = "auto",
        cv: Any = 3,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_settings = n_settings
        self.ensemble = ensemble
        self.cv = cv
        self.random_state = random_state

    def _calibrator(self, score_kind: Input) -> Calibrator:
        n_classes = len(getattr(self, "classes_", (0, 1)))
        return QuadraticCalibrator(score_kind) if n_classes == 2 else MatrixScalingCalibrator(score_kind)

    def _learner(self) -> Any:
        return clone(self.estimator).set_params(**getattr(self, "best_params_", {}))

    def _held_out_scores(
        self,
        X: Any,
        labels: np.ndarray,
        weights: np.ndarray | None,
        make_folds: Callable[..., list[Rows]],
        random: np.random.Generator,
    ) -> tuple[list[Any], list[np.ndarray], list[tuple[np.ndarray, Input]]]:
        pairs = make_folds(seed=drawn_seed(random))
        held_out = np.concatenate([rows for _, rows in pairs])
        self.trials_ = []
        for params in boosting_settings(self.estimator, self.n_settings, random):
            staged = [
                staged_probabilities(
                    self._fitted_setting(params, X, labels, weights, learn, random), take_rows(X, rows)
                )
                for learn, rows in pairs
            ]
            losses = {}
            for stage in zip(*staged, strict=True):
                p = np.concatenate([p for _, p in stage])
                part = FoldScores(p, labels[held_out], None if weights is None else weights[held_out])
                self._require_every_class(part)
                losses[stage[0][0]] = refinement_error(part, self.classes_)
            n_trees = min(losses, key=losses.__getitem__)
            best = params | {_space(self.estimator).trees: n_trees}
            self.trials_.append({"params": best, "refinement": losses[n_trees]})
        self.best_params_ = min(self.trials_, key=lambda one: one["refinement"])["params"]
        return super()._held_out_scores(X, labels, weights, make_folds, random)

    def _fitted_setting(
        self,
        params: Params,
        X: Any,
        labels: np.ndarray,
        weights: np.ndarray | None,
        rows: np.ndarray,
        random: np.random.Generator,
    ) -> Any:
        # not by fit_weighted: a run would keep each fit for other methods
        learner = fresh_copy(clone(self.estimator).set_params(**params), random)
        given = {} if weights is None else {"sample_weight": weights[rows]}
        return learner.fit(take_rows(X, rows), labels[rows], **given)


def refinement_error(part: FoldScores, classes: np.ndarray) -> float:
    """Return the log loss in bits of the probabilities of ``part`` after temperature scaling on the same rows."""
    p = TemperatureCalibrator().fit(part.scores, part.labels, part.weights).predict_proba(part.scores)
    losses = -np.log2(p[np.arange(len(p)), np.searchsorted(classes, part.labels)])
    return float(np.average(losses, weights=part.weights))


def boosting_settings(estimator: Any, n_settings: int, random: np.random.Generator) -> list[Params]:
    """Return the settings of a search, the one of ``estimator`` first, each with its largest number of trees.

    Raises ValueError for a classifier that cannot be tuned.
    """
    space = _space(estimator)
    # where a library chooses its learning rate by the number of trees, the first trees of many are not those of few
    own = {"learning_rate": estimator.get_params()["learning_rate"] or _USUAL_RATE}
    return [
        params | dict(space.fixed) | {space.trees: _largest_number(params["learning_rate"])}
        for params in (own, *(space.draw(random) for _ in range(n_settings - 1)))
    ]


def staged_probabilities(learner: Any, X: Any) -> Iterator[tuple[int, np.ndarray]]:
    """Yield numbers of trees, and the probabilities of so many first trees of a fitted learner, (n_rows, n_classes)."""
    most = learner.get_params()[_space(learner).trees]
    stages = [int(number) for number in np.unique(np.geomspace(_SMALLEST_STAGE, most, _N_STAGES).round())]
    if hasattr(learner, "predict_proba_after"):
        yield from ((n_trees, learner.predict_proba_after(X, n_trees)) for n_trees in stages)
    else:
        every = enumerate(learner.staged_predict_proba(X), 1)
        yield from ((n_trees, p) for n_trees, p in every if n_trees in stages)


def _space(estimator: Any) -> _Space:
    name = type(estimator).__name__
    if name not in _SPACES:
        raise ValueError(f"{name} cannot be tuned; give one of {', '.join(_SPACES)}")
    return _SPACES[name]


def _largest_number(learning_rate: float) -> int:
    return min(_MOST_TREES, max(_FEWEST_TREES, math.ceil(_LONGEST_WAY / learning_rate)))
