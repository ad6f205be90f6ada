"""Test the mean of fold classifiers, the mean of fold maps, the map of the mean, and logistic calibration."""

from typing import get_args

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from probcal import (
    BetaCalibrator,
    DirectClassifier,
    FoldMeanClassifier,
    IsotonicCalibrator,
    LogisticCalibrator,
    MapOfMeanClassifier,
    MeanMapClassifier,
    SigmoidClassifier,
)
from probcal.papers.berta_holzmueller_bach_jordan_2026.map_of_mean import MapName

X, Y = load_breast_cancer(return_X_y=True)
BETA = {"": "abm", "_am": "am", "_ab": "ab"}
TRAIN, TEST = np.arange(0, len(Y), 2), np.arange(1, len(Y), 2)


def test_fold_mean_is_the_mean_over_fold_classifiers():
    pairs = list(StratifiedKFold(3).split(X[TRAIN], Y[TRAIN]))
    found = FoldMeanClassifier(GaussianNB(), cv=pairs).fit(X[TRAIN], Y[TRAIN]).predict_proba(X[TEST])
    by_hand = [GaussianNB().fit(X[TRAIN][learn], Y[TRAIN][learn]).predict_proba(X[TEST]) for learn, _ in pairs]
    np.testing.assert_allclose(found, np.mean(by_hand, axis=0), atol=1e-12)


def test_fold_mean_uses_the_folds_of_the_calibrators():
    mean = FoldMeanClassifier(GaussianNB(), cv=3, random_state=5).fit(X[TRAIN], Y[TRAIN])
    sigmoid = SigmoidClassifier(GaussianNB(), cv=3, ensemble=True, random_state=5).fit(X[TRAIN], Y[TRAIN])
    for one, other in zip(mean.estimators_, sigmoid.estimators_, strict=True):
        np.testing.assert_array_equal(one.theta_, other.theta_)


def test_scores_are_read_as_log_odds():
    fitted = FoldMeanClassifier(SVC(), cv=2, random_state=0).fit(X[TRAIN], Y[TRAIN])
    scores = [one.decision_function(X[TEST]) for one in fitted.estimators_]
    expected = np.mean([1 / (1 + np.exp(-one)) for one in scores], axis=0)
    np.testing.assert_allclose(fitted.predict_proba(X[TEST])[:, 1], expected, atol=1e-12)


def test_logistic_calibration_equals_unpenalised_regression_on_p():
    p = GaussianNB().fit(X[TRAIN], Y[TRAIN]).predict_proba(X[TEST])
    found = LogisticCalibrator().fit(p, Y[TEST]).predict_proba(p)
    other = LogisticRegression(C=1e11, tol=1e-10).fit(p[:, 1:], Y[TEST])
    np.testing.assert_allclose(found, other.predict_proba(p[:, 1:]), atol=1e-5)


@pytest.mark.parametrize("name", ["logistic", "isotonic", "beta", "beta_am", "beta_ab"])
def test_mean_map_averages_fold_maps_of_one_score(name):
    pairs = list(StratifiedKFold(3).split(X[TRAIN], Y[TRAIN]))
    found = MeanMapClassifier(GaussianNB(), map=name, cv=pairs, random_state=0).fit(X[TRAIN], Y[TRAIN])
    score = GaussianNB().fit(X[TRAIN], Y[TRAIN]).predict_proba(X[TEST])
    maps = []
    for learn, rows in pairs:
        inner = GaussianNB().fit(X[TRAIN][learn], Y[TRAIN][learn]).predict_proba(X[TRAIN][rows])
        made = {
            "logistic": LogisticCalibrator(clip=(0, 1)),
            "isotonic": IsotonicCalibrator("score", clip=(0, 1)),
            **{f"beta{end}": BetaCalibrator(parameters=part, targets="labels") for end, part in BETA.items()},
        }[name]
        given, asked = (inner[:, 1], score[:, 1]) if name == "isotonic" else (inner, score)
        maps.append(made.fit(given, Y[TRAIN][rows]).predict_proba(asked))
    np.testing.assert_allclose(found.predict_proba(X[TEST]), np.mean(maps, axis=0), atol=1e-12)


def test_mean_map_has_the_classifier_of_direct():
    forest = RandomForestClassifier(3)
    mapped = MeanMapClassifier(forest, cv=3, random_state=4).fit(X[TRAIN], Y[TRAIN])
    direct = DirectClassifier(forest, random_state=4).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(
        mapped.estimators_[0].predict_proba(X[TEST]), direct.estimator_.predict_proba(X[TEST])
    )


@pytest.mark.parametrize("method", [MeanMapClassifier, MapOfMeanClassifier])
def test_unknown_map_is_rejected(method):
    with pytest.raises(ValueError, match="map"):
        method(GaussianNB(), map="gamma").fit(X, Y)


@pytest.mark.parametrize("name", get_args(MapName))
def test_map_of_mean_is_applied_to_the_fold_mean(name):
    pairs = list(StratifiedKFold(3).split(X[TRAIN], Y[TRAIN]))
    found = MapOfMeanClassifier(GaussianNB(), map=name, cv=pairs, random_state=0).fit(X[TRAIN], Y[TRAIN])
    inner, rows, asked = [], [], []
    for learn, other in pairs:
        learner = GaussianNB().fit(X[TRAIN][learn], Y[TRAIN][learn])
        inner.append(learner.predict_proba(X[TRAIN][other]))
        rows.append(other)
        asked.append(learner.predict_proba(X[TEST]))
    made = found._calibrator("probability").fit(np.concatenate(inner), Y[TRAIN][np.concatenate(rows)])
    np.testing.assert_allclose(found.predict_proba(X[TEST]), made.predict_proba(np.mean(asked, axis=0)), atol=1e-12)
    before, after = found.staged_predict_proba(X[TEST])
    np.testing.assert_allclose(before, np.mean(asked, axis=0), atol=1e-12)
    np.testing.assert_array_equal(after, found.predict_proba(X[TEST]))


def test_platt_logits_equals_regression_on_log_odds():
    fitted = MapOfMeanClassifier(LogisticRegression(C=0.01), map="platt_logits", cv=3, random_state=0)
    fitted.fit(X[TRAIN, :3], Y[TRAIN])
    p = LogisticRegression(C=0.01).fit(X[TRAIN, :3], Y[TRAIN]).predict_proba(X[TEST, :3])
    odds = np.log(p[:, 1:] / p[:, :1])
    ours = fitted._calibrator("probability").fit(p, Y[TEST]).predict_proba(p)
    theirs = LogisticRegression(C=1e10, tol=1e-10).fit(odds, Y[TEST]).predict_proba(odds)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
