"""A decision tree on columns that are sorted once for many fits: under other weights, or on samples of the rows."""

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
"""Rows of a sparse matrix that are written out at once to be put through the tree."""


class NumbaMissing(ProbcalError, ImportError):
    """The compiler that grows the trees is not installed."""


class SharedColumns:
    """The shortcut of ``PresortedTreeClassifier``: the columns are sorted once for the trees of all class weights."""

    def __init__(self) -> None:
        self._columns: SortedColumns | None = None
        self._table: Any = None
        self._trees: list[Any] = []  # of the last fit
        self._says: list[np.ndarray] = []  # each of its rows

    def fit(
        self, estimator: Any, X: Any, labels: np.ndarray, class_weights: np.ndarray, row_weights: np.ndarray | None
    ) -> list[Any]:
        """A tree for each row of ``class_weights``, (k, 2): what ``estimator`` itself would grow, node for node."""
        if self._columns is None:
            self._columns, self._table = estimator.sort_columns(X), X
        names, classes = np.unique(labels, return_inverse=True)
        own = 1.0 if row_weights is None else row_weights
        self._trees, self._says = [], []
        for weights in class_weights:
            tree = clone(estimator)
            leaf = tree.grow(self._columns, classes, weights[classes] * own)
            tree.classes_ = names
            self._trees.append(tree)
            if leaf is not None:
                self._says.append(tree.says_second()[leaf])
        return list(self._trees)

    def margins(self, classifiers: list[Any], X: Any) -> tuple[np.ndarray, float]:
        """((n_rows, k), 0): 1 where a tree says the second class, else -1; without error."""
        if X is self._table and _same(classifiers, self._trees) and len(self._says) == len(classifiers):
            says = self._says
        else:
            found = leaves_of(classifiers, classifiers[0].checked(X))
            says = [tree.says_second()[leaf] for tree, leaf in zip(classifiers, found, strict=True)]
        return np.where(np.column_stack(says), 1.0, -1.0), 0.0


class PresortedTreeClassifier(ClassifierMixin, BaseEstimator):
    """A decision tree with the splits of scikit-learn's, several times as fast when many are grown on one table.

    Among equally pure splits scikit-learn draws one. Here each node begins with another column, drawn from the share of
    the first class in the weight: probes differ in it as under other seeds, and a fit repeats itself. It compares
    numbers as float64, not float32. Numeric columns, dense or sparse, without missing values. Needs ``probcal[trees]``;
    the first fit on a machine takes some seconds to compile.

    The columns are sorted once (Mehta, Agrawal & Rissanen 1996, "SLIQ") and kept sorted from node to node (Shafer,
    Agrawal & Mehta 1996, "SPRINT"). Nothing is binned, so weights and repeated rows give the exact tree.

    Parameters
    ----------
    criterion : ``"gini"`` or ``"entropy"``, the impurity that a split lowers.
    max_depth : splits between the root and a leaf at most; None for no limit.
    min_samples_leaf : rows in each leaf at least, whatever they weigh, but for those that weigh nothing.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    n_features_in_, feature_names_in_ : number and names of the columns of X, where it has them.
    feature_ : (n_nodes,) int, the column that a node splits, -1 in a leaf; node 0 is the root.
    threshold_ : (n_nodes,) the value up to which a row goes to the left.
    left_ : (n_nodes,) int, the node on the left; the one on the right is the next.
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
        """``X``, (n_rows, n_columns), as ``fit`` takes it in its place any number of times, and ``take`` samples of it.

        Raises ValueError for missing and infinite values and for what is no table of numbers.
        """
        named = clone(self)
        checked = validate_data(named, X, accept_sparse="csc", dtype=np.float64)
        return sort_columns(checked, getattr(named, "feature_names_in_", None))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PresortedTreeClassifier:
        """X: (n_rows, n_columns), or what ``sort_columns`` made of it; y: (n_rows,) labels; sample_weight: (n_rows,).

        Rows that weigh nothing are left out. Raises ValueError for a parameter that is not as documented, for
        missing and infinite values, for all but two classes or more and for weights that are negative or no numbers;
        NumbaMissing without the optional package.
        """
        self.grow(X, y, sample_weight)
        return self

    def grow(self, X: Any, y: Any, sample_weight: Any = None) -> np.ndarray | None:
        """``fit``, and (n_rows,) the leaf of each row; None where some weigh nothing."""
        self.check_parameters()
        growth = _compiled("tree_growth")
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
        """(n_rows,) the node that is the leaf of each row."""
        return leaves_of([self], self.checked(X))[0]

    def checked(self, X: Any) -> Any:
        """``X`` as ``leaves_of`` takes it. Raises ValueError for what is not a table with the columns of ``fit``."""
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)

    def predict_proba(self, X: Any) -> np.ndarray:
        """(n_rows, n_classes) share of each of ``classes_`` in the weight of the leaf."""
        leaf = self.apply(X)
        return self.value_[leaf]

    def predict(self, X: Any) -> np.ndarray:
        """(n_rows,) labels; a tie goes to the first class."""
        leaf = self.apply(X)
        return self.classes_[self.value_.argmax(axis=1)[leaf]]

    def says_second(self) -> np.ndarray:
        """(n_nodes,) bool, whether a node says the second class."""
        return self.value_[:, 1] > self.value_[:, 0]

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return what to install first; None when numba is there."""
        try:
            _compiled("tree_growth")
        except NumbaMissing as error:
            return str(error)
        return None

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
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
        begins, listed = _compiled("tree_rows").listed_by(columns.entries, columns.ends, ~is_sorted, n_rows)
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
    """(n_trees, n_rows) the leaf of each row of ``X`` in each tree; one of them has ``checked`` it."""
    compiled = _compiled("tree_rows")
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
    return np.concatenate(found, axis=1) - roots[:, None]


def _between(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    middle = low / 2 + high / 2
    return np.where(middle >= high, low, middle)  # next to each other, or so small that a half rounds


def _same(some: list[Any], others: list[Any]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))


def _by_class(classes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray | None:
    """(n_classes,) what a row of each class weighs; None where the rows of one do not weigh the same."""
    by_class = np.ones(n_classes)
    by_class[classes] = weights
    return by_class if np.array_equal(by_class[classes], weights) else None


def _draw(classes: np.ndarray, weights: np.ndarray) -> int:
    """A whole number that goes with the share of the first class in the weight."""
    share = weights[classes == 0].sum() / weights.sum()
    return crc32(f"{share:.12g}".encode()) % 2**31  # the last digit may differ between machines


def _compiled(name: str) -> Any:
    try:
        return import_module(f"probcal.learners.{name}")
    except ImportError as error:
        raise NumbaMissing(f"this tree needs numba ({error}); install it with: {INSTALL}") from None
