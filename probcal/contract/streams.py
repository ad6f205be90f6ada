"""What a component promises that learns from the labels of a stream. For those with a true attribute ``online``."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from probcal.contract.samples import Sample
from probcal.contract.subject import Subject, how_they_differ
from probcal.contract.verdict import DoesNotApply, Failed


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
