"""Search the settings of a learner once, and build an ensemble or another method around the best one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from probcal._learner_output import learner_probabilities
from probcal._validation import Constraint, Rule, is_count, take_rows
from probcal.components.classes import refuse_unmet_need
from probcal.methods._base import ProbabilityMethod, drawn_seed, fit_weighted, fresh_copy
from probcal.methods.calibrators._calibration_rows import folds

_LEAST = 0.001


class TunedClassifier(ProbabilityMethod):
    """Search the settings of a classifier by cross-validation, then fit it, or a method around it.

    scikit-learn's GridSearchCV around an ensemble fits the whole ensemble for each setting. This class searches with
    the single classifier, so the search costs ``n_settings * cv`` fits whatever is built afterwards.

    Parameters
    ----------
    estimator : classifier
        Has ``predict_proba``.
    param_grid : dict or list of dicts
        Parameter of ``estimator`` -> list of values, as in GridSearchCV. The setting with the smallest log loss of
        held-out rows is taken, and of equal ones the first. Probabilities below .001 count as .001.
    around : classifier or None, default=None
        A method or an ensemble with a parameter ``estimator``, which becomes the classifier with the best setting.
        None fits that classifier alone.
    cv : int, default=3
        Number of stratified folds.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the folds and of each classifier.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    best_params_ : dict
        The best setting.
    losses_ : ndarray of shape (n_settings,)
        Log loss of each setting in nats, in the order of scikit-learn's ParameterGrid.
    estimator_ : classifier
        The fitted classifier, or the fitted method around it.

    See Also
    --------
    TunedBoostingClassifier : Tunes gradient boosting on its refinement error and calibrates it.
    sklearn.model_selection.GridSearchCV : Searches the settings of the whole model, also of an ensemble.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from probcal import TunedClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> grid = {"min_samples_leaf": [1, 5, 20]}
    >>> model = TunedClassifier(DecisionTreeClassifier(), grid, around=BaggingClassifier(), random_state=0).fit(X, y)
    >>> model.best_params_
    {'min_samples_leaf': 20}
    """

    needs_one_of = ("predict_proba",)
    constraints: ClassVar[dict[str, Constraint]] = {
        "param_grid": Rule(
            lambda value: isinstance(value, Mapping | list | tuple) and len(value) > 0,
            "a grid of parameters, or a list of grids",
        ),
        "cv": Rule(lambda value: is_count(value) and value >= 2, "a whole number from 2"),
    }
    best_params_: dict[str, Any]
    losses_: np.ndarray

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        around: Any = None,
        cv: int = 3,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.around = around
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, frequency_weights: bool = False) -> Self:
        X, labels, weights = self._begin(X, y, sample_weight, frequency_weights)
        weights = self._weights_for_learner(weights)
        random = np.random.default_rng(drawn_seed(self.random_state))
        pairs = folds(X, labels, self.cv, drawn_seed(random))
        settings = list(ParameterGrid(self.param_grid))
        losses = [self._held_out_loss(setting, X, labels, weights, pairs, random) for setting in settings]
        self.losses_ = np.array(losses)
        self.best_params_ = settings[int(np.argmin(self.losses_))]
        best = clone(self.estimator).set_params(**self.best_params_)
        model = best if self.around is None else clone(self.around).set_params(estimator=best)
        self.estimator_ = fit_weighted(fresh_copy(model, random), X, labels, weights)
        return self

    def _held_out_loss(
        self, setting: dict[str, Any], X: Any, labels: np.ndarray, weights: Any, pairs: Any, random: np.random.Generator
    ) -> float:
        losses = np.zeros(len(labels))
        for train, test in pairs:
            # not by fit_weighted: a run would keep each fit for other methods
            learner = fresh_copy(clone(self.estimator).set_params(**setting), random)
            given = {} if weights is None else {"sample_weight": weights[train]}
            learner.fit(take_rows(X, train), labels[train], **given)
            refuse_unmet_need(type(self), learner)
            p = learner_probabilities(learner, take_rows(X, test), self.classes_)
            places = np.searchsorted(self.classes_, labels[test])
            losses[test] = -np.log(np.clip(p[np.arange(len(test)), places], _LEAST, 1 - _LEAST))
        return float(np.average(losses, weights=weights))

    def predict_proba(self, X: Any) -> np.ndarray:
        self._before_predicting(X)
        return learner_probabilities(self.estimator_, X, self.classes_)
