"""Test RescaledClassifier, and the stages of predictions before and after calibration."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from probcal import BetaCalibrationClassifier, IsotonicClassifier, RescaledClassifier, SigmoidClassifier
from tests.methods.calibrating import Given, blobs


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
