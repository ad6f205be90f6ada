"""Test that a pipeline uses the fast path of its last step without a change of votes."""

import numpy as np
import pandas as pd
import pytest
from naive_loop import assert_no_vote_changes
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.tree import DecisionTreeClassifier

from probcal.fast_paths.fast_path import PipelineFastPath, make_fast_path

LOGISTIC = LogisticRegression(solver="newton-cholesky", tol=1e-8)


@pytest.mark.parametrize("last", [GaussianNB(), LOGISTIC], ids=["naive Bayes", "logistic"])
def test_the_pipeline_shortcut_does_not_change_votes(last):
    X, y = load_breast_cancer(return_X_y=True)
    learner = make_pipeline(StandardScaler(), SelectKBest(k=8), last)
    fitted = assert_no_vote_changes(learner, X[::2], y[::2], X[1::2])
    assert fitted.threshold_models_[0].batched.mean() > 0.8
    assert isinstance(fitted.estimators_[0], Pipeline)


@pytest.mark.slow
def test_imputed_and_encoded_frames_have_the_same_votes():
    X, y = make_classification(500, 4, flip_y=0.2, random_state=1)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame.loc[::5, "a"] = np.nan
    frame["kind"] = np.where(X[:, 1] > 0, "u", "v")
    columns = make_column_transformer((SimpleImputer(), list("abcd")), (OneHotEncoder(drop="first"), ["kind"]))
    assert assert_no_vote_changes(make_pipeline(columns, LOGISTIC), frame, y).threshold_models_[0].batched.any()


@pytest.mark.slow
def test_steps_transform_all_rows_at_once():
    def centred(X):
        return X - X.mean(axis=0)

    X, y = make_classification(1500, 3, n_informative=2, n_redundant=0, flip_y=0.2, random_state=2)
    many = np.tile(X, (30, 1)) + np.arange(45_000)[:, None] / 45_000  # more than a block of 40 probes
    assert_no_vote_changes(make_pipeline(FunctionTransformer(centred), GaussianNB()), X, y, many, n_probes=40)


@pytest.mark.parametrize(
    "learner",
    [
        make_pipeline(StandardScaler(), DecisionTreeClassifier()),
        make_pipeline(PCA(), GaussianNB()),
        make_pipeline(GaussianNB()),
        Pipeline([("scale", StandardScaler()), ("learn", GaussianNB())], verbose=True),
    ],
    ids=["the last step has none", "a step draws from a seed of its own", "one step", "it says what it does"],
)
def test_unsupported_pipelines_have_no_shortcut(learner):
    assert make_fast_path(learner) is None


class LeaveOneOutEncoder(TransformerMixin, BaseEstimator):
    """Replace a category by the mean label of its rows. A training row does not count its own label."""

    def fit(self, X, y):
        self.table_ = pd.Series(y).groupby(X.city.to_numpy()).agg(["sum", "count"])
        return self

    def transform(self, X):
        return (self.table_["sum"] / self.table_["count"]).reindex(X.city).fillna(0.5).to_numpy()[:, None]

    def fit_transform(self, X, y):
        rows = self.fit(X, y).table_.loc[X.city].to_numpy()
        return ((rows[:, 0] - y + 0.5) / rows[:, 1])[:, None]


@pytest.mark.filterwarnings("ignore::FutureWarning")  # newer versions want the seed inside cv
@pytest.mark.parametrize(
    "encoder",
    [
        LeaveOneOutEncoder(),
        TargetEncoder(random_state=0),
        TargetEncoder(random_state=0).set_output(transform="pandas"),
    ],
    ids=["leave one out", "cross-fitting", "frame"],
)
def test_training_rows_are_predicted_as_the_encoder_transforms_them_later(encoder):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"city": rng.integers(0, 60, 300).astype(str), "plan": rng.integers(0, 5, 300).astype(str)})
    y = (rng.random(300) < 0.3 + 0.4 * (X.plan == "1")).astype(int).to_numpy()
    learner = make_pipeline(encoder, LOGISTIC)
    assert isinstance(make_fast_path(learner), PipelineFastPath)
    assert_no_vote_changes(learner, X, y)
