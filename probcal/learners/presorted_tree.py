"""A decision tree on columns that are sorted once for many fits, with other weights or on samples of the rows."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal
from zlib import crc32

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from probcal._validation import check_choices, check_counts
from probcal.errors import ProbcalError
from probcal.learners.sorted_columns import SortedColumns, sort_columns
from probcal.methods._base import class_labels, row_weights

INSTALL = "pip install 'probcal[trees]'"
_BLOCK = 4096
"""Number of rows of a sparse matrix that are made dense at once for prediction."""


class NumbaMissing(ProbcalError, ImportError):
    """The compiler that grows the trees is not installed."""


class SharedColumns:
    """Sort the columns once for the trees of all class weights: the shortcut of ``PresortedTreeClassifier``."""

    def __init__(self) -> None:
        self._columns: SortedColumns | None = None
        self._table: Any = None
        self._trees: list[Any] = []  # of the last fit
        self._answers: list[np.ndarray] = []  # the prediction of each tree for its training rows

    def fit(
        self, estimator: Any, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[Any]:
        """Return a tree for each row of ``class_weights``, (k, 2), identical to that of ``estimator`` itself."""
        if self._columns is None:
            self._columns, self._table = estimator.sort_columns(X), X
        names, classes = np.unique(labels, return_inverse=True)
        own = 1.0 if row_weights is None else row_weights
        self._trees, self._answers = [], []
        for weights in class_weights:
            tree = clone(estimator)
            leaf = tree.grow(self._columns, classes, weights[classes] * own)
            tree.classes_ = names
            self._trees.append(tree)
            if leaf is not None:
                self._answers.append(tree.predicts_second()[leaf])
        return list(self._trees)

    def margins(self, classifiers: list[Any], X: Any) -> tuple[np.ndarray, float]:
        """Return ((n_rows, k), 0): 1 where a tree predicts the second class, and -1 otherwise, without error."""
        if X is self._table and _same_objects(classifiers, self._trees) and len(self._answers) == len(classifiers):
            answers = self._answers
        else:
            found = leaves_of(classifiers, classifiers[0].checked(X))
            answers = [tree.predicts_second()[leaf] for tree, leaf in zip(classifiers, found, strict=True)]
        return np.where(np.column_stack(answers), 1.0, -1.0), 0.0


class PresortedTreeClassifier(ClassifierMixin, BaseEstimator):
    """Grow a decision tree with scikit-learn's splits, several times as fast for many trees on one table.

    Among equally pure splits scikit-learn draws one. Here each node begins with another column, drawn from the first
    class's share of the weight. So probes differ as under other seeds, and a fit is repeatable. Numbers are compared as
    float64, not float32. Columns must be numeric, dense or sparse, without missing values. It needs ``probcal[trees]``.
    The first fit on a machine takes some seconds to compile.

    The columns are sorted once (Mehta, Agrawal & Rissanen 1996, "SLIQ") and stay sorted from node to node (Shafer,
    Agrawal & Mehta 1996, "SPRINT"). Nothing is binned, so weights and repeated rows give the exact tree.

    Parameters
    ----------
    criterion : ``"gini"`` or ``"entropy"``, the impurity that a split lowers.
    max_depth : largest number of splits between the root and a leaf. None means no limit.
    min_samples_leaf : least number of rows in each leaf, whatever their weight. Rows of weight 0 do not count.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    n_features_in_, feature_names_in_ : number and names of the columns of X, if it has them.
    feature_ : (n_nodes,) int, the column that a node splits, and -1 in a leaf. Node 0 is the root.
    threshold_ : (n_nodes,) the largest value that goes to the left.
    left_ : (n_nodes,) int, the node on the left. The node on the right is the next one.
    value_ : (n_nodes, n_classes) the share of each class in the weight of a node.
    """

    class_weight_shortcut = SharedColumns

    def __init__(
        self,
        criterion: Literal["gini", "entropy"] = "gini",
        *,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf

    def sort_columns(self, X: Any) -> SortedColumns:
        """Return ``X``, (n_rows, n_columns), with sorted columns. ``fit`` accepts it any number of times instead of X.

        Its ``take`` returns samples. Raises ValueError for missing and infinite values and for anything but a table of
        numbers.
        """
        named = clone(self)
        checked = validate_data(named, X, accept_sparse="csc", dtype=np.float64)
        return sort_columns(checked, getattr(named, "feature_names_in_", None))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PresortedTreeClassifier:
        """Grow the tree. Rows of weight 0 are left out.

        Parameters
        ----------
        X : rows, (n_rows, n_columns), or the result of ``sort_columns``.
        y : labels, (n_rows,).
        sample_weight : weights, (n_rows,), not negative, or None.

        Raises
        ------
        ValueError
            For an invalid parameter, missing or infinite values, fewer than two classes, and invalid weights.
        NumbaMissing
            Without the optional package.
        """
        self.grow(X, y, sample_weight)
        return self

    def grow(self, X: Any, y: Any, sample_weight: Any = None) -> np.ndarray | None:
        """Fit the tree, and return the leaf of each row, (n_rows,), or None if some rows have weight 0."""
        self.check_parameters()
        growth = _compiled()
        columns = X if isinstance(X, SortedColumns) else self.sort_columns(X)
        labels, self.classes_ = class_labels(np.empty((columns.n_rows, 0)), y)
        self._set_names(columns)
        classes = np.searchsorted(self.classes_, labels).astype(np.int32)
        weights = row_weights(sample_weight, len(labels))
        weights = np.ones(len(labels)) if weights is None else weights
        if not weights.all():
            rows = np.flatnonzero(weights)
            columns, classes, weights = columns.take(rows), classes[rows], weights[rows]
        by_class = _by_class(classes, weights, len(self.classes_))
        leaf = self._grow(growth, columns, classes, by_class, weights)
        return leaf if len(leaf) == len(labels) else None

    def apply(self, X: Any) -> np.ndarray:
        """Return the leaf of each row, (n_rows,), as a node number."""
        (leaves,) = leaves_of([self], self.checked(X))
        return np.asarray(leaves)

    def checked(self, X: Any) -> Any:
        """Return ``X`` as ``leaves_of`` takes it. Raises ValueError for a table with other columns than in ``fit``."""
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return (n_rows, n_classes) probabilities: the share of each class in the weight of the leaf."""
        leaf = self.apply(X)
        shares: np.ndarray = self.value_[leaf]
        return shares

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels, (n_rows,). The first class wins a tie."""
        leaf = self.apply(X)
        labels: np.ndarray = self.classes_[self.value_.argmax(axis=1)[leaf]]
        return labels

    def predicts_second(self) -> np.ndarray:
        """Return whether each node predicts the second class, (n_nodes,) bool."""
        second: np.ndarray = self.value_[:, 1] > self.value_[:, 0]
        return second

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return the install command if numba is missing, and None otherwise."""
        try:
            _compiled()
        except NumbaMissing as error:
            return str(error)
        return None

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter."""
        check_choices(self, {"criterion": ("gini", "entropy")})
        check_counts(self, "min_samples_leaf")
        if self.max_depth is not None:
            check_counts(self, "max_depth")

    def _grow(
        self, growth: Any, columns: SortedColumns, classes: np.ndarray, by_class: np.ndarray | None, weights: np.ndarray
    ) -> np.ndarray:
        n_rows, n_columns, n_classes = len(classes), len(columns.common), len(self.classes_)
        counted = by_class is not None and n_classes == 2
        is_sorted = np.diff(columns.first) > (2 if counted else 0)
        begins, listed = growth.listed_by(columns.entries, columns.ends, ~is_sorted, n_rows)
        most = 2 * n_rows  # nodes
        feature, left = np.zeros((2, most), dtype=np.int32)
        below, above = np.zeros((2, most), dtype=np.int64)
        value, leaf = np.zeros((most, n_classes)), np.zeros(n_rows, dtype=np.int32)
        n_nodes = growth.grow(
            columns.entries.copy(),
            columns.ends,
            columns.common,
            begins,
            listed,
            is_sorted,
            classes,
            np.ones(n_classes) if by_class is None else by_class,
            weights if by_class is None else np.empty(0),
            self.criterion == "entropy",
            self.min_samples_leaf,
            np.iinfo(np.int64).max if self.max_depth is None else self.max_depth,
            _draw(classes, weights),
            feature,
            below,
            above,
            left,
            value,
            leaf,
            np.arange(n_rows),
            np.zeros(n_rows, dtype=bool),
            np.empty(n_rows, dtype=np.int64),
            np.zeros((64, 4), dtype=np.int64),
            np.zeros((64, 2, n_columns), dtype=np.int64),
            np.zeros((3, n_columns), dtype=np.int64),
            np.zeros((64, n_columns if counted else 0, 2), dtype=np.int64),
        )
        self.left_, feature = left[:n_nodes].copy(), feature[:n_nodes]
        self.feature_ = np.where(self.left_ > 0, feature, np.int32(-1))
        low, high = (columns.values[columns.first[feature] + codes[:n_nodes]] for codes in (below, above))
        self.threshold_ = np.where(self.left_ > 0, _between(low, high), 0.0)
        self.value_ = value[:n_nodes] / value[:n_nodes].sum(axis=1, keepdims=True)
        return leaf

    def _set_names(self, columns: SortedColumns) -> None:
        self.n_features_in_ = len(columns.common)
        if columns.names is not None:
            self.feature_names_in_ = columns.names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def leaves_of(trees: list[Any], X: Any) -> np.ndarray:
    """Return the leaf of each row of ``X`` in each tree, (n_trees, n_rows). ``X`` is from ``checked`` of a tree."""
    compiled = _compiled()
    roots = np.cumsum([0, *(len(tree.left_) for tree in trees)])[:-1]
    nodes = np.empty(sum(len(tree.left_) for tree in trees), dtype=compiled.NODE)
    for tree, root in zip(trees, roots, strict=True):
        own = nodes[root : root + len(tree.left_)]
        inner = tree.left_ > 0
        own["left"] = root + np.where(inner, tree.left_, np.arange(len(own)))
        own["feature"] = np.where(inner, tree.feature_, 0)
        own["threshold"] = np.where(inner, tree.threshold_, np.inf)
    blocks = [X] if not sp.issparse(X) else (X[at : at + _BLOCK].toarray() for at in range(0, X.shape[0], _BLOCK))
    found = [compiled.leaves(block, nodes, roots.astype(np.uint32)) for block in blocks]
    leaves: np.ndarray = np.concatenate(found, axis=1) - roots[:, None]
    return leaves


def _between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    middle = low / 2 + high / 2
    return np.where(middle >= high, low, middle)  # neighbouring floats, or so small that half of one is rounded


def _same_objects(some: list[Any], others: list[Any]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))


def _by_class(classes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray | None:
    """Return the weight of a row of each class, (n_classes,), or None if the weights within a class differ."""
    by_class = np.ones(n_classes)
    by_class[classes] = weights
    return by_class if np.array_equal(by_class[classes], weights) else None


def _draw(classes: np.ndarray, weights: np.ndarray) -> int:
    """Return a whole number that depends on the first class's share of the weight."""
    share = weights[classes == 0].sum() / weights.sum()
    return crc32(f"{share:.12g}".encode()) % 2**31  # the last digit may differ between machines


def _compiled() -> Any:
    try:
        return import_module("probcal.learners.tree_growth")
    except ImportError as error:
        raise NumbaMissing(f"this tree needs numba ({error}); install it with: {INSTALL}") from None
