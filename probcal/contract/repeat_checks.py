"""Checks of repeated fits and predictions, and of what must not matter: other rows, row order and label names."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from probcal.contract.subject import (
    Failed,
    Subject,
    difference_text,
    fit,
    largest_difference,
    predictions_of,
    sample,
    seeded,
)


def the_same_seed_gives_the_same_predictions(subject: Subject) -> None:
    """Check that two fits of fresh copies with one seed agree to the last bit."""
    data = sample()
    one, other = subject.predictions(data), subject.predictions(data)
    if not np.array_equal(one, other):
        raise Failed(
            "two fits with the same seed to agree to the last bit",
            difference_text(one, other),
            "draw from self.random_state, a parameter, and pass seeds drawn from it to every learner that draws",
        )


def a_clone_of_a_fitted_component_learns_the_same(subject: Subject) -> None:
    """Check that ``clone`` of a fitted component keeps its parameters, and only them."""
    subject.require_repeatable()
    data = sample()
    fitted = subject.fitted(data)
    again = predictions_of(fit(clone(fitted), data.X, data.y, data.X_test), data.X_test)
    if not np.array_equal(predictions_of(fitted, data.X_test), again):
        raise Failed(
            "a clone of the fitted component to learn the same",
            "its predictions differ",
            "keep everything that fit depends on among the constructor's parameters",
        )


def a_pickled_copy_predicts_the_same(subject: Subject) -> None:
    """Check that a pickled copy predicts the same to the last bit, as another process does."""
    data = sample()
    fitted = subject.fitted(data)
    before = predictions_of(fitted, data.X_test)
    after = predictions_of(pickle.loads(pickle.dumps(fitted)), data.X_test)
    if not np.array_equal(before, after):
        raise Failed(
            "a pickled copy to predict the same",
            difference_text(before, after),
            "let __getstate__ keep all that predict reads",
        )


def parameters_stay_as_given(subject: Subject) -> None:
    """Check that ``get_params``, ``set_params``, ``clone`` and ``fit`` change no parameter."""
    copy = seeded(subject.estimator, 0)
    before = _parameter_hashes(copy)
    for what, other in (("clone", clone(copy)), ("set_params", copy.set_params(**copy.get_params(deep=False)))):
        if other is None:
            raise Failed(f"{what} to return self", "got None", f"end {what} with `return self`")
        _check_unchanged(before, _parameter_hashes(other), what)
    data = sample()
    _check_unchanged(before, _parameter_hashes(fit(copy, data.X, data.y, data.X_test)), "fit")


def _check_unchanged(before: dict[str, str], after: dict[str, str], what: str) -> None:
    changed = [name for name in before | after if before.get(name) != after.get(name)]
    if changed:
        raise Failed(
            f"{what} not to change the parameters",
            f"{', '.join(changed)} changed",
            "let __init__ store each parameter under its own name and change none; keep what is learned in name_",
        )


def _parameter_hashes(estimator: Any) -> dict[str, str]:
    """Return the hash of each parameter. An estimator is hashed unfitted, because a pipeline fits those it is given."""
    return {name: joblib.hash(clone(value, safe=False)) for name, value in estimator.get_params(deep=True).items()}


_EQUAL = 1e-12
"""A sum over many rows may be rounded differently than one over a single row."""
_NAMES = ([1, 2], [-7, -3], [10, 2000], [False, True], ["no", "yes"], np.array(["a", "b"], dtype=object))
"""Each is sorted, so that the first name stands for class 0."""


def each_row_is_predicted_independently(subject: Subject) -> None:
    """Check that a row has the same prediction alone, in another order and among other rows."""
    data = sample()
    fitted = subject.fitted(data)
    together = predictions_of(fitted, data.X_test)
    backwards = predictions_of(fitted, data.X_test[::-1])[::-1]
    alone = np.vstack([predictions_of(fitted, data.X_test[row : row + 1]) for row in range(len(data.X_test))])
    for how, other in (("in reverse order", backwards), ("one by one", alone)):
        if largest_difference(together, other) > _EQUAL:
            raise Failed(
                f"the same predictions for rows given {how}",
                difference_text(together, other),
                "let predict use only what fit has learned and the row itself",
            )


def the_order_of_training_rows_matters_no_more_than_a_seed(subject: Subject) -> None:
    """Check that the order of the training rows changes predictions only through random draws.

    A component that draws bootstrap samples or folds draws different ones if the rows have another order. The tolerance
    is therefore three times the largest difference between the predictions of three seeds, and at least 1e-6 for
    rounding. Folds that depend on the row order (``cv`` a number) count as drawn: the component gets shuffled folds.
    """
    data = sample()
    rows = np.arange(len(data.y))
    orders = {
        "shuffled": np.random.default_rng(0).permutation(rows),
        "reversed": rows[::-1],
        "with the first row of the other class first": np.roll(rows, -int(np.argmax(data.y != data.y[0]))),
        "with the last row of the other class last": np.roll(rows, int(np.argmax(data.y[::-1] != data.y[-1]))),
    }
    as_given = subject.predictions(data)
    for how, order in orders.items():
        reordered = subject.predictions(replace(data, X=data.X[order], y=data.y[order]))
        if largest_difference(as_given, reordered) > subject.tolerance:
            raise Failed(
                f"predictions within {subject.tolerance:.3g} of each other, whatever the order of the training rows",
                f"{how}, {difference_text(as_given, reordered)}",
                "draw rows with random_state instead of taking them by position",
            )


def the_names_of_the_labels_do_not_matter(subject: Subject) -> None:
    """Check that label names in the order of 0 and 1 give the same predictions to the last bit.

    ``predict`` must return these names.
    """
    subject.require_repeatable()
    data = sample()
    expected = subject.predictions(data)
    for names in map(np.asarray, _NAMES):
        try:
            fitted = subject.fitted(replace(data, y=names[data.y]))
        except Exception as error:
            raise Failed(
                f"the labels {names.tolist()} to be learned like 0 and 1",
                f"fit raised {type(error).__name__}: {error}",
                "learn from np.unique(y, return_inverse=True)[1]",
            ) from error
        if hasattr(fitted, "predict") and not np.isin(fitted.predict(data.X_test), names).all():
            raise Failed(
                f"labels out of {names.tolist()} from predict", "got others", "predict classes_[index], not the index"
            )
        renamed = predictions_of(fitted, data.X_test)
        if largest_difference(expected, renamed) > 0:
            raise Failed(
                f"the same predictions for the labels {names.tolist()} as for 0 and 1",
                difference_text(expected, renamed),
                "learn from np.unique(y, return_inverse=True)[1]",
            )
