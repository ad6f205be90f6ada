"""The rows that a support vector machine rests on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from probcal.methods.fitting import fit_weighted, fresh_copy


def support_vectors(
    estimator: Any, X: Any, labels: np.ndarray, weights: np.ndarray | None, stream: tuple[int, ...]
) -> np.ndarray:
    """(n,) the rising numbers of the rows that ``estimator`` names in ``support_`` once it is fitted on all.

    ``weights``: (n_rows,) or None; ``stream``: the numbers that its random stream starts from. Raises ValueError when
    it names none.
    """
    counted = np.arange(len(labels)) if weights is None else np.flatnonzero(weights)
    learner = fresh_copy(estimator, np.random.default_rng(stream))
    fit_weighted(learner, _safe_indexing(X, counted), labels[counted], None if weights is None else weights[counted])
    if not hasattr(learner, "support_"):
        raise ValueError(
            'rows="support_vectors" needs a learner that names them in support_, such as sklearn.svm.SVC, '
            f"and {type(estimator).__name__} has none"
        )
    return counted[np.sort(learner.support_)]
