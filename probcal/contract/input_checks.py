"""Checks of inputs: rows, labels, weights and streams. Mistakes in them give clear errors."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import has_fit_parameter

from probcal.contract.prediction_checks import check_probabilities
from probcal.contract.subject import (
    DoesNotApply,
    Failed,
    Sample,
    Subject,
    fit,
    integer_weights,
    predictions_of,
    require_equal,
    sample,
    seeded_copy,
)


def inputs_are_not_changed(subject: Subject) -> None:
    """Check that neither ``fit`` nor ``predict`` writes into its arguments."""
    data = sample()
    weights = integer_weights(len(data.y)) if has_fit_parameter(subject.estimator, "sample_weight") else None
    inputs: dict[str, Any] = {"X of fit": data.X, "y": data.y, "X of predict": data.X_test, "sample_weight": weights}
    copies: dict[str, Any] = {name: None if values is None else values.copy() for name, values in inputs.items()}
    try:
        model = subject.fitted_copy(data, weights)
    except ValueError as error:
        if weights is None or "weight" not in str(error).lower():
            raise
        # A component may refuse weights. The checks of weights tell that.
        model = subject.fitted_copy(data)
    predictions_of(model, data.X_test)
    names = [name for name, values in inputs.items() if not np.array_equal(values, copies[name])]
    if names:
        raise Failed("unchanged inputs", f"{', '.join(names)} changed", "copy before writing")


def the_given_learner_is_not_changed(subject: Subject) -> None:
    """Check that a method fits copies, so that ``estimator`` itself stays unfitted."""
    _require_method(subject)
    data, method = sample(), seeded_copy(subject.estimator, 0)
    learner = method.get_params(deep=False)["estimator"]
    old_state = _state(learner)
    predictions_of(fit(method, data.X, data.y, data.X_test), data.X_test)
    names = [name for name, value in _state(learner).items() if old_state.get(name) != value]
    if names:
        raise Failed("the given learner not to change", f"it has another {', '.join(names)}", "fit clone(estimator)")


def _frames() -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame]:
    """Return (X, y, X_test) with numbers, categories (one never seen) and an index that does not count from 0."""
    random = np.random.default_rng(5)
    size = random.normal(size=100).round(2)
    colours = pd.Categorical.from_codes(random.integers(0, 3, 100), ["red", "blue", "green", "never seen"])
    frame = pd.DataFrame({"size": size, "colour": colours}, index=np.arange(100)[::-1] * 3 + 1000)
    y = (size + (colours == "red") + random.logistic(size=100) > 0.3).astype(int)
    return frame.iloc[:80], y[:80], frame.iloc[80:]


class _FrameSpy(ClassifierMixin, BaseEstimator):
    """Fit a small tree on the codes of the categories. Raise Failed for rows that are not of the frame ``known``."""

    def __init__(self, known: pd.DataFrame) -> None:
        self.known = known

    def fit(self, X: pd.DataFrame, y: np.ndarray, sample_weight: np.ndarray | None = None) -> _FrameSpy:
        self.tree_ = DecisionTreeClassifier(max_depth=3, random_state=0)
        self.tree_.fit(self._codes(X, "fit"), y, sample_weight)
        self.classes_ = self.tree_.classes_
        return self

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return np.asarray(self.tree_.predict_proba(self._codes(X, "predict_proba")))

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return np.asarray(self.tree_.predict(self._codes(X, "predict")))

    def _codes(self, X: Any, step: str) -> np.ndarray:
        difference = _difference(X, self.known)
        if difference:
            raise Failed(
                f"the learner's {step} to get rows of the frame that was given",
                difference,
                "pass X on unchanged; take rows with sklearn.utils._safe_indexing or X.iloc",
            )
        return np.column_stack([X["size"], X["colour"].cat.codes])


def _difference(X: Any, frame: pd.DataFrame) -> str:
    """Return the difference from ``frame``, which is empty if ``X`` consists of its rows."""
    if not isinstance(X, pd.DataFrame):
        return f"got a {type(X).__name__}"
    if list(X.columns) != list(frame.columns):
        return f"got the columns {list(X.columns)} instead of {list(frame.columns)}"
    for name in frame.columns:
        dtype, frame_dtype = X[name].dtype, frame[name].dtype
        if dtype != frame_dtype:
            return f"the column {name!r} is {dtype} instead of {frame_dtype}, or with other categories"
    if not X.index.isin(frame.index).all():
        return "the index holds labels that were not given"
    return "" if X.equals(frame.loc[X.index]) else "values changed under the same index"


def frames_reach_the_learner_unchanged(subject: Subject) -> None:
    """Check that the learner gets rows of the given frame with index, columns and categories.

    The method is built around the suite's own learner, which accepts only such frames.
    """
    _require_method(subject)
    X, y, X_test = _frames()
    method = clone(subject.estimator).set_params(estimator=_FrameSpy(known=X.combine_first(X_test).astype(X.dtypes)))
    predictions_of(fit(seeded_copy(method, 0), X, y, X_test), X_test)


def _require_method(subject: Subject) -> None:
    if not subject.is_method:
        raise DoesNotApply("it is a learner")


def _state(learner: Any) -> dict[str, str]:
    return {name: joblib.hash(value) for name, value in vars(learner).items()}


def missing_labels_are_rejected(subject: Subject) -> None:
    """Check that NaN among numeric labels raises a ValueError."""
    data = sample()
    labels = data.y.astype(np.float64)
    labels[4] = np.nan
    _check_raises(
        lambda: fit(seeded_copy(subject.estimator, 0), data.X, labels, data.X_test),
        ValueError,
        "a missing label in y",
        "let fit raise it, for instance by sklearn.utils.check_X_y",
    )


def rows_and_labels_of_different_lengths_are_rejected(subject: Subject) -> None:
    """Check that fewer labels than rows raise a ValueError."""
    data = sample()
    _check_raises(
        lambda: fit(seeded_copy(subject.estimator, 0), data.X, data.y[:-1], data.X_test),
        ValueError,
        "fewer labels than rows",
        "let fit raise it, for instance by sklearn.utils.check_consistent_length",
    )


def one_class_is_learned_or_rejected_clearly(subject: Subject) -> None:
    """Check that one class gives probabilities, or a ValueError with the word "class" in it."""
    data = sample()
    try:
        p = predictions_of(
            fit(seeded_copy(subject.estimator, 0), data.X, np.zeros(len(data.y), int), data.X_test), data.X_test
        )
    except ValueError as error:
        if "class" not in str(error).lower():
            raise Failed(
                'a ValueError that mentions "class" when y holds one class',
                f"its message is {str(error)!r}",
                "count the classes in fit and raise it",
            ) from error
        return
    check_probabilities(p, "return 1 for the only class, or reject it in fit")


def a_different_number_of_columns_is_rejected(subject: Subject) -> None:
    """Check that one column less or more than in ``fit`` raises a ValueError."""
    data = sample()
    model = subject.fitted_copy(data)
    # both, because code that takes the first columns only accepts more of them
    for word, X in (("fewer", data.X_test[:, :-1]), ("more", np.column_stack([data.X_test, data.X_test[:, 0]]))):
        _check_raises(
            partial(predictions_of, model, X),
            ValueError,
            f"rows with one column {word} than in fit",
            "compare X.shape[1] with n_features_in_, for instance by sklearn.utils.validation.validate_data",
        )


def an_unfitted_component_raises_not_fitted(subject: Subject) -> None:
    """Check that ``predict`` and ``predict_proba`` raise scikit-learn's NotFittedError before ``fit``."""
    data = sample()
    for name in ("predict", "predict_proba"):
        estimator = seeded_copy(subject.estimator, 0)
        if hasattr(estimator, name):
            call = methodcaller(name, data.X_test)
            _check_raises(
                partial(call, estimator),
                NotFittedError,
                f"{name} before fit",
                f"begin {name} with sklearn.utils.validation.check_is_fitted(self)",
            )


def _check_raises(action: Callable[[], Any], error_type: type[Exception], case: str, advice: str) -> None:
    try:
        action()
    except error_type:
        return
    except Exception as error:
        raise Failed(f"{error_type.__name__} for {case}", f"got {type(error).__name__}: {error}", advice) from error
    raise Failed(f"{error_type.__name__} for {case}", "nothing was raised", advice)


_LARGE_WEIGHT = 50.0
_MINIMUM_TOLERANCE = 1e-4
"""Tolerance between a fit to weights and one to repeated rows.

Iterative fits stop near the same minimum, within the learner's own tolerance. An ignored weight shows in the second
digit.
"""


def weights_of_one_change_nothing(subject: Subject) -> None:
    """Check that weights of 1 change nothing but rounding, or no more than another seed does."""
    subject.require_weights()
    data = sample()
    p_ones = subject.predictions(data, np.ones(len(data.y)))
    _check_equal(subject.predictions(data), p_ones, subject.tolerance, "weights of 1 and no weights")


def whole_weights_are_repeated_rows(subject: Subject) -> None:
    """Check that a row of weight 3 counts as three rows, within 1e-4, or as closely as another seed.

    A component whose ``fit`` takes ``frequency_weights`` gets True.
    """
    subject.require_weights()
    data = sample()
    weights = integer_weights(len(data.y))
    counts = weights.astype(int)
    p_repeated = subject.predictions(replace(data, X=np.repeat(data.X, counts, axis=0), y=np.repeat(data.y, counts)))
    tolerance = max(_MINIMUM_TOLERANCE, subject.tolerance)
    p_weighted = subject.predictions(data, weights, counts=True)
    _check_equal(p_repeated, p_weighted, tolerance, "whole weights and repeated rows")


def the_scale_of_weights_changes_nothing(subject: Subject) -> None:
    """Check that shares, which sum to 1, give the predictions of whole weights, if ``fit`` has ``frequency_weights``.

    Without that parameter weights are counts of rows, and their scale matters.
    """
    subject.require_weights()
    if not has_fit_parameter(subject.estimator, "frequency_weights"):
        raise DoesNotApply("fit takes no frequency_weights, so a weight is a number of rows")
    data = sample()
    weights = integer_weights(len(data.y))
    p_whole, p_shares = (subject.predictions(data, one) for one in (weights, weights / weights.sum()))
    _check_equal(p_whole, p_shares, subject.tolerance, "whole weights and shares of them")


def _contradictory_sample() -> Sample:
    """Return rows that occur twice, often with both labels, so that the weights decide their prediction."""
    half = sample(n_rows=45)
    return Sample(np.vstack([half.X, half.X]), np.concatenate([half.y, np.resize([0, 0, 1], 45)]), half.X)


def a_heavier_class_gets_higher_probabilities(subject: Subject) -> None:
    """Check that a class of fifty times the weight gets higher probabilities on average, or is predicted more often."""
    subject.require_weights()
    # a learner that separates the classes would predict the same whatever they weigh
    data = _contradictory_sample()
    plain_mean = subject.predictions(data)[:, -1].mean()
    weighted_mean = subject.predictions(data, np.where(data.y == 1, _LARGE_WEIGHT, 1.0))[:, -1].mean()
    if weighted_mean <= plain_mean:
        raise Failed(
            f"a mean probability of the class above {plain_mean:.4g}, its value without weights",
            f"it is {weighted_mean:.4g} when the class weighs {_LARGE_WEIGHT:.0f} times as much",
            "pass sample_weight to every part of fit that counts rows",
        )


def invalid_weights_are_rejected(subject: Subject) -> None:
    """Check that NaN and negative weights raise a ValueError, or still give probabilities."""
    subject.require_weights()
    data = sample()
    for word, weight in (("NaN", np.nan), ("negative", -1.0)):
        weights = np.ones(len(data.y))
        weights[::3] = weight
        try:
            p = predictions_of(subject.fitted_copy(data, weights), data.X_test)
        except ValueError:
            continue
        check_probabilities(p, f"raise ValueError for {word} weights")


def _check_equal(first: np.ndarray, second: np.ndarray, tolerance: float, case: str) -> None:
    expectation = f"the same predictions, within {tolerance:.3g}, for {case}"
    require_equal(first, second, expectation, "use weights in every count and mean of fit", tolerance=tolerance)


def stream_predictions_ignore_their_own_and_later_labels(subject: Subject) -> None:
    """Check that the predictions of ``predict_proba_online(X, y)`` ignore their own and later labels.

    Other labels from a row on must not change the prediction of that row or of any row before it, bit for bit.
    """
    if not getattr(subject.estimator, "online", False):
        raise DoesNotApply("it does not learn from a stream")
    subject.require_repeatable()
    for data in subject.samples():
        labels = np.random.default_rng(3).choice(np.unique(data.y), len(data.X_test))
        model = subject.fitted_copy(data)
        p = _stream_predictions(model, data.X_test, labels)
        for row in range(len(labels)):
            # The next class, so that every label from the row on is another one.
            other_labels = np.where(np.arange(len(labels)) < row, labels, (labels + 1) % len(np.unique(data.y)))
            p_known, p_other = p[: row + 1], _stream_predictions(model, data.X_test, other_labels)[: row + 1]
            expectation = f"the same predictions of the rows up to {row} for any labels from {row} on"
            require_equal(p_known, p_other, expectation, "predict a row before you read its label or any later one")


def _stream_predictions(model: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    # A copy, so that the state after one stream cannot affect another.
    return np.asarray(copy.deepcopy(model).predict_proba_online(X, y))
