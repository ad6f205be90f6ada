"""Test Halck's relabeling: the changed labels and the predictions of the classifiers."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from probcal import ProbingClassifier, RelabelingClassifier
from probcal.methods.relabeling import relabeled
from tests.stubs import Unweighted

CLASSES = np.array([0, 1])


@pytest.mark.parametrize(("p", "kept"), [(0.3, 1), (0.7, 0)])
def test_only_one_class_is_relabeled_per_threshold(p, kept):
    # below one half some negative rows become positive; above one half some positive rows become negative
    labels = np.tile([0, 1], 5000)
    changed = relabeled(labels, CLASSES, p, np.random.default_rng(0)) != labels
    assert not changed[labels == kept].any()
    # (1/2 - .3) / (1 - .3) = 2/7 and 1 - 1/1.4 = 2/7
    assert changed[labels != kept].mean() == pytest.approx(2 / 7, abs=0.02)


def test_known_probabilities_are_recovered():
    rng = np.random.default_rng(1)
    truth = np.repeat([0.1, 0.5, 0.85], 4000)
    y = (rng.random(12_000) < truth).astype(int)
    fitted = RelabelingClassifier(DecisionTreeClassifier(max_depth=3), 31, random_state=0).fit(truth[:, None], y)
    assert fitted.predict_proba([[0.1], [0.5], [0.85]])[:, 1] == pytest.approx([0.1, 0.5, 0.85], abs=0.05)


def test_unweighted_learner_gets_all_rows_at_every_threshold():
    X, y = np.arange(60.0)[:, None], np.tile([0, 1], 30)
    relabeling = RelabelingClassifier(Unweighted(), 3, random_state=0).fit(X, y)
    assert [len(one.X_) for one in relabeling.estimators_] == [60] * 3


def test_thresholds_and_interval_predictions_equal_those_of_probing():
    X, y = np.arange(60.0)[:, None], np.tile([0, 1], 30)
    relabeling = RelabelingClassifier(Unweighted(), 5, discretisation="train", random_state=0).fit(X, y)
    probing = ProbingClassifier(Unweighted(), 5, random_state=0).fit(X, y)
    assert np.array_equal(relabeling.thresholds_, probing.thresholds_)
    assert np.array_equal(relabeling.probabilities_, probing.probabilities_)


def test_default_thresholds_are_evenly_spaced():
    X, y = np.arange(60.0)[:, None], np.tile([0, 1], 30)
    assert np.allclose(RelabelingClassifier(Unweighted(), 9).fit(X, y).thresholds_, np.arange(1, 10) / 10)
