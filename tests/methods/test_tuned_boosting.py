"""Test the search of boosting on refinement, and its calibration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from probcal import QuadraticClassifier, TunedBoostingClassifier
from probcal.methods import tuned_boosting
from probcal.methods.calibrators._calibration_rows import FoldScores
from probcal.methods.calibrators.scaling import MatrixScalingCalibrator
from probcal.methods.tuned_boosting import boosting_settings, refinement_error

BOOSTING = HistGradientBoostingClassifier(max_leaf_nodes=5)


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    """Grow a quarter of the trees, which takes a quarter of the time."""
    monkeypatch.setattr(tuned_boosting, "_MOST_TREES", 100)
    monkeypatch.setattr(tuned_boosting, "_LONGEST_WAY", tuned_boosting._LONGEST_WAY / 4)
    monkeypatch.setattr(tuned_boosting, "_FEWEST_TREES", 12)


def rows(n=300, n_classes=2, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    noise = random.normal(size=n)
    return X, np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + noise, np.linspace(-1, 1, n_classes + 1)[1:-1])


def test_refinement_error_is_the_log_loss_at_the_best_temperature():
    random = np.random.default_rng(1)
    p = random.uniform(0.01, 0.99, 500)
    y = (random.random(500) < expit(0.4 * logit(p))).astype(int)
    best = minimize_scalar(lambda t: log_loss(y, expit(logit(p) / t)), bounds=(0.1, 20), method="bounded")
    error = refinement_error(FoldScores(np.column_stack([1 - p, p]), y, None), np.array([0, 1]))
    assert error == pytest.approx(best.fun / np.log(2), abs=1e-4)
    assert error < log_loss(y, p) / np.log(2) - 0.05


def test_best_setting_and_number_of_trees_repeat_by_hand():
    X, y = rows()
    pairs = [(np.arange(150), np.arange(150, 300)), (np.arange(150, 300), np.arange(150))]
    model = TunedBoostingClassifier(clone(BOOSTING).set_params(random_state=5), n_settings=3, cv=pairs, random_state=2)
    model.fit(X, y)
    assert [*map(len, (model.trials_, model.estimators_))] == [3, 2]
    for trial in model.trials_:
        p = np.empty((300, 2))
        for learn, held_out in pairs:
            learner = clone(BOOSTING).set_params(random_state=5, **trial["params"])
            p[held_out] = learner.fit(X[learn], y[learn]).predict_proba(X[held_out])
        order = np.concatenate([held_out for _, held_out in pairs])
        assert refinement_error(FoldScores(p[order], y[order], None), np.array([0, 1])) == trial["refinement"]
    best = min(model.trials_, key=lambda trial: trial["refinement"])["params"]
    assert model.best_params_ == best
    same = QuadraticClassifier(clone(BOOSTING).set_params(random_state=5, **best), cv=pairs, random_state=2).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), same.predict_proba(X), atol=0.02)


def test_same_seed_and_number_of_settings_give_the_same_numbers():
    X, y = rows(n_classes=3)
    first, second = (TunedBoostingClassifier(BOOSTING, n_settings=2, random_state=7).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
    assert first.trials_ == second.trials_
    assert isinstance(first.calibrators_[0], MatrixScalingCalibrator)


def test_more_settings_keep_the_earlier_ones():
    few, many = (boosting_settings(BOOSTING, n, np.random.default_rng(3)) for n in (4, 9))
    assert many[:4] == few
    assert few[0] == {"learning_rate": 0.1, "early_stopping": False, "max_iter": 50}


def test_groups_stay_whole_in_the_search():
    X, y = rows()
    groups = np.arange(300) // 5
    learned = []

    class Recording(HistGradientBoostingClassifier):
        def fit(self, X, y, sample_weight=None):
            learned.append(set(X[:, 4].astype(int)))
            return super().fit(X[:, :4], y, sample_weight)

        def staged_predict_proba(self, X):
            return super().staged_predict_proba(X[:, :4])

        def predict_proba(self, X):
            return super().predict_proba(X[:, :4])

    Recording.__name__ = "HistGradientBoostingClassifier"
    TunedBoostingClassifier(Recording(), n_settings=2, random_state=0).fit(
        np.column_stack([X, groups]), y, groups=groups
    )
    # of 60 groups each is held out once by the three folds of each setting, and of the final fits
    assert len(learned) == 3 * 3
    for start in (0, 3, 6):
        assert sum(map(len, learned[start : start + 3])) == 2 * 60


def test_rows_of_weight_zero_change_nothing():
    X, y = rows()
    weights = np.where(np.arange(300) < 250, 1.0, 0.0)
    of_all = TunedBoostingClassifier(BOOSTING, n_settings=2, random_state=0).fit(X, y, weights)
    of_some = TunedBoostingClassifier(BOOSTING, n_settings=2, random_state=0).fit(X[:250], y[:250], weights[:250])
    np.testing.assert_array_equal(of_all.predict_proba(X), of_some.predict_proba(X))


def test_other_learners_are_refused_by_name():
    X, y = rows()
    with pytest.raises(ValueError, match="LogisticRegression cannot be tuned; give one of HistGradientBoosting"):
        TunedBoostingClassifier(LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match="n_settings"):
        TunedBoostingClassifier(BOOSTING, n_settings=0).fit(X, y)
