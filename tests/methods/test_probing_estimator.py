"""Test ProbingClassifier as a scikit-learn estimator: labels, frames, copies and invalid inputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier
from tests.stubs import Memorising, Perfect, Unweighted

LEVELS = np.array([[0.1], [0.4], [0.8]] * 8)
ZERO_ONE = np.array([0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1] * 2)


def probing(estimator=None, **parameters):
    return ProbingClassifier(estimator or Memorising(), **{"n_probes": 15, "random_state": 0, **parameters})


def test_votes_are_integers_and_probabilities_respect_the_clip():
    fitted = probing(Perfect(), clip=(0.2, 0.7), weighting="weight").fit(LEVELS, ZERO_ONE)
    votes, proba = fitted.votes(LEVELS), fitted.predict_proba(LEVELS)
    assert np.issubdtype(votes.dtype, np.integer)
    assert votes.shape == (24,)
    assert proba.shape == (24, 2)
    assert np.allclose(proba.sum(axis=1), 1)
    assert proba[:3, 1].tolist() == [0.2, pytest.approx(0.4, abs=0.05), 0.7]


def test_fitted_probes_are_immutable_and_equal_only_themselves():
    (fitted,) = probing().fit(LEVELS, ZERO_ONE).threshold_models_
    assert len({fitted, fitted}) == 1
    assert fitted != replace(fitted), "comparing arrays has no single answer"
    with pytest.raises(AttributeError):
        fitted.threads = 2


class SeesFrames(ClassifierMixin, BaseEstimator):
    """Store the given frames, and predict positive if the category is "red"."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.fitted_on_ = np.unique(y), X
        return self

    def predict(self, X):
        self.asked_about_ = X
        return self.classes_[(X["colour"] == "red").astype(int)]


def coloured_frame():
    colours = pd.Categorical(["red", "blue", "red"] * 8, categories=["blue", "red", "never seen"])
    return pd.DataFrame({"colour": colours, "size": LEVELS[:, 0]}, index=range(50, 74))


def test_rejection_sample_of_a_frame_has_all_categories():
    frame = coloured_frame()
    fitted = probing(SeesFrames(), weighting="rejection").fit(frame, ZERO_ONE)
    samples = [learner.fitted_on_ for learner in fitted.estimators_ if isinstance(learner, SeesFrames)]
    assert min(len(sample) for sample in samples) < 24
    for sample in samples:
        pd.testing.assert_frame_equal(sample, frame.loc[sample.index])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_probes": 0}, "n_probes"),
        ({"n_probes": -3}, "n_probes"),
        ({"n_probes": 2.5}, "n_probes"),
        ({"loss": "brier"}, "loss.*brier"),
        ({"weighting": "bagging"}, "weighting.*bagging"),
        ({"discretisation": "test"}, "discretisation.*test"),
        ({"total_weight": 1}, "total_weight"),
        ({"clip": (0.9, 0.1)}, "clip"),
        ({"clip": (-0.1, 0.9)}, "clip"),
    ],
    ids=str,
)
def test_invalid_parameters_are_rejected_by_name(parameters, message):
    with pytest.raises(ValueError, match=message):
        probing(**parameters).fit(LEVELS, ZERO_ONE)


def test_weighting_by_weights_rejects_an_unweighted_learner():
    with pytest.raises(ValueError, match="sample_weight"):
        probing(Unweighted(), weighting="weight").fit(LEVELS, ZERO_ONE)


def test_samples_of_one_class_do_not_stop_the_fit():
    y = np.array([1] + [0] * 23)
    fitted = probing(LogisticRegression(), n_probes=60, weighting="rejection").fit(LEVELS, y)
    assert fitted.predict_proba(LEVELS)[:, 1].max() < 0.5


def test_earlier_names_of_fitted_attributes_warn_and_work():
    X, y = make_classification(60, 3, n_informative=2, n_redundant=0, random_state=0)
    probing = ProbingClassifier(DecisionTreeClassifier(max_depth=2), 5, random_state=0).fit(X, y)
    with pytest.warns(FutureWarning, match="probings_ is now called threshold_models_"):
        (model,) = probing.probings_
    with pytest.warns(FutureWarning, match="probabilities_"):
        assert probing.estimates_ is probing.probabilities_
    with pytest.warns(FutureWarning, match="predicted_labels"):
        assert (model.answers(X).sum(axis=1) == probing.votes(X)).all()
    with pytest.warns(FutureWarning, match="batched"):
        assert model.together is model.batched
