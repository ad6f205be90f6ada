"""What is handed in stays as it was, and reaches the learner as it is."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from probcal.contract.samples import frames, integer_weights, sample
from probcal.contract.seeds import seeded
from probcal.contract.spy import FrameSpy
from probcal.contract.subject import Subject, estimates_of, fit
from probcal.contract.verdict import DoesNotApply, Failed


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
