"""Test that C45Classifier gives the same trees, node for node, and the same probabilities as Weka's J48."""

import numpy as np
import pandas as pd
import pytest

from probcal.learners import WekaClassifier
from tests.learners.j48_trees import OPTIONS, WEIGHTINGS, mixed_table, native_tree, weka_tree

pytest.importorskip("numba", reason="needs the extra trees")
pytest.importorskip("jpype", reason="needs the extra weka")

from probcal.learners import C45Classifier

pytestmark = pytest.mark.java


def both(X, y, options, weights=None):
    weka = WekaClassifier(options=options).fit(X, y, sample_weight=weights)
    return weka, C45Classifier(**OPTIONS[options]).fit(X, y, sample_weight=weights)


def same(X, y, options, weights=None):
    weka, native = both(X, y, options, weights)
    assert native_tree(native) == weka_tree(weka)
    assert np.abs(native.predict_proba(X) - weka.predict_proba(X)).max() < 1e-9


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_equal_the_trees_of_j48(options, weighting, n_classes):
    X, y = mixed_table(n_classes)
    same(X, y, options, WEIGHTINGS[weighting](y))


@pytest.mark.parametrize("options", ["", "-B"])
def test_bootstrap_samples_give_the_trees_of_j48(options):
    X, y = mixed_table(2)
    for seed in range(10):
        rows = np.random.default_rng(seed).integers(0, len(y), len(y))
        same(X.iloc[rows], y[rows], options)


def test_rows_of_weight_zero_limit_splits_as_in_j48():
    X, y = mixed_table(2)
    same(X, y, "", (np.arange(len(y)) % 3).astype(float))


def test_close_values_are_not_split_as_in_j48():
    near = np.repeat(np.arange(40), 3) * 6e-6 + np.tile([0.0, 4e-7, 3e-6], 40)
    same(pd.DataFrame({"near": near}), (near > 1.2e-4).astype(int), "-U")


def test_many_levels_are_excluded_from_the_average_as_in_j48():
    X, y = mixed_table(3)
    X["row"] = pd.Categorical(np.arange(len(y)) // 2)
    same(X, y, "-U")
    same(X[["row"]], y, "-U")


def test_text_and_truth_values_are_nominal_as_for_j48():
    y = np.arange(60) % 2
    X = pd.DataFrame({"text": np.where(np.arange(60) % 7, "b", "a"), "truth": (np.arange(60) % 3 == 0) ^ (y == 1)})
    same(X, y, "-U -B")


def test_levels_unknown_to_fit_are_missing_as_in_j48():
    X, y = mixed_table(2)
    weka, native = both(X.iloc[:300], y[:300], "")
    X = X.iloc[300:].apply(lambda column: column.astype(object) if column.dtype == "category" else column)
    X.iloc[::3, 1] = "unknown"
    assert np.abs(native.predict_proba(X) - weka.predict_proba(X)).max() < 1e-9
