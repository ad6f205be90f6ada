"""The same again: under one seed, after a clone, after a pickle; parameters that stay as they were set.

What must not matter: the other rows that are asked about, the order of the rows, the names of the labels.
"""

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
    estimates_of,
    fit,
    how_they_differ,
    largest_difference,
    sample,
    seeded,
)


def the_same_seed_gives_the_same_estimates(subject: Subject) -> None:
    """Two fits of fresh copies under one seed agree to the last bit."""
    data = sample()
    one, other = subject.estimates(data), subject.estimates(data)
    if not np.array_equal(one, other):
        raise Failed(
            "two fits under the same seed to agree to the last bit",
            how_they_differ(one, other),
            "draw from self.random_state, a parameter, and hand seeds of it to every learner that draws",
        )


def a_clone_of_the_fitted_learns_the_same(subject: Subject) -> None:
    """``clone`` gives an unfitted copy that has forgotten nothing it was told, and nothing else."""
    subject.needs_to_repeat_itself()
    data = sample()
    fitted = subject.fitted(data)
    again = estimates_of(fit(clone(fitted), data.X, data.y, data.asked), data.asked)
    if not np.array_equal(estimates_of(fitted, data.asked), again):
        raise Failed(
            "a clone of the fitted component to learn the same",
            "its estimates differ",
            "keep everything that fit depends on among the constructor's parameters",
        )


def a_pickled_copy_gives_the_same_estimates(subject: Subject) -> None:
    """To the last bit: what is estimated in another process is what was estimated here."""
    data = sample()
    fitted = subject.fitted(data)
    before = estimates_of(fitted, data.asked)
    after = estimates_of(pickle.loads(pickle.dumps(fitted)), data.asked)
    if not np.array_equal(before, after):
        raise Failed(
            "a pickled copy to give the same estimates",
            how_they_differ(before, after),
            "let __getstate__ keep all that predict reads",
        )


def parameters_are_kept_as_given(subject: Subject) -> None:
    """Through ``get_params``, ``set_params`` and ``clone``; ``fit`` changes none of them."""
    copy = seeded(subject.estimator, 0)
    before = _told(copy)
    for what, other in (("clone", clone(copy)), ("set_params", copy.set_params(**copy.get_params(deep=False)))):
        if other is None:
            raise Failed(f"{what} to return self", "None came", f"end {what} with `return self`")
        _same(before, _told(other), what)
    data = sample()
    _same(before, _told(fit(copy, data.X, data.y, data.asked)), "fit")


def _same(before: dict[str, str], after: dict[str, str], what: str) -> None:
    changed = [name for name in before | after if before.get(name) != after.get(name)]
    if changed:
        raise Failed(
            f"{what} to leave the parameters as they were",
            f"{', '.join(changed)} changed",
            "let __init__ store each parameter under its own name and change none; keep what is learned in name_",
        )


def _told(estimator: Any) -> dict[str, str]:
    """Parameter -> what it holds, as a hash; of an estimator its parameters, for a pipeline fits those it is given."""
    return {name: joblib.hash(clone(value, safe=False)) for name, value in estimator.get_params(deep=True).items()}


_EQUAL = 1e-12
"""A sum over many rows at once may be rounded in another way than over one."""
_NAMES = ([1, 2], [-7, -3], [10, 2000], [False, True], ["no", "yes"], np.array(["a", "b"], dtype=object))
"""Each rises, so that the first name stands for the class 0."""


def a_row_is_estimated_by_itself(subject: Subject) -> None:
    """Asked alone, in another order or among fewer, a row has the same estimate."""
    data = sample()
    fitted = subject.fitted(data)
    together = estimates_of(fitted, data.asked)
    backwards = estimates_of(fitted, data.asked[::-1])[::-1]
    alone = np.vstack([estimates_of(fitted, data.asked[row : row + 1]) for row in range(len(data.asked))])
    for how, asked in (("in reverse order", backwards), ("one by one", alone)):
        if largest_difference(together, asked) > _EQUAL:
            raise Failed(
                f"the same estimates for rows asked {how}",
                how_they_differ(together, asked),
                "let predict use what fit has learned and the row alone",
            )


def the_order_of_training_rows_moves_no_more_than_a_seed(subject: Subject) -> None:
    """Estimates stay where they are, but for what is drawn.

    A component that draws bootstrap samples or folds draws other ones when the rows come in another order.
    The tolerance is therefore three times the largest difference between the estimates of three seeds, and
    1e-6, for rounding, where nothing is drawn. Folds that are cut by the order of the rows (``cv`` a number)
    count as drawn: the component is given shuffled ones.
    """
    data = sample()
    rows = np.arange(len(data.y))
    orders = {
        "shuffled": np.random.default_rng(0).permutation(rows),
        "reversed": rows[::-1],
        "with the first row of the other class first": np.roll(rows, -int(np.argmax(data.y != data.y[0]))),
        "with the last row of the other class last": np.roll(rows, int(np.argmax(data.y[::-1] != data.y[-1]))),
    }
    as_given = subject.estimates(data)
    for how, order in orders.items():
        reordered = subject.estimates(replace(data, X=data.X[order], y=data.y[order]))
        if largest_difference(as_given, reordered) > subject.tolerance:
            raise Failed(
                f"estimates within {subject.tolerance:.3g} of each other, whatever the order of the training rows",
                f"{how}, {how_they_differ(as_given, reordered)}",
                "draw rows with random_state instead of taking them by their place",
            )


def the_names_of_the_labels_do_not_matter(subject: Subject) -> None:
    """Names that sort as 0 and 1 do give the same estimates to the last bit, and come back from ``predict``."""
    subject.needs_to_repeat_itself()
    data = sample()
    expected = subject.estimates(data)
    for names in map(np.asarray, _NAMES):
        try:
            fitted = subject.fitted(replace(data, y=names[data.y]))
        except Exception as error:
            raise Failed(
                f"the labels {names.tolist()} to be learned as 0 and 1 are",
                f"fit raised {type(error).__name__}: {error}",
                "learn from np.unique(y, return_inverse=True)[1]",
            ) from error
        if hasattr(fitted, "predict") and not np.isin(fitted.predict(data.asked), names).all():
            raise Failed(
                f"labels out of {names.tolist()} from predict", "others came", "predict classes_[index], not the index"
            )
        renamed = estimates_of(fitted, data.asked)
        if largest_difference(expected, renamed) > 0:
            raise Failed(
                f"the same estimates for the labels {names.tolist()} as for 0 and 1",
                how_they_differ(expected, renamed),
                "learn from np.unique(y, return_inverse=True)[1]",
            )
