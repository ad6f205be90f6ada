"""The rows that a support vector machine rests on.

Nalbantov & Ivanov (2019), section 3, remove all others after the first fit and build the levels on these. Where classes
overlap, little is left to learn from them. Let m rows be kept, all but u of them at the bound C of the dual (u is the
number on the margin, 3 at most for points in general position in the plane), and w the first surface's normal. Then the
least objective on these rows is at least C (m - u) - |w|^2 / 2, by the dual; calling all rows one class costs C m. As
the least objective is concave in the weights, at level q, with equal classes and weights summing to m, a surface saves
at most 2 min(q, 1 - q) (C u + |w|^2 / 2) of the 2 min(q, 1 - q) C m that the constant answer costs: most levels have no
surface among the rows, unless few support vectors lie at the bound.
"""

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
