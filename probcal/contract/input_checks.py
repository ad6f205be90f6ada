"""What is handed in stays as it was, and reaches the learner as it is.

A user's mistakes: each ends in an exception that says so, never in a number.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import has_fit_parameter

from probcal.contract.prediction_checks import are_probabilities
from probcal.contract.subject import (
    DoesNotApply,
    Failed,
    FrameSpy,
    Subject,
    estimates_of,
    fit,
    frames,
    integer_weights,
    sample,
    seeded,
)


def rows_labels_and_weights_are_left_as_they_were(subject: Subject) -> None:
    """Neither ``fit`` nor ``predict`` writes into what it is given."""
    data = sample()
    weights = integer_weights(len(data.y)) if has_fit_parameter(subject.estimator, "sample_weight") else None
    given = {"X of fit": data.X, "y": data.y, "X of predict": data.asked, "sample_weight": weights}
    before = {name: None if values is None else values.copy() for name, values in given.items()}
    try:
        fitted = subject.fitted(data, weights)
    except ValueError as error:
        if weights is None or "weight" not in str(error).lower():
            raise
        fitted = subject.fitted(data)
    estimates_of(fitted, data.asked)
    changed = [name for name, values in given.items() if not np.array_equal(values, before[name])]  # type: ignore[arg-type]  # None is equal to None
    if changed:
        raise Failed("inputs to be left as they were", f"{', '.join(changed)} changed", "copy before writing")


def the_given_learner_is_left_as_it_was(subject: Subject) -> None:
    """A method fits copies: ``estimator`` itself stays unfitted."""
    _needs_a_method(subject)
    data, method = sample(), seeded(subject.estimator, 0)
    learner = method.get_params(deep=False)["estimator"]
    before = _state(learner)
    estimates_of(fit(method, data.X, data.y, data.asked), data.asked)
    changed = [name for name, value in _state(learner).items() if before.get(name) != value]
    if changed:
        raise Failed(
            "the given learner to be left as it was", f"it has another {', '.join(changed)}", "fit clone(estimator)"
        )


def frames_reach_the_learner_untouched(subject: Subject) -> None:
    """Some of the rows, or all: but each with its index, every column and every category, as it was given.

    Asked of the method around a learner of the suite's own, which understands such frames only.
    """
    _needs_a_method(subject)
    X, y, asked = frames()
    method = clone(subject.estimator).set_params(estimator=FrameSpy(known=X.combine_first(asked).astype(X.dtypes)))
    estimates_of(fit(seeded(method, 0), X, y, asked), asked)


def _needs_a_method(subject: Subject) -> None:
    if not subject.is_method:
        raise DoesNotApply("it is a learner")


def _state(learner: Any) -> dict[str, str]:
    return {name: joblib.hash(value) for name, value in vars(learner).items()}


def missing_labels_are_refused(subject: Subject) -> None:
    """NaN among numbers: a ValueError."""
    data = sample()
    holes = data.y.astype(np.float64)
    holes[4] = np.nan
    _refused(
        lambda: fit(seeded(subject.estimator, 0), data.X, holes, data.asked),
        ValueError,
        "a missing label in y",
        "let fit raise it, for instance by sklearn.utils.check_X_y",
    )


def rows_and_labels_of_other_lengths_are_refused(subject: Subject) -> None:
    """Fewer labels than rows: a ValueError."""
    data = sample()
    _refused(
        lambda: fit(seeded(subject.estimator, 0), data.X, data.y[:-1], data.asked),
        ValueError,
        "one label less than rows",
        "let fit raise it, for instance by sklearn.utils.check_consistent_length",
    )


def one_class_is_learned_or_refused_by_name(subject: Subject) -> None:
    """Either probabilities, or a ValueError with the word "class" in it."""
    data = sample()
    try:
        p = estimates_of(fit(seeded(subject.estimator, 0), data.X, np.zeros(len(data.y), int), data.asked), data.asked)
    except ValueError as error:
        if "class" not in str(error).lower():
            raise Failed(
                'a ValueError that mentions "class" when y holds one class',
                f"it says {str(error)!r}",
                "count the classes in fit and say so",
            ) from error
        return
    are_probabilities(p, "return 1 for the only class, or refuse it in fit")


def another_number_of_columns_is_refused(subject: Subject) -> None:
    """A column less than in ``fit``, or one more: a ValueError."""
    data = sample()
    fitted = subject.fitted(data)
    for what, X in (("less", data.asked[:, :-1]), ("more", np.column_stack([data.asked, data.asked[:, 0]]))):
        _refused(
            lambda X=X: estimates_of(fitted, X),  # type: ignore[misc]
            ValueError,
            f"rows with a column {what} than in fit",
            "compare X.shape[1] with n_features_in_, for instance by sklearn.utils.validation.validate_data",
        )


def an_unfitted_component_says_so(subject: Subject) -> None:
    """scikit-learn's NotFittedError from ``predict`` and ``predict_proba``."""
    data = sample()
    for name in ("predict", "predict_proba"):
        copy = seeded(subject.estimator, 0)
        if hasattr(copy, name):
            ask = methodcaller(name, data.asked)
            _refused(
                partial(ask, copy),
                NotFittedError,
                f"{name} before fit",
                f"begin {name} with sklearn.utils.validation.check_is_fitted(self)",
            )


def _refused(action: Callable[[], Any], wanted: type[Exception], what: str, do: str) -> None:
    try:
        action()
    except wanted:
        return
    except Exception as error:
        raise Failed(f"{wanted.__name__} for {what}", f"{type(error).__name__} came: {error}", do) from error
    raise Failed(f"{wanted.__name__} for {what}", "nothing was raised", do)
