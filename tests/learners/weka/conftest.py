"""Provide rows with every column type that both Weka and pandas have."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def mixed() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return (X, y, weights): 300 rows with numbers, categories, text and truth values; three columns have gaps."""
    random = np.random.default_rng(7)
    n = 300
    age, colour = random.normal(40, 12, n).round(1), random.integers(0, 3, n)
    X = pd.DataFrame(
        {
            "age": np.where(random.random(n) < 0.1, np.nan, age),
            "colour": pd.Categorical.from_codes(
                np.where(random.random(n) < 0.1, -1, colour), ["blue", "green", "it's red", "never seen"]
            ),
            "town": np.where(random.random(n) < 0.2, None, np.array(["A b", "c,d"])[random.integers(0, 2, n)]),
            "member": random.random(n) < 0.5,
        }
    )
    y = (age + 10 * colour + random.normal(0, 10, n) > 50).astype(int)
    return X, y, random.integers(1, 4, n).astype(float)
