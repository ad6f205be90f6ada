"""Streams of two classes whose law changes with time, in a way that is known."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from probcal.data.change import Adversary, NoChange
from probcal.data.sources import StreamSource


def stream(source: StreamSource, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(inputs, labels, P(y = 1 | x)) of rows in order of time, those to train on first.

    Inputs are Gaussian with mean 0, variance 1 and one correlation between any two columns, and stay so. The log-odds
    of the positive class, in nats, are b + s w'x: while training b is the ``intercept`` and s is 1, and what becomes of
    them is said by the ``change``. Shapes (n_rows, n_columns) float64, (n_rows,) int8 and (n_rows,) float64.
    """
    drawn = rng.standard_normal((source.n_rows, 1 + source.n_columns))
    common, own = np.sqrt(source.correlation), np.sqrt(1 - source.correlation)
    inputs = common * drawn[:, :1] + own * drawn[:, 1:]
    # column by column: a matrix product rounds as the machine likes
    signal = sum(weight * column for weight, column in zip(source.weights, inputs.T, strict=True))
    truth = _truth(source, signal)
    return inputs, (rng.random(source.n_rows) < truth).astype(np.int8), truth


def _truth(source: StreamSource, signal: np.ndarray) -> np.ndarray:
    """(n_rows,) P(y = 1 | x) of rows whose w'x is ``signal``."""
    change, log_odds = source.change, source.intercept + signal
    if isinstance(change, NoChange):
        return expit(log_odds)
    rows = np.arange(source.n_rows) - source.train_rows  # numbered from the first test row
    if isinstance(change, Adversary):
        return np.where(rows < change.at, expit(log_odds), log_odds <= 0)
    share = change.share(rows, source.test_rows)
    slope = 1 + share * (change.slope - 1)
    return expit(source.intercept + share * (change.intercept - source.intercept) + slope * signal)
