"""A user's mistakes: each ends in an exception that says so, never in a number."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from probcal.contract.answers import are_probabilities
from probcal.contract.samples import sample
from probcal.contract.seeds import seeded
from probcal.contract.subject import Subject, estimates_of, fit
from probcal.contract.verdict import Failed


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
