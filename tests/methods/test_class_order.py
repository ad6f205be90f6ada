"""Test that every method reads a learner's columns by its own ``classes_``, in whatever order they are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, NuSVC

import probcal
from probcal.methods.registry import METHODS, PUBLIC_CLASSES

METHOD_NAMES = sorted(
    name for name in PUBLIC_CLASSES if f"{PUBLIC_CLASSES[name]}.{name}" in {method.path for method in METHODS.values()}
)
SCORED = [name for name in METHOD_NAMES if "calibration" in getattr(probcal, name)(None).get_params()]


class Permuted(ClassifierMixin, BaseEstimator):
    """Logistic regression whose classes stand in another order. With ``order=1`` they are sorted."""

    def __init__(self, order=-1, scores=True, classes=True):
        self.order, self.scores, self.classes = order, scores, classes

    def fit(self, X, y, sample_weight=None):
        self.inner_ = LogisticRegression().fit(X, y, sample_weight)
        if self.classes:
            self.classes_ = self.inner_.classes_[:: self.order]
        return self

    def predict(self, X):
        labels = self.inner_.predict(X)
        return labels[:, None] if self.order == -1 else labels  # as CatBoost does with several classes

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)[:, :: self.order]

    @property
    def decision_function(self):
        if not self.scores:
            raise AttributeError("decision_function")
        return self._decisions

    def _decisions(self, X):
        found = self.inner_.decision_function(X)
        return found * self.order if found.ndim == 1 else found[:, :: self.order]


def problem(n_classes, names=None):
    X, y = make_classification(240, n_informative=4, n_classes=n_classes, random_state=0)
    names = np.array(names or ["10", "8", "9"])[:n_classes]  # CatBoost sorts such names as numbers
    return X[:160], names[y[:160]], X[160:]


def made(name, learner, **params):
    method = getattr(probcal, name)(learner, **params)
    few = {part: 5 for part in ("n_probes", "n_estimators") if part in method.get_params()}
    seed = {"random_state": 0} if "random_state" in method.get_params() else {}
    return method.set_params(**few, **seed)


def same(name, n_classes, **params):
    """Return the predictions with permuted and with sorted classes."""
    X, y, new = problem(n_classes)
    scores = params.pop("scores", True)
    both = [made(name, Permuted(order, scores), **params).fit(X, y) for order in (-1, 1)]
    assert np.array_equal(both[0].predict(new), both[1].predict(new))
    return [one.predict_proba(new) for one in both]


@pytest.mark.parametrize("scores", [True, False])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", METHOD_NAMES)
def test_every_method_reads_columns_by_the_learners_classes(name, n_classes, scores):
    permuted, expected = same(name, n_classes, scores=scores)
    np.testing.assert_allclose(permuted, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("calibration", ["train", "holdout", "cross_val"])
@pytest.mark.parametrize("name", SCORED)
def test_every_kind_of_calibration_rows_reads_columns_by_name(name, calibration):
    permuted, expected = same(name, 3, calibration=calibration)
    np.testing.assert_allclose(permuted, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", SCORED)
def test_fitted_classifier_is_calibrated_by_name(name):
    X, y, new = problem(3)
    found = [
        made(name, Permuted(order).fit(X, y), calibration="prefit").fit(X, y).predict_proba(new) for order in (-1, 1)
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_streams_are_protected_by_name(n_classes):
    X, y, _ = problem(n_classes)
    for name, params in (("ProtectedClassifier", {}), ("RetrainedClassifier", {"every": 20})):
        found = [made(name, Permuted(order), **params).fit(X, y).predict_proba_online(X, y) for order in (-1, 1)]
        np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("labels", [["10", "8", "9"], [10, 8, 9], [False, True, True]])
def test_labels_of_any_kind_are_matched_by_value(labels):
    X, y, new = problem(2, labels)
    found = [made("DirectClassifier", Permuted(order)).fit(X, y).predict_proba(new) for order in (-1, 1)]
    assert np.array_equal(found[0], found[1])


@pytest.mark.parametrize("name", ["DirectClassifier", "IsotonicClassifier", "TemperatureClassifier"])
def test_learner_without_classes_is_refused(name):
    X, y, new = problem(3)
    with pytest.raises(ValueError, match=r"Permuted has no classes_.*set self.classes_ = np.unique\(y\)"):
        made(name, Permuted(classes=False)).fit(X, y).predict_proba(new)


class Renamed(Permuted):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.classes_ = np.array(["a", "b", "c"])[: len(self.classes_)]
        return self


def test_classes_that_do_not_fit_are_refused():
    X, y, new = problem(3)
    with pytest.raises(ValueError, match=r"Renamed has the classes_ \['a', 'b', 'c'\], and y holds \['10', '8', '9'\]"):
        made("DirectClassifier", Renamed()).fit(X, y).predict_proba(new)


PAIRS = [SVC(decision_function_shape="ovo"), NuSVC(decision_function_shape="ovo")]
PAIRS += [make_pipeline(StandardScaler(), PAIRS[0]), GridSearchCV(PAIRS[0], {"C": [1.0]}, cv=2)]


@pytest.mark.parametrize("learner", PAIRS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("name", ["IsotonicClassifier", "SigmoidClassifier", "TemperatureClassifier"])
def test_scores_of_pairs_of_three_classes_are_refused(name, learner):
    X, y, _ = problem(3)
    with pytest.raises(ValueError, match=r"for each pair of classes.*='ovr'"):
        made(name, clone(learner)).fit(X, y)


def test_scores_of_one_pair_are_those_of_two_classes():
    X, y, new = problem(2)
    found = [
        made("SigmoidClassifier", SVC(decision_function_shape=shape)).fit(X, y).predict_proba(new)
        for shape in ("ovo", "ovr")
    ]
    assert np.array_equal(found[0], found[1])


def test_catboost_sorts_digits_otherwise_and_keeps_its_skill():
    catboost = pytest.importorskip("catboost", reason="needs the extra boosting")
    X, y = make_classification(400, n_informative=4, random_state=0)
    y = np.where(y == 1, "10", "9")
    learner = catboost.CatBoostClassifier(
        iterations=20, verbose=0, random_seed=0, thread_count=1, allow_writing_files=False
    )
    own = learner.copy().fit(X[:200], y[:200])
    assert list(own.classes_) == ["9", "10"]
    direct = probcal.DirectClassifier(learner, random_state=0).fit(X[:200], y[:200])
    np.testing.assert_allclose(direct.predict_proba(X[200:])[:, ::-1], own.predict_proba(X[200:]))
