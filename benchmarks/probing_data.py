"""The rows of Adult, and overlapping Gaussians, which Probing is timed on."""

from __future__ import annotations

import numpy as np
import pandas as pd

from probcal.data.card import find_card, read_card
from probcal.data.dataset import Dataset
from probcal.data.encode import NumericEncoder
from probcal.data.load import data_folder, load, obtain
from probcal.data.splits import split_rows

SEED = 8
COLUMNS = 50


def adult_split(folder: str | None = None) -> tuple[Dataset, np.ndarray, np.ndarray]:
    """Adult, and the row numbers of its standard split: training, test. ProbcalError where it is not at hand.

    ``folder`` has the original files (PROBCAL_DATA_DIR unless given).
    """
    card = read_card(find_card("adult"))
    obtain(card, data_folder(folder))
    dataset = load(card)
    return dataset, *split_rows(card, len(dataset.y), 0, 0)


def adult(rows: int | None = None) -> tuple[pd.DataFrame, np.ndarray]:
    """Adult's 32,561 training rows, or the first ``rows``; labels 0 and 1. ProbcalError where it is not at hand."""
    dataset, train, _ = adult_split()
    return dataset.X.iloc[train[:rows]], (dataset.y[train[:rows]] == 1).astype(np.int64)


def adult_encoded(rows: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The same as numbers in [0, 1], nominal columns as indicators: 104 columns of all rows."""
    X, y = adult(rows)
    return NumericEncoder().fit_transform(X), y


def gaussians(rows: int = 200_000, draw: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two classes of other means and variances, a third of the rows positive. Each ``draw`` has rows of its own."""
    rng = np.random.default_rng(SEED)
    shift = rng.normal(0, 0.25, COLUMNS)  # apart so far that the best classifier errs on a sixth of the rows
    spread = rng.uniform(0.8, 1.25, COLUMNS)
    if draw:
        rng = np.random.default_rng((SEED, draw))
    y = (rng.random(rows) < 1 / 3).astype(np.int64)
    X = rng.standard_normal((rows, COLUMNS))
    X[y == 1] = X[y == 1] * spread + shift
    return X, y
