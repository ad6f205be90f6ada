"""A learner fitted anew as labels come in: the usual remedy against a distribution that changes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.sparse import issparse, vstack
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from probcal.methods.direct import DirectClassifier
from probcal.methods.online import stream_labels
from probcal.methods.parameters import refuse_no_count


class RetrainedClassifier(DirectClassifier):
    """The learner's own probabilities; on a stream it is fitted anew after every ``every`` rows, on all rows so far.

    What Vovk, Petej & Gammerman (2021) would spare the user: "the predictor may need to be retrained".

    Parameters
    ----------
    estimator : classifier with ``predict_proba``.
    every : rows of the stream between two fits.
    clip : estimates are projected to this range; ``(0, 1)`` leaves them.
    random_state : seed of the classifier, the same for every fit if it is a number.

    Attributes: those of ``DirectClassifier``.
    """

    online = True

    def __init__(
        self,
        estimator: Any,
        *,
        every: int = 1000,
        clip: tuple[float, float] = (0.0, 1.0),
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.every = every
        self.clip = clip
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """X: (n_rows, n_columns); y: (n_rows,) labels; sample_weight: (n_rows,), not negative.

        The rows are kept for the fits to come. Raises ValueError as ``DirectClassifier.fit``.
        """
        super().fit(X, y, sample_weight)
        self._learned = X, np.asarray(y), sample_weight
        return self

    def predict_proba_online(self, X: Any, y: Any) -> np.ndarray:
        """(n_rows, n_classes): rows in the order in which they come, each estimated before its label is known.

        ``y``: (n_rows,) labels; they weigh 1 each. The fitted classifier stays as it is. Raises ValueError for labels
        that the training rows do not have.
        """
        self._before_predicting(X)
        y = stream_labels(y, self.classes_, _num_samples(X))
        learner, parts = self, []
        for start in range(0, max(len(y), 1), self.every):  # no rows are the learner's to refuse
            if start:
                learner = clone(self).fit(*self._up_to(X, y, start))
            parts.append(learner.predict_proba(_safe_indexing(X, slice(start, start + self.every))))
        return np.concatenate(parts)

    def _up_to(self, X: Any, y: np.ndarray, n_rows: int) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """The training rows and the first ``n_rows`` of a stream."""
        learned, labels, weights = self._learned
        if weights is not None:
            weights = np.concatenate([weights, np.ones(n_rows)])
        return _joined(learned, _safe_indexing(X, slice(n_rows))), np.concatenate([labels, y[:n_rows]]), weights

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        refuse_no_count(self, "every")
        super().check_parameters()


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, pd.DataFrame):
        return pd.concat([first, second])
    return vstack([first, second], format="csr") if issparse(first) else np.concatenate([first, second])
