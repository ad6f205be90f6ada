"""Test a PyTorch network, wrapped by skorch, as a learner. The tests are skipped without PyTorch."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from probcal import ProbingClassifier, SigmoidClassifier, TemperatureClassifier

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
skorch = pytest.importorskip("skorch", reason="skorch is not installed")


@pytest.fixture(scope="module")
def network():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return skorch.NeuralNetClassifier(
        torch.nn.Linear, module__in_features=2, module__out_features=2, criterion=torch.nn.CrossEntropyLoss,
        max_epochs=10, lr=0.5, verbose=0, train_split=None,
    )  # fmt: skip


def rows(n=100):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2)).astype(np.float32)
    return X, (rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(np.int64)


@pytest.mark.parametrize("method", [SigmoidClassifier, TemperatureClassifier, ProbingClassifier])
def test_a_network_is_fitted_and_calibrated(method, network):
    X, y = rows()
    p = method(network, random_state=0).fit(X, y).predict_proba(X)[:, 1]
    assert p[X[:, 0] > 0].mean() > p[X[:, 0] < 0].mean() + 0.1


def test_a_fitted_network_is_calibrated_without_a_new_fit(network):
    X, y = rows()
    fitted = clone(network).fit(X, y)
    prefit = TemperatureClassifier(fitted, calibration="prefit").fit(X, y).predict_proba(X)
    assert np.array_equal(prefit, TemperatureClassifier(FrozenEstimator(fitted)).fit(X, y).predict_proba(X))
    assert prefit[:, 1].argsort().tolist() == fitted.predict_proba(X)[:, 1].argsort().tolist()
