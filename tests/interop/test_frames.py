"""Test frames and series of pandas and polars in place of arrays."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import probcal
from probcal import (
    BetaCalibrator,
    DecisionCurveDisplay,
    DirichletCalibrator,
    IsotonicCalibrator,
    ProbingClassifier,
    ReliabilityDisplay,
    SigmoidClassifier,
    VennAbersCalibrator,
    VennAbersClassifier,
)
from probcal.metrics import all_metrics, calibration_slope, cross_entropy, metrics_by_group, score_decomposition

mpl.use("Agg")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 2))
P = 1 / (1 + np.exp(-2 * X[:, 0]))
Y = (RNG.random(100) < P).astype(int)
NAMES = np.array(["no", "yes"])
BOTH = np.column_stack([1 - P, P])


def pandas_frame(matrix, columns):
    return pd.DataFrame(dict(zip(columns, matrix.T, strict=True)), index=range(500, 500 + len(matrix)))


def polars_frame(matrix, columns):
    return pl.DataFrame(dict(zip(columns, matrix.T, strict=True)))


LIBRARIES = {
    "pandas": (pandas_frame, lambda values: pd.Series(values, index=range(900, 900 + len(values)))),
    "polars": (polars_frame, pl.Series),
}
library = pytest.mark.parametrize(("frame", "series"), LIBRARIES.values(), ids=LIBRARIES)


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


@library
@pytest.mark.parametrize(
    "method",
    [
        SigmoidClassifier(LogisticRegression(), random_state=0),
        VennAbersClassifier(LogisticRegression(), calibration="holdout", random_state=0),
        ProbingClassifier(LogisticRegression(), 3, random_state=0),
        probcal.BaggedVoteClassifier(LogisticRegression(), 3, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_frame_gives_the_predictions_of_its_array(method, frame, series):
    table = frame(X, ["a", "b"])
    weight = np.arange(100) % 3 + 1.0
    by_frame = method.fit(table, series(NAMES[Y]), sample_weight=series(weight))
    p = by_frame.predict_proba(table)
    assert by_frame.classes_.tolist() == ["no", "yes"] and by_frame.feature_names_in_.tolist() == ["a", "b"]
    assert method.fit(X, NAMES[Y], sample_weight=weight).predict_proba(X) == pytest.approx(p, abs=1e-12)


@library
def test_columns_are_selected_by_name_inside_the_learner(frame, series):
    table = frame(np.column_stack([np.where(X[:, 0] > 0, "red", "blue"), X[:, 1].round(3)]), ["colour", "size"])
    learner = make_pipeline(make_column_transformer((OneHotEncoder(), ["colour"])), LogisticRegression())
    p = SigmoidClassifier(learner).fit(table, series(Y)).predict_proba(table)[:, 1]
    assert p[X[:, 0] > 0].min() > p[X[:, 0] < 0].max()


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["blue", "red"])], ids=str)
def test_categories_of_polars_reach_the_learner(kind):
    table = pl.DataFrame({"colour": pl.Series(np.where(Y == 1, "red", "blue"), dtype=kind), "size": X[:, 1]})
    learner = HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype")
    p = SigmoidClassifier(learner, cv=2).fit(table, Y).predict_proba(table)[:, 1]
    assert p[Y == 1].min() > p[Y == 0].max()


@library
@pytest.mark.parametrize(
    "map_", [BetaCalibrator(), IsotonicCalibrator(), VennAbersCalibrator(), DirichletCalibrator()], ids=str
)
def test_maps_accept_series_and_frames(map_, frame, series):
    expected = map_.fit(P, Y).predict_proba(P)
    labels, table = series(NAMES[Y]), frame(BOTH, ["no", "yes"])
    assert np.array_equal(map_.fit(series(P), labels, series(np.ones(100))).predict_proba(series(P)), expected)
    assert map_.fit(table, labels).predict_proba(table) == pytest.approx(expected, abs=1e-12)


@library
def test_metrics_accept_series_and_frames(frame, series):
    labels, p, weight = series(NAMES[Y]), series(P), np.arange(100) % 3 + 1
    for metric in (all_metrics, calibration_slope, cross_entropy, score_decomposition):
        found = metric(labels, p, sample_weight=series(weight), pos_label="yes")
        assert found == metric(Y, P, sample_weight=weight)
        assert metric(labels, frame(BOTH, ["no", "yes"]), pos_label="yes") == metric(Y, BOTH)
    assert cross_entropy(labels, frame(BOTH, ["no", "yes"])) == cross_entropy(Y, BOTH)
    sites = np.where(X[:, 1] > 0, "north", "south")
    by_group = metrics_by_group(labels, p, series(sites), pos_label="yes", metrics=["c_emp"])
    pd.testing.assert_frame_equal(by_group, metrics_by_group(Y, P, sites, metrics=["c_emp"]))


@library
@pytest.mark.parametrize("display", [ReliabilityDisplay, DecisionCurveDisplay])
def test_displays_accept_series_and_frames(display, frame, series):
    table, labels = frame(X, ["a", "b"]), series(NAMES[Y])
    model = LogisticRegression().fit(table, labels)
    one = display.from_estimator(model, table, labels)
    other = display.from_predictions(labels, series(model.predict_proba(table)[:, 1]), pos_label="yes")
    assert one.line_.get_xydata() == pytest.approx(other.line_.get_xydata())
