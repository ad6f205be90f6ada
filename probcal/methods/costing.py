"""Costing: classifiers of several rejection samples that vote (Zadrozny, Langford & Abe 2003, section 2.3.2)."""

from __future__ import annotations

from typing import Any

import numpy as np


class MajorityVote:
    """Says the second of ``classes``, (2,), where more than half of ``classifiers`` do, and the first elsewhere."""

    def __init__(self, classifiers: list[Any], classes: np.ndarray) -> None:
        self.classifiers, self.classes_ = classifiers, classes

    def predict(self, X: Any) -> np.ndarray:
        """(n_rows,) labels."""
        votes = sum((one.predict(X) == self.classes_[1]).astype(np.int64) for one in self.classifiers)
        return self.classes_[(2 * votes > len(self.classifiers)).astype(np.int64)]
