"""Test that a shared fit scores equal values once, and other values again."""

import gc
import pickle
import warnings
import weakref

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from probcal.methods._shared_fits import SharedScores, fit_or_shared
from probcal.papers.kull_silva_filho_flach_2017.learners_of_2016 import LogisticSVC

X = np.random.default_rng(0).normal(size=(60, 3))
Y = np.arange(60) % 2


class Counting(GaussianNB):
    """Count predictions in ``calls``, and warn of each."""

    calls = 0

    def predict_proba(self, X):
        type(self).calls += 1
        warnings.warn("hm", RuntimeWarning, stacklevel=1)
        return super().predict_proba(X)


@pytest.fixture
def counting():
    Counting.calls = 0
    with SharedScores().of_rows(X, Y):
        yield fit_or_shared(Counting(), X, Y, np.arange(40))


@pytest.mark.filterwarnings("ignore:hm")
@pytest.mark.parametrize("kind", [np.array, pd.DataFrame])
def test_equal_values_are_scored_once(counting, kind):
    first = counting.predict_proba(kind(X[40:]))
    first[:] = 0.0  # a method may change its copy
    again = counting.predict_proba(kind(X[40:]))
    assert Counting.calls == 1
    np.testing.assert_array_equal(again, GaussianNB().fit(X[:40], Y[:40]).predict_proba(X[40:]))


@pytest.mark.filterwarnings("ignore:hm")
def test_other_values_are_scored_again(counting):
    rows = X[40:].copy()
    before = counting.predict_proba(rows)
    rows[0] += 1.0
    after = counting.predict_proba(rows)
    assert Counting.calls == 2
    assert (before[0] != after[0]).all()
    np.testing.assert_array_equal(before[1:], after[1:])


def test_shared_prediction_repeats_its_warnings(counting):
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="hm"):
            counting.predict_proba(X)


@pytest.mark.filterwarnings("ignore:hm")
def test_pickled_fit_predicts_the_same(counting):
    again = pickle.loads(pickle.dumps(counting))
    np.testing.assert_array_equal(again.predict_proba(X), counting.predict_proba(X))


def test_shared_svm_gives_consistent_probabilities_and_scores():
    with SharedScores().of_rows(X, Y):
        fitted = fit_or_shared(LogisticSVC(), X, Y)
        p, scores = fitted.predict_proba(X), fitted.decision_function(X)
    np.testing.assert_allclose(np.log(p[:, 1] / p[:, 0]), scores, atol=1e-9)


def test_dropped_fit_is_freed_from_memory():
    fits = SharedScores()
    with fits.of_rows(X, Y):
        gone = weakref.ref(fit_or_shared(GaussianNB(), X, Y))
        gone().predict_proba(X)
    gc.disable()
    try:
        del fits
        assert gone() is None
    finally:
        gc.enable()


def test_unshared_fit_stores_no_scores():
    with SharedScores().of_rows(X, Y):
        fitted = fit_or_shared(GaussianNB(), X.copy(), Y)
    assert "predict_proba" not in vars(fitted)
