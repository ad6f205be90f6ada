"""What a fitted component answers: labels and probabilities, in their place and of their kind."""

from __future__ import annotations

import numpy as np

from probcal.contract.subject import DoesNotApply, Failed, Subject, estimates_of, needs_probabilities, sample, seeded

_TIE = 1e-9
_SUM = 1e-9


def fit_returns_the_estimator_itself(subject: Subject) -> None:
    """So that ``Method(learner).fit(X, y).predict_proba(X)`` can be written."""
    data, copy = sample(), seeded(subject.estimator, 0)
    also = {"X_test": data.asked} if getattr(copy, "needs_test_rows", False) else {}
    returned = copy.fit(data.X, data.y, **also)
    if returned is not copy:
        raise Failed("self", f"fit returned {_kind(returned)}", "end fit with `return self`")


def the_classes_are_kept_in_rising_order(subject: Subject) -> None:
    """``classes_`` holds every label of y once, sorted: it says which column is whose."""
    for data in subject.samples():
        fitted, expected = subject.fitted(data), np.unique(data.y)
        classes = getattr(fitted, "classes_", None)
        if classes is None or not np.array_equal(classes, expected):
            raise Failed(f"classes_ = {expected}", f"it is {classes}", "set self.classes_ = np.unique(y) in fit")


def every_row_is_given_a_label(subject: Subject) -> None:
    """``predict`` gives (n_rows,) labels, each out of ``classes_``."""
    for data in subject.samples():
        fitted = subject.fitted(data)
        if not hasattr(fitted, "predict"):
            raise DoesNotApply("there is no predict")
        labels = np.asarray(fitted.predict(data.asked))
        if labels.shape != (len(data.asked),):
            raise Failed(f"labels of shape {(len(data.asked),)}", f"{labels.shape} came", "return one label a row")
        unknown = np.setdiff1d(labels, fitted.classes_)
        if len(unknown):
            raise Failed(f"labels out of {fitted.classes_}", f"{unknown} came", "return classes_[index] from predict")


def every_class_has_a_column_of_probabilities(subject: Subject) -> None:
    """``predict_proba`` gives (n_rows, n_classes)."""
    for data in subject.samples():
        fitted = subject.fitted(data)
        needs_probabilities(fitted)
        shape, expected = np.shape(fitted.predict_proba(data.asked)), (len(data.asked), len(np.unique(data.y)))
        if shape != expected:
            raise Failed(
                f"probabilities of shape {expected}", f"{shape} came", "return one column a class, in their order"
            )


def probabilities_lie_within_0_and_1_and_sum_to_1(subject: Subject) -> None:
    """And none of them is missing or infinite."""
    for data in subject.samples():
        fitted = subject.fitted(data)
        needs_probabilities(fitted)
        are_probabilities(fitted.predict_proba(data.asked))


def the_predicted_label_is_the_likeliest(subject: Subject) -> None:
    """Rows whose two likeliest classes are equal, within 1e-9, may have either label."""
    for data in subject.samples():
        fitted = subject.fitted(data)
        needs_probabilities(fitted)
        if not hasattr(fitted, "predict"):
            raise DoesNotApply("there is no predict")
        p, labels = np.asarray(fitted.predict_proba(data.asked)), np.ravel(fitted.predict(data.asked))
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


def three_classes_are_learned_or_refused_by_name(subject: Subject) -> None:
    """A component for two classes says so by a ValueError with the word "class" in it."""
    fault = subject.fault_of_three_classes
    if isinstance(fault, ValueError) and "class" in str(fault).lower():
        raise DoesNotApply(f"two classes only: {fault}")
    if fault is not None:
        raise Failed(
            "a fit, or a ValueError that mentions classes",
            f"{type(fault).__name__} came: {fault}",
            "refuse more than two classes in words",
        ) from fault
    data = sample(3)
    fitted = subject.fitted(data)
    never = np.sort(fitted.classes_)[estimates_of(fitted, data.X).max(axis=0) <= 0]
    if len(never):
        raise Failed(
            "each of three classes to be possible for some training row",
            f"{never.tolist()} never is",
            "learn every class, or refuse more than two",
        )


def are_probabilities(p: np.ndarray, do: str = "scale or clip what predict_proba returns") -> None:
    """Raises Failed unless all are finite, within [0, 1], and sum to 1 in every row."""
    p = np.asarray(p, dtype=np.float64)
    if not np.isfinite(p).all():
        raise Failed("finite probabilities", f"{np.count_nonzero(~np.isfinite(p))} are not", do)
    if p.min() < 0 or p.max() > 1:
        raise Failed("probabilities within [0, 1]", f"they go from {p.min():.6g} to {p.max():.6g}", do)
    worst = float(np.abs(p.sum(axis=1) - 1).max())
    if worst > _SUM:
        raise Failed("probabilities that sum to 1 in every row", f"a row is off by {worst:.3g}", do)


def _kind(value: object) -> str:
    return "None" if value is None else f"another {type(value).__name__}"
