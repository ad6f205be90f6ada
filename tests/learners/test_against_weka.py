"""Test that C45Classifier and KernelNaiveBayes give the trees and probabilities of Weka's J48 and NaiveBayes -K."""

import numpy as np
import pandas as pd
import pytest

from probcal.learners import C45Classifier, KernelNaiveBayes, WekaClassifier
from tests.learners.j48_trees import OPTIONS, WEIGHTINGS, mixed_table, native_tree, weka_tree

pytest.importorskip("numba", reason="needs the extra trees")
pytest.importorskip("jpype", reason="needs the extra weka")


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
@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow)])
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


WEKA = 0.02


def fitted(X, y, weights=None):
    weka = WekaClassifier("bayes.NaiveBayes", "-K").fit(X, y, sample_weight=weights)
    return weka, KernelNaiveBayes().fit(X, y, sample_weight=weights)


def log_odds_of(weka, X):
    p = weka.predict_proba(X)
    return np.log(p[:, 1]) - np.log(p[:, 0])


@pytest.mark.parametrize("shape", ["normal", "whole numbers", "half missing", "skewed", "one value", "one class only"])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_numeric_column_is_within_the_error_of_weka(shape, weighted):
    random = np.random.default_rng(3)
    y = (random.random(400) < 0.3).astype(int)
    x = random.normal(size=400) + y
    x = {
        "normal": x,
        "whole numbers": np.round(3 * x),
        "half missing": np.where(random.random(400) < 0.5, np.nan, x),
        "skewed": np.exp(x),
        "one value": np.ones(400),
        "one class only": np.where(y == 1, x, np.nan),
    }[shape]
    weights = random.choice([0.25, 1.0, 3.5], 400) if weighted else None
    X = pd.DataFrame({"x": x})
    weka, ours = fitted(X, y, weights)
    theirs, sure = log_odds_of(weka, X), 30
    settled = np.abs(theirs) < sure  # with larger log-odds, one density is noise in Weka
    np.testing.assert_allclose(ours.decision_function(X)[settled], theirs[settled], rtol=0, atol=2 * WEKA)
    assert (np.abs(ours.decision_function(X)[~settled]) > sure - 1).all()
    p = ours.predict_proba(X)
    assert np.max(np.abs(p - weka.predict_proba(X))) < 0.01


@pytest.mark.parametrize("weighted", [False, True])
def test_nominal_columns_with_gaps_equal_weka(weighted, mixed_nominal):
    X, y, weights = mixed_nominal
    weka, ours = fitted(X, y, weights if weighted else None)
    np.testing.assert_allclose(ours.predict_proba(X), weka.predict_proba(X), rtol=0, atol=1e-12)


def test_new_numbers_are_rounded_as_in_weka():
    X = pd.DataFrame({"x": [0.0, 1, 1, 3, 4, 4, 9, 10]})
    weka, ours = fitted(X, [0, 1, 0, 1, 0, 1, 0, 1])
    new = pd.DataFrame({"x": np.arange(-3, 13, 0.1)})
    np.testing.assert_allclose(ours.decision_function(new), log_odds_of(weka, new), rtol=0, atol=2 * WEKA)


@pytest.fixture
def mixed_nominal():
    random = np.random.default_rng(5)
    codes = random.integers(-1, 4, (300, 3))
    columns = {f"c{i}": pd.Categorical.from_codes(codes[:, i], list("abcde")) for i in range(3)}
    return pd.DataFrame(columns), (codes.sum(axis=1) > 4).astype(int), random.choice([0.5, 1.0, 2.0], 300)
