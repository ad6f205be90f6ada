"""RescaledClassifier, and isotonic calibration of rescaled scores with its estimates before and after."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from probcal import BetaCalibrationClassifier, IsotonicClassifier, RescaledClassifier, SigmoidClassifier
from tests.methods.calibrating import Given, blobs, noisy


def given(scores):
    """Rows whose first column is the score of the classifier ``Given``."""
    return np.asarray(scores, dtype=float)[:, None]


def test_the_least_and_greatest_training_score_become_0_and_1_and_others_are_cut_off():
    fitted = RescaledClassifier(Given()).fit(given([-2, 0, 6]), [0, 1, 1])
    # (0 + 2) / 8 and (2 + 2) / 8; -3 and 7 lie beyond the training scores
    assert fitted.predict_proba(given([-3, -2, 0, 2, 6, 7]))[:, 1].tolist() == [0, 0, 0.25, 0.5, 1, 1]


def test_rows_of_weight_0_do_not_stretch_the_range():
    fitted = RescaledClassifier(Given()).fit(given([-2, 0, 6, 99]), [0, 1, 1, 0], [1, 1, 1, 0])
    assert (fitted.least_.tolist(), fitted.greatest_.tolist()) == ([-2], [6])


def test_one_score_for_all_training_rows_is_one_half():
    fitted = RescaledClassifier(Given()).fit(given([3, 3]), [0, 1])
    assert fitted.predict_proba(given([2, 3, 4]))[:, 1].tolist() == [0.5, 0.5, 0.5]


def test_a_learner_without_a_decision_function_is_rescaled_by_its_log_odds():
    X, y = blobs(100, 2)
    fitted = RescaledClassifier(GaussianNB()).fit(X, y)
    p = fitted.estimator_.predict_proba(X)
    odds = np.log(p[:, 1] / p[:, 0])
    expected = (odds - odds.min()) / (odds.max() - odds.min())
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], expected, atol=1e-9)


@pytest.mark.parametrize("scores", [[np.nan, 0, 1], [-np.inf, 0, 1]])
def test_scores_that_are_no_finite_numbers_are_refused(scores):
    with pytest.raises(ValueError, match="only finite scores can be rescaled"):
        RescaledClassifier(Given()).fit(given(scores), [0, 1, 1])


def test_the_range_is_that_of_the_rows_that_the_learner_learned_from_not_of_the_validation_rows():
    X, y = blobs(300, 2)
    fitted = IsotonicClassifier(LinearSVC(), scores="rescaled", calibration="holdout", holdout_size=100, random_state=0)
    fitted.fit(X, y)
    scores = fitted.estimator_.estimator_.decision_function(X)
    inside = (scores >= fitted.estimator_.least_) & (scores <= fitted.estimator_.greatest_)
    # both ends are scores of training rows, and of 100 rows that were kept aside some may lie beyond
    assert np.isin([fitted.estimator_.least_, fitted.estimator_.greatest_], scores).all()
    assert inside.sum() >= 200


def test_before_is_the_rescaled_score_and_after_the_map_of_it():
    X, y = blobs(400, 2)
    fitted = IsotonicClassifier(LinearSVC(), scores="rescaled", calibration="holdout", holdout_size=100, random_state=0)
    fitted.fit(X, y)
    before, after = fitted.staged_predict_proba(X)
    np.testing.assert_array_equal(before, fitted.estimator_.predict_proba(X))
    np.testing.assert_array_equal(after, fitted.predict_proba(X))
    np.testing.assert_array_equal(after[:, 1], fitted.calibrator_.maps_[0](before[:, 1]))


@pytest.mark.parametrize("method", [IsotonicClassifier, SigmoidClassifier, BetaCalibrationClassifier])
@pytest.mark.parametrize("calibration", ["train", "holdout", "cross_val"])
def test_before_and_after_come_from_one_fitted_learner(method, calibration):
    X, y = blobs(200, 3)
    fitted = method(LogisticRegression(), calibration=calibration, ensemble=False, random_state=0).fit(X, y)
    before, after = fitted.staged_predict_proba(X)
    np.testing.assert_array_equal(before, fitted.estimator_.predict_proba(X))
    np.testing.assert_array_equal(after, fitted.predict_proba(X))


def test_before_is_the_mean_of_the_folds_own_probabilities():
    X, y = blobs(200, 3)
    fitted = SigmoidClassifier(LogisticRegression(), random_state=0).fit(X, y)
    before, after = fitted.staged_predict_proba(X)
    np.testing.assert_allclose(before, np.mean([one.predict_proba(X) for one in fitted.estimators_], axis=0))
    np.testing.assert_array_equal(after, fitted.predict_proba(X))


def test_without_estimates_before_there_are_no_stages():
    X, y = blobs(60, 2)
    assert not hasattr(IsotonicClassifier(LinearSVC()), "staged_predict_proba")
    assert not hasattr(IsotonicClassifier(LinearSVC()).fit(X, y), "staged_predict_proba")
    assert hasattr(IsotonicClassifier(LinearSVC(), scores="rescaled"), "staged_predict_proba")


def test_calibration_keeps_the_order_of_rescaled_scores_as_of_any_others():
    scores, y = noisy(500)
    X = given(scores)
    plain, rescaled = (
        IsotonicClassifier(LogisticRegression(), scores=one, calibration="holdout", random_state=0)
        .fit(X, y)
        .estimator_.predict_proba(X)[:, 1]
        for one in ("decision_function", "rescaled")
    )
    assert (np.argsort(plain, kind="stable") == np.argsort(rescaled, kind="stable")).mean() > 0.99
