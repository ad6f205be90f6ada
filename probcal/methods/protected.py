"""Methods that learn from a stream: protected predictions, and a learner that is fitted again as labels arrive."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from scipy.sparse import issparse, vstack
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from probcal._learner_output import learner_probabilities
from probcal._validation import (
    COUNT,
    Constraint,
    count_rows,
    fit_weights,
    is_count,
    label_array,
    label_positions,
    row_weights,
    take_rows,
)
from probcal.methods._base import refuse_frozen
from probcal.methods._multiclass import two_columns
from probcal.methods.calibrators._calibrator import smallest_probability
from probcal.methods.direct import DirectClassifier
from probcal.protection import CompositeJumper, ProtectedForecaster, SimpleJumper
from probcal.protection.stream_input import check_feedback


def stream_labels(y: Any, classes: np.ndarray, n_rows: int) -> np.ndarray:
    """Return the labels ``y`` of a stream as the type of ``classes``, (n_rows,).

    Raises ValueError unless ``y`` holds one of ``classes`` for each of ``n_rows`` rows.
    """
    labels = label_array(y)
    if labels.shape != (n_rows,):
        raise ValueError(f"y must hold a label for each of {n_rows} rows, its shape is {labels.shape}")
    places = label_positions(labels, classes)
    if (places < 0).any():
        strange = min(labels[places < 0].tolist(), key=str)
        raise ValueError(f"y holds labels that no training row has, such as {strange!r}")
    return np.asarray(classes[places])


_MOST_POINTS = 400
_OF_JUMPERS = ("calibrators", "jump_rate", "passive_weight", "start")


class ProtectedClassifier(DirectClassifier):
    """Fit the learner once, and protect its predictions along a stream.

    Protection bets against the learner's probabilities and corrects them as labels arrive. ``predict_proba`` gets no
    labels: it returns the learner's own probabilities, truncated, before and after a stream. ``probcal.protection``
    holds the protectors themselves. They take one row at a time, and you can save their state.

    Parameters
    ----------
    estimator : classifier
        The base forecaster. It has ``predict_proba``.
    algorithm : {"mixture", "jumper"}, default="mixture"
        ``"mixture"`` is a ``ProtectedForecaster``, which loses little against the best of many corrections. If labels
        are D labels late, its learning rate is 1 / (1 + D / 4). ``"jumper"`` is what Vovk, Petej & Gammerman (2021)
        have: the Simple Jumper or the Composite Jumper, by the four parameters below, which only then have an effect.
    refit_every : int or None, default=None
        With the mixture, fit the learner again after so many rows of the stream, on all rows whose labels have arrived,
        and make its predictions one of the experts. None never fits again.
    calibrators : {"quadratic", "cox", "cox_slipped"}, Quadratic, Cox or list of callables, default="quadratic"
        A family of functions of the predicted probability. A list holds your own functions. The Cox families are for
        two classes. See ``SimpleJumper``.
    jump_rate : float or sequence of float, default=0.01
        Jump rate of the Simple Jumper, from 1e-12 to 1. Several rates make a Composite Jumper of one Simple Jumper for
        each rate.
    passive_weight : float, default=0.5
        The share w of the capital that stays on the base forecaster, at least 0 and below 1. Over a whole stream,
        protection loses at most log2(1 / w) bits against the base. 0 with a single jump rate is Algorithm 1 as printed,
        which may lose more.
    start : {"uniform", "first"}, default="uniform"
        Where the capital lies at first: on all calibrators equally, as printed, or on the first one.
    truncation : "rows", float or None, default="rows"
        Base probabilities are moved into [truncation, 1 - truncation]. ``"rows"`` is 1 / 2n for n training rows. Rows
        of weight 0 do not count. With ``frequency_weights``, n is the sum of the weights. The poster says .1, and its
        authors ran .01. None truncates nothing, and a label of base probability 0 is then an error.
    delay : int, default=0
        Number of rows by which labels arrive late.
    every : int, default=1
        Labels arrive only for every ``every``-th row.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the classifier. It replaces every ``random_state`` of the learner that is None.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimator_ : classifier
        The fitted classifier.
    truncation_ : float or None
        The number that ``truncation`` stands for.
    log10_martingale_ : ndarray of shape (n_rows,)
        log10 S after each row of the last stream. ``predict_proba_online`` sets it, and ``fit`` removes it.
    n_features_in_ : int
        Number of columns of X. Only set if X has columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X. Only set if all names are strings.

    See Also
    --------
    RetrainedClassifier : Fits the learner anew along the stream.
    DirectClassifier : Leaves the probabilities as they are.
    probcal.protection.SimpleJumper : Protects given probabilities, row by row.
    probcal.protection.CompositeJumper : Mixes several jump rates.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.metrics import log_loss
    >>> from probcal import ProtectedClassifier
    >>> X, y = make_classification(3000, random_state=0)
    >>> y[2000:] = 1  # the distribution changes
    >>> protected = ProtectedClassifier(LogisticRegression(), random_state=0).fit(X[:1000], y[:1000])
    >>> stream = protected.predict_proba_online(X[1000:], y[1000:])
    >>> [round(log_loss(y[1000:], p), 2) for p in (protected.predict_proba(X[1000:]), stream)]
    [0.98, 0.13]
    """

    online = True

    def __init__(
        self,
        estimator: Any,
        *,
        algorithm: Literal["mixture", "jumper"] = "mixture",
        refit_every: int | None = None,
        calibrators: Any = "quadratic",
        jump_rate: float | Sequence[float] = 0.01,
        passive_weight: float = 0.5,
        start: Literal["uniform", "first"] = "uniform",
        truncation: Literal["rows"] | float | None = "rows",
        delay: int = 0,
        every: int = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.algorithm = algorithm
        self.refit_every = refit_every
        self.calibrators = calibrators
        self.jump_rate = jump_rate
        self.passive_weight = passive_weight
        self.start = start
        self.truncation = truncation
        self.delay = delay
        self.every = every
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, frequency_weights: bool = False) -> Self:
        # the stream was that of an earlier fit
        self.__dict__.pop("log10_martingale_", None)
        super().fit(X, y, sample_weight, frequency_weights=frequency_weights)
        weights = row_weights(sample_weight, count_rows(X))
        least = smallest_probability(
            count_rows(X), None if weights is None else fit_weights(weights, frequency_weights)
        )
        self.truncation_ = least if self.truncation == "rows" else self.truncation
        n_classes = len(self.classes_)
        if n_classes > 2:
            # a family for two classes refuses more of them now, and not only at the first row of a stream
            self._protector(n_forecasts=0).predict_one(np.full(n_classes, 1 / n_classes))
        if self.refit_every is not None:
            self._learned = _LearnedRows(X, label_array(y), weights, frequency_weights)
        return self

    @property
    def clip(self) -> tuple[float, float]:  # type: ignore[override]  # a property: truncation decides it
        """Return the range of the truncated base probabilities.

        Returns
        -------
        tuple of (float, float)
            (0, 1) without truncation, and before ``fit`` with ``truncation="rows"``.
        """
        least = self._truncation or 0.0
        return least, 1 - least

    @property
    def _truncation(self) -> float | None:
        return getattr(self, "truncation_", None) if self.truncation == "rows" else self.truncation  # type: ignore[return-value]  # no other text

    def predict_proba_online(self, X: Any, y: Any) -> np.ndarray:
        """Predict the protected probabilities of a stream.

        Each row is predicted before its label is used. Each call is a new stream. The fitted classifier does not
        change.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows in the order of arrival.
        y : array-like of shape (n_rows,)
            Labels of these rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.

        Raises
        ------
        ValueError
            If ``y`` does not hold one label per row, or holds a label that no training row has. If the base gives a
            label probability 0, which is only possible with ``truncation=None``.
        """
        self._before_predicting(X)
        y = stream_labels(y, self.classes_, count_rows(X))
        # not truncated here, because for several classes truncating twice differs from truncating once
        base, two = learner_probabilities(self.estimator_, X, self.classes_), len(self.classes_) == 2
        numbers = np.searchsorted(self.classes_, y)
        protector = self._protector(n_forecasts=0 if self.refit_every is None else 1)
        refitted: dict[str, Any] = {}
        if self.refit_every is not None:
            fresh = clone(self).set_params(refit_every=None)
            values = self._learned.refitted(self, fresh, X, y, self.refit_every, self.delay, self.every)
            refitted = {"forecasts": values[:, 1:2] if two else values[:, None]}
        p, self.log10_martingale_ = protector.protect(
            base[:, 1] if two else base, numbers, delay=self.delay, every=self.every, **refitted
        )
        return two_columns(p) if two else p

    def measures(self, X: Any) -> dict[str, float]:
        """Return log10 S at the end of the last stream.

        Parameters
        ----------
        X : object
            Not used.

        Returns
        -------
        dict of str to float
            The only key is ``"log10_martingale"``.

        Raises
        ------
        NotFittedError
            If no stream was protected since ``fit``.
        """
        return {"log10_martingale": float(self._course()[-1])}

    def curves(self, X: Any) -> dict[str, list[dict[str, list[float]]]]:
        """Return log10 S along the last stream.

        Parameters
        ----------
        X : object
            Not used.

        Returns
        -------
        dict of str to list of dict
            The only key is ``"martingale"``, with one line ``{"x", "y"}`` of at most 400 points. x is the number of
            rows so far, from 0, and y is log10 S, rounded to 4 digits after the point.

        Raises
        ------
        NotFittedError
            If no stream was protected since ``fit``.
        """
        course = self._course()
        places = np.unique(np.linspace(0, len(course) - 1, _MOST_POINTS).round().astype(int))
        return {"martingale": [{"x": places.tolist(), "y": course[places].round(4).tolist()}]}

    def check_parameters(self) -> None:
        """Check the constructor parameters.

        Raises
        ------
        ValueError
            If a parameter is invalid, or has no effect with this ``algorithm``.
        """
        if self.algorithm not in ("mixture", "jumper"):
            raise ValueError(f'algorithm must be "mixture" or "jumper", not {self.algorithm!r}')
        if self.refit_every is not None and not is_count(self.refit_every):
            raise ValueError(f"refit_every must be {COUNT.words}, or None, not {self.refit_every!r}")
        if self.refit_every is not None:
            refuse_frozen(self.estimator)
        # A Jumper checks its parameters when it is made, also where another algorithm does not use it.
        self._jumper()
        check_feedback(self.delay, self.every)
        if self.algorithm == "jumper":
            if self.refit_every is not None:
                raise ValueError('refit_every needs algorithm="mixture"')
            return
        for name in _OF_JUMPERS:
            default = signature(type(self)).parameters[name].default
            if not np.array_equal(getattr(self, name), default):
                raise ValueError(f'{name} only has an effect with algorithm="jumper"; give that, too')

    def _course(self) -> np.ndarray:
        """Return log10 S before the first row and after each row, (n_rows + 1,)."""
        if not hasattr(self, "log10_martingale_"):
            raise NotFittedError(
                f"this {type(self).__name__} has protected no stream since it was fitted; call predict_proba_online"
                " with rows and their labels first"
            )
        return np.concatenate([[0.0], self.log10_martingale_])

    def _protector(self, n_forecasts: int) -> Any:
        """Return a new stream of the algorithm."""
        if self.algorithm == "jumper":
            return self._jumper()
        labels_on_the_way = self.delay // self.every
        # Theory is safe with 1 / (1 + D) for D late labels. A fourth of this caution lost less on real streams
        # (benchmarks/protection_study.py).
        return ProtectedForecaster(n_forecasts, 1 / (1 + labels_on_the_way / 4), self._truncation)

    def _jumper(self) -> SimpleJumper | CompositeJumper:
        if np.ndim(self.jump_rate) == 0 and not self.passive_weight:
            return SimpleJumper(self.calibrators, self.jump_rate, self.start, self._truncation)  # type: ignore[arg-type]  # a single number here
        rates = np.atleast_1d(self.jump_rate).tolist()
        return CompositeJumper(self.calibrators, rates, self.passive_weight, self.start, self._truncation)


class RetrainedClassifier(DirectClassifier):
    """Fit the learner again after every ``every`` rows of a stream, on all rows so far.

    It is the usual remedy for a changing distribution, which protection can replace. In the words of Vovk, Petej &
    Gammerman (2021), "the predictor may need to be retrained".

    Parameters
    ----------
    estimator : classifier
        Has ``predict_proba``.
    every : int, default=1000
        Rows of the stream between two fits.
    clip : tuple of (float, float), default=(0.0, 1.0)
        Predicted probabilities are clipped to this range. With more than two classes each row is then divided by its
        sum. ``(0, 1)`` changes nothing.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the classifier. It replaces every ``random_state`` of the learner that is None. A number is used for
        every fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    estimator_ : classifier
        The fitted classifier.
    n_features_in_ : int
        Number of columns of X. Only set if X has columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X. Only set if all names are strings.

    See Also
    --------
    ProtectedClassifier : Fits the learner once, and corrects its probabilities along the stream.
    DirectClassifier : Fits the learner once, and corrects nothing.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.metrics import log_loss
    >>> from probcal import RetrainedClassifier
    >>> X, y = make_classification(3000, random_state=0)
    >>> y[2000:] = 1  # the distribution changes
    >>> retrained = RetrainedClassifier(LogisticRegression(), every=200).fit(X[:1000], y[:1000])
    >>> stream = retrained.predict_proba_online(X[1000:], y[1000:])
    >>> [round(log_loss(y[1000:], p), 2) for p in (retrained.predict_proba(X[1000:]), stream)]
    [0.99, 0.64]
    """

    online = True
    constraints: ClassVar[dict[str, Constraint]] = {"every": COUNT}

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, frequency_weights: bool = False) -> Self:
        super().fit(X, y, sample_weight, frequency_weights=frequency_weights)
        self._learned = _LearnedRows(X, label_array(y), row_weights(sample_weight, count_rows(X)), frequency_weights)
        return self

    def predict_proba_online(self, X: Any, y: Any) -> np.ndarray:
        """Predict class probabilities of a stream, and fit the learner again as labels arrive.

        Each row is predicted before its label is used. The rows of the stream weigh 1 each, which is the mean weight of
        the training rows unless they have ``frequency_weights``. Each call is a new stream. The fitted classifier does
        not change.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows in the order of arrival.
        y : array-like of shape (n_rows,)
            Labels of these rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes_``.

        Raises
        ------
        ValueError
            If ``y`` does not hold one label per row, or holds a label that no training row has.
        """
        self._before_predicting(X)
        y = stream_labels(y, self.classes_, count_rows(X))
        return self._learned.refitted(self, self, X, y, self.every)


class _LearnedRows:
    """Hold the training rows, and fit again on them and on the rows of a stream whose labels are known."""

    def __init__(self, X: Any, y: np.ndarray, weights: np.ndarray | None, counts: bool) -> None:
        self._rows, self._labels, self._counts = X, y, counts
        self._weights = None if weights is None else fit_weights(weights, counts)

    def refitted(
        self, first: Any, method: Any, X: Any, y: np.ndarray, refit_every: int, delay: int = 0, every: int = 1
    ) -> np.ndarray:
        """Return probabilities of a stream, (n_rows, n_classes): of ``first``, and then of new fits of ``method``.

        A fit before row s knows the labels of rows before s - ``delay`` whose number is a multiple of ``every``. The
        rows of the stream weigh 1 each.
        """
        learner, parts = first, []
        for start in range(0, max(len(y), 1), refit_every):  # the learner rejects an empty X
            known = slice(0, max(start - delay, 0), every)
            new = len(y[known])
            if new:
                rows = _joined(self._rows, take_rows(X, known))
                labels = np.concatenate([self._labels, y[known]])
                weights = None if self._weights is None else np.concatenate([self._weights, np.ones(new)])
                learner = clone(method).fit(rows, labels, weights, frequency_weights=self._counts)
            parts.append(learner.predict_proba(take_rows(X, slice(start, start + refit_every))))
        return np.concatenate(parts)


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, pd.DataFrame):
        return pd.concat([first, second])
    return vstack([first, second], format="csr") if issparse(first) else np.concatenate([first, second])
