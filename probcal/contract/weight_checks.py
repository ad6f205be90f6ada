"""Sample weights count as rows do. For components whose ``fit`` takes them.

What a component promises that learns from the labels of a stream. For those with a true attribute ``online``.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from probcal.contract.prediction_checks import are_probabilities
from probcal.contract.subject import (
    DoesNotApply,
    Failed,
    Sample,
    Subject,
    contradictory,
    estimates_of,
    how_they_differ,
    integer_weights,
    largest_difference,
    sample,
)

_EXTREME = 50.0
_SAME_MINIMUM = 1e-4
"""An iterative fit to weights and one to repeated rows stop near the same minimum, as near as the learner's own
tolerance; a weight that is not counted shows in the second digit."""


def weights_of_one_change_nothing(subject: Subject) -> None:
    """Within rounding where nothing is drawn, else by no more than another seed does."""
    subject.needs_weights()
    data = sample()
    ones = subject.estimates(data, np.ones(len(data.y)))
    _agree(subject.estimates(data), ones, subject.tolerance, "weights of one as for none")


def whole_weights_are_repeated_rows(subject: Subject) -> None:
    """A row of weight 3 counts as three rows. Within 1e-4 where nothing is drawn, else as for another seed."""
    subject.needs_weights()
    data = sample()
    weights = integer_weights(len(data.y))
    times = weights.astype(int)
    repeated = subject.estimates(replace(data, X=np.repeat(data.X, times, axis=0), y=np.repeat(data.y, times)))
    tolerance = max(_SAME_MINIMUM, subject.tolerance)
    _agree(repeated, subject.estimates(data, weights), tolerance, "whole weights as for repeated rows")


def weights_that_favour_a_class_raise_its_estimates(subject: Subject) -> None:
    """The second class, weighted fifty times as much, is held likelier on average, or predicted more often."""
    subject.needs_weights()
    data = contradictory()
    plain = subject.estimates(data)[:, -1].mean()
    favoured = subject.estimates(data, np.where(data.y == 1, _EXTREME, 1.0))[:, -1].mean()
    if favoured <= plain:
        raise Failed(
            f"a mean estimate of the class above {plain:.4g}, which it is without weights",
            f"it is {favoured:.4g} when the class weighs {_EXTREME:.0f} times as much",
            "hand sample_weight to every part of fit that counts rows",
        )


def weights_that_make_no_sense_are_refused(subject: Subject) -> None:
    """NaN, and weights below zero: a ValueError, or estimates that are probabilities all the same."""
    subject.needs_weights()
    data = sample()
    for what, weight in (("NaN", np.nan), ("negative", -1.0)):
        weights = np.ones(len(data.y))
        weights[::3] = weight
        try:
            p = estimates_of(subject.fitted(data, weights), data.asked)
        except ValueError:
            continue
        are_probabilities(p, f"raise ValueError for {what} weights")


def _agree(one: np.ndarray, other: np.ndarray, tolerance: float, what: str) -> None:
    if largest_difference(one, other) > tolerance:
        raise Failed(
            f"the same estimates, within {tolerance:.3g}, for {what}",
            how_they_differ(one, other),
            "let every count and mean in fit be one of weights",
        )


def no_estimate_of_a_stream_knows_its_own_label_or_a_later_one(subject: Subject) -> None:
    """``predict_proba_online(X, y)``: other labels from a row on leave that row's estimate and all before as they were.

    Bit for bit, and for every row.
    """
    if not getattr(subject.estimator, "online", False):
        raise DoesNotApply("it does not learn from a stream")
    subject.needs_to_repeat_itself()
    for data in subject.samples():
        fitted, labels = subject.fitted(data), _labels(data)
        expected = _along(fitted, data.asked, labels)
        for row in range(len(labels)):
            others = np.where(np.arange(len(labels)) < row, labels, (labels + 1) % len(np.unique(data.y)))
            known, other = expected[: row + 1], _along(fitted, data.asked, others)[: row + 1]
            if not np.array_equal(known, other):
                raise Failed(
                    f"the same estimates of the rows up to {row}, whatever the labels from {row} on",
                    how_they_differ(known, other),
                    "estimate a row before its label, or any after it, is looked at",
                )


def _labels(data: Sample) -> np.ndarray:
    """(n_asked,) labels, in no order."""
    return np.random.default_rng(3).choice(np.unique(data.y), len(data.asked))


def _along(fitted: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """By a copy: what a component keeps of one stream is not to be taken for what it knows of another."""
    return np.asarray(copy.deepcopy(fitted).predict_proba_online(X, y))
