"""Test relabeling, retraining on a stream, and scores rescaled to probabilities."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from probcal import (
    BetaCalibrationClassifier,
    IsotonicClassifier,
    ProbingClassifier,
    RelabelingClassifier,
    RescaledClassifier,
    SigmoidClassifier,
)
from probcal.methods.protected import RetrainedClassifier
from probcal.methods.relabeling import relabeled
from tests.methods.calibrating import Given, blobs
from tests.stubs import Unweighted

CLASSES = np.array([0, 1])


@pytest.mark.parametrize(("p", "kept"), [(0.3, 1), (0.7, 0)])
def test_only_one_class_is_relabeled_per_threshold(p, kept):
    # below one half some negative rows become positive; above one half some positive rows become negative
    labels = np.tile([0, 1], 5000)
    changed = relabeled(labels, CLASSES, p, np.random.default_rng(0)) != labels
    assert not changed[labels == kept].any()
    # (1/2 - .3) / (1 - .3) = 2/7 and 1 - 1/1.4 = 2/7
    assert changed[labels != kept].mean() == pytest.approx(2 / 7, abs=0.02)


def test_known_probabilities_are_recovered():
    rng = np.random.default_rng(1)
    truth = np.repeat([0.1, 0.5, 0.85], 4000)
    y = (rng.random(12_000) < truth).astype(int)
    fitted = RelabelingClassifier(DecisionTreeClassifier(max_depth=3), 31, random_state=0).fit(truth[:, None], y)
    assert fitted.predict_proba([[0.1], [0.5], [0.85]])[:, 1] == pytest.approx([0.1, 0.5, 0.85], abs=0.05)


def test_unweighted_learner_gets_all_rows_at_every_threshold():
    X, y = np.arange(60.0)[:, None], np.tile([0, 1], 30)
    relabeling = RelabelingClassifier(Unweighted(), 3, random_state=0).fit(X, y)
    assert [len(one.X_) for one in relabeling.estimators_] == [60] * 3


def test_thresholds_and_interval_predictions_equal_those_of_probing():
    X, y = np.arange(60.0)[:, None], np.tile([0, 1], 30)
    relabeling = RelabelingClassifier(Unweighted(), 5, discretisation="train", random_state=0).fit(X, y)
    probing = ProbingClassifier(Unweighted(), 5, random_state=0).fit(X, y)
    assert np.array_equal(relabeling.thresholds_, probing.thresholds_)
    assert np.array_equal(relabeling.probabilities_, probing.probabilities_)


def test_default_thresholds_are_evenly_spaced():
    X, y = np.arange(60.0)[:, None], np.tile([0, 1], 30)
    assert np.allclose(RelabelingClassifier(Unweighted(), 9).fit(X, y).thresholds_, np.arange(1, 10) / 10)


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


def given(scores):
    """Return rows whose first column is the score of the classifier ``Given``."""
    return np.asarray(scores, dtype=float)[:, None]


def test_training_score_range_becomes_0_to_1_with_clipping():
    fitted = RescaledClassifier(Given()).fit(given([-2, 0, 6]), [0, 1, 1])
    # (0 + 2) / 8 and (2 + 2) / 8; -3 and 7 are outside the training scores
    assert fitted.predict_proba(given([-3, -2, 0, 2, 6, 7]))[:, 1].tolist() == [0, 0, 0.25, 0.5, 1, 1]


def test_rows_of_weight_0_do_not_change_the_range():
    fitted = RescaledClassifier(Given()).fit(given([-2, 0, 6, 99]), [0, 1, 1, 0], [1, 1, 1, 0])
    assert (fitted.least_.tolist(), fitted.greatest_.tolist()) == ([-2], [6])


def test_equal_training_scores_become_one_half():
    fitted = RescaledClassifier(Given()).fit(given([3, 3]), [0, 1])
    assert fitted.predict_proba(given([2, 3, 4]))[:, 1].tolist() == [0.5, 0.5, 0.5]


def test_learner_without_decision_function_is_rescaled_by_log_odds():
    X, y = blobs(100, 2)
    fitted = RescaledClassifier(GaussianNB()).fit(X, y)
    p = fitted.estimator_.predict_proba(X)
    odds = np.log(p[:, 1] / p[:, 0])
    expected = (odds - odds.min()) / (odds.max() - odds.min())
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], expected, atol=1e-9)


@pytest.mark.parametrize("scores", [[np.nan, 0, 1], [-np.inf, 0, 1]])
def test_nonfinite_scores_are_rejected(scores):
    with pytest.raises(ValueError, match="only finite scores can be rescaled"):
        RescaledClassifier(Given()).fit(given(scores), [0, 1, 1])


@pytest.mark.parametrize("method", [IsotonicClassifier, SigmoidClassifier, BetaCalibrationClassifier])
@pytest.mark.parametrize("calibration", ["train", "holdout", "cross_val"])
def test_both_stages_come_from_one_fitted_learner(method, calibration):
    X, y = blobs(200, 3)
    fitted = method(LogisticRegression(), calibration=calibration, ensemble=False, random_state=0).fit(X, y)
    before, after = fitted.staged_predict_proba(X)
    np.testing.assert_array_equal(before, fitted.estimator_.predict_proba(X))
    np.testing.assert_array_equal(after, fitted.predict_proba(X))


def test_first_stage_is_the_mean_over_folds():
    X, y = blobs(200, 3)
    fitted = SigmoidClassifier(LogisticRegression(), random_state=0).fit(X, y)
    before, after = fitted.staged_predict_proba(X)
    np.testing.assert_allclose(before, np.mean([one.predict_proba(X) for one in fitted.estimators_], axis=0))
    np.testing.assert_array_equal(after, fitted.predict_proba(X))


def test_learner_without_probabilities_has_no_stages():
    X, y = blobs(60, 2)
    assert not hasattr(IsotonicClassifier(LinearSVC()), "staged_predict_proba")
    assert not hasattr(IsotonicClassifier(LinearSVC()).fit(X, y), "staged_predict_proba")
    assert hasattr(IsotonicClassifier(LinearSVC(), scores="rescaled"), "staged_predict_proba")
