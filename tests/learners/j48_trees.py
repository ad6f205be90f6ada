"""Provide the trees of J48 and of C45Classifier in one form, and the tables for their comparison."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris

from probcal.learners.c45.tree import ATTRIBUTE, COUNTS, CUT, FIRST_CHILD, N_CHILDREN

OPTIONS = {
    "": {},
    "-U": {"pruned": False},
    "-B": {"binary_splits": True},
    "-U -B": {"pruned": False, "binary_splits": True},
    "-S": {"subtree_raising": False},
    "-A": {"laplace": True},
    "-C 0.1 -M 5": {"confidence": 0.1, "min_samples_leaf": 5},
    "-C 0.5 -M 1 -B -A": {"confidence": 0.5, "min_samples_leaf": 1, "binary_splits": True, "laplace": True},
}
"""Options of J48 -> the same as parameters of C45Classifier."""

WEIGHTINGS = {
    "ones": lambda y: np.ones(len(y)),
    "classes": lambda y: np.where(y == 0, 1.0, 0.37),
    "rows": lambda y: 0.25 + (np.arange(len(y)) * 37 % 101) / 50,
}


def mixed_table(n_classes):
    """Return (frame, labels): numbers and categories, with missing values in both kinds."""
    X, y = (load_iris if n_classes == 3 else load_breast_cancer)(return_X_y=True, as_frame=True)
    X, y = X.iloc[:, :8].copy(), y.to_numpy().copy()
    row = np.arange(len(X))
    y[row % 9 == 0] = (y[row % 9 == 0] + 1) % n_classes  # label noise, so that pruning changes the tree
    for place, name in enumerate(list(X.columns)):
        if place % 3 == 1:
            X[name] = pd.cut(X[name], 4 + place, labels=[f"level {level}" for level in range(4 + place)])
        if place % 2:
            X.loc[(row * (7 + place)) % 11 == 0, name] = np.nan
    return X, y


def native_tree(fitted, node=0):
    """Return the nested tree of a C45Classifier: [column, cut, children] or the class weights of a leaf."""
    whole, real = fitted.tree_
    if whole[node, ATTRIBUTE] < 0:
        return [round(weight, 8) for weight in real[node, COUNTS : COUNTS + len(fitted.classes_)].tolist()]
    begin, n = whole[node, FIRST_CHILD].item(), whole[node, N_CHILDREN].item()
    children = [native_tree(fitted, child) for child in range(begin, begin + n)]
    cut = real[node, CUT].item()
    is_multiway = fitted.columns_.levels[whole[node, ATTRIBUTE]] is not None and not fitted.binary_splits
    return [whole[node, ATTRIBUTE].item(), None if is_multiway else cut, children]


def weka_tree(fitted):
    """Return the nested tree of a fitted WekaClassifier of J48."""
    return _nested(_field(fitted.java_, "m_root"), len(fitted.classes_))


def _nested(tree, n_classes):
    model = tree.getLocalModel()
    if tree.isLeaf():
        return [round(float(model.distribution().perClass(kind)), 8) for kind in range(n_classes)]
    children = [_nested(son, n_classes) for son in tree.getSons()]
    cut = float(_field(model, "m_splitPoint"))
    return [int(model.attIndex()), None if cut > 1e300 else cut, children]


def _field(java, name):
    kind = java.getClass()
    while True:
        fields = {str(field.getName()): field for field in kind.getDeclaredFields()}
        if name in fields:
            fields[name].setAccessible(True)
            return fields[name].get(java)
        kind = kind.getSuperclass()
