"""Test ProbingClassifier as a scikit-learn estimator, and what its learners get by weights and by drawn rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier
from probcal.methods.probing import importance_weights
from tests.methods.calibrating import noisy_rows
from tests.stubs import Constant, Memorising, Perfect, Unweighted

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


def test_weights_agree_with_the_printed_formula():
    # p = 1/5: (1 - p) / p = 4 for positive rows
    assert importance_weights(np.array([True, False, True]), 0.2).tolist() == [4, 1, 4]
    assert importance_weights(np.array([True, False, True]), 0.75) == pytest.approx([1 / 3, 1, 1 / 3])


def test_total_weight_n_scales_the_sum_to_n_rows():
    # 4 1 4 has the sum 9, so each weight is divided by 3
    found = importance_weights(np.array([True, False, True]), 0.2, total_weight="n")
    assert found == pytest.approx([4 / 3, 1 / 3, 4 / 3])


SEEDS = 300


def probed_trees(**parameters):
    defaults = {"n_probes": 12, "weighting": "rejection", "random_state": 5}
    tree = DecisionTreeClassifier(max_depth=4, max_features=1)
    return ProbingClassifier(tree, **{**defaults, **parameters})


@pytest.mark.parametrize("total_weight", [None, "n"])
def test_acceptance_frequency_is_weight_over_largest_weight(total_weight):
    # p = 1/4: weights 3 and 1. p = 1/2: 1 and 1. p = 3/4: 1/3 and 1.
    chance_of_label = {0.25: {1: 1, 0: 1 / 3}, 0.5: {1: 1, 0: 1}, 0.75: {1: 1 / 3, 0: 1}}
    X = np.arange(60.0)[:, None]
    y = np.array([0, 1] * 30)
    kept = {p: np.zeros(60) for p in chance_of_label}
    for seed in range(SEEDS):
        probing = ProbingClassifier(
            Unweighted(), n_probes=3, discretisation="uniform", total_weight=total_weight, random_state=seed
        ).fit(X, y)
        for p, learner in zip(probing.thresholds_, probing.estimators_, strict=True):
            rows = learner.X_[:, 0].astype(int)
            assert np.array_equal(learner.y_, y[rows])
            assert len(set(rows)) == len(rows)
            kept[p][rows] += 1
    for p, chances in chance_of_label.items():
        for label, chance in chances.items():
            frequency = kept[p][y == label] / SEEDS
            deviation = np.sqrt(chance * (1 - chance) / SEEDS)
            assert np.all(np.abs(frequency - chance) <= 4.5 * deviation)
            assert abs(frequency.mean() - chance) <= 4 * deviation / np.sqrt(30)


@pytest.mark.parametrize(
    "learner", [LogisticRegression(), make_pipeline(StandardScaler(), LinearSVC()), SVC(kernel="linear")]
)
def test_auto_uses_weights_for_linear_classifiers(learner):
    X, y = noisy_rows()
    of_weights, of_auto = (
        ProbingClassifier(learner, n_probes=5, weighting=weighting, random_state=0).fit(X, y).predict_proba(X)
        for weighting in ("weight", "auto")
    )
    np.testing.assert_array_equal(of_weights, of_auto)


@pytest.mark.parametrize("learner", [Constant(1), Unweighted(), DecisionTreeClassifier()])
def test_auto_uses_samples_for_other_classifiers(learner):
    X, y = noisy_rows()
    of_samples, of_auto = (
        ProbingClassifier(learner, n_probes=5, weighting=weighting, random_state=0).fit(X, y)
        for weighting in ("rejection", "auto")
    )
    np.testing.assert_array_equal(of_samples.thresholds_, of_auto.thresholds_)
    np.testing.assert_array_equal(of_samples.predict_proba(X), of_auto.predict_proba(X))


@pytest.mark.parametrize("weighting", ["rejection", "weight"])
def test_classifier_of_a_threshold_does_not_depend_on_n_probes(weighting):
    X, y = noisy_rows()
    few = probed_trees(n_probes=10, weighting=weighting).fit(X, y)
    many = probed_trees(n_probes=30, weighting=weighting).fit(X, y)
    of_threshold = dict(zip(many.thresholds_, many.estimators_, strict=True))
    assert set(few.thresholds_) < set(many.thresholds_)
    for p, learner in zip(few.thresholds_, few.estimators_, strict=True):
        assert np.array_equal(learner.predict(X), of_threshold[p].predict(X))


def test_thresholds_have_separate_random_streams():
    # With as many rows of each class, equal streams would accept the same places of both classes at p and 1 - p.
    X, y = np.arange(200.0)[:, None], np.repeat([0, 1], 100)
    probing = ProbingClassifier(Unweighted(), n_probes=3, discretisation="uniform", random_state=0).fit(X, y)
    low, _, high = (set(learner.X_[:, 0].astype(int)) for learner in probing.estimators_)
    assert {row for row in low if y[row] == 0} != {row - 100 for row in high if y[row] == 1}
