"""Base classes of the maps from scores to calibrated probabilities. Each map is an estimator of its own."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from probcal._classes import class_labels, column_names, places_among, require_weight_of_each_class
from probcal._learner_output import LARGEST_SUM_ERROR
from probcal._parts import row_parts
from probcal._validation import CheckedParameters, Constraint, fit_weights, row_weights
from probcal.methods._base import log_odds, scored_classes
from probcal.methods._multiclass import combine_classes
from probcal.methods.calibrators.formula import Formula, clip, column, log, log_probabilities, logistic
from probcal.methods.calibrators.formula import log_odds as log_odds_formula

Input = Literal["probability", "score"]
Map = Callable[[np.ndarray], np.ndarray]
"""From (n,) scores to (n,) probabilities p. A map that computes 1 - p with more digits has the method ``both``."""
_LARGEST = 2.0**1000
"""Largest absolute score. Differences of such scores do not overflow."""
_ORDINARY = 64
"""Largest absolute binary exponent of scores that are used as they are."""


def smallest_probability(n_rows: int, weights: np.ndarray | None = None) -> float:
    """Return 1 / (2 n): a probability that n rows cannot tell from 0. No calibrator trusts an input beyond it.

    With ``weights``, (n_rows,) on the scale of ``fit_weights``, n is their sum.
    """
    return 1 / (2 * (n_rows if weights is None else max(np.count_nonzero(weights), weights.sum())))


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context of one BLAS thread. Threads wait for each other too often in products of a few rows and columns.

    Entering and leaving it takes as long as mapping one row.
    """
    limit: AbstractContextManager[Any] = _threads().limit(limits=1, user_api="blas")
    return limit


class Calibrator(CheckedParameters, ClassifierMixin, BaseEstimator, ABC):
    """Map the scores of a classifier to calibrated probabilities. No classifier is needed, only its scores.

    Subclasses have the parameter ``input`` and define ``_fit_maps`` and ``_calibrated``.
    """

    constraints: ClassVar[dict[str, Constraint]] = {"input": ("probability", "score")}
    input: Input
    classes_: np.ndarray
    fitted_attributes: ClassVar[tuple[str, ...]] = ()
    """What ``fit`` sets, besides ``maps_`` and what all maps have. It is written to files."""
    is_scale_free = False
    """Whether the map of scores times a constant predicts the same."""
    is_rising: ClassVar[bool] = False
    """Whether a higher score of the second of two classes gets a higher probability, or the same on a flat."""
    _exponent = 0
    """Scores are divided by 2 to this power first, without any rounding. It is 0 unless they are huge or tiny."""

    def fit(self, scores: Any, y: Any, sample_weight: Any = None, *, frequency_weights: bool = False) -> Self:
        """Fit the map.

        Parameters
        ----------
        scores : array-like of shape (n_rows,), (n_rows, 1) or (n_rows, n_classes)
            Predictions of a classifier for rows that it was not fitted on, in the form that ``input`` says. For two
            classes one column belongs to the second class in sorted order, and there may be two columns. For several
            classes there is one column per class, in sorted order.
        y : array-like of shape (n_rows,)
            Labels of two classes or more.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows, not negative. Only their ratios count: they are multiplied by a number that makes
            their mean 1. A row of weight 0 is left out. None means equal weights.
        frequency_weights : bool, default=False
            Whether the weights are whole numbers that say how often each row occurs. A row of weight 2 then counts as
            two rows.

        Returns
        -------
        object
            This calibrator, fitted.

        Raises
        ------
        ValueError
            If a parameter, the labels or the weights are invalid.
            If a score is missing or infinite, or the shape of the scores does not fit the classes.
            If ``input="probability"`` and the scores are no probabilities.
            If a class has no row of positive weight.
            If the columns of a DataFrame are named after the classes, but in another order.
            If its only column is named after the first of two classes.
        """
        return self._fit(scores, y, sample_weight, partial(fit_weights, frequency_weights=frequency_weights))

    def _fit_scaled(self, scores: Any, y: Any, weights: np.ndarray | None) -> Self:
        """Fit as ``fit`` does, with weights on the scale of ``fit_weights``, which a part of the rows keeps."""
        return self._fit(scores, y, weights, np.asarray)

    def _fit(self, scores: Any, y: Any, sample_weight: Any, scaled: Callable[[np.ndarray], np.ndarray]) -> Self:
        self.check_parameters()
        raw = self._as_matrix(scores)
        labels, self.classes_ = class_labels(raw, y)
        self._check_names(scores, raw, fitting=True)
        self._exponent = 0
        self._check_values(raw)
        matrix = self._read(raw)
        self.n_features_in_ = raw.shape[1]
        weights = row_weights(sample_weight, len(labels))
        if weights is not None:
            # The scale is set before rows of weight 0 are left out, because a part of the rows keeps the scale of all.
            weights = scaled(weights)
            require_weight_of_each_class(self.classes_, labels, weights)
            matrix, labels, weights = matrix[weights > 0], labels[weights > 0], weights[weights > 0]
        if self.is_scale_free and self.input == "score":
            self._exponent = _binary_exponent(matrix)
            # A power of two changes no digit, so a map of ordinary scores is the same with and without it.
            matrix = np.ldexp(matrix, -self._exponent)
        self.smallest_ = smallest_probability(len(labels), weights)
        with one_blas_thread():
            self._fit_maps(matrix, labels, weights)
        return self

    def predict_proba(self, scores: Any) -> np.ndarray:
        """Map scores to calibrated probabilities.

        Parameters
        ----------
        scores : array-like of shape (n_rows,), (n_rows, 1) or (n_rows, n_classes)
            Predictions of the classifier, with as many columns as in ``fit``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Calibrated probabilities, in the order of ``classes_``.

        Raises
        ------
        NotFittedError
            If ``fit`` was not called.
        ValueError
            If a score is missing or infinite, or the columns are not those of ``fit``.
            If ``input="probability"`` and the scores are no probabilities.
        """
        raw = self._checked_scores(scores)
        with one_blas_thread():
            return self._mapped(raw)

    def to_json(self) -> str:
        """Write the fitted map as JSON that a person can read.

        Returns
        -------
        str
            A version of the format, the parameters, the classes and the fitted numbers with all their digits. Later
            versions of probcal read it, too.

        Raises
        ------
        NotFittedError
            If ``fit`` was not called.
        TypeError
            If the classes are neither numbers nor texts.
        """
        from probcal.methods.calibrators.map_file import map_to_json

        check_is_fitted(self)
        return map_to_json(self)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a map that ``to_json`` wrote. It predicts the same to the last bit. No code of the text is run.

        Parameters
        ----------
        text : str
            What ``to_json`` returned.

        Returns
        -------
        object
            The fitted calibrator.

        Raises
        ------
        ValueError
            If the text holds no map, or one of another class.
        """
        from probcal.methods.calibrators.map_file import map_from_json

        calibrator = map_from_json(text)
        if not isinstance(calibrator, cls):
            raise ValueError(f"the text holds a {type(calibrator).__name__}, not a {cls.__name__}")
        return calibrator

    def interpret(self) -> str:
        """Say in two sentences what the fitted map does.

        Returns
        -------
        str
            For two classes and probabilities: the factor and the shift of the log-odds (nats) around .5, and where the
            map lifts and lowers probabilities. Otherwise what some scores or probabilities become.

        Raises
        ------
        NotFittedError
            If ``fit`` was not called.
        """
        from probcal.methods.calibrators._inspection import interpretation

        check_is_fitted(self)
        return interpretation(self)

    def inverse(self, probabilities: Any) -> np.ndarray:
        """Return the scores that the map gives these calibrated probabilities.

        A threshold on calibrated probabilities becomes a threshold on the scores of the classifier.

        Parameters
        ----------
        probabilities : array-like of shape (n,)
            Calibrated probabilities of the second of two classes.

        Returns
        -------
        ndarray of shape (n,)
            Scores in the form that ``input`` says: probabilities of the second class, or scores. If the map was fitted
            on two columns of scores, they are differences, the second minus the first. Where the map is flat, it is the
            middle of the flat, or its inner end if the flat has no other.

        Raises
        ------
        NotFittedError
            If ``fit`` was not called.
        ValueError
            If the map has steps or can fall, or there are more than two classes.
            If the map gives no score this probability.
        """
        from probcal.methods.calibrators._inspection import scores_with_probability

        check_is_fitted(self)
        if not self.is_rising or len(self.classes_) > 2:
            what = f"has {len(self.classes_)} classes" if len(self.classes_) > 2 else "can have steps or fall"
            raise ValueError(
                f"this {type(self).__name__} {what}, so it has no inverse; sigmoid, logistic, beta, temperature, prior "
                "and isotonic maps of two classes have one"
            )
        wanted = np.atleast_1d(np.asarray(probabilities, dtype=np.float64))
        if wanted.ndim != 1:
            raise ValueError(f"probabilities must be of shape (n,), not {wanted.shape}")
        return scores_with_probability(self, wanted)

    def predict(self, scores: Any) -> np.ndarray:
        """Predict the most probable class of each row.

        Parameters
        ----------
        scores : array-like of shape (n_rows,), (n_rows, 1) or (n_rows, n_classes)
            Predictions of the classifier, with as many columns as in ``fit``.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels. The first class wins a tie.

        Raises
        ------
        NotFittedError
            If ``fit`` was not called.
        ValueError
            If a score is missing or infinite, or the columns are not those of ``fit``.
            If ``input="probability"`` and the scores are no probabilities.
        """
        p = self.predict_proba(scores)
        return np.asarray(self.classes_[np.argmax(p, axis=1)])

    @abstractmethod
    def _fit_maps(self, matrix: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> None:
        """Fit what ``_calibrated`` needs. ``matrix`` is what ``_read`` returns."""

    @abstractmethod
    def _calibrated(self, matrix: np.ndarray) -> np.ndarray:
        """Return (n_rows, n_classes) probabilities."""

    def _mapped(self, raw: np.ndarray) -> np.ndarray:
        """Return (n_rows, n_classes) probabilities of checked scores."""
        n_classes = len(self.classes_)
        # Two columns are filled and read one by one. Rows of many columns lie together, because they are summed.
        p = np.empty((len(raw), n_classes), order="F" if n_classes == 2 else "C")
        for rows in row_parts(len(raw), n_classes):
            p[rows] = self._calibrated(self._read(raw[rows]))
        return p

    def _checked_scores(self, scores: Any) -> np.ndarray:
        """Return the scores, (n_rows, n_columns). Raises NotFittedError and ValueError as ``predict_proba`` does."""
        check_is_fitted(self)
        raw = self._as_matrix(scores)
        if raw.shape[1] != self.n_features_in_:
            raise ValueError(f"scores have {_column_count(raw)}, and the map was fitted on {self.n_features_in_}")
        self._check_names(scores, raw, fitting=False)
        self._check_values(raw)
        return raw

    def _learner_matrix(self, scores: np.ndarray) -> np.ndarray:
        """Return what ``_checked_scores`` does, for float64 scores of the classifier that this fitted map belongs to.

        Its columns are those of ``fit`` and have no names, so only their values are checked.
        """
        raw = self._as_matrix(scores)
        self._check_values(raw)
        return raw

    def _check_names(self, scores: Any, raw: np.ndarray, *, fitting: bool) -> None:
        """Remember the columns of a frame, or compare them with those remembered, as in scikit-learn.

        Raises ValueError for other columns, and for columns that are named after the classes in another order.
        """
        if type(scores) is np.ndarray and not fitting and not hasattr(self, "feature_names_in_"):
            return  # it has no names, and this takes a tenth of a millisecond
        validate_data(self, scores if hasattr(scores, "columns") else raw, reset=fitting, skip_check_array=True)
        names, classes = column_names(scores), self.classes_.tolist()
        places = places_among(names, classes)
        if len(names) == len(classes) and -1 not in places and places != sorted(places):
            raise ValueError(f"the columns of scores are {names}; put them in the order of the classes, {classes}")
        if len(names) == 1 and len(classes) == 2 and places[0] == 0:
            raise ValueError(f"the column of scores is {names[0]!r}; give that of the second class, {classes[1]!r}")

    def _as_matrix(self, scores: Any) -> np.ndarray:
        if type(scores) is np.ndarray and scores.dtype == np.float64:  # as a classifier gives them
            raw: np.ndarray = scores
        else:
            raw = check_array(
                scores, dtype=np.float64, ensure_2d=False, allow_nd=True, ensure_all_finite=False, ensure_min_samples=0,
                ensure_min_features=0, input_name="scores",
            )  # fmt: skip
        raw = raw[:, None] if raw.ndim == 1 else raw
        if raw.ndim != 2 or not raw.shape[1]:
            raise ValueError(f"scores must have the shape (n_rows,) or (n_rows, n_classes), not {raw.shape}")
        return raw

    def _check_values(self, raw: np.ndarray) -> None:
        """Raise ValueError for a number of columns that does not suit the classes, and for invalid values."""
        expected = (1, 2) if len(self.classes_) == 2 else (len(self.classes_),)
        if raw.shape[1] not in expected:
            raise ValueError(
                f"scores have {_column_count(raw)}, and y has {len(self.classes_)} classes; give "
                f"{' or '.join(map(str, expected))} columns"
            )
        # the least and the largest are found in passes that store nothing, and NaN is neither
        low, high = raw.min(initial=0), raw.max(initial=0)
        if not (-np.inf < low and high < np.inf):
            raise ValueError("scores hold missing or infinite values; a map needs finite scores")
        if self.input == "score":
            return
        if low < 0 or high > 1:
            raise ValueError(
                f"scores reach from {raw.min():.4g} to {raw.max():.4g}, and input='probability' needs values "
                "from 0 to 1; use input='score' for a decision function or log-odds"
            )
        for rows in row_parts(len(raw), raw.shape[1]) if raw.shape[1] > 1 else ():
            sums = raw[rows].sum(axis=1)
            if len(wrong := np.flatnonzero(np.abs(sums - 1) > LARGEST_SUM_ERROR)):
                row, total = rows.start + wrong[0], sums[wrong[0]]
                raise ValueError(f"the probabilities of row {row} (counted from 0) have the sum {total:.4g}, not 1")

    def _read(self, raw: np.ndarray) -> np.ndarray:
        """Return checked scores of two classes as (n_rows, 1) or (n_rows, 2), or of several as (n_rows, n_classes)."""
        if self.input == "score":
            with np.errstate(over="ignore"):
                scores = raw[:, 1:] - raw[:, :1] if raw.shape[1] == 2 else raw
                scores = scores if self._exponent == 0 else np.ldexp(scores, -self._exponent)
            return bounded(scores, -_LARGEST, _LARGEST)
        return both_columns(1 - raw[:, 0], raw[:, 0]) if raw.shape[1] == 1 else raw

    def _log_odds(self, matrix: np.ndarray, bound: float | None = None) -> np.ndarray:
        """Return real scores, (n_rows, 1) or (n_rows, n_classes): the given ones, or the log-odds of probabilities.

        Probabilities are first moved into [``bound``, 1 - ``bound``].
        """
        if self.input == "score":
            return matrix
        if matrix.shape[1] == 2:
            odds = log_odds(matrix, 1)[:, None]
        else:
            odds = np.column_stack([log_odds(matrix, column) for column in range(matrix.shape[1])])
        return odds if bound is None else clip_in_place(odds, -(most := np.log1p(-bound) - np.log(bound)), most)

    def _probabilities(self, matrix: np.ndarray) -> np.ndarray:
        """Return probabilities, (n_rows, n_classes): the given ones, or the logistic function of scores."""
        if self.input == "probability":
            return matrix
        two = matrix.shape[1] == 1
        return np.column_stack([expit(-matrix), expit(matrix)]) if two else np.asarray(softmax(matrix, axis=1))

    def _log_probabilities(self, matrix: np.ndarray, bound: float) -> np.ndarray:
        """Return the natural logarithms of probabilities, (n_classes, n_rows).

        None of given probabilities is below that of ``bound``. Scores have none: unlike a predicted 0, a large score
        still tells how sure the classifier was.
        """
        columns = np.ascontiguousarray(matrix.T)
        if self.input == "score":
            both = np.vstack([np.zeros(len(matrix)), columns]) if len(columns) == 1 else columns
            return np.asarray(log_softmax(both, axis=0))
        return np.asarray(np.log(np.maximum(columns / columns.sum(axis=0), bound)))

    def _formula(self) -> Formula:
        """Return the probability of the second of two classes, as a formula of the columns of scores."""
        raise NotImplementedError

    def _column_formulas(self) -> list[Formula]:
        return [column(place, of_probability=self.input == "probability") for place in range(self.n_features_in_)]

    def _score_formula(self) -> Formula:
        """Return the formula of what ``_read`` returns."""
        first, *second = self._column_formulas()
        score = second[0] - first if second else first
        if self._exponent == 0:
            return score
        half = self._exponent // 2  # a single factor could overflow
        return score * 2.0**-half * 2.0 ** (half - self._exponent)

    def _log_odds_formula(self, bound: float = 0.0) -> Formula:
        """Return the formula of what ``_log_odds`` returns for two classes."""
        if self.input == "score":
            return self._score_formula()
        first, *second = self._column_formulas()
        odds = log_odds_formula(first, second[0]) if second else log_odds_formula(None, first)
        return clip(odds, -(most := math.log1p(-bound) - math.log(bound)), most) if bound > 0 else odds

    def _probability_formulas(self) -> tuple[Formula, Formula]:
        """Return the formulas of what ``_probabilities`` returns for two classes."""
        if self.input == "score":
            return logistic(-self._score_formula()), logistic(self._score_formula())
        first, *second = self._column_formulas()
        return (first, second[0]) if second else (1.0 - first, first)

    def _log_probability_formulas(self, bound: float) -> tuple[Formula, Formula]:
        """Return the formulas of what ``_log_probabilities`` returns for two classes."""
        if self.input == "score":
            return log_probabilities(self._score_formula())
        negative, positive = self._probability_formulas()
        if self.n_features_in_ == 2:
            total = negative + positive
            negative, positive = negative / total, positive / total
        return log(clip(negative, low=bound)), log(clip(positive, low=bound))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False  # unless it has a column for each class
        return tags


def _binary_exponent(scores: np.ndarray) -> int:
    """Return the binary exponent of the largest absolute score, or 0 where squares and cubes of scores are no risk."""
    exponent = int(np.frexp(np.abs(scores).max(initial=0.0))[1])
    return exponent if abs(exponent) > _ORDINARY else 0


def both_columns(negative: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return (n_rows, 2) probabilities. Those of a class lie together: steps on rows of two numbers are slow."""
    columns = np.empty((2, len(positive)))
    columns[0], columns[1] = negative, positive
    return columns.T


def _column_count(raw: np.ndarray) -> str:
    return "1 column" if raw.shape[1] == 1 else f"{raw.shape[1]} columns"


def bounded(values: np.ndarray, low: Any, high: Any) -> np.ndarray:
    """Return what numpy.clip does. It takes a quarter of the time for one row."""
    return np.asarray(np.minimum(np.maximum(values, low), high))


def clip_in_place(values: np.ndarray, low: Any, high: Any) -> np.ndarray:
    """Return what ``bounded`` does, in the memory of ``values``."""
    return np.asarray(np.minimum(np.maximum(values, low, out=values), high, out=values))


class LogOddsMap(ABC):
    """Map scores to the probabilities 1 / (1 + exp(-f)), whose log-odds f subclasses define."""

    @abstractmethod
    def log_odds(self, scores: np.ndarray) -> np.ndarray:
        """Return the log-odds of the probabilities, (n_rows,) in nats."""

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return _logistic(self.log_odds(scores))

    def both(self, scores: np.ndarray) -> np.ndarray:
        """Return 1 - p and p for the probabilities p, (n_rows, 2). 1 - p has all digits where p rounds to 1."""
        columns = np.empty((2, len(scores)))
        columns[0] = self.log_odds(scores)
        np.negative(columns[0], out=columns[1])
        return _from_exponents(columns).T


def _logistic(log_odds: np.ndarray) -> np.ndarray:
    """Return what SciPy's expit does. NumPy's exp takes a sixth of the time."""
    return _from_exponents(np.negative(log_odds))


def _from_exponents(exponents: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(x)) of ``exponents`` x, in their memory."""
    with np.errstate(over="ignore"):
        np.exp(exponents, out=exponents)
    exponents += 1
    return np.asarray(np.divide(1, exponents, out=exponents))


class OneAgainstRestCalibrator(Calibrator, ABC):
    """Fit one map per class from the class's score to its probability.

    Two classes have one map, for the second class. Several classes have one map for each class against the rest, and
    each row is divided by its sum (Zadrozny & Elkan 2002). Subclasses define ``_fit_map`` and ``_map_inputs``.
    """

    map_class: ClassVar[type]
    """The dataclass of a fitted map of one class, whose fields are numbers, pairs and arrays of numbers."""
    maps_: list[Any]

    @abstractmethod
    def _fit_map(self, scores: np.ndarray, positive: np.ndarray, weights: np.ndarray | None) -> Map:
        """Fit the map of one class. ``scores``, ``positive`` (bool) and ``weights`` (above 0, or None) are (n,)."""

    def _map_inputs(self, matrix: np.ndarray) -> np.ndarray:
        """Return what the maps take, (n_rows, n_maps)."""
        return self._log_odds(matrix)

    def _map_input_formula(self) -> Formula:
        """Return the formula of what ``_map_inputs`` returns for two classes."""
        return self._log_odds_formula()

    def _formula(self) -> Formula:
        formula: Formula = self.maps_[0].formula(self._map_input_formula())
        return formula

    def _fit_maps(self, matrix: np.ndarray, labels: np.ndarray, weights: np.ndarray | None) -> None:
        columns = self._map_inputs(matrix)
        self.maps_ = [
            self._fit_map(columns[:, index], labels == label, weights)
            for index, label in enumerate(scored_classes(self.classes_))
        ]

    def _calibrated(self, matrix: np.ndarray) -> np.ndarray:
        columns = self._map_inputs(matrix)
        if len(self.maps_) == 1 and hasattr(fitted_map := self.maps_[0], "both"):
            probabilities: np.ndarray = fitted_map.both(columns[:, 0])
            return probabilities
        of_classes = [fitted_map(columns[:, index]) for index, fitted_map in enumerate(self.maps_)]
        return both_columns(1 - of_classes[0], of_classes[0]) if len(of_classes) == 1 else combine_classes(of_classes)
