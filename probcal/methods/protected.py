"""A learner whose estimates are protected against a changing distribution as the labels of a stream come in.

What methods that learn from a stream share: rows come in order, and each label after the row's estimate.

A learner fitted anew as labels come in: the usual remedy against a distribution that changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from scipy.sparse import issparse, vstack
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from probcal._validation import count_rows, refuse_no_count, take_rows
from probcal.methods._base import two_columns
from probcal.methods.direct import DirectClassifier
from probcal.protection import CompositeJumper, SimpleJumper
from probcal.protection.stream_input import refuse_other_feedback


def stream_labels(y: Any, classes: np.ndarray, n_rows: int) -> np.ndarray:
    """(n_rows,) ``y``. Raises ValueError unless it is one of ``classes`` for each row."""
    y = np.asarray(y)
    if y.shape != (n_rows,):
        raise ValueError(f"y must hold a label for each of {n_rows} rows, its shape is {y.shape}")
    if strange := set(y.tolist()) - set(classes.tolist()):
        raise ValueError(f"y holds labels that the training rows do not have, such as {min(strange, key=str)!r}")
    return y


_MOST_POINTS = 400


class ProtectedClassifier(DirectClassifier):
    """Vovk, Petej & Gammerman (2021): the learner is fitted once; its estimates of a stream are bet against and mended.

    Without labels, in ``predict_proba``, they are the base's own, truncated, after a stream as before it.
    ``probcal.protection`` has the Jumpers themselves, which take one row at a time and whose state can be kept.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``, the base forecaster.
    calibrators : a family by its name, ``"quadratic"``, ``"cox"`` or ``"cox_slipped"``, or a list of functions of an
        estimate of two classes; see ``SimpleJumper``.
    jump_rate : of the Simple Jumper; several, of the Composite Jumper.
    passive_weight : the Composite Jumper's share on the base itself, which limits what can be lost to it.
    start : where the capital lies at first, ``"uniform"`` as printed or ``"first"``.
    truncation : base estimates are moved into [truncation, 1 - truncation]. The poster says .1, and .01 is what its
        authors ran. None for not at all: then a label of base probability 0 is refused.
    delay, every : labels come so many rows late, and only those of every so-manyth row.
    random_state : seed of the classifier.

    Attributes: those of ``DirectClassifier``; ``log10_martingale_`` (n_rows,), log10 S after each row of the last
    stream, from the first call of ``predict_proba_online`` after a fit on.
    """

    online = True

    def __init__(
        self,
        estimator: Any,
        *,
        calibrators: Any = "quadratic",
        jump_rate: float | Sequence[float] = 0.01,
        passive_weight: float = 0.0,
        start: Literal["uniform", "first"] = "uniform",
        truncation: float | None = 0.01,
        delay: int = 0,
        every: int = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.calibrators = calibrators
        self.jump_rate = jump_rate
        self.passive_weight = passive_weight
        self.start = start
        self.truncation = truncation
        self.delay = delay
        self.every = every
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """X: (n_rows, n_columns); y: (n_rows,) labels; sample_weight: (n_rows,), not negative.

        Raises ValueError as ``DirectClassifier.fit``, and for more classes than the calibrators are for.
        """
        vars(self).pop("log10_martingale_", None)  # type: ignore[attr-defined]  # of a stream under another fit  # mypy takes it for a class's
        super().fit(X, y, sample_weight)
        n_classes = len(self.classes_)
        if n_classes > 2:
            self._jumper().predict_one(np.full(n_classes, 1 / n_classes))
        return self

    @property
    def clip(self) -> tuple[float, float]:  # type: ignore[override]  # told by truncation
        """The range that the truncated base estimates lie in."""
        least = self.truncation or 0.0
        return least, 1 - least

    def predict_proba_online(self, X: Any, y: Any) -> np.ndarray:
        """(n_rows, n_classes): rows in the order in which they come, each estimated before its label is known.

        ``y``: (n_rows,) labels. The fitted classifier stays as it is. Raises ValueError for labels that the training
        rows do not have.
        """
        self._before_predicting(X)
        y = stream_labels(y, self.classes_, count_rows(X))
        # not yet truncated, for several classes truncated twice are others than truncated once
        base, two = self.estimator_.predict_proba(X), len(self.classes_) == 2
        numbers = np.searchsorted(self.classes_, y)
        p, self.log10_martingale_ = self._jumper().protect(
            base[:, 1] if two else base, numbers, delay=self.delay, every=self.every
        )
        return two_columns(p) if two else p

    def measures(self, X: Any) -> dict[str, float]:
        """What the last stream came to; X is not used. Raises NotFittedError before any stream."""
        return {"log10_martingale": float(self._course()[-1])}

    def curves(self, X: Any) -> dict[str, list[dict[str, list[float]]]]:
        """log10 S along the last stream, at most 400 points; X is not used. Raises NotFittedError before any stream."""
        course = self._course()
        places = np.unique(np.linspace(0, len(course) - 1, _MOST_POINTS).round().astype(int))
        return {"martingale": [{"x": places.tolist(), "y": course[places].round(4).tolist()}]}

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        self._jumper()
        refuse_other_feedback(self.delay, self.every)

    def _course(self) -> np.ndarray:
        """(n_rows + 1,) log10 S before the first row and after each."""
        if not hasattr(self, "log10_martingale_"):
            raise NotFittedError(
                f"this {type(self).__name__} has protected no stream since it was fitted; call predict_proba_online"
                " with rows and their labels first"
            )
        return np.concatenate([[0.0], self.log10_martingale_])

    def _jumper(self) -> SimpleJumper | CompositeJumper:
        if np.ndim(self.jump_rate) == 0 and not self.passive_weight:
            return SimpleJumper(self.calibrators, self.jump_rate, self.start, self.truncation)  # type: ignore[arg-type]
        rates = np.atleast_1d(self.jump_rate).tolist()
        return CompositeJumper(self.calibrators, rates, self.passive_weight, self.start, self.truncation)


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
        y = stream_labels(y, self.classes_, count_rows(X))
        learner, parts = self, []
        for start in range(0, max(len(y), 1), self.every):  # no rows are the learner's to refuse
            if start:
                learner = clone(self).fit(*self._up_to(X, y, start))
            parts.append(learner.predict_proba(take_rows(X, slice(start, start + self.every))))
        return np.concatenate(parts)

    def _up_to(self, X: Any, y: np.ndarray, n_rows: int) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """The training rows and the first ``n_rows`` of a stream."""
        learned, labels, weights = self._learned
        if weights is not None:
            weights = np.concatenate([weights, np.ones(n_rows)])
        return _joined(learned, take_rows(X, slice(n_rows))), np.concatenate([labels, y[:n_rows]]), weights

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        refuse_no_count(self, "every")
        super().check_parameters()


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, pd.DataFrame):
        return pd.concat([first, second])
    return vstack([first, second], format="csr") if issparse(first) else np.concatenate([first, second])
