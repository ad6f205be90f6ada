"""Checks of predictions: their shape and kind, repeated fits, and what must not matter, such as other rows."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from probcal.contract.subject import (
    DoesNotApply,
    Failed,
    Subject,
    fit,
    predictions_of,
    require_equal,
    require_probabilities,
    sample,
    seeded_copy,
)

# Below these differences rounding decides, which no component can avoid.
_TIE = 1e-9
_SUM = 1e-9


def fit_returns_the_estimator_itself(subject: Subject) -> None:
    """Check that ``Method(learner).fit(X, y).predict_proba(X)`` works."""
    # not by ``fitted_copy``, which ignores what fit returns
    data, copy = sample(), seeded_copy(subject.estimator, 0)
    options = {"X_test": data.X_test} if getattr(copy, "needs_test_rows", False) else {}
    result = copy.fit(data.X, data.y, **options)
    if result is not copy:
        kind = "None" if result is None else f"another {type(result).__name__}"
        raise Failed("self", f"fit returned {kind}", "end fit with `return self`")


def classes_are_sorted(subject: Subject) -> None:
    """Check that ``classes_`` holds every label of y once, sorted. It defines the order of the columns."""
    for data in subject.samples():
        model, labels = subject.fitted_copy(data), np.unique(data.y)
        classes = getattr(model, "classes_", None)
        if classes is None or not np.array_equal(classes, labels):
            raise Failed(f"classes_ = {labels}", f"it is {classes}", "set self.classes_ = np.unique(y) in fit")


def predict_returns_one_label_per_row(subject: Subject) -> None:
    """Check that ``predict`` returns (n_rows,) labels out of ``classes_``."""
    for data in subject.samples():
        model = subject.fitted_copy(data)
        if not hasattr(model, "predict"):
            raise DoesNotApply("it has no predict")
        labels = np.asarray(model.predict(data.X_test))
        if labels.shape != (len(data.X_test),):
            raise Failed(f"labels of shape {(len(data.X_test),)}", f"got {labels.shape}", "return one label per row")
        unknown_labels = np.setdiff1d(labels, model.classes_)
        if len(unknown_labels):
            raise Failed(
                f"labels out of {model.classes_}", f"got {unknown_labels}", "return classes_[index] from predict"
            )


def predict_proba_has_one_column_per_class(subject: Subject) -> None:
    """Check that ``predict_proba`` returns (n_rows, n_classes)."""
    for data in subject.samples():
        model = subject.fitted_copy(data)
        require_probabilities(model)
        shape, expected_shape = np.shape(model.predict_proba(data.X_test)), (len(data.X_test), len(np.unique(data.y)))
        if shape != expected_shape:
            raise Failed(
                f"probabilities of shape {expected_shape}",
                f"got {shape}",
                "return one column per class, in their order",
            )


def probabilities_are_in_0_1_and_sum_to_1(subject: Subject) -> None:
    """Check that all probabilities are finite, within [0, 1] and sum to 1."""
    for data in subject.samples():
        model = subject.fitted_copy(data)
        require_probabilities(model)
        check_probabilities(model.predict_proba(data.X_test))


def the_predicted_label_is_the_most_probable(subject: Subject) -> None:
    """Check that ``predict`` returns the most probable class. Ties within 1e-9 may have either label."""
    for data in subject.samples():
        model = subject.fitted_copy(data)
        require_probabilities(model)
        if not hasattr(model, "predict"):
            raise DoesNotApply("it has no predict")
        p, labels = np.asarray(model.predict_proba(data.X_test)), np.ravel(model.predict(data.X_test))
        second, first = np.sort(p, axis=1)[:, -2:].T
        top_labels = np.asarray(model.classes_)[np.argmax(p, axis=1)]
        wrong_rows = np.flatnonzero((first - second > _TIE) & (top_labels != labels))
        if len(wrong_rows):
            row = wrong_rows[0]
            raise Failed(
                f"the label {top_labels[row]} for the probabilities {p[row]} of {model.classes_}",
                f"predict gave {labels[row]}, and disagrees in {len(wrong_rows)} of {len(labels)} rows",
                "predict classes_[predict_proba(X).argmax(axis=1)]",
            )


def three_classes_are_learned_or_rejected_clearly(subject: Subject) -> None:
    """Check that three classes are learned, or raise a ValueError with the word "class" in it."""
    fault = subject.three_class_error
    if isinstance(fault, ValueError) and "class" in str(fault).lower():
        raise DoesNotApply(f"two classes only: {fault}")
    if fault is not None:
        raise Failed(
            "a fit, or a ValueError that mentions classes",
            f"got {type(fault).__name__}: {fault}",
            "raise a ValueError for more than two classes",
        ) from fault
    data = sample(3)
    model = subject.fitted_copy(data)
    lost_labels = np.sort(model.classes_)[predictions_of(model, data.X).max(axis=0) <= 0]
    if len(lost_labels):
        raise Failed(
            "each of three classes to have a positive probability for some training row",
            f"{lost_labels.tolist()} never have one",
            "learn every class, or reject more than two",
        )


def check_probabilities(p: np.ndarray, advice: str = "scale or clip what predict_proba returns") -> None:
    """Raise Failed unless all values are finite, within [0, 1], and sum to 1 in every row."""
    p = np.asarray(p, dtype=np.float64)
    if not np.isfinite(p).all():
        raise Failed("finite probabilities", f"{np.count_nonzero(~np.isfinite(p))} are not", advice)
    if p.min() < 0 or p.max() > 1:
        raise Failed("probabilities within [0, 1]", f"they go from {p.min():.6g} to {p.max():.6g}", advice)
    max_error = float(np.abs(p.sum(axis=1) - 1).max())
    if max_error > _SUM:
        raise Failed("probabilities that sum to 1 in every row", f"a row is off by {max_error:.3g}", advice)


def the_same_seed_gives_the_same_predictions(subject: Subject) -> None:
    """Check that two fits of fresh copies with one seed agree to the last bit."""
    data = sample()
    require_equal(
        subject.predictions(data),
        subject.predictions(data),
        "two fits with the same seed to agree to the last bit",
        "draw from self.random_state, a parameter, and pass seeds drawn from it to every learner that draws",
    )


def a_clone_of_a_fitted_component_learns_the_same(subject: Subject) -> None:
    """Check that ``clone`` of a fitted component keeps its parameters, and only them."""
    subject.require_repeatable()
    data = sample()
    model = subject.fitted_copy(data)
    require_equal(
        predictions_of(model, data.X_test),
        predictions_of(fit(clone(model), data.X, data.y, data.X_test), data.X_test),
        "a clone of the fitted component to learn the same",
        "keep everything that fit depends on among the constructor's parameters",
    )


def a_pickled_copy_predicts_the_same(subject: Subject) -> None:
    """Check that a pickled copy predicts the same to the last bit, as another process does."""
    data = sample()
    model = subject.fitted_copy(data)
    p = predictions_of(model, data.X_test)
    p_copy = predictions_of(pickle.loads(pickle.dumps(model)), data.X_test)  # noqa: S301  # made here
    require_equal(p, p_copy, "a pickled copy to predict the same", "let __getstate__ keep all that predict reads")


def parameters_stay_as_given(subject: Subject) -> None:
    """Check that ``get_params``, ``set_params``, ``clone`` and ``fit`` change no parameter."""
    copy = seeded_copy(subject.estimator, 0)
    hashes = _parameter_hashes(copy)
    for step, estimator in (("clone", clone(copy)), ("set_params", copy.set_params(**copy.get_params(deep=False)))):
        if estimator is None:
            raise Failed(f"{step} to return self", "got None", f"end {step} with `return self`")
        _check_unchanged(hashes, _parameter_hashes(estimator), step)
    data = sample()
    _check_unchanged(hashes, _parameter_hashes(fit(copy, data.X, data.y, data.X_test)), "fit")


def _check_unchanged(old_hashes: dict[str, str], new_hashes: dict[str, str], step: str) -> None:
    names = [name for name in old_hashes | new_hashes if old_hashes.get(name) != new_hashes.get(name)]
    if names:
        raise Failed(
            f"{step} not to change the parameters",
            f"{', '.join(names)} changed",
            "let __init__ store each parameter under its own name and change none; keep what is learned in name_",
        )


def _parameter_hashes(estimator: Any) -> dict[str, str]:
    # Estimators are hashed unfitted, because a pipeline fits those it is given.
    return {name: joblib.hash(clone(value, safe=False)) for name, value in estimator.get_params(deep=True).items()}


_SUM_TOLERANCE = 1e-12
"""A sum over many rows may be rounded differently than one over a single row."""
_LABEL_NAMES = ([1, 2], [-7, -3], [10, 2000], [False, True], ["no", "yes"], np.array(["a", "b"], dtype=object))
"""Each is sorted, so that the first name stands for class 0."""


def each_row_is_predicted_independently(subject: Subject) -> None:
    """Check that a row has the same prediction alone, in another order and among other rows."""
    data = sample()
    model = subject.fitted_copy(data)
    p = predictions_of(model, data.X_test)
    p_reversed = predictions_of(model, data.X_test[::-1])[::-1]
    p_single = np.vstack([predictions_of(model, data.X_test[row : row + 1]) for row in range(len(data.X_test))])
    for order, p_other in (("in reverse order", p_reversed), ("one by one", p_single)):
        expectation = f"the same predictions for rows given {order}"
        advice = "let predict use only what fit has learned and the row itself"
        require_equal(p, p_other, expectation, advice, tolerance=_SUM_TOLERANCE)


def the_order_of_training_rows_matters_no_more_than_a_seed(subject: Subject) -> None:
    """Check that the order of the training rows changes predictions only through random draws.

    A component that draws bootstrap samples or folds draws different ones if the rows have another order. The tolerance
    is therefore three times the largest difference between the predictions of four seeds, and at least 1e-6 for
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
    p = subject.predictions(data)
    for name, order in orders.items():
        p_reordered = subject.predictions(replace(data, X=data.X[order], y=data.y[order]))
        require_equal(
            p,
            p_reordered,
            f"predictions within {subject.tolerance:.3g} of each other, whatever the order of the training rows",
            "draw rows with random_state instead of taking them by position",
            tolerance=subject.tolerance,
            prefix=f"{name}, ",
        )


def the_names_of_the_labels_do_not_matter(subject: Subject) -> None:
    """Check that label names in the order of 0 and 1 give the same predictions to the last bit.

    ``predict`` must return these names.
    """
    subject.require_repeatable()
    data = sample()
    p = subject.predictions(data)
    for names in map(np.asarray, _LABEL_NAMES):
        try:
            model = subject.fitted_copy(replace(data, y=names[data.y]))
        except Exception as error:
            raise Failed(
                f"the labels {names.tolist()} to be learned like 0 and 1",
                f"fit raised {type(error).__name__}: {error}",
                "learn from np.unique(y, return_inverse=True)[1]",
            ) from error
        if hasattr(model, "predict") and not np.isin(model.predict(data.X_test), names).all():
            raise Failed(
                f"labels out of {names.tolist()} from predict", "got others", "predict classes_[index], not the index"
            )
        require_equal(
            p,
            predictions_of(model, data.X_test),
            f"the same predictions for the labels {names.tolist()} as for 0 and 1",
            "learn from np.unique(y, return_inverse=True)[1]",
        )
