"""Test fitted Boosters and functions as models that methods calibrate, against the maps on their predictions."""

import pickle
import subprocess
import sys

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import probcal
from probcal import (
    BetaCalibrationClassifier,
    DirectClassifier,
    IsotonicClassifier,
    PrefitClassifier,
    ProbingClassifier,
    SigmoidCalibrator,
    SigmoidClassifier,
    TemperatureCalibrator,
    TemperatureClassifier,
    VennAbersClassifier,
)

pytestmark = pytest.mark.filterwarnings("error")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
Y = (RNG.random(400) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
Y3 = np.digitize(X[:, 0] + RNG.normal(size=400) / 2, [-0.5, 0.5])
LEARN, NEW = slice(0, 200), slice(200, 400)
FRAME = pd.DataFrame(X, columns=["a b", "c", "d"])
MAPS = {
    name.replace("Calibrator", ""): name
    for name in probcal.__all__
    if name.endswith("Calibrator") and name not in ("LogisticCalibrator", "PriorCalibrator")
}


def xgb(labels=Y, rows=X, objective="binary:logistic", rounds=5, **settings):
    settings |= {"n_jobs": 1, "max_depth": 2, "objective": objective}
    if objective.startswith("multi"):
        settings["num_class"] = labels.max() + 1
    return xgboost.train(settings, xgboost.DMatrix(rows[LEARN], labels[LEARN]), rounds)


def lgb(labels=Y, rows=X, objective="binary", rounds=5, **settings):
    settings |= {"num_threads": 1, "verbose": -1, "objective": objective, "min_data_in_leaf": 5}
    if objective.startswith("multi"):
        settings["num_class"] = labels.max() + 1
    return lightgbm.train(settings, lightgbm.Dataset(rows[LEARN], labels[LEARN]), rounds)


def xgb_output(booster, rows, **settings):
    return booster.predict(xgboost.DMatrix(rows), **settings)


def p_of_first(rows):
    """A function from rows to the probability of the second class."""
    return 1 / (1 + np.exp(-5 * rows[:, 0]))


def constant(value):
    return lambda rows: np.broadcast_to(value, (len(rows), *np.shape(value))).copy()


def prefit(value, classes=(0, 1), output="probability"):
    return PrefitClassifier(constant(value), classes, output=output)


BOOSTERS = [xgb(), lgb()]
BY_HAND = {
    "xgboost": (BOOSTERS[0], xgb_output(BOOSTERS[0], X)),
    "lightgbm": (BOOSTERS[1], BOOSTERS[1].predict(X)),
    "function": (p_of_first, p_of_first(X)),
}


@pytest.mark.parametrize("name", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("model", BY_HAND)
def test_calibrating_a_model_equals_calibrating_its_probabilities(name, model):
    kind = getattr(probcal, name)
    classifier = getattr(probcal, name.replace("Calibrator", "Classifier"), None) or BetaCalibrationClassifier
    booster, p = BY_HAND[model]
    fitted = PrefitClassifier(booster, [0, 1])
    by_hand = kind(**({"random_state": 0} if "random_state" in kind().get_params() else {})).fit(p[NEW], Y[NEW])
    for calibration in ("prefit", "cross_val"):
        method = classifier(fitted, calibration=calibration, random_state=0).fit(X[NEW], Y[NEW])
        assert np.array_equal(method.predict_proba(X), by_hand.predict_proba(p))
        assert method.estimator_ is fitted
        assert len(method.estimators_) == 1


@pytest.mark.parametrize(
    ("booster", "scores"),
    [
        (xgb(), lambda booster: xgb_output(booster, X, output_margin=True)),
        (xgb(objective="binary:logitraw"), lambda booster: xgb_output(booster, X)),
        (lgb(), lambda booster: booster.predict(X, raw_score=True)),
    ],
    ids=["xgboost", "logitraw", "lightgbm"],
)
def test_scores_of_a_booster_are_its_margins(booster, scores):
    margins = scores(booster)
    fitted = PrefitClassifier(booster, [0, 1], output="score")
    assert not hasattr(fitted, "predict_proba")
    assert np.array_equal(fitted.decision_function(X), margins)
    assert np.array_equal(fitted.predict(X), (margins > 0).astype(int))
    by_hand = SigmoidCalibrator("score").fit(margins[NEW], Y[NEW])
    assert np.array_equal(
        SigmoidClassifier(fitted).fit(X[NEW], Y[NEW]).predict_proba(X), by_hand.predict_proba(margins)
    )


@pytest.mark.parametrize("labels", [[0, 1, 2], ["low", "middle", "top"]], ids=["numbers", "texts"])
@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_three_classes_keep_the_order_of_the_columns(library, labels):
    booster = xgb(Y3, objective="multi:softprob") if library == "xgboost" else lgb(Y3, objective="multiclass")
    p = xgb_output(booster, X) if library == "xgboost" else booster.predict(X)
    y = np.array(labels)[Y3]
    by_hand = TemperatureCalibrator().fit(p[NEW], y[NEW])
    fitted = PrefitClassifier(booster, labels)
    assert np.array_equal(TemperatureClassifier(fitted).fit(X[NEW], y[NEW]).predict_proba(X), by_hand.predict_proba(p))
    assert np.array_equal(fitted.predict(X), np.array(labels)[p.argmax(axis=1)])
    margins = PrefitClassifier(booster, labels, output="score").decision_function(X)
    assert margins.shape == (400, 3) and np.array_equal(margins.argmax(axis=1), p.argmax(axis=1))


def test_a_column_belongs_to_the_second_label_given():
    turned = PrefitClassifier(p_of_first, ["yes", "no"])
    y = np.where(Y == 1, "no", "yes")
    p = SigmoidClassifier(turned).fit(X, y).predict_proba(X)
    by_hand = SigmoidCalibrator().fit(1 - p_of_first(X), y).predict_proba(1 - p_of_first(X))
    assert np.allclose(p, by_hand, atol=1e-8)  # the columns are "no" and "yes", in sorted order


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_a_booster_that_stopped_early_uses_its_best_iteration(library):
    if library == "xgboost":
        booster = xgboost.train(
            {"objective": "binary:logistic", "n_jobs": 1},
            xgboost.DMatrix(X[LEARN], Y[LEARN]),
            50,
            evals=[(xgboost.DMatrix(X[NEW], Y[NEW]), "new")],
            early_stopping_rounds=5,
            verbose_eval=False,
        )
        expected = xgb_output(booster, X, iteration_range=(0, booster.best_iteration + 1))
        assert booster.num_boosted_rounds() > booster.best_iteration + 1
    else:
        booster = lgb(rounds=50)
        booster.best_iteration = 4
        expected = booster.predict(X, num_iteration=4)
    fitted = PrefitClassifier(booster, [0, 1])
    for one in (fitted, clone(fitted), pickle.loads(pickle.dumps(fitted))):
        assert np.array_equal(one.predict_proba(X)[:, 1], expected)


@pytest.mark.parametrize("train", [xgb, lgb])
def test_columns_of_a_frame_are_checked_by_name(train):
    booster = train(rows=FRAME)
    fitted = SigmoidClassifier(PrefitClassifier(booster, [0, 1])).fit(FRAME[NEW], Y[NEW])
    same = SigmoidClassifier(PrefitClassifier(train(), [0, 1])).fit(X[NEW], Y[NEW])
    assert np.array_equal(fitted.predict_proba(FRAME), same.predict_proba(X))
    with pytest.raises(ValueError, match=r"a.b.*c.*d.*c.*a.b"):
        PrefitClassifier(booster, [0, 1]).predict_proba(FRAME[["c", "a b", "d"]])


@pytest.mark.parametrize("train", [xgb, lgb])
def test_a_booster_without_names_takes_a_frame(train):
    fitted = PrefitClassifier(train(), [0, 1])
    assert np.array_equal(fitted.predict_proba(FRAME), fitted.predict_proba(X))
    assert np.array_equal(fitted.predict_proba(X[:2].tolist()), fitted.predict_proba(X[:2]))


@pytest.mark.parametrize("train", [xgb, lgb])
def test_categories_and_missing_values_reach_the_booster(train):
    frame = pd.DataFrame({"size": np.where(X[:, 1] > 1, np.nan, X[:, 1]), "colour": pd.Categorical(Y)})
    booster = (
        xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(frame, Y, enable_categorical=True), 3)
        if train is xgb
        else lgb(rows=frame, rounds=20)
    )
    p = PrefitClassifier(booster, [0, 1]).predict_proba(frame)[:, 1]
    assert p[Y == 1].min() > p[Y == 0].max()


@pytest.mark.parametrize("objective", ["binary:hinge", "multi:softmax"])
def test_labels_of_xgboost_are_no_probabilities(objective):
    booster = xgb(objective=objective)
    with pytest.raises(ValueError, match="predicts labels and no probabilities; use output='score'"):
        PrefitClassifier(booster, [0, 1]).predict_proba(X)
    assert PrefitClassifier(booster, [0, 1], output="score").decision_function(X).shape == (400,)


@pytest.mark.parametrize(
    "value", [0.25, [0.25], [0.75, 0.25], np.float32(0.25)], ids=["flat", "column", "two columns", "float32"]
)
def test_a_function_gives_each_shape_of_two_classes(value):
    assert prefit(value).predict_proba(X).tolist() == [[0.75, 0.25]] * 400
    assert prefit(value).predict(X).tolist() == [0] * 400


@pytest.mark.parametrize(("value", "expected"), [(-2.0, -2), ([-2.0], -2), ([1.0, -1.0], -2)])
def test_a_function_gives_each_shape_of_scores(value, expected):
    assert prefit(value, output="score").decision_function(X).tolist() == [expected] * 400


@pytest.mark.parametrize(
    ("classifier", "message"),
    [
        (prefit(0.5, [1]), r"classes must be two or more different labels, not \[1\]"),
        (prefit(0.5, [1, 1]), "two or more different labels"),
        (prefit(0.5, [0, None]), "1 of 2 labels are missing"),
        (prefit(0.5, output="margin"), r"output must be one of \('probability', 'score'\), not 'margin'"),
        (PrefitClassifier(LogisticRegression(), [0, 1]), "a function from rows to scores .*FrozenEstimator"),
        (prefit([0.2, 0.3, 0.5]), r"array of shape \(400, 3\) for 400 rows; with 2 classes it must have the shape"),
        (prefit(0.5, [0, 1, 2]), r"with 3 classes it must have the shape \(400, 3\)"),
        (prefit([0.5], [0, 1, 2]), r"array of shape \(400, 1\)"),
        (PrefitClassifier(lambda rows: rows[:7, 0], [0, 1]), r"array of shape \(7,\) for 400 rows"),
        (prefit(1.5), "values from 1.5 to 1.5, and probabilities are from 0 to 1; use output='score'"),
        (PrefitClassifier(xgb(objective="binary:logitraw"), [0, 1]), "values from -.*use output='score'"),
        (prefit([0.5, 0.6]), r"row 0 \(counted from 0\) have the sum 1.1, not 1"),
        (PrefitClassifier(lgb(Y3, objective="multiclassova"), [0, 1, 2]), "not 1; use output='score' for a model of"),
        (prefit(np.nan), r"a missing or infinite value for row 0"),
        (prefit("high"), "what the model gives must hold numbers"),
    ],
)
def test_invalid_models_are_refused(classifier, message):
    y = Y3 if len(classifier.classes) == 3 else Y
    with pytest.raises(ValueError, match=message):
        classifier.predict(X)
    with pytest.raises(ValueError, match=message):
        SigmoidClassifier(classifier).fit(X, y)


def test_an_infinite_score_is_refused():
    with pytest.raises(ValueError, match="a missing or infinite value for row 0"):
        SigmoidClassifier(prefit(np.inf, output="score"), calibration="prefit").fit(X, Y)


def test_labels_out_of_classes_are_refused():
    with pytest.raises(ValueError, match=r"y holds the label 2, which is not in classes, \[0, 1\]"):
        prefit(0.5).fit(X, Y3)
    with pytest.raises(ValueError, match=r"PrefitClassifier knows the classes \[0, 1\], and y holds \[0, 1, 2\]"):
        SigmoidClassifier(prefit(0.5)).fit(X, Y3)


def test_methods_of_many_fits_refuse_a_fitted_model():
    with pytest.raises(ValueError, match=r"a PrefitClassifier cannot be fitted.*give a learner that can be fitted"):
        ProbingClassifier(PrefitClassifier(p_of_first, [0, 1])).fit(X, Y)


def test_fit_leaves_the_model_as_it_is():
    booster = xgb()
    before = xgb_output(booster, X)
    fitted = PrefitClassifier(booster, [0, 1])
    assert fitted.fit(X, 1 - Y, sample_weight=np.ones(400)) is fitted
    assert np.array_equal(fitted.predict_proba(X)[:, 1], before)
    assert np.array_equal(DirectClassifier(fitted).fit(X, 1 - Y).predict_proba(X)[:, 1], before)


@pytest.mark.parametrize("model", [xgb(), lgb(), p_of_first], ids=["xgboost", "lightgbm", "function"])
def test_clones_searches_and_pickles_keep_the_model(model):
    fitted = PrefitClassifier(model, [0, 1])
    assert clone(fitted).model is model and clone(fitted) is not fitted
    method = SigmoidClassifier(fitted).fit(X, Y)
    search = GridSearchCV(IsotonicClassifier(fitted), {"centered": [True, False]}, cv=2).fit(X, Y)
    for one in (method, search):
        assert np.array_equal(pickle.loads(pickle.dumps(one)).predict_proba(X), one.predict_proba(X))
    assert clone(method).fit(X, Y).estimator_.model is model


def test_intervals_of_venn_abers_work_around_a_booster():
    method = VennAbersClassifier(PrefitClassifier(xgb(), [0, 1])).fit(X[NEW], Y[NEW])
    assert method.predict_proba(X).shape == (400, 2)


def test_import_needs_no_booster_library():
    code = "import sys; from probcal import PrefitClassifier as P; P(abs, [0, 1]).check_parameters(); "
    code += "sys.exit('xgboost' in sys.modules or 'lightgbm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_new_classes_replace_the_old_ones():
    fitted = prefit(0.9, ["no", "yes"])
    assert fitted.predict(X[:1]).tolist() == ["yes"]
    assert fitted.set_params(classes=["a", "b"]).predict(X[:1]).tolist() == ["b"]
