"""Test RetrainedClassifier, a learner that is fitted again along a stream."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from probcal.methods.protected import RetrainedClassifier


def stream(n=60):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, "yes", "no")


def test_each_block_is_predicted_from_all_earlier_rows():
    X, y = stream()
    found = RetrainedClassifier(GaussianNB(), every=15).fit(X[:20], y[:20]).predict_proba_online(X[20:], y[20:])
    expected = [GaussianNB().fit(X[:k], y[:k]).predict_proba(X[k : min(k + 15, 60)]) for k in (20, 35, 50)]
    assert found.tolist() == np.concatenate(expected).tolist()


def test_stream_leaves_the_fitted_classifier_unchanged():
    X, y = stream()
    method = RetrainedClassifier(GaussianNB(), every=5).fit(X[:20], y[:20])
    before = method.predict_proba(X)
    once, twice = (method.predict_proba_online(X[20:], y[20:]) for _ in range(2))
    assert once.tolist() == twice.tolist() and method.predict_proba(X).tolist() == before.tolist()


@pytest.mark.parametrize("kind", [pd.DataFrame, csr_matrix])
def test_frames_and_sparse_rows_are_joined(kind):
    X, y = stream()
    expected, found = (
        RetrainedClassifier(LogisticRegression(), every=15).fit(a[:20], y[:20]).predict_proba_online(a[20:], y[20:])
        for a in (X, kind(X))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize(("frequency_weights", "of_training_rows"), [(False, 1.0), (True, 2.0)])
def test_stream_rows_weigh_as_much_as_a_mean_training_row(frequency_weights, of_training_rows):
    X, y = stream()
    weighted = RetrainedClassifier(GaussianNB(), every=15)
    weighted.fit(X[:20], y[:20], np.full(20, 2.0), frequency_weights=frequency_weights)
    weights = np.repeat([of_training_rows, 1.0], [20, 15])
    expected = GaussianNB().fit(X[:35], y[:35], weights).predict_proba(X[35:50])
    assert weighted.predict_proba_online(X[20:50], y[20:50])[15:].tolist() == expected.tolist()


def test_predictions_are_clipped():
    X, y = stream()
    found = RetrainedClassifier(GaussianNB(), clip=(0.2, 0.8)).fit(X[:20], y[:20]).predict_proba_online(X, y)
    assert found.min() == pytest.approx(0.2) and found.max() == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("y", "message"), [(["maybe"] * 60, "labels that no training row has"), (["yes"], "for each of 60 rows")]
)
def test_invalid_labels_are_rejected(y, message):
    X, labels = stream()
    method = RetrainedClassifier(GaussianNB()).fit(X, labels)
    with pytest.raises(ValueError, match=message):
        method.predict_proba_online(X, y)


@pytest.mark.parametrize("every", [0, 1.5, True, "10"])
def test_invalid_every_is_rejected(every):
    X, y = stream()
    with pytest.raises(ValueError, match="every must be a whole number from 1"):
        RetrainedClassifier(GaussianNB(), every=every).fit(X, y)
