"""Test that equal rows are predicted once, and that every row gets its own prediction."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier
from probcal.methods._probes import distinct_rows, predicts_rows_independently


class Echo:
    """Predict the row itself, as text, and count the rows."""

    asked = 0

    def predict(self, X):
        self.asked += len(X)
        rows = X.itertuples(index=False) if isinstance(X, pd.DataFrame) else X.tolist()
        return np.array([repr(tuple(row)) for row in rows])


def predicted(X, classifier):
    classes = np.unique(Echo().predict(X))
    return classes[distinct_rows(X).predicted(classifier, classes)].tolist()


values = st.sampled_from([0.0, -0.0, 1.0, 0.1, 1e300, np.inf, np.nan])


@given(arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 2)), elements=values))
@settings(max_examples=100, derandomize=True, deadline=None)
def test_every_row_gets_its_own_prediction(X):
    given = np.abs(X)  # -0.0 and 0.0 are equal for every learner, but their texts differ
    assert predicted(given, Echo()) == Echo().predict(given).tolist()


def test_equal_rows_of_a_frame_are_predicted_once():
    kinds = pd.Categorical(list("abab" * 10))
    frame = pd.DataFrame({"kind": kinds, "x": [1.0, 2.0, 1.0, np.nan] * 10}, index=range(5, 45))
    echo = Echo()
    assert predicted(frame, echo) == Echo().predict(frame).tolist()
    assert echo.asked == 3


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((4, 2, 2)),
        ["a text", "a text"],
        csr_array(np.zeros((4, 2))),
        pd.DataFrame({"cell": [[1], [1]]}),
        np.arange(20.0)[:, None],
    ],
    ids=["three axes", "texts", "sparse", "cells that cannot be hashed", "all rows differ"],
)
def test_other_inputs_are_passed_on_unchanged(X):
    rows = distinct_rows(X)
    assert rows.X is X
    assert rows.positions is None


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_distinct_rows_change_no_votes_of_probing(kind):
    X, y = make_classification(300, 4, n_informative=2, n_redundant=0, flip_y=0.2, random_state=0)
    X = kind(X.round())
    fast, slow = (
        ProbingClassifier(DecisionTreeClassifier(), 20, shortcuts=on, random_state=0).fit(X, y).votes(X).tolist()
        for on in (True, False)
    )
    assert fast == slow


class Mine(DecisionTreeClassifier):
    """Stand for a learner outside scikit-learn and probcal."""


class MineSays(Mine):
    predicts_rows_independently = True


class MineSaysByTheEarlierName(Mine):
    answers_row_by_row = True


def centred(X):
    return X - np.mean(X, axis=0)


@pytest.mark.parametrize(
    ("learner", "alone"),
    [
        (make_pipeline(StandardScaler(), DecisionTreeClassifier()), True),
        (make_pipeline(FunctionTransformer(centred), DecisionTreeClassifier()), False),
        (BaggingClassifier(Mine()), False),
        (Mine(), False),
        (MineSays(), True),
        (MineSaysByTheEarlierName(), True),
    ],
    ids=[
        "scikit-learn's",
        "a function within",
        "somebody's within",
        "somebody's",
        "somebody's that says so",
        "by the earlier name",
    ],
)
def test_only_learners_that_predict_rows_independently_qualify(learner, alone):
    assert predicts_rows_independently(learner) is alone


def test_function_of_all_rows_gives_unchanged_votes():
    X, y = make_classification(200, 2, n_informative=2, n_redundant=0, flip_y=0.2, random_state=0)
    X = X.round()
    learner = make_pipeline(FunctionTransformer(centred), DecisionTreeClassifier())
    fast, slow = (
        ProbingClassifier(learner, 20, shortcuts=on, random_state=0).fit(X, y).votes(X).tolist() for on in (True, False)
    )
    assert fast == slow
