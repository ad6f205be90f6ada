"""The neural network of scikit-learn with its default layers, trained by the same steps in less time."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy.special import expit, xlogy
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from probcal._validation import check_counts
from probcal.methods._base import two_classes

_HIDDEN, _BATCH, _PENALTY, _GAIN = 100, 200, 1e-4, 1e-4
_RATE, _MEAN_DECAY, _SQUARE_DECAY, _LEAST = 1e-3, 0.9, 0.999, 1e-8
_EPS = float(np.finfo(np.float64).eps)


class ReluNetwork(ClassifierMixin, BaseEstimator):
    """Train one hidden layer of 100 rectified linear units with Adam (Kingma & Ba 2015), for two classes.

    This is ``sklearn.neural_network.MLPClassifier`` with its default parameters. It draws the same random numbers and
    takes the same steps, so that a seed gives the same network up to rounding. All weights are one vector, which makes
    the step of a small batch about twice as fast. An epoch that lowers the loss by less than 1e-4 nats counts as one
    without progress.

    Parameters
    ----------
    n_iter_no_change : epochs without progress, one after another, after which one more ends the training.
    max_iter : most epochs. A ConvergenceWarning says that they were not enough.
    random_state : seed of the first weights and of the order of the rows.

    Attributes
    ----------
    classes_ : (2,) labels in sorted order.
    coefs_, intercepts_ : the weights of both layers, as in MLPClassifier.
    n_iter_ : number of epochs.
    loss_curve_ : the mean loss of each epoch, in nats, with its penalty.
    n_features_in_, feature_names_in_ : number and names of the columns of X.
    """

    def __init__(
        self,
        *,
        n_iter_no_change: int = 10,
        max_iter: int = 200,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_iter_no_change = n_iter_no_change
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train the network.

        Parameters
        ----------
        X : numbers, (n_rows, n_columns). They should be standardised.
        y : labels of two classes, (n_rows,).

        Raises
        ------
        ValueError
            For an invalid parameter, and unless there are two classes and finite numbers.
        """
        check_counts(self, "n_iter_no_change", "max_iter")
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        labels, self.classes_ = two_classes(X, y)
        target = (labels == self.classes_[1]).astype(np.float64)[:, None]
        random = check_random_state(self.random_state)
        weights, views = self._first_weights(X.shape[1], random)
        order, adam = np.arange(len(X)), _Adam(len(weights))
        self.loss_curve_: list[float] = []
        best, idle = np.inf, 0
        while len(self.loss_curve_) < self.max_iter and idle <= self.n_iter_no_change:
            places = np.arange(len(X))
            random.shuffle(places)
            order = order[places]
            total = 0.0
            for start in range(0, len(X), _BATCH):
                rows = order[start : start + _BATCH]
                loss, gradient = _loss_and_gradient(X[rows], target[rows], weights, views)
                total += loss * len(rows)
                adam.step(weights, gradient)
            self.loss_curve_.append(total / len(X))
            idle = idle + 1 if self.loss_curve_[-1] > best - _GAIN else 0
            best = min(best, self.loss_curve_[-1])
        self.n_iter_ = len(self.loss_curve_)
        if idle <= self.n_iter_no_change:
            warnings.warn(
                f"the training still made progress after {self.max_iter} epochs; set max_iter higher",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.coefs_, self.intercepts_ = [*views[:2]], [*views[2:]]
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return (n_rows, 2) probabilities in the order of ``classes_``."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        p = _forward(X, [*self.coefs_, *self.intercepts_])[1][:, 0]
        return np.column_stack([1 - p, p])

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class of each row, (n_rows,)."""
        positive = self.predict_proba(X)[:, 1] > 0.5
        return np.asarray(self.classes_[positive.astype(int)])

    def _first_weights(self, n_columns: int, random: np.random.RandomState) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return all weights as one vector, and its parts: coefficients and then intercepts of both layers."""
        layers = []
        for inputs, outputs in ((n_columns, _HIDDEN), (_HIDDEN, 1)):
            bound = np.sqrt(6 / (inputs + outputs))  # Glorot & Bengio 2010
            layers.append([random.uniform(-bound, bound, shape) for shape in ((inputs, outputs), outputs)])
        parts = [layers[0][0], layers[1][0], layers[0][1], layers[1][1]]
        weights = np.concatenate([one.ravel() for one in parts])
        return weights, _views(weights, n_columns)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class _Adam:
    """Keep the running means of a gradient and of its squares (Kingma & Ba 2015, Algorithm 1)."""

    def __init__(self, size: int) -> None:
        self._mean, self._square, self._steps = np.zeros(size), np.zeros(size), 0

    def step(self, weights: np.ndarray, gradient: np.ndarray) -> None:
        """Change ``weights`` by one step."""
        self._steps += 1
        self._mean *= _MEAN_DECAY
        self._mean += (1 - _MEAN_DECAY) * gradient
        self._square *= _SQUARE_DECAY
        gradient *= gradient
        gradient *= 1 - _SQUARE_DECAY
        self._square += gradient
        rate = _RATE * np.sqrt(1 - _SQUARE_DECAY**self._steps) / (1 - _MEAN_DECAY**self._steps)
        scale = np.sqrt(self._square)
        scale += _LEAST
        change = -rate * self._mean
        change /= scale
        weights += change


def _views(vector: np.ndarray, n_columns: int) -> list[np.ndarray]:
    """Return the parts of a vector of weights or of their gradient, (n_columns * 100 + 201,)."""
    first, second = n_columns * _HIDDEN, (n_columns + 1) * _HIDDEN
    return [
        vector[:first].reshape(n_columns, _HIDDEN),
        vector[first:second].reshape(_HIDDEN, 1),
        vector[second : second + _HIDDEN],
        vector[second + _HIDDEN :],
    ]


def _forward(X: np.ndarray, views: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the hidden units, (n_rows, 100), and the probability of the second class, (n_rows, 1)."""
    hidden = X @ views[0]
    hidden += views[2]
    np.maximum(hidden, 0, out=hidden)
    output = hidden @ views[1]
    output += views[3]
    return hidden, expit(output, out=output)


def _loss_and_gradient(
    X: np.ndarray, target: np.ndarray, weights: np.ndarray, views: list[np.ndarray]
) -> tuple[float, np.ndarray]:
    """Return the mean cross entropy of a batch in nats, with the penalty, and its gradient, (n_weights,)."""
    n_rows = len(X)
    hidden, p = _forward(X, views)
    cut = np.minimum(np.maximum(p, _EPS), 1 - _EPS)
    loss = -(xlogy(target, cut) + xlogy(1 - target, 1 - cut)).mean()
    squares = sum(float(np.dot(one.ravel(), one.ravel())) for one in views[:2])
    gradient = np.empty_like(weights)
    parts = _views(gradient, X.shape[1])
    error = p - target
    np.matmul(hidden.T, error, out=parts[1])
    parts[3][:] = error.sum(axis=0)
    back = error * views[1].T
    back *= hidden > 0
    np.matmul(X.T, back, out=parts[0])
    parts[2][:] = back.sum(axis=0)
    n_coefficients = len(weights) - _HIDDEN - 1
    gradient[:n_coefficients] += _PENALTY * weights[:n_coefficients]
    gradient /= n_rows
    return float(loss + 0.5 * _PENALTY * squares / n_rows), gradient
