"""The small data sets that the checks use, the same in every call and a fresh copy each time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

_COLUMNS = 4


@dataclass
class Sample:
    """Rows to learn from, (n_rows, 4) numbers and (n_rows,) labels 0, 1, ..., and rows to ask about."""

    X: np.ndarray
    y: np.ndarray
    asked: np.ndarray


def sample(n_classes: int = 2, n_rows: int = 90, n_asked: int = 40) -> Sample:
    """Classes that overlap, so that no estimate is 0 or 1 by itself, with labels in no order."""
    random = np.random.default_rng(n_classes)
    X = random.normal(size=(n_rows, _COLUMNS))
    noise = random.logistic(scale=0.7, size=n_rows)
    score = X[:, 0] + 0.7 * X[:, 1] + noise
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return Sample(X, y, random.normal(size=(n_asked, _COLUMNS)))


def contradictory() -> Sample:
    """Every row comes twice, most often under both labels: what a learner says of it is for the weights to decide."""
    half = sample(n_rows=45)
    return Sample(np.vstack([half.X, half.X]), np.concatenate([half.y, np.resize([0, 0, 1], 45)]), half.X)


def frames() -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """(X, y, asked) with numbers, categories (one never seen), and an index that does not count from 0."""
    random = np.random.default_rng(5)
    size = random.normal(size=100).round(2)
    colours = pd.Categorical.from_codes(random.integers(0, 3, 100), ["red", "blue", "green", "never seen"])
    frame = pd.DataFrame({"size": size, "colour": colours}, index=np.arange(100)[::-1] * 3 + 1000)
    y = (size + (colours == "red") + random.logistic(size=100) > 0.3).astype(int)
    return frame.iloc[:80], y[:80], frame.iloc[80:]


def integer_weights(n_rows: int) -> np.ndarray:
    """(n_rows,) weights of 1, 2 and 3, in no order."""
    return np.random.default_rng(11).integers(1, 4, n_rows).astype(np.float64)
