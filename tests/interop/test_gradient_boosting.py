"""Test XGBoost, LightGBM and CatBoost as learners of calibrated methods."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier
from sklearn.base import clone
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from xgboost import XGBClassifier

from probcal import (
    BetaCalibrationClassifier,
    IsotonicClassifier,
    ProbingClassifier,
    SigmoidClassifier,
    TemperatureClassifier,
    VennAbersClassifier,
)

pytestmark = pytest.mark.filterwarnings("error")
LEARNERS = {
    "xgboost": XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1),
    "lightgbm": LGBMClassifier(n_estimators=3, min_child_samples=5, verbose=-1, n_jobs=1),
    "catboost": CatBoostClassifier(iterations=3, depth=2, verbose=False, thread_count=1, allow_writing_files=False),
}
METHODS = [
    SigmoidClassifier(None, cv=2, random_state=0),
    IsotonicClassifier(None, cv=2, random_state=0),
    BetaCalibrationClassifier(None, cv=2, random_state=0),
    VennAbersClassifier(None, cv=2, random_state=0),
    TemperatureClassifier(None, cv=2, random_state=0),
    ProbingClassifier(None, 3, random_state=0),
]
each_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
each_method = pytest.mark.parametrize("method", METHODS, ids=lambda one: type(one).__name__)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 3))
Y = (RNG.random(100) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)


def around(learner, method=METHODS[0]):
    return clone(method).set_params(estimator=clone(learner))


@each_learner
@each_method
def test_each_method_calibrates_two_and_three_classes(method, learner):
    for y in (Y, np.digitize(X[:, 0], [-0.5, 0.5])):
        p = around(learner, method).fit(X, y).predict_proba(X)
        assert p.shape == (100, y.max() + 1) and np.allclose(p.sum(axis=1), 1)
        assert p[X[:, 0] > 0.5, -1].mean() > p[X[:, 0] < -0.5, -1].mean() + 0.05


@each_learner
def test_missing_values_reach_the_learner(learner):
    holes = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
    assert np.isfinite(around(learner).fit(holes, Y).predict_proba(holes)).all()


@each_learner
@pytest.mark.parametrize("method", [METHODS[0], METHODS[-1]], ids=["sigmoid", "probing"])
def test_weights_reach_the_learner(method, learner):
    heavy = np.where(Y == 1, 9.0, 1.0)
    even, tilted = (around(learner, method).fit(X, Y, sample_weight=one) for one in (np.ones(100), heavy))
    assert tilted.predict_proba(X)[:, 1].mean() > even.predict_proba(X)[:, 1].mean() + 0.2


@pytest.mark.parametrize(
    "learner",
    [
        clone(LEARNERS["xgboost"]).set_params(enable_categorical=True),
        LEARNERS["lightgbm"],
        clone(LEARNERS["catboost"]).set_params(cat_features=("colour",)),  # a list cannot be cloned
    ],
    ids=LEARNERS,
)
def test_a_category_reaches_the_learner(learner):
    colours = pd.Categorical(np.where(Y == 1, "red", "blue"), categories=["blue", "red", "never seen"])
    frame = pd.DataFrame({"colour": colours, "size": X[:, 1]})
    p = around(learner).fit(frame, pd.Series(Y)).predict_proba(frame)[:, 1]
    assert p[Y == 1].min() > p[Y == 0].max()


@each_learner
def test_a_fitted_model_is_calibrated_without_a_new_fit(learner):
    fitted = clone(learner).fit(X, Y)
    before = fitted.predict_proba(X)
    frozen = IsotonicClassifier(FrozenEstimator(fitted)).fit(X, Y).predict_proba(X)
    prefit = IsotonicClassifier(fitted, calibration="prefit").fit(X, Y)
    assert np.array_equal(prefit.predict_proba(X), frozen)
    assert prefit.estimator_ is fitted and np.array_equal(fitted.predict_proba(X), before)


@each_learner
def test_calibrated_learners_work_in_searches_stacks_and_pickles(learner):
    depth = "estimator__depth" if isinstance(learner, CatBoostClassifier) else "estimator__max_depth"
    search = GridSearchCV(around(learner), {depth: [1, 2]}, cv=2, scoring="neg_log_loss").fit(X, Y)
    stack = StackingClassifier([("one", around(learner)), ("two", around(learner, METHODS[2]))], cv=2).fit(X, Y)
    for fitted in (search, stack):
        again = pickle.loads(pickle.dumps(fitted))
        assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize("learner", [LEARNERS["xgboost"], LEARNERS["lightgbm"]], ids=["xgboost", "lightgbm"])
def test_weights_and_groups_are_routed_to_the_learner(learner):
    groups, heavy = np.arange(100) // 5, np.where(Y == 1, 9.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        learner = clone(learner).set_fit_request(sample_weight=True)
        method = around(learner).set_fit_request(sample_weight=True, groups=True)
        given = {"cv": GroupKFold(2), "method": "predict_proba"}
        even, tilted = (
            cross_val_predict(method, X, Y, params={"sample_weight": one, "groups": groups}, **given)
            for one in (np.ones(100), heavy)
        )
        weights = LogisticRegression().set_fit_request(sample_weight=True)
        stack = StackingClassifier([("one", around(learner).set_fit_request(sample_weight=True))], weights, cv=2)
        assert stack.fit(X, Y, sample_weight=heavy).predict_proba(X)[:, 1].mean() > Y.mean() + 0.2
    assert tilted[:, 1].mean() > even[:, 1].mean() + 0.2
