"""Test importance weights, Probing by rejection sampling, and its random streams."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier
from probcal.methods.probing import importance_weights
from tests.methods.calibrating import noisy_rows
from tests.stubs import Constant, Unweighted


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
