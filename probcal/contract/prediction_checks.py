"""Checks of the predictions of a fitted component: labels and probabilities of the right shape and kind."""

from __future__ import annotations

import numpy as np

from probcal.contract.subject import (
    DoesNotApply,
    Failed,
    Subject,
    predictions_of,
    require_probabilities,
    sample,
    seeded,
)

_TIE = 1e-9
_SUM = 1e-9


def fit_returns_the_estimator_itself(subject: Subject) -> None:
    """Check that ``Method(learner).fit(X, y).predict_proba(X)`` works."""
    data, copy = sample(), seeded(subject.estimator, 0)
    also = {"X_test": data.X_test} if getattr(copy, "needs_test_rows", False) else {}
    returned = copy.fit(data.X, data.y, **also)
    if returned is not copy:
        raise Failed("self", f"fit returned {_kind(returned)}", "end fit with `return self`")


def classes_are_sorted(subject: Subject) -> None:
    """Check that ``classes_`` holds every label of y once, sorted. It defines the order of the columns."""
    for data in subject.samples():
        fitted, expected = subject.fitted(data), np.unique(data.y)
        classes = getattr(fitted, "classes_", None)
        if classes is None or not np.array_equal(classes, expected):
            raise Failed(f"classes_ = {expected}", f"it is {classes}", "set self.classes_ = np.unique(y) in fit")


def predict_returns_one_label_per_row(subject: Subject) -> None:
    """Check that ``predict`` returns (n_rows,) labels out of ``classes_``."""
    for data in subject.samples():
        fitted = subject.fitted(data)
        if not hasattr(fitted, "predict"):
            raise DoesNotApply("it has no predict")
        labels = np.asarray(fitted.predict(data.X_test))
        if labels.shape != (len(data.X_test),):
            raise Failed(f"labels of shape {(len(data.X_test),)}", f"got {labels.shape}", "return one label per row")
        unknown = np.setdiff1d(labels, fitted.classes_)
        if len(unknown):
            raise Failed(f"labels out of {fitted.classes_}", f"got {unknown}", "return classes_[index] from predict")


def predict_proba_has_one_column_per_class(subject: Subject) -> None:
    """Check that ``predict_proba`` returns (n_rows, n_classes)."""
    for data in subject.samples():
        fitted = subject.fitted(data)
        require_probabilities(fitted)
        shape, expected = np.shape(fitted.predict_proba(data.X_test)), (len(data.X_test), len(np.unique(data.y)))
        if shape != expected:
            raise Failed(
                f"probabilities of shape {expected}", f"got {shape}", "return one column per class, in their order"
            )


def probabilities_are_in_0_1_and_sum_to_1(subject: Subject) -> None:
    """Check that all probabilities are finite, within [0, 1] and sum to 1."""
    for data in subject.samples():
        fitted = subject.fitted(data)
        require_probabilities(fitted)
        check_probabilities(fitted.predict_proba(data.X_test))


def the_predicted_label_is_the_most_probable(subject: Subject) -> None:
    """Check that ``predict`` returns the most probable class. Ties within 1e-9 may have either label."""
    for data in subject.samples():
        fitted = subject.fitted(data)
        require_probabilities(fitted)
        if not hasattr(fitted, "predict"):
            raise DoesNotApply("it has no predict")
        p, labels = np.asarray(fitted.predict_proba(data.X_test)), np.ravel(fitted.predict(data.X_test))
        second, first = np.sort(p, axis=1)[:, -2:].T
        likeliest = np.asarray(fitted.classes_)[np.argmax(p, axis=1)]
        wrong = np.flatnonzero((first - second > _TIE) & (likeliest != labels))
        if len(wrong):
            row = wrong[0]
            raise Failed(
                f"the label {likeliest[row]} for the probabilities {p[row]} of {fitted.classes_}",
                f"predict gave {labels[row]}, and disagrees in {len(wrong)} of {len(labels)} rows",
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
    fitted = subject.fitted(data)
    never = np.sort(fitted.classes_)[predictions_of(fitted, data.X).max(axis=0) <= 0]
    if len(never):
        raise Failed(
            "each of three classes to have a positive probability for some training row",
            f"{never.tolist()} never have one",
            "learn every class, or reject more than two",
        )


def check_probabilities(p: np.ndarray, advice: str = "scale or clip what predict_proba returns") -> None:
    """Raise Failed unless all values are finite, within [0, 1], and sum to 1 in every row."""
    p = np.asarray(p, dtype=np.float64)
    if not np.isfinite(p).all():
        raise Failed("finite probabilities", f"{np.count_nonzero(~np.isfinite(p))} are not", advice)
    if p.min() < 0 or p.max() > 1:
        raise Failed("probabilities within [0, 1]", f"they go from {p.min():.6g} to {p.max():.6g}", advice)
    worst = float(np.abs(p.sum(axis=1) - 1).max())
    if worst > _SUM:
        raise Failed("probabilities that sum to 1 in every row", f"a row is off by {worst:.3g}", advice)


def _kind(value: object) -> str:
    return "None" if value is None else f"another {type(value).__name__}"
