"""Provide tables and class weights for tests of support vector machines."""

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.preprocessing import StandardScaler

tables = st.tuples(st.integers(0, 10**6), st.integers(4, 40), st.integers(1, 4), st.sampled_from([1, 3, 1000]))
"""Seed, rows, columns, and how many values on each side of 0."""


def table_of(table, duplicated, collinear, separable):
    """Return (X, labels) of one of ``tables``, with both classes present."""
    seed, n_rows, n_columns, n_values = table
    random = np.random.default_rng(seed)
    X = random.integers(-n_values, n_values + 1, (n_rows, n_columns)) / n_values
    labels = (X[:, 0] > 0).astype(int) if separable else random.integers(0, 2, n_rows)
    labels[:2] = 0, 1
    if duplicated:
        X, labels = np.repeat(X, 3, axis=0), np.repeat(labels, 3)
    return (np.column_stack([X, X[:, 0], 2 * X[:, -1]]) if collinear else X), labels


def overlapping(n_rows=600, n_columns=8, seed=0):
    """Return (X, labels) of two classes that overlap. About 30 % of the rows are positive."""
    random = np.random.default_rng(seed)
    labels = (random.random(n_rows) < 0.3).astype(int)
    return random.standard_normal((n_rows, n_columns)) + 0.4 * labels[:, None], labels


def real_and_drawn():
    """Return name -> (X, labels), two classes each. The columns of "cancer as it is" are far from 0."""
    cancer, kinds = load_breast_cancer(return_X_y=True)
    wine, wines = load_wine(return_X_y=True)
    iris, irises = load_iris(return_X_y=True)
    return {
        "cancer": (StandardScaler().fit_transform(cancer), kinds),
        "cancer as it is": (cancer, kinds),
        "wine": (StandardScaler().fit_transform(wine), wines == 1),
        "iris": (iris, np.where(irises == 1, "versicolor", "other")),
        "overlapping": overlapping(),
        "few positives": make_classification(2000, 12, weights=[0.97], flip_y=0.02, random_state=1),
    }


def class_weights(n_thresholds=19):
    """Return (n_thresholds, 2): the weights 1 and (1 - p) / p for evenly spaced p."""
    thresholds = np.arange(1, n_thresholds + 1) / (n_thresholds + 1)
    return np.column_stack([np.ones(n_thresholds), (1 - thresholds) / thresholds])


def duality_gap(classifier, X, labels, limits):
    """Return the relative duality gap of the best multipliers and their imbalance between the classes."""
    signs = np.where(labels == classifier.classes_[1], 1.0, -1.0)
    gaps = 1 - signs * classifier.decision_function(X)
    on = np.abs(gaps) < 1e-9
    rows = signs[:, None] * np.column_stack([X, np.ones(len(X))])
    multipliers = np.where(gaps > 0, limits, 0)
    multipliers[on] = 0
    if on.any():
        left = np.append(classifier.coef_[0], 0) - multipliers @ rows
        multipliers[on] = lsq_linear(rows[on].T, left, (0, limits[on]), method="bvls", tol=1e-14).x
    summed = multipliers @ rows
    primal = classifier.coef_[0] @ classifier.coef_[0] / 2 + limits @ np.maximum(gaps, 0)
    dual = multipliers.sum() - summed[:-1] @ summed[:-1] / 2
    return abs(primal - dual) / primal, abs(summed[-1]) / multipliers.sum()
