"""Test that every method that needs probabilities says so in its first fit of a learner that has none."""

import pytest
from sklearn.datasets import make_classification
from sklearn.svm import LinearSVC

from probcal.components.classes import import_class
from probcal.methods.registry import FAMILIES

X, Y = make_classification(200, random_state=0)
PARAMS = {
    "TunedClassifier": {"param_grid": {"C": [0.1, 1.0]}},
    "PriorCorrectedClassifier": {"base_rate": 0.1},
    "ProtectedClassifier": {"random_state": 0},
}
METHODS = [path for path in FAMILIES if getattr(import_class(path), "needs_one_of", None) == ("predict_proba",)]
FITS = []


class CountedSVC(LinearSVC):
    def fit(self, X, y, sample_weight=None):
        FITS.append(len(y))
        return super().fit(X, y, sample_weight)


def test_several_methods_need_probabilities():
    assert len(METHODS) >= 6


@pytest.mark.parametrize("path", METHODS)
def test_a_learner_without_probabilities_is_refused_in_the_first_fit(path):
    method = import_class(path)
    FITS.clear()
    with pytest.raises(ValueError, match=f"CountedSVC has no predict_proba, and {method.__name__} needs it"):
        method(CountedSVC(), **PARAMS.get(method.__name__, {})).fit(X, Y)
    assert len(FITS) == 1
