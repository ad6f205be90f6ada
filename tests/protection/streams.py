"""Provide streams for the Jumpers, and a slow, plain version of Algorithm 1."""

from fractions import Fraction

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

quick = settings(max_examples=60, deadline=None, derandomize=True)
probabilities = st.floats(0.01, 0.99)
streams = st.lists(st.tuples(probabilities, st.integers(0, 1)), min_size=1, max_size=40)
"""(base estimate of P(y = 1), label) pairs."""
jump_rates = st.sampled_from([1e-4, 1e-2, 0.3, 1.0])
EPS = (0.0, 1.0, -1.0, 0.5, -0.5)


def arrays(stream: list[tuple[float, int]]) -> tuple[np.ndarray, np.ndarray]:
    p, y = zip(*stream, strict=True)
    return np.array(p), np.array(y)


def drifting(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return base predictions that are right at the start and far too high at the end."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.01, 0.99, n)
    return p, (rng.random(n) < p ** np.linspace(1, 4, n)).astype(int)


def log10_loss(p: np.ndarray, y: np.ndarray) -> float:
    """Return the log10 loss of predictions of shape (n,) or (n, n_classes)."""
    return float(-np.log10(np.where(y == 1, p, 1 - p) if p.ndim == 1 else p[np.arange(len(y)), y]).sum())


def algorithm_1(stream, jump_rate, number=Fraction, eps=EPS):
    """Return predictions and S after each step, in numbers of any type, line by line as in Algorithm 1."""
    jump_rate, size = number(jump_rate), number(len(eps))
    eps = [number(one) for one in eps]
    capital = [number(1)] * len(eps)
    martingale, estimates, martingales = number(1), [], []
    for p, y in stream:
        p = number(p)
        total = sum(capital)
        capital = [one / total for one in capital]
        capital = [(1 - jump_rate) * one + jump_rate / size for one in capital]
        values = [p + one * p * (1 - p) for one in eps]
        estimate = sum(value * one for value, one in zip(values, capital, strict=True))
        capital = [(v if y else 1 - v) * one for v, one in zip(values, capital, strict=True)]
        martingale *= (estimate if y else 1 - estimate) / (p if y else 1 - p)
        estimates.append(estimate)
        martingales.append(martingale)
    return estimates, martingales


def one_by_one(jumper, p, y, delay=0, every=1):
    """Return the predictions of ``predict_one``, where ``learn_one`` gets each label as soon as it arrives."""
    estimates = []
    for row, one in enumerate(p):
        arrived = row - 1 - delay
        if arrived >= 0 and arrived % every == 0:
            jumper.learn_one(p[arrived], int(y[arrived]))
        estimates.append(jumper.predict_one(one, labelled=row % every == 0))
    return np.array(estimates)
