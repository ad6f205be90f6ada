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
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from probcal.methods.fitting import fit_weighted, fresh_copy


def support_vectors(
    estimator: Any, X: Any, labels: np.ndarray, weights: np.ndarray | None, stream: tuple[int, ...]
) -> np.ndarray:
    """(n,) the rising numbers of the rows that ``estimator`` names in ``support_`` once it is fitted on all.

    Of a Pipeline its last step names them. ``weights``: (n_rows,) or None; ``stream``: the numbers that its random
    stream starts from. Raises ValueError when it names none, when what it names are no row numbers, and for a class
    whose rows all weigh 0.
    """
    counted = np.arange(len(labels)) if weights is None else np.flatnonzero(weights)
    weightless = np.setdiff1d(labels, labels[counted])
    if len(weightless):
        raise ValueError(f"sample_weight is zero for all rows of class {weightless.tolist()[0]!r}; leave the class out")
    learner = fresh_copy(estimator, np.random.default_rng(stream))
    of_counted = None if weights is None else weights[counted]
    learner = fit_weighted(learner, _safe_indexing(X, counted), labels[counted], of_counted)
    while isinstance(learner, Pipeline):
        learner = learner.steps[-1][1]
    if not hasattr(learner, "support_"):
        raise ValueError(
            'rows="support_vectors" needs a learner that names them in support_, such as sklearn.svm.SVC, '
            f"and {type(learner).__name__} has none"
        )
    return counted[_row_numbers(learner, len(counted))]


def _row_numbers(learner: Any, n_rows: int) -> np.ndarray:
    named = np.asarray(learner.support_)
    sound = named.ndim == 1 and named.dtype.kind in "iu" and len(named) > 0
    if not sound or named.min() < 0 or named.max() >= n_rows or len(np.unique(named)) < len(named):
        raise ValueError(
            'rows="support_vectors" needs the numbers of rows in support_, each once and from 0, and that of '
            f"{type(learner).__name__} holds something else"
        )
    return np.sort(named)
