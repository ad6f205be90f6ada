"""Test what calibrating methods share: learners, rows, labels, weights, groups, default bounds and searches."""

from functools import partial

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from probcal import BaggedVoteClassifier, MapOfMeanClassifier, MeanMapClassifier, SigmoidClassifier, VennAbersClassifier
from tests.methods.calibrating import CALIBRATED, blobs, noisy

pytestmark = pytest.mark.filterwarnings("error")
MAPPED = [one for one in CALIBRATED if one not in (MeanMapClassifier, MapOfMeanClassifier)]
"""Classifiers that take a fitted learner, too."""
SEEDED = [
    *(pytest.param(partial(one, random_state=0), id=one.__name__) for one in CALIBRATED),
    pytest.param(partial(SigmoidClassifier, calibration="train", random_state=0), id="train"),
    pytest.param(partial(VennAbersClassifier, calibration="holdout", random_state=0), id="holdout"),
]


@pytest.mark.parametrize("method", MAPPED)
def test_frozen_learner_is_calibrated_on_the_given_rows(method):
    X, y = blobs(300, 2)
    learner = GaussianNB().fit(X[:200], y[:200])
    fitted = method(FrozenEstimator(learner)).fit(X[200:], y[200:])
    for other in (method(learner, calibration="prefit"), method(FrozenEstimator(learner), calibration="holdout")):
        assert fitted.predict_proba(X).tolist() == other.fit(X[200:], y[200:]).predict_proba(X).tolist()
    np.testing.assert_array_equal(fitted.estimator_.predict_proba(X), learner.predict_proba(X))


BAGGING = [
    pytest.param(partial(BaggedVoteClassifier, n_estimators=15, voting=one), id=one) for one in ("votes", "means")
]


@pytest.mark.parametrize("method", [*SEEDED, *BAGGING])
def test_global_random_state_is_neither_read_nor_changed(method):
    X, y = blobs(100, 2)
    np.random.seed(0)
    seeded = partial(method, DecisionTreeClassifier(max_features=1), random_state=0)
    before = seeded().fit(X, y).predict_proba(X).tolist()
    drawn = np.random.random()
    np.random.seed(0)
    assert drawn == np.random.random()
    np.random.seed(1)
    assert seeded().fit(X, y).predict_proba(X).tolist() == before


@pytest.mark.parametrize("method", SEEDED)
def test_weights_for_an_unweighted_learner_are_rejected(method):
    X, y = blobs(60, 2)
    with pytest.raises(ValueError, match="KNeighborsClassifier cannot be fitted with weights"):
        method(KNeighborsClassifier()).fit(X, y, np.ones(60))


@pytest.mark.parametrize("method", MAPPED)
def test_class_without_weight_is_rejected_for_frozen_learners(method):
    X, y = blobs(60, 2)
    with pytest.raises(ValueError, match="class 1 has no row of positive weight"):
        method(FrozenEstimator(GaussianNB().fit(X, y))).fit(X, y, 1 - y)


@pytest.mark.parametrize(
    ("learner", "scores", "message"),
    [
        (Perceptron(), "log_odds", "Perceptron has no predict_proba to read the log odds from"),
        (GaussianNB(), "decision_function", "GaussianNB has no decision_function"),
    ],
)
def test_scores_that_the_learner_lacks_are_rejected(learner, scores, message):
    with pytest.raises(ValueError, match=message):
        SigmoidClassifier(learner, scores=scores, calibration="train").fit(*blobs(300, 4))


def test_learner_without_scores_is_rejected():
    class Labels(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return X

    with pytest.raises(ValueError, match="Labels has no decision_function and no predict_proba"):
        SigmoidClassifier(Labels()).fit(*blobs(30, 2))


def test_row_order_does_not_change_maps_of_training_scores():
    scores, y = noisy()
    order = np.random.default_rng(1).permutation(len(y))
    for method in MAPPED:
        one, other = (
            method(GaussianNB(), calibration="train").fit(scores[rows, None], y[rows]).predict_proba(scores[:, None])
            for rows in (np.arange(len(y)), order)
        )
        np.testing.assert_allclose(one, other, atol=1e-6)


every_method = pytest.mark.parametrize("method", CALIBRATED)


@every_method
@pytest.mark.parametrize("n_classes", [2, 3])
def test_default_predictions_lie_strictly_between_0_and_1(method, n_classes):
    X, y = blobs(150, n_classes)
    X[:20] += 100 * (y[:20, None] + 1)  # the learner is certain about these rows
    p = method(DecisionTreeClassifier(), random_state=0).fit(X, y).predict_proba(X)
    assert ((p > 0) & (p < 1)).all()


@pytest.mark.parametrize("method", [one for one in CALIBRATED if one is not MeanMapClassifier])  # it stores no folds
def test_each_group_is_held_out_in_one_fold(method):
    X, y = blobs(240, 2)
    groups = np.arange(240) // 8
    fitted = method(NotesRows(), random_state=0).fit(np.column_stack([np.arange(240), X]), y, groups=groups)
    seen = [set(groups[one.rows_]) for one in fitted.estimators_]
    assert len(seen) == 5
    held_out = [set(range(30)) - one for one in seen]
    assert sorted(group for fold in held_out for group in fold) == [*range(30)]  # each group is held out once
    for fold, one in zip(held_out, fitted.estimators_, strict=True):
        assert {*range(240)} - {*one.rows_} == {row for row in range(240) if groups[row] in fold}


class NotesRows(LogisticRegression):
    """Store the numbers of the fitted rows, which are in the first column."""

    def fit(self, X, y, sample_weight=None):
        self.rows_ = X[:, 0].astype(int).tolist()
        return super().fit(X[:, 1:], y, sample_weight)

    def decision_function(self, X):
        return super().decision_function(X[:, 1:])

    def predict_proba(self, X):
        score = self.decision_function(X)
        return 1 / (1 + np.exp(np.column_stack([score, -score])))


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_groups_are_routed_if_requested(routing):
    X, y = blobs(120, 2)
    X, groups = np.column_stack([np.arange(120), X]), np.arange(120) // 4
    method = SigmoidClassifier(NotesRows(), cv=3, random_state=0).set_fit_request(groups=True)
    score = cross_val_score(method, X, y, cv=GroupKFold(2), params={"groups": groups}, scoring="accuracy")
    assert len(score) == 2
    search = GridSearchCV(method, {"clip": [(0, 1)]}, cv=GroupKFold(2), scoring="accuracy").fit(X, y, groups=groups)
    for one in search.best_estimator_.estimators_:
        assert not {*groups[one.rows_]} & {*groups[np.setdiff1d(np.arange(120), one.rows_)]}


def test_fitted_learner_of_other_classes_is_rejected():
    X, y = blobs(90, 3)
    learner = GaussianNB().fit(X, y)
    with pytest.raises(ValueError, match=r"knows the classes \[.*0.*1.*2.*\], and y holds"):
        SigmoidClassifier(learner, calibration="prefit").fit(X[y < 2], y[y < 2])


def test_unfitted_prefit_learner_is_rejected():
    with pytest.raises(sklearn.exceptions.NotFittedError, match="GaussianNB"):
        SigmoidClassifier(GaussianNB(), calibration="prefit").fit(*blobs(30, 2))


def test_unfitted_method_has_no_only_classifier_and_map():
    for name in ("estimator_", "calibrator_"):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            getattr(SigmoidClassifier(GaussianNB()), name)
