"""The same again: under one seed, after a clone, after a pickle; parameters that stay as they were set."""

from __future__ import annotations

import pickle
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from probcal.contract.samples import sample
from probcal.contract.seeds import seeded
from probcal.contract.subject import Subject, estimates_of, fit, how_they_differ
from probcal.contract.verdict import Failed


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
    return {
        name: joblib.hash(clone(value, safe=False))
        for name, value in estimator.get_params(deep=True).items()
    }
