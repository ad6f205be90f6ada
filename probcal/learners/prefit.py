"""A model of another library that is fitted already, as a classifier that the methods calibrate."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from probcal._classes import column_names, places_among
from probcal._learner_output import LARGEST_SUM_ERROR
from probcal._validation import (
    CheckedParameters,
    Constraint,
    Rule,
    available_if,
    count_rows,
    label_array,
    number_array,
)

Output = Literal["probability", "score"]
_LABELS_ONLY = ("binary:hinge", "multi:softmax")
"""Objectives under which a Booster of XGBoost predicts labels. They look like probabilities of 0 and 1."""


def _is_booster(model: Any, library: str) -> bool:
    """Return whether ``model`` is a Booster of ``library``, which is imported if there is such a model."""
    return library in sys.modules and isinstance(model, sys.modules[library].Booster)


def _is_model(model: Any) -> bool:
    return callable(model) or _is_booster(model, "xgboost") or _is_booster(model, "lightgbm")


def _gives_no(output: Output) -> Callable[[PrefitClassifier], bool]:
    """Return a check for ``available_if``, which holds unless the model gives ``output``.

    So an invalid ``output`` hides no method, and each says what is wrong.
    """
    return lambda classifier: classifier.output != output


class PrefitClassifier(CheckedParameters, ClassifierMixin, BaseEstimator):
    """Wrap a fitted model of another library, so that any calibrating method takes it.

    ``fit`` learns nothing, as in scikit-learn's FrozenEstimator. A calibrating method fits its map on all rows that it
    gets, whatever its ``calibration`` is. Give it rows that the model has not seen.

    Parameters
    ----------
    model : xgboost.Booster, lightgbm.Booster or callable
        The fitted model. A callable gets the rows X as they are given. It returns an array of shape (n_rows,) or
        (n_rows, 1) for the second of two classes, or of shape (n_rows, n_classes). A Booster that stopped early
        predicts with its best iteration. It refuses a frame whose columns have other names, or another order, than
        those that it was fitted on. A clone shares the model.
    classes : array-like of shape (n_classes,)
        Labels in the order of the model's columns. A model with one column gives it for the second label.
    output : {"probability", "score"}, default="probability"
        What the model gives. ``"probability"``: values from 0 to 1. Several columns of a row have the sum 1.
        ``"score"``: any real numbers that are higher where the class is more probable, such as log-odds. With several
        columns, each scores its class against the rest. A Booster then gives its raw score (margin), before the
        logistic function or the softmax.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        ``classes`` as an array.

    See Also
    --------
    SigmoidClassifier : Calibrates a model, as all methods with ``calibration`` do.
    SigmoidCalibrator : Calibrates scores without a model.
    sklearn.frozen.FrozenEstimator : Wraps a fitted classifier of scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from probcal import PrefitClassifier, SigmoidClassifier
    >>> def model(X):
    ...     return 5 * X[:, 0]  # log-odds that are too sure
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = rng.random(2000) < 1 / (1 + np.exp(-X[:, 0]))
    >>> fitted = PrefitClassifier(model, classes=[False, True], output="score")
    >>> SigmoidClassifier(fitted).fit(X, y).predict_proba(np.array([[1.0, 0.0]])).round(2)
    array([[0.28, 0.72]])
    """

    constraints: ClassVar[dict[str, Constraint]] = {
        "model": Rule(
            _is_model,
            "an xgboost.Booster, a lightgbm.Booster or a function from rows to scores (put a fitted classifier of "
            "scikit-learn into FrozenEstimator)",
        ),
        "output": ("probability", "score"),
    }
    learns_nothing = True
    """Whether ``fit`` leaves the classifier as it is, so that calibrating methods do not refit it."""

    def __init__(self, model: Any, classes: Any, *, output: Output = "probability") -> None:
        self.model = model
        self.classes = classes
        self.output = output

    @property
    def classes_(self) -> np.ndarray:
        """Return the labels in the order of the model's columns.

        Returns
        -------
        ndarray of shape (n_classes,)
            ``classes`` as an array.

        Raises
        ------
        ValueError
            If there are fewer than two labels, or one is missing or repeated.
        """
        # checked once, because this takes longer than mapping a row
        given, labels = self.__dict__.get("_checked_classes", (None, None))
        if labels is not None and given is self.classes:
            return np.asarray(labels)
        labels = label_array(self.classes, "classes")
        if len(labels) < 2 or len(set(labels.tolist())) < len(labels):
            raise ValueError(f"classes must be two or more different labels, not {labels.tolist()}")
        self._checked_classes = (self.classes, labels)
        return labels

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Check the parameters and the labels. The model stays as it is.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Ignored.
        y : array-like of shape (n_rows,)
            Labels out of ``classes``.
        sample_weight : array-like of shape (n_rows,), default=None
            Ignored.

        Returns
        -------
        Self
            The classifier itself.

        Raises
        ------
        ValueError
            If a parameter is invalid, or ``y`` holds a label that is not in ``classes``.
        """
        self.check_parameters()
        found, classes = np.unique(label_array(y)), self.classes_
        unknown = found[np.array(places_among(classes, found), dtype=np.intp) < 0].tolist()
        if unknown:
            raise ValueError(f"y holds the label {unknown[0]!r}, which is not in classes, {classes.tolist()}")
        return self

    @available_if(_gives_no("score"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities that the model gives.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of ``classes``.

        Raises
        ------
        AttributeError
            If ``output="score"``.
        ValueError
            If the model gives another shape, a missing value, or values that are no probabilities.
        """
        p = self._columns(X)
        if p.min(initial=0) < 0 or p.max(initial=1) > 1:
            raise ValueError(
                f"the model gives values from {p.min():.4g} to {p.max():.4g}, and probabilities are from 0 to 1; use "
                "output='score' for log-odds and other scores"
            )
        if p.shape[1] == 1:  # most libraries give only the second of two classes
            return np.column_stack([1 - p, p])
        if len(wrong := np.flatnonzero(np.abs(p.sum(axis=1) - 1) > LARGEST_SUM_ERROR)):
            raise ValueError(
                f"the probabilities that the model gives row {wrong[0]} (counted from 0) have the sum "
                f"{p[wrong[0]].sum():.4g}, not 1; use output='score' for a model of each class against the rest"
            )
        return p

    @available_if(_gives_no("probability"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores that the model gives.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
            For two classes, the score of the second one. If the model has two columns, it is the second minus the
            first. For several classes, a column for each, in the order of ``classes``.

        Raises
        ------
        AttributeError
            If ``output="probability"``.
        ValueError
            If the model gives another shape, or a missing or infinite value.
        """
        scores = self._columns(X)
        if scores.shape[1] == 1:
            return scores[:, 0]
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the highest probability or score.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Rows to predict.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels out of ``classes``. The first one wins a tie.
        """
        given = self.predict_proba(X) if self.output == "probability" else self.decision_function(X)
        labels: np.ndarray = self.classes_[(given > 0).astype(int) if given.ndim == 1 else given.argmax(axis=1)]
        return labels

    def _columns(self, X: Any) -> np.ndarray:
        """Return what the model gives as float64, (n_rows, n_classes) or (n_rows, 1) for the second of two classes.

        Raises ValueError for another shape, and for missing and infinite values.
        """
        self.check_parameters()
        if _is_booster(self.model, "xgboost"):
            raw = self._from_xgboost(X)
        else:
            raw = self._from_lightgbm(X) if _is_booster(self.model, "lightgbm") else self.model(X)
        given = number_array(raw, "what the model gives")
        columns = given[:, None] if given.ndim == 1 else given
        n_rows, n_classes = count_rows(X), len(self.classes_)
        if columns.shape not in {(n_rows, n_classes), (n_rows, 1 if n_classes == 2 else n_classes)}:
            expected = f"({n_rows},), ({n_rows}, 1) or ({n_rows}, 2)" if n_classes == 2 else f"({n_rows}, {n_classes})"
            raise ValueError(
                f"the model gives an array of shape {given.shape} for {n_rows} rows; with {n_classes} classes it must "
                f"have the shape {expected}"
            )
        if not np.isfinite(columns).all():
            row = np.flatnonzero(~np.isfinite(columns).all(axis=1))[0]
            raise ValueError(f"the model gives a missing or infinite value for row {row} (counted from 0)")
        return columns

    def _from_xgboost(self, X: Any) -> np.ndarray:
        booster, is_score = self.model, self.output == "score"
        rows = sys.modules["xgboost"].DMatrix(_as_table(X), enable_categorical=True)
        # as XGBClassifier does: Booster.predict alone would take all trees
        best = booster.attr("best_iteration")
        trees = (0, 0) if best is None else (0, int(best) + 1)
        given = np.asarray(booster.predict(rows, output_margin=is_score, iteration_range=trees))
        # such objectives look like probabilities of 0 and 1, and only the configuration tells them apart
        may_be_labels = not is_score and (given == np.floor(given)).all()
        if may_be_labels and any(f'"{name}"' in booster.save_config() for name in _LABELS_ONLY):
            raise ValueError(
                f"a Booster with the objective {' or '.join(_LABELS_ONLY)} predicts labels and no probabilities; use "
                "output='score', which reads its margins"
            )
        return given

    def _from_lightgbm(self, X: Any) -> np.ndarray:
        # LightGBM would take the columns by their place. It has no blanks in names.
        known, given = self.model.feature_name(), [str(name).replace(" ", "_") for name in column_names(X)]
        is_named = known != [f"Column_{number}" for number in range(len(known))]
        if is_named and given and given != known:
            raise ValueError(f"the model was fitted on the columns {known}, in this order, and X has {given}")
        return np.asarray(self.model.predict(_as_table(X), raw_score=self.output == "score"))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Self:
        # a deep copy would take the memory twice, and one of a Booster of LightGBM loses its best iteration
        return type(self)(self.model, self.classes, output=self.output)


def _as_table(X: Any) -> Any:
    return X if hasattr(X, "shape") else np.asarray(X)
