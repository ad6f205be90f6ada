"""C4.5 decision trees that equal those of Weka's J48."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from probcal._classes import class_labels
from probcal._validation import COUNT, CheckedParameters, Constraint, Rule, count_threads, row_weights
from probcal.distribution import install_line
from probcal.errors import ProbcalError
from probcal.learners.c45.instances import Instances, instances_of
from probcal.learners.frame_columns import FrameClassifier, checked_frame

INSTALL = install_line("trees")


class CompilerMissing(ProbcalError, ImportError):
    """Report that the compiler of the trees is not installed."""


class SharedInstances:
    """Sort the columns once for the trees of all class weights: the fast path of ``C45Classifier``.

    It is exact because class weights change neither the order of the values nor their codes, and every tree is grown
    by the learner itself. The trees grow in as many threads as OpenMP may use, which is one in an experiment.
    """

    def __init__(self) -> None:
        self._instances: Instances | None = None
        self._table: Any = None

    def fit(
        self, estimator: Any, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[Any]:
        """Fit a tree for each row of ``class_weights``, (k, 2). Each is identical to a fit of ``estimator`` itself."""
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
        """Return margins without error, (n_rows, k): 1 where a tree predicts the second class, and -1 otherwise."""
        if X is self._table and self._instances is not None:
            coded = self._instances.nominal, self._instances.numbers
        else:
            coded = classifiers[0].coded(X)

        def signs(tree: Any) -> np.ndarray:
            found = tree.probabilities(*coded)
            return np.where(found[:, 1] > found[:, 0], 1.0, -1.0)

        return np.column_stack(_in_threads(signs, classifiers)), 0.0


class C45Classifier(CheckedParameters, FrameClassifier):
    """Grow and prune the decision tree of Weka's J48, without Java.

    It takes frames with numeric and nominal columns, and arrays of numbers. Categories, text and truth values are
    nominal. NaN and None are missing: such a row takes every branch with a part of its weight. It needs
    numba, the extra ``trees``. The first fit on a machine takes up to a minute to compile.

    The algorithm is that of Quinlan (1993), "C4.5: Programs for machine learning", release 8. The choices that it
    leaves open are those of J48 in Weka 3.9. The defaults are J48's.

    Parameters
    ----------
    confidence : float, default=0.25
        Confidence of the error estimates in pruning, above 0 and at most .5. Less prunes more. ``-C`` of J48.
    min_samples_leaf : int, default=2
        Least weight of the rows in at least two branches of a split. ``-M`` of J48.
    pruned : bool, default=True
        Whether the tree is pruned. False is ``-U`` of J48.
    subtree_raising : bool, default=True
        Whether pruning may put the largest branch in the place of a split. False is ``-S`` of J48.
    binary_splits : bool, default=False
        Whether splits of nominal columns have two branches. True is ``-B`` of J48.
    laplace : bool, default=False
        Whether 1 is added to the weight of each class in a leaf. True is ``-A`` of J48.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``, if it has names.
    columns_ : Columns
        Levels of the columns.
    tree_ : tuple of two ndarrays with n_nodes rows each
        Whole numbers and real numbers of the nodes. ``probcal.learners.c45.tree`` names their columns. Node 0 is the
        root.

    See Also
    --------
    WekaClassifier : Runs J48 itself, in Java.
    sklearn.tree.DecisionTreeClassifier : Grows trees of another kind, CART, and takes no nominal columns.
    probcal.BaggedVoteClassifier : Takes the mean of many trees, for better probabilities.
    probcal.ProbingClassifier : Turns the labels of many trees into probabilities.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from probcal.learners import C45Classifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> for confidence in (0.25, 0.01):
    ...     tree = C45Classifier(confidence=confidence).fit(X[:300], y[:300])
    ...     print(len(tree.tree_[0]), "nodes,", round(tree.score(X[300:], y[300:]), 2), "right")
    19 nodes, 0.92 right
    11 nodes, 0.93 right
    """

    class_weight_shortcut = SharedInstances
    learns_in_threads = True

    constraints: ClassVar[dict[str, Constraint]] = {
        "min_samples_leaf": COUNT,
        **dict.fromkeys(("pruned", "subtree_raising", "binary_splits", "laplace"), (True, False)),
        "confidence": Rule(lambda c: isinstance(c, Real) and 0 < float(c) <= 0.5, "a number above 0 and at most 0.5"),
    }

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
        """Return the rows in codes. ``fit`` accepts the result any number of times instead of ``X``.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows, as in ``fit``.

        Returns
        -------
        Instances
            The rows in codes. Its ``take`` returns samples.

        Raises
        ------
        TypeError
            If a column is neither numbers nor categories, or ``X`` is sparse.
        ValueError
            If ``X`` is empty, holds infinite values, or has two columns of one name.
        """
        named = clone(self)
        return instances_of(checked_frame(named, X, fitting=True), getattr(named, "feature_names_in_", None))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> C45Classifier:
        """Grow and prune the tree.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns), or Instances
            Numbers. Columns of a frame may also hold categories, text and truth values. NaN and None are missing.
            Instances are the result of ``sort_columns``.
        y : array-like of shape (n_rows,)
            Labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, not negative. None means weight 1 for each row. A row of weight 0 still is a row for
            J48: its values bound splits.

        Returns
        -------
        C45Classifier
            The classifier itself.

        Raises
        ------
        ValueError
            If a parameter or a weight is invalid, ``X`` holds infinite values, or ``y`` has fewer than two classes.
        TypeError
            If a column is neither numbers nor categories, or ``X`` is sparse.
        CompilerMissing
            If the optional package is missing.
        """
        self.check_parameters()
        growth, tree = _compiled("growth"), _compiled("tree")
        rows = X if isinstance(X, Instances) else self.sort_columns(X)
        # of the rows, which are in codes already, only their number is checked
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
        tree.collapse(whole, real, n_classes)
        if self.pruned:
            confidence = float(np.float32(self.confidence))  # as in Weka
            tree.prune(
                whole, real, n_classes, confidence, float(ndtri(1 - confidence)), bool(self.subtree_raising),
                rows.nominal.T, rows.numbers.T, n_levels, places, classes, weights,
            )  # fmt: skip
        self.tree_ = tree.compact(whole, real)
        self._shares = tree.node_shares(*self.tree_, n_classes, bool(self.laplace))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict the probability of each class: its share in the weight of the leaf.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows with the columns of ``fit``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.

        Raises
        ------
        ValueError
            If the columns differ from those of ``fit``, or hold infinite values.
        """
        return self.probabilities(*self.coded(X))

    def coded(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the levels and the numbers of rows.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows with the columns of ``fit``.

        Returns
        -------
        nominal : ndarray of shape (n_rows, n_nominal)
            Codes of the levels, of type int32. A missing or unknown level is -1.
        numbers : ndarray of shape (n_rows, n_numeric)
            Numbers of type float64. A missing number is NaN.

        Raises
        ------
        ValueError
            If the columns differ from those of ``fit``, or hold infinite values.
        """
        check_is_fitted(self)
        return self.columns_.coded(checked_frame(self, X, fitting=False))

    def probabilities(self, nominal: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Predict the probability of each class for ``coded`` rows.

        Parameters
        ----------
        nominal : ndarray of shape (n_rows, n_nominal)
            Codes of the levels.
        numbers : ndarray of shape (n_rows, n_numeric)
            Numbers.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            What ``predict_proba`` returns.
        """
        found: np.ndarray = _compiled("tree").probabilities(
            *self.tree_, *self._shares, nominal.T, numbers.T, self.columns_.n_levels, self.columns_.places
        )
        return found

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return how to install numba if it is missing.

        Returns
        -------
        str or None
            What is missing, with the line that installs it. None if nothing is missing.
        """
        try:
            _compiled("tree")
        except CompilerMissing as error:
            return str(error)
        return None


def _in_threads(call: Callable[..., Any], *arguments: Any) -> list[Any]:
    n_threads = min(count_threads(), len(arguments[0]))
    if n_threads < 2:
        return list(map(call, *arguments))
    # threads suffice: the compiled functions release Python's lock
    with ThreadPoolExecutor(n_threads, "probcal") as pool:
        return list(pool.map(call, *arguments))


def _compiled(name: str) -> Any:
    try:
        return import_module(f"probcal.learners.c45.{name}")
    except ImportError as error:
        raise CompilerMissing(f"this tree needs numba ({error}); install it with: {INSTALL}") from None
