"""Test that every method puts the columns and labels of a learner in the order of the classes, or refuses them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import BaggingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC

from probcal import (
    BaggedVoteClassifier,
    DirectClassifier,
    FoldMeanClassifier,
    IsotonicClassifier,
    MapOfMeanClassifier,
    MeanMapClassifier,
    PriorCorrectedClassifier,
    ProbingClassifier,
    RescaledClassifier,
    SigmoidClassifier,
    TemperatureClassifier,
    WeightSweepClassifier,
)
from probcal.components.classes import import_class
from probcal.methods.registry import METHODS
from probcal.papers.kull_silva_filho_flach_2017.learners_of_2016 import LogisticSVC
from tests.methods.calibrating import blobs


class Ordered(ClassifierMixin, BaseEstimator):
    """Have the columns of logistic regression in rising order of the numbers that labels are, or in sorted order."""

    def __init__(self, by_number=True):
        self.by_number = by_number

    def fit(self, X, y, sample_weight=None):
        self.inner_ = LogisticRegression().fit(X, y, sample_weight=sample_weight)
        known = self.inner_.classes_
        self.places_ = np.argsort([-float(one) for one in known]) if self.by_number else np.arange(len(known))
        self.classes_ = known[self.places_]
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)[:, self.places_]

    def decision_function(self, X):
        scores = self.inner_.decision_function(X)
        if scores.ndim == 2:
            return scores[:, self.places_]
        return scores if self.places_[0] == 0 else -scores

    def predict(self, X):
        return self.inner_.predict(X)


class Probabilities(Ordered):
    decision_function = property()


class Named(Ordered):
    """Name the classes by texts, and predict a column of them."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.classes_ = self.classes_.astype(str).astype(object)
        return self

    def predict(self, X):
        return super().predict(X).astype(str).astype(object)[:, None]


LABELS = {
    "two texts": np.array(["9", "10"]),
    "objects": np.array(["9", "10", "11"], dtype=object),
    "numbers": np.array([9, 10, 11]),
    "floats": np.array([-1.0, 2.0]),
}
FEW_FITS = {"bagging": {"n_estimators": 3}, "probing": {"n_probes": 7}, "relabeling": {"n_probes": 7}}
SETTINGS = {
    "train": (SigmoidClassifier, {"calibration": "train"}),
    "holdout": (IsotonicClassifier, {"calibration": "holdout"}),
    "one map": (TemperatureClassifier, {"ensemble": False}),
    "maps of folds": (TemperatureClassifier, {"ensemble": True}),
    "log-odds": (SigmoidClassifier, {"scores": "log_odds"}),
    "probability": (IsotonicClassifier, {"scores": "probability"}),
    "rescaled": (IsotonicClassifier, {"scores": "rescaled"}),
    "rescaled alone": (RescaledClassifier, {}),
    "votes": (BaggedVoteClassifier, {"voting": "votes", "n_estimators": 3}),
    "isotonic of means": (MapOfMeanClassifier, {"map": "isotonic"}),
    "mean of isotonic": (MeanMapClassifier, {"map": "isotonic"}),
    "scores of folds": (FoldMeanClassifier, {"scores": "log_odds"}),
    "costing": (ProbingClassifier, {"n_probes": 3, "weighting": "costing", "n_samples": 3}),
    "pairs": (WeightSweepClassifier, {"multiclass": "pairs"}),
}
METHODS_AND_SETTINGS = {name: (import_class(one.path), FEW_FITS.get(name, {})) for name, one in METHODS.items()}
METHODS_AND_SETTINGS |= SETTINGS


def method_of(name, learner, labels):
    kind, settings = METHODS_AND_SETTINGS[name]
    if kind is PriorCorrectedClassifier:
        settings = {"base_rate": {one: 1 / len(labels) for one in labels.tolist()}}
    method = kind(learner, **settings)
    return method.set_params(random_state=0) if "random_state" in method.get_params(deep=False) else method


def predictions(method, X, y):
    method.fit(X[:150], y[:150])
    new_X, new_y = X[150:], y[150:]
    found = [method.predict_proba(new_X)]
    if hasattr(method, "predict_proba_online"):
        found.append(method.predict_proba_online(new_X, new_y))
    if hasattr(method, "staged_predict_proba"):
        found += method.staged_predict_proba(new_X)
    return np.array(found), method.predict(new_X).tolist()


LEARNERS_AND_LABELS = [
    (Ordered, "two texts"),
    pytest.param(Probabilities, "objects", marks=pytest.mark.slow),
    (Named, "numbers"),
    pytest.param(Named, "floats", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("learner", "labels"), LEARNERS_AND_LABELS)
@pytest.mark.parametrize("name", METHODS_AND_SETTINGS)
def test_order_of_the_learners_classes_changes_no_prediction(name, learner, labels):
    labels = LABELS[labels]
    X, numbers = blobs(200, len(labels))
    y = labels[numbers]
    p, predicted = predictions(method_of(name, learner(), labels), X, y)
    right_kind = Ordered if learner is Named else learner
    right_p, right_labels = predictions(method_of(name, right_kind(by_number=False), labels), X, y)
    np.testing.assert_allclose(p, right_p, atol=1e-6)
    assert predicted == right_labels


@pytest.mark.parametrize("calibration", ["prefit", "frozen"])
@pytest.mark.parametrize("method", [SigmoidClassifier, TemperatureClassifier, PriorCorrectedClassifier])
def test_fitted_learner_is_read_in_the_order_of_its_classes(method, calibration):
    X, numbers = blobs(200, 3)
    y = LABELS["objects"][numbers]
    found = []
    for by_number in (True, False):
        learner = Ordered(by_number).fit(X[:100], y[:100])
        settings = {"calibration": "prefit"} if calibration == "prefit" else {}
        base_rate = {"base_rate": dict.fromkeys(["9", "10", "11"], 1 / 3)} if method is PriorCorrectedClassifier else {}
        given = learner if calibration == "prefit" else FrozenEstimator(learner)
        found.append(method(given, **settings, **base_rate).fit(X[100:], y[100:]).predict_proba(X))
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)


class WithoutClasses(Ordered):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.known_ = self.classes_
        del self.classes_
        return self


class NumbersItsClasses(Ordered):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.classes_ = np.arange(len(self.classes_))
        return self

    def predict(self, X):
        return np.argmax(self.predict_proba(X), axis=1)


class LosesAClass(Ordered):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X[y != "11"], y[y != "11"], None if sample_weight is None else sample_weight[y != "11"])


LABELS_ALONE = ("probing", "relabeling", "weight_sweep", "votes", "costing", "pairs")
"""Settings that read the labels of a learner, not its columns."""
LOST = "LosesAClass knows the classes .* must know every class"


@pytest.mark.parametrize("name", [name for name in METHODS_AND_SETTINGS if name not in LABELS_ALONE])
@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (WithoutClasses(), "WithoutClasses has no classes_"),
        (NumbersItsClasses(), r"NumbersItsClasses knows the classes \[.*\], and y holds"),
        (LosesAClass(), LOST),
    ],
    ids=["no classes", "other classes", "a class too few"],
)
def test_columns_of_classes_that_do_not_fit_are_refused(name, learner, message):
    if name == "bagging" and message == LOST:
        return  # a bag may lack a class, and gives it the probability 0
    X, numbers = blobs(200, 3)
    y = LABELS["objects"][numbers]
    with pytest.raises(ValueError, match=message):
        method_of(name, learner, LABELS["objects"]).fit(X, y).predict_proba(X)


@pytest.mark.parametrize("name", ["votes", "probing", "relabeling", "weight_sweep", "costing", "direct"])
def test_labels_that_y_does_not_hold_are_refused(name):
    class Indices(Ordered):
        def predict(self, X):
            return 5 + np.argmax(self.predict_proba(X), axis=1)

    X, numbers = blobs(100, 2)
    y = LABELS["two texts"][numbers]
    with pytest.raises(ValueError, match=r"predict of Indices gives the label [56], which is none of the classes"):
        method_of(name, Indices(), LABELS["two texts"]).fit(X, y).predict(X)


class Holds(ClassifierMixin, BaseEstimator):
    """Hide a support vector machine that scores pairs of classes."""

    def fit(self, X, y):
        self.inner = SVC(decision_function_shape="ovo").fit(X, y)
        self.classes_ = self.inner.classes_
        return self

    def decision_function(self, X):
        return self.inner.decision_function(X)

    def predict(self, X):
        return self.inner.predict(X)


MACHINES = {
    "SVC": lambda shape: SVC(decision_function_shape=shape),
    "NuSVC": lambda shape: NuSVC(nu=0.2, decision_function_shape=shape),
    "LogisticSVC": lambda shape: LogisticSVC(decision_function_shape=shape),
    "in a pipeline": lambda shape: make_pipeline(StandardScaler(), SVC(decision_function_shape=shape)),
    "in a search": lambda shape: GridSearchCV(SVC(decision_function_shape=shape), {"C": [0.1, 1]}, cv=2),
    "in a search in a pipeline": lambda shape: make_pipeline(
        StandardScaler(), GridSearchCV(make_pipeline(SVC(decision_function_shape=shape)), {"svc__C": [1]}, cv=2)
    ),
}


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize("method", [IsotonicClassifier, RescaledClassifier])
def test_scores_of_pairs_become_scores_of_classes(method, machine, n_classes):
    X, y = blobs(200, n_classes)
    seed = {} if method is RescaledClassifier else {"random_state": 0}
    pairs, classes = (method(machine(shape), **seed).fit(X, y).predict_proba(X) for shape in ("ovo", "ovr"))
    np.testing.assert_allclose(pairs, classes, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_probabilities_of_logistic_svc_are_those_of_classes(n_classes):
    X, y = blobs(100, n_classes)
    pairs, classes = (LogisticSVC(decision_function_shape=shape).fit(X, y).predict_proba(X) for shape in ("ovo", "ovr"))
    np.testing.assert_allclose(pairs, classes, atol=1e-12)


@pytest.mark.parametrize(
    "learner", [Holds(), BaggingClassifier(SVC(decision_function_shape="ovo"), 3, random_state=0)], ids=["own", "bag"]
)
@pytest.mark.parametrize("method", [SigmoidClassifier, IsotonicClassifier, RescaledClassifier])
def test_hidden_scores_of_pairs_are_refused(method, learner):
    with pytest.raises(ValueError, match=r"decision_function of .* seems to score pairs of classes"):
        method(learner).fit(*blobs(200, 3))


def test_bagging_of_a_learner_with_pairs_inside_but_scores_of_classes_is_accepted():
    learner = BaggingClassifier(SVC(decision_function_shape="ovr"), 3, random_state=0)
    X, y = blobs(200, 3)
    assert SigmoidClassifier(learner, random_state=0).fit(X, y).score(X, y) > 0.6


@pytest.mark.parametrize("y", [np.array([8, 9, 10, 11]), np.array(["8", "9", "10", "11"]), np.array([False, True])])
@pytest.mark.parametrize("method", [DirectClassifier, BaggedVoteClassifier])
def test_columns_of_cat_boost_belong_to_their_labels(method, y):
    boosting = pytest.importorskip("catboost", reason="CatBoost is an extra")
    learner = boosting.CatBoostClassifier(
        iterations=5, verbose=0, random_seed=0, thread_count=1, allow_writing_files=False
    )
    X, numbers = blobs(200, len(y))
    few = {"n_estimators": 2} if method is BaggedVoteClassifier else {}
    found = method(learner, random_state=0, **few).fit(X, y[numbers])
    assert found.score(X, y[numbers]) > 0.5
    assert np.isin(found.predict(X), y).all()
