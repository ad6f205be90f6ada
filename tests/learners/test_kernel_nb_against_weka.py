"""Test KernelNaiveBayes against Weka's NaiveBayes -K.

Weka stops the sum of kernels on each side when the rest adds less than 1 %. Its density is up to 2 % too small.
Weka computes a density as the difference of two numbers near 1. A density below 1e-13 is therefore noise in Weka.
"""

import numpy as np
import pandas as pd
import pytest

from probcal.learners import KernelNaiveBayes, WekaClassifier

pytestmark = pytest.mark.java
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
