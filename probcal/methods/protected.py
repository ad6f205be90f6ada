"""A learner whose estimates are protected against a changing distribution as the labels of a stream come in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _num_samples

from probcal.methods.direct import DirectClassifier
from probcal.methods.online import stream_labels
from probcal.methods.probabilities import two_columns
from probcal.protection import CompositeJumper, SimpleJumper
from probcal.protection.inputs import refuse_other_feedback

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
        y = stream_labels(y, self.classes_, _num_samples(X))
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
