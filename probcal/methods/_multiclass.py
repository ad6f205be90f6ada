"""More than two classes out of two-class estimates: one class against the rest.

More than two classes out of two-class estimates: each pair of classes by itself, and the pairs coupled.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from typing import Literal

import numpy as np

from probcal.methods._base import normalised, one_against_rest

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


def each_pair(labels: np.ndarray, classes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(row numbers, the two classes) of every pair of ``classes``: first and second, first and third, ..."""
    return [
        (np.flatnonzero((labels == one) | (labels == other)), np.array([one, other]))
        for one, other in combinations(classes, 2)
    ]


@contextmanager
def naming_the_pair(classes: np.ndarray) -> Iterator[None]:
    """An error within tells the two ``classes``: a ValueError in its message, any other in a note."""
    one, other = classes.tolist()
    try:
        yield
    except ValueError as error:
        raise ValueError(f"of the classes {one!r} and {other!r}: {error}") from error
    except Exception as error:  # of a kind that may not be made of a message alone
        error.add_note(f"in the pair of classes {one!r} and {other!r}")
        raise


def coupled(estimates: list[np.ndarray], n_classes: int) -> np.ndarray:
    """(n_rows, n_classes) probabilities from the (n_rows,) estimates of each pair, in the order of ``each_pair``.

    Wu, Lin & Weng (2004), the second approach, which LIBSVM takes: with r_ij the estimate that a row is of class i,
    given that it is of i or j, the p that minimise

        sum over i of sum over j != i of (r_ji p_i - r_ij p_j)^2   under   sum of p = 1, p >= 0.

    Where such p agree with every pair, r_ij = p_i / (p_i + p_j), they are found. The minimum solves the linear system
    Q p + b e = 0, e'p = 1 with Q_ii = sum over s != i of r_si^2, Q_ij = -r_ji r_ij, and its p are not negative.
    ``estimates`` are of the second class of each pair (r_ji for i < j) and lie strictly within (0, 1), or the system
    may have no single solution.
    """
    n_rows = len(estimates[0])
    r = np.zeros((n_rows, n_classes, n_classes))
    for (i, j), of_second in zip(combinations(range(n_classes), 2), estimates, strict=True):
        r[:, j, i], r[:, i, j] = of_second, 1 - of_second
    system = np.ones((n_rows, n_classes + 1, n_classes + 1))
    system[:, :-1, :-1] = -r * r.transpose(0, 2, 1)
    places = np.arange(n_classes)
    system[:, places, places] = (r**2).sum(axis=1)
    system[:, -1, -1] = 0.0
    wanted = np.zeros((n_rows, n_classes + 1, 1))
    wanted[:, -1] = 1.0
    p = np.linalg.solve(system, wanted)[:, :-1, 0]
    p = np.maximum(p, 0.0)  # below by rounding only
    return p / p.sum(axis=1, keepdims=True)
