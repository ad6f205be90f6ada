"""Test declared shortcuts of learners in Probing, which must not change any vote."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from probcal import ProbingClassifier

X = np.random.default_rng(1).normal(size=(400, 2))
Y = (X[:, 0] + np.random.default_rng(2).normal(size=400) > 0).astype(int)
TIGHT_SVM = LinearSVC(dual=False, tol=1e-8, max_iter=100_000)


class Means(ClassifierMixin, BaseEstimator):
    """Predict the second class right of a point that depends on the class weights, and count the fits."""

    fits = 0
    class_weight_shortcut = None

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        self.classes_ = np.unique(y)
        first, second = (sample_weight[y == one].sum() for one in self.classes_)
        return self.at(np.log(first / second))

    def at(self, point):
        self.point_ = point
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > self.point_).astype(int)]


class FastPath:
    """Fit all class weights at once, except points from ``refuses`` on; points below ``unsure`` are unsure."""

    refuses, unsure, rounds = np.inf, -np.inf, None

    def fit(self, estimator, X, labels, class_weights, row_weights):
        weights = np.ones(len(labels)) if row_weights is None else row_weights
        totals = weights[labels == 0].sum(), weights[labels == 1].sum()
        if self.rounds is not None:
            self.rounds.append(len(class_weights))
        made = []
        for first, second in class_weights * totals:
            one = type(estimator)().at(np.log(first / second))
            one.classes_ = np.unique(labels)
            made.append(one if one.point_ < self.refuses else None)
        return made

    def margins(self, classifiers, X):
        points = np.array([one.point_ for one in classifiers])
        return X[:, :1] - points, np.where(points < self.unsure, np.inf, 1e-9)


def declared(**how):
    fast_path = type("Declared", (FastPath,), how)
    return type("Learner", (Means,), {"class_weight_shortcut": fast_path, "fits": 0})


def votes(learner, **parameters):
    fitted = ProbingClassifier(learner(), 50, weighting="weight", random_state=0, **parameters).fit(X, Y)
    return fitted.votes(X).tolist(), fitted


@pytest.mark.parametrize("how", [{}, {"refuses": 0.5}, {"unsure": -0.5}, {"refuses": 0.0, "unsure": 0.0}], ids=str)
def test_shortcuts_change_no_votes_or_thresholds(how):
    learner = declared(**how)
    found, fitted = votes(learner)
    expected, slow = votes(Means)
    assert found == expected
    assert fitted.thresholds_.tolist() == slow.thresholds_.tolist()
    assert learner.fits == np.sum(~fitted.threshold_models_[0].batched)
    points = np.array([one.point_ for one in fitted.estimators_])
    refused = (points >= how.get("refuses", np.inf)) | (points < how.get("unsure", -np.inf))
    assert (fitted.threshold_models_[0].batched == ~refused).all()


def test_rounds_fit_few_unneeded_probes():
    rounds = []
    _, fitted = votes(declared(rounds=rounds))
    assert sum(rounds) <= 1.1 * len(fitted.thresholds_)
    assert len(rounds) < 20


def test_uniform_thresholds_are_fitted_in_one_round():
    learner = declared(rounds=[])
    _, fitted = votes(learner, discretisation="uniform")
    assert learner.class_weight_shortcut.rounds == [50]
    assert fitted.threshold_models_[0].batched.all()


def test_shortcuts_false_turns_the_shortcut_off():
    learner = declared()
    found, fitted = votes(learner, shortcuts=False)
    assert (learner.fits, fitted.threshold_models_[0].batched.any()) == (50, False)
    assert found == votes(Means)[0]


def test_rejection_sampling_never_uses_a_shortcut():
    class Plain(Means):
        class_weight_shortcut = FastPath

        def fit(self, X, y):
            return super().fit(X, y, np.ones(len(y)))

    assert not ProbingClassifier(Plain(), 10, random_state=0).fit(X, Y).threshold_models_[0].batched.any()


def test_nan_margins_are_not_used():
    class NoNumbers(FastPath):
        def margins(self, classifiers, X):
            return np.full((len(X), len(classifiers)), np.nan), 0.0

    learner = declared()
    learner.class_weight_shortcut = NoNumbers
    assert votes(learner)[0] == votes(Means)[0]


def test_shortcut_without_classifiers_is_not_asked_for_margins():
    class MakesNone(FastPath):
        refuses = -np.inf

        def margins(self, classifiers, X):
            raise AssertionError("there is nothing to predict with")

    learner = declared()
    learner.class_weight_shortcut = MakesNone
    found, fitted = votes(learner)
    assert found == fitted.threshold_models_[0].predicted_labels(X).sum(axis=1).tolist() == votes(Means)[0]


def test_margins_are_computed_in_blocks():
    asked = []

    class Notes(FastPath):
        def margins(self, classifiers, X):
            asked.append(len(X) * len(classifiers))
            return super().margins(classifiers, X)

    learner = declared()
    learner.class_weight_shortcut = Notes
    many = np.tile(X, (200, 1))
    _, fitted = votes(learner)
    asked.clear()
    assert fitted.votes(many).tolist() == fitted.votes(X).tolist() * 200
    assert len(asked) > 3
    assert max(asked) <= 2**20


@pytest.mark.parametrize(
    ("method", "gives", "said"),
    [
        ("fit", lambda *_: None, "must give a list of 1 classifiers"),
        ("fit", lambda *_: [], "must give a list of 1 classifiers"),
        ("margins", lambda self, some, X: X[:, 0], "must return"),
        ("margins", lambda self, some, X: (X[:, 0], 0.0), r"margins of shape \(400,\); \(400, 1\)"),
        ("margins", lambda self, some, X: (X[:, :1], np.zeros(400)), r"errors of shape \(400,\)"),
        ("margins", lambda self, some, X: (X[:, :1], np.zeros((399, 1))), r"errors of shape \(399, 1\)"),
        ("margins", lambda self, some, X: (X[:, :1], -1.0), "or below 0"),
    ],
)
def test_invalid_shortcut_is_rejected_by_name(method, gives, said):
    learner = declared(**{method: gives})
    with pytest.raises(ValueError, match=f"fast path Declared.*{said}"):
        votes(learner)


@pytest.mark.parametrize("learner", [LogisticRegression(solver="newton-cholesky", tol=1e-8), TIGHT_SVM], ids=str)
def test_rows_that_the_learner_rejects_are_rejected(learner):
    fitted = ProbingClassifier(learner, 10, random_state=0).fit(X, Y)
    assert fitted.threshold_models_[0].batched.any()
    holes = np.where(np.arange(800).reshape(400, 2) == 3, np.nan, X)
    for asked, said in ((holes, "contains NaN"), (X[:0], "0 sample"), (X[0], "2D array")):
        with pytest.raises(ValueError, match=said):
            fitted.votes(asked)
    assert (fitted.votes(csr_array(X)) == fitted.votes(X)).all()


def test_shortcuts_must_be_true_or_false():
    with pytest.raises(ValueError, match="shortcuts must be True or False, not 'no'"):
        votes(Means, shortcuts="no")
