"""What methods that learn from a stream share: rows come in order, and each label after the row's estimate."""

from __future__ import annotations

from typing import Any

import numpy as np


def stream_labels(y: Any, classes: np.ndarray, n_rows: int) -> np.ndarray:
    """(n_rows,) ``y``. Raises ValueError unless it is one of ``classes`` for each row."""
    y = np.asarray(y)
    if y.shape != (n_rows,):
        raise ValueError(f"y must hold a label for each of {n_rows} rows, its shape is {y.shape}")
    if strange := set(y.tolist()) - set(classes.tolist()):
        raise ValueError(f"y holds labels that the training rows do not have, such as {min(strange, key=str)!r}")
    return y
