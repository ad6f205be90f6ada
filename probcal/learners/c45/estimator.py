"""C4.5 decision trees that equal those of Weka's J48."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils.validation import check_is_fitted

from probcal._validation import check_choices, check_counts
from probcal.errors import ProbcalError
from probcal.learners.c45.instances import Instances, instances_of
from probcal.learners.frame_columns import checked_frame
from probcal.methods._base import class_labels, row_weights

INSTALL = "pip install 'probcal[trees]'"


class CompilerMissing(ProbcalError, ImportError):
    """The compiler of the trees is not installed."""


class SharedInstances:
    """Sort the columns once for the trees of all class weights: the shortcut of ``C45Classifier``.

    The trees grow in as many threads as OpenMP may use, which is one in an experiment.
    """

    def __init__(self) -> None:
        self._instances: Instances | None = None
        self._table: Any = None

    def fit(
        self, estimator: Any, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[Any]:
        """Return a tree for each row of ``class_weights``, (k, 2), identical to that of ``estimator`` itself."""
        if self._instances is None:
            self._instances, self._table = estimator.sort_columns(X), X
        classes = np.unique(labels, return_inverse=True)[1]
        own = 1.0 if row_weights is None else row_weights
        rows = self._instances
        trees = [clone(estimator) for _ in class_weights]
        return _in_threads(
            lambda tree, weights: tree.fit(rows, labels, sample_weight=weights[classes] * own), trees, class_weights
        )

    def margins(self, classifiers: list[Any], X: Any) -> tuple[np.ndarray, float]:
        """Return ((n_rows, k), 0): 1 where a tree predicts the second class, and -1 otherwise, without error."""
        if X is self._table and self._instances is not None:
            coded = self._instances.nominal, self._instances.numbers
        else:
            coded = classifiers[0].coded(X)

        def signs(tree: Any) -> np.ndarray:
            found = tree.probabilities(*coded)
            return np.where(found[:, 1] > found[:, 0], 1.0, -1.0)

        return np.column_stack(_in_threads(signs, classifiers)), 0.0


class C45Classifier(ClassifierMixin, BaseEstimator):
    """Grow and prune the decision tree of Weka's J48, without Java.

    It takes frames with numeric and nominal columns, and arrays of numbers. Categories, text and truth values are
    nominal. NaN and None are missing: such a row takes every branch with a part of its weight. It needs
    ``probcal[trees]``. The first fit on a machine takes up to a minute to compile.

    The algorithm is that of Quinlan (1993), "C4.5: Programs for machine learning", release 8. The choices that it
    leaves open are those of J48 in Weka 3.9. The defaults are J48's.

    Parameters
    ----------
    confidence : confidence of the error estimates in pruning, above 0 and at most .5. Less prunes more. ``-C`` of J48.
    min_samples_leaf : least weight of the rows in at least two branches of a split. ``-M`` of J48.
    pruned : whether the tree is pruned. False is ``-U`` of J48.
    subtree_raising : whether pruning may put the largest branch in the place of a split. False is ``-S`` of J48.
    binary_splits : whether splits of nominal columns have two branches. True is ``-B`` of J48.
    laplace : whether 1 is added to the weight of each class in a leaf. True is ``-A`` of J48.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    n_features_in_, feature_names_in_ : number and names of the columns of X, if it has them.
    columns_ : levels of the columns.
    tree_ : two arrays with a row for each node, whole numbers and real ones. ``probcal.learners.c45.layout`` names
        their columns. Node 0 is the root.
    """

    class_weight_shortcut = SharedInstances
    learns_in_threads = True

    def __init__(
        self,
        *,
        confidence: float = 0.25,
        min_samples_leaf: int = 2,
        pruned: bool = True,
        subtree_raising: bool = True,
        binary_splits: bool = False,
        laplace: bool = False,
    ) -> None:
        self.confidence = confidence
        self.min_samples_leaf = min_samples_leaf
        self.pruned = pruned
        self.subtree_raising = subtree_raising
        self.binary_splits = binary_splits
        self.laplace = laplace

    def sort_columns(self, X: Any) -> Instances:
        """Return ``X``, (n_rows, n_columns), in codes. ``fit`` accepts it any number of times instead of X.

        Its ``take`` returns samples. Raises TypeError for a column that is neither numbers nor categories, and
        ValueError for infinite values.
        """
        named = clone(self)
        return instances_of(checked_frame(named, X, fitting=True), getattr(named, "feature_names_in_", None))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> C45Classifier:
        """Grow and prune the tree.

        Parameters
        ----------
        X : rows, (n_rows, n_columns), or the result of ``sort_columns``.
        y : labels, (n_rows,).
        sample_weight : weights, (n_rows,), not negative, or None. A row of weight 0 still is a row for J48: its values
            bound splits.

        Raises
        ------
        ValueError
            For an invalid parameter, infinite values, fewer than two classes, and invalid weights.
        CompilerMissing
            Without the optional package.
        """
        self.check_parameters()
        growth, pruning, descent = (_compiled(name) for name in ("growth", "pruning", "descent"))
        rows = X if isinstance(X, Instances) else self.sort_columns(X)
        labels, self.classes_ = class_labels(np.empty((len(rows), 0)), y)
        self.columns_, self.n_features_in_ = rows.columns, len(rows.columns.levels)
        if rows.names is not None:
            self.feature_names_in_ = rows.names
        classes = np.searchsorted(self.classes_, labels).astype(np.int32)
        weights = row_weights(sample_weight, len(labels))
        weights = np.ones(len(labels)) if weights is None else weights
        n_levels, places, n_classes = rows.columns.n_levels, rows.columns.places, len(self.classes_)
        whole, real = growth.grow(
            rows.nominal.T, n_levels, places, rows.entries, rows.ends, rows.values, rows.first,
            rows.histograms, classes, weights, n_classes, self.min_samples_leaf, bool(self.binary_splits),
        )  # fmt: skip
        pruning.collapse(whole, real, n_classes)
        if self.pruned:
            confidence = float(np.float32(self.confidence))  # as in Weka
            pruning.prune(
                whole, real, n_classes, confidence, float(ndtri(1 - confidence)), bool(self.subtree_raising),
                rows.nominal.T, rows.numbers.T, n_levels, places, classes, weights,
            )  # fmt: skip
        self.tree_ = pruning.compact(whole, real)
        self._shares = descent.node_shares(*self.tree_, n_classes, bool(self.laplace))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return (n_rows, n_classes) probabilities: the share of each class in the weight of the leaf."""
        return self.probabilities(*self.coded(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row, (n_rows,). The first class wins a tie, as in Weka."""
        probabilities = self.predict_proba(X)
        labels: np.ndarray = self.classes_[np.argmax(probabilities, axis=1)]
        return labels

    def coded(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the levels and numbers of ``X``. Raises ValueError for a table with other columns than in ``fit``."""
        check_is_fitted(self)
        return self.columns_.coded(checked_frame(self, X, fitting=False))

    def probabilities(self, nominal: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return what ``predict_proba`` returns, for ``coded`` rows."""
        found: np.ndarray = _compiled("descent").probabilities(
            *self.tree_, *self._shares, nominal.T, numbers.T, self.columns_.n_levels, self.columns_.places
        )
        return found

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return the install command if numba is missing, and None otherwise."""
        try:
            _compiled("descent")
        except CompilerMissing as error:
            return str(error)
        return None

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        check_counts(self, "min_samples_leaf")
        flags = ("pruned", "subtree_raising", "binary_splits", "laplace")
        check_choices(self, dict.fromkeys(flags, (True, False)))
        if not isinstance(self.confidence, Real) or not 0 < self.confidence <= 0.5:
            raise ValueError(f"confidence must be a number above 0 and at most 0.5, not {self.confidence!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def _in_threads(call: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Return the results of ``call``, in order. The compiled functions release Python's lock."""
    n_threads = min(_openmp_effective_n_threads(), len(arguments[0]))
    if n_threads < 2:
        return list(map(call, *arguments))
    with ThreadPoolExecutor(n_threads, "probcal") as pool:
        return list(pool.map(call, *arguments))


def _compiled(name: str) -> Any:
    try:
        return import_module(f"probcal.learners.c45.{name}")
    except ImportError as error:
        raise CompilerMissing(f"this tree needs numba ({error}); install it with: {INSTALL}") from None
