"""Test the probabilities of both classes, from predict_proba to the metric and the stored prediction."""

import inspect
import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from probcal.methods.calibrators.sigmoid import Sigmoid
from probcal.methods.direct import DirectClassifier
from probcal.metrics import all_metrics, cross_entropy
from probcal.store.folder import Store

TINY = 2.0**-100


class Sure(ClassifierMixin, BaseEstimator):
    """Behave like Weka's naive Bayes on Adult: P(positive) rounds to 1, but P(negative) is not 0."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.ones(len(X), int)

    def predict_proba(self, X):
        return np.tile([2.0**-100, 1.0], (len(X), 1))


@pytest.fixture
def sure(bench):
    imports = "import numpy as np\nfrom sklearn.base import BaseEstimator, ClassifierMixin\n"
    bench.module("sure", imports + inspect.getsource(Sure))
    bench.config(
        datasets=["wine-first"],
        learners={"sure": {"type": "sure.Sure", "encoding": "native"}},
        methods={
            "direct": {},
            "one_column": {"type": "direct", "label": "One", "params": {"kept": "positive"}},
            "printed": {"type": "direct", "label": "Printed", "params": {"kept": "predicted"}},
            "means": {"type": "bagging", "params": {"n_estimators": 3, "voting": "means", "clip": [0, 1]}},
        },
        repeats=1,
    )
    assert bench.run().code == 0
    return bench


def test_small_probability_of_negative_class_gives_finite_loss(sure):
    numbers = sure.numbers()
    y, _ = Store(sure.results).predictions(Store(sure.results).results()["wine-first/0/sure/direct"])
    assert numbers["wine-first/0/sure/direct"]["cxe"] == pytest.approx(100 * (1 - y.mean()))
    assert numbers["wine-first/0/sure/means"]["cxe"] == pytest.approx(100 * (1 - y.mean()))


def test_one_column_variant_gives_an_infinite_loss(sure):
    assert sure.numbers()["wine-first/0/sure/one_column"]["cxe"] == math.inf


def test_stored_predictions_hold_both_columns(sure):
    store = Store(sure.results)
    for method, negative in {"direct": TINY, "one_column": 0.0, "printed": 0.0, "means": TINY}.items():
        _, p = store.predictions(store.results()[f"wine-first/0/sure/{method}"])
        assert (p == [negative, 1.0]).all()


def test_stored_predictions_give_the_stored_metrics(sure):
    store = Store(sure.results)
    for result in store.results().values():
        again = all_metrics(*store.predictions(result))
        assert {name: again[name] for name in result.metrics} == result.metrics


def test_a_clipped_row_within_the_range_keeps_both_columns():
    found = DirectClassifier(Sure(), clip=(0.0, 1 - 1e-9)).fit([[0.0], [1.0]], [0, 1]).predict_proba([[0.0]])
    assert found.tolist() == [[1 - (1 - 1e-9), 1 - 1e-9]]
    found = DirectClassifier(Sure(), clip=(1e-9, 1.0)).fit([[0.0], [1.0]], [0, 1]).predict_proba([[0.0]])
    assert found.tolist() == [[TINY, 1.0]]


def test_unknown_value_of_kept_is_rejected():
    with pytest.raises(ValueError, match="kept must be one of"):
        DirectClassifier(Sure(), kept="one").fit([[0.0], [1.0]], [0, 1])


def test_sigmoid_keeps_digits_of_small_negative_class_probability():
    sigmoid, score = Sigmoid(-1.0, 0.0), np.array([50.0])
    assert sigmoid(score) == [1.0]
    # -log2(1 / (1 + e^50)) = 50 / ln 2, up to about e^-50
    assert -np.log2(sigmoid.both(score)[0, 0]) == pytest.approx(50 / math.log(2))
    assert cross_entropy([0], sigmoid.both(score)) < 73


class Stated(Sure):
    """Predict TINY for the negative class of the first row and for the positive class of the second."""

    def predict_proba(self, X):
        return np.array([[TINY, 1.0], [1.0, TINY], [0.25, 0.75]])


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ("both", [[TINY, 1], [1, TINY], [0.25, 0.75]]),
        ("positive", [[0, 1], [1, TINY], [0.25, 0.75]]),
        ("predicted", [[0, 1], [1, 0], [0.25, 0.75]]),
    ],
)
def test_dropped_column_is_one_minus_the_kept_one(kept, expected):
    fitted = DirectClassifier(Stated(), kept=kept).fit([[0.0], [1.0]], [0, 1])
    assert fitted.predict_proba([[0.0]] * 3).tolist() == expected
