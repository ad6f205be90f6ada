"""More than two classes out of two-class estimates: one class against the rest."""

from __future__ import annotations

from typing import Literal

import numpy as np

from probcal.methods.probabilities import normalised, one_against_rest

Multiclass = Literal["difference", "normalised"]

ZERO_ONE = np.array([0, 1])
"""The classes of a problem of one class against the rest."""


def against_the_rest(
    labels: np.ndarray, classes: np.ndarray, multiclass: Multiclass
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The (labels, classes) of each two-class problem: one for two classes, k - 1 or k for k of them.

    With two classes the labels stay as they are; with more, 1 marks the class in question.
    """
    if len(classes) == 2:
        return [(labels, classes)]
    alone = classes[:-1] if multiclass == "difference" else classes
    return [((labels == one).astype(np.int64), ZERO_ONE) for one in alone]


def joined(estimates: list[np.ndarray], multiclass: Multiclass, clip: tuple[float, float]) -> np.ndarray:
    """(n_rows, n_classes) probabilities from the (n_rows,) estimates of each problem, clipped to ``clip``.

    ``"difference"``: the last class gets what the others leave, 1 - sum (section 3, "Multiclass Case"). The
    paper is silent on a sum above 1: the last class then gets the lower end of ``clip``, and the row is
    divided by its sum. ``"normalised"``: each row is divided by its sum.
    """
    columns = np.clip(np.column_stack(estimates), *clip)
    if columns.shape[1] == 1 or multiclass == "normalised":
        return one_against_rest(list(columns.T))
    last = 1 - columns.sum(axis=1, keepdims=True)
    return normalised(np.hstack([columns, np.maximum(last, clip[0])]))
