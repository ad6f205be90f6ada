"""Checks of sample weights, which must count like rows, and of predictions along a stream.

The former are for components whose ``fit`` takes weights. The latter is for those with a true attribute ``online``.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from probcal.contract.prediction_checks import check_probabilities
from probcal.contract.subject import (
    DoesNotApply,
    Failed,
    Sample,
    Subject,
    contradictory_sample,
    difference_text,
    integer_weights,
    largest_difference,
    predictions_of,
    sample,
)

_EXTREME = 50.0
_SAME_MINIMUM = 1e-4
"""Tolerance between a fit to weights and one to repeated rows.

Iterative fits stop near the same minimum, within the learner's own tolerance. An ignored weight shows in the second
digit.
"""


def weights_of_one_change_nothing(subject: Subject) -> None:
    """Check that weights of 1 change nothing but rounding, or no more than another seed does."""
    subject.require_weights()
    data = sample()
    ones = subject.predictions(data, np.ones(len(data.y)))
    _check_equal(subject.predictions(data), ones, subject.tolerance, "weights of 1 and no weights")


def whole_weights_are_repeated_rows(subject: Subject) -> None:
    """Check that a row of weight 3 counts as three rows, within 1e-4, or as closely as another seed."""
    subject.require_weights()
    data = sample()
    weights = integer_weights(len(data.y))
    times = weights.astype(int)
    repeated = subject.predictions(replace(data, X=np.repeat(data.X, times, axis=0), y=np.repeat(data.y, times)))
    tolerance = max(_SAME_MINIMUM, subject.tolerance)
    _check_equal(repeated, subject.predictions(data, weights), tolerance, "whole weights and repeated rows")


def a_heavier_class_gets_higher_probabilities(subject: Subject) -> None:
    """Check that a class of fifty times the weight gets higher probabilities on average, or is predicted more often."""
    subject.require_weights()
    data = contradictory_sample()
    plain = subject.predictions(data)[:, -1].mean()
    favoured = subject.predictions(data, np.where(data.y == 1, _EXTREME, 1.0))[:, -1].mean()
    if favoured <= plain:
        raise Failed(
            f"a mean probability of the class above {plain:.4g}, its value without weights",
            f"it is {favoured:.4g} when the class weighs {_EXTREME:.0f} times as much",
            "pass sample_weight to every part of fit that counts rows",
        )


def invalid_weights_are_rejected(subject: Subject) -> None:
    """Check that NaN and negative weights raise a ValueError, or still give probabilities."""
    subject.require_weights()
    data = sample()
    for what, weight in (("NaN", np.nan), ("negative", -1.0)):
        weights = np.ones(len(data.y))
        weights[::3] = weight
        try:
            p = predictions_of(subject.fitted(data, weights), data.X_test)
        except ValueError:
            continue
        check_probabilities(p, f"raise ValueError for {what} weights")


def _check_equal(one: np.ndarray, other: np.ndarray, tolerance: float, what: str) -> None:
    if largest_difference(one, other) > tolerance:
        raise Failed(
            f"the same predictions, within {tolerance:.3g}, for {what}",
            difference_text(one, other),
            "use weights in every count and mean of fit",
        )


def stream_predictions_ignore_their_own_and_later_labels(subject: Subject) -> None:
    """Check that the predictions of ``predict_proba_online(X, y)`` ignore their own and later labels.

    Other labels from a row on must not change the prediction of that row or of any row before it, bit for bit.
    """
    if not getattr(subject.estimator, "online", False):
        raise DoesNotApply("it does not learn from a stream")
    subject.require_repeatable()
    for data in subject.samples():
        fitted, labels = subject.fitted(data), _labels(data)
        expected = _stream_predictions(fitted, data.X_test, labels)
        for row in range(len(labels)):
            others = np.where(np.arange(len(labels)) < row, labels, (labels + 1) % len(np.unique(data.y)))
            known, other = expected[: row + 1], _stream_predictions(fitted, data.X_test, others)[: row + 1]
            if not np.array_equal(known, other):
                raise Failed(
                    f"the same predictions of the rows up to {row} for any labels from {row} on",
                    difference_text(known, other),
                    "predict a row before you read its label or any later one",
                )


def _labels(data: Sample) -> np.ndarray:
    """Return random labels, (n_test,)."""
    return np.random.default_rng(3).choice(np.unique(data.y), len(data.X_test))


def _stream_predictions(fitted: Any, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Predict a stream with a copy, so that the state after one stream cannot affect another."""
    return np.asarray(copy.deepcopy(fitted).predict_proba_online(X, y))
