"""Split a problem of several classes into two-class problems, and combine their probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from typing import Literal

import numpy as np

from probcal._learner_output import normalised_rows

Multiclass = Literal["difference", "normalised"]

ZERO_ONE = np.array([0, 1])
"""The classes of a one-against-rest problem."""


def one_against_rest_problems(
    labels: np.ndarray, classes: np.ndarray, multiclass: Multiclass | str
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the (labels, classes) of each two-class problem.

    Two classes make one problem, with the labels unchanged. k classes make k - 1 problems for ``"difference"`` and k
    for ``"normalised"``. There the label 1 marks the class in question.
    """
    if len(classes) == 2:
        return [(labels, classes)]
    separate = classes[:-1] if multiclass == "difference" else classes
    return [((labels == one).astype(np.int64), ZERO_ONE) for one in separate]


def two_columns(p: np.ndarray) -> np.ndarray:
    """Return (n_rows, 2) probabilities from the (n_rows,) probabilities of the second class."""
    columns = np.empty((len(p), 2))  # column_stack takes three times as long for one row
    columns[:, 0], columns[:, 1] = 1 - p, p
    return columns


def combine_classes(probabilities: list[np.ndarray]) -> np.ndarray:
    """Return (n_rows, n_classes) probabilities from the (n_rows,) probabilities of each class against the rest.

    A single array belongs to the second of two classes. Several arrays are normalised.
    """
    return two_columns(probabilities[0]) if len(probabilities) == 1 else normalised_rows(np.column_stack(probabilities))


def clipped_rows(probabilities: np.ndarray, clip: tuple[float, float]) -> np.ndarray:
    """Return the probabilities clipped to a range. With more than two classes each row is then divided by its sum."""
    if tuple(clip) == (0, 1):
        return probabilities
    # a row inside the range keeps both columns, because 1 - p would lose the digits of a small one
    if probabilities.shape[1] == 2:
        p = probabilities[:, 1]
        inside = (p >= clip[0]) & (p <= clip[1])
        return np.where(inside[:, None], probabilities, two_columns(np.clip(p, *clip)))
    return normalised_rows(np.clip(probabilities, *clip))


def combine_problems(
    probabilities: list[np.ndarray], multiclass: Multiclass | str, clip: tuple[float, float]
) -> np.ndarray:
    """Return (n_rows, n_classes) probabilities from the (n_rows,) probabilities of each problem, clipped to ``clip``.

    ``"difference"``: the last class gets 1 - sum of the others (section 3, "Multiclass Case"). The paper does not treat
    a sum above 1. The last class then gets the lower end of ``clip``, and the row is divided by its sum.

    ``"normalised"``: each row is divided by its sum.
    """
    # Clip before the division: a class that no probe voted for keeps a probability above 0.
    columns = np.clip(np.column_stack(probabilities), *clip)
    if columns.shape[1] == 1 or multiclass == "normalised":
        return combine_classes(list(columns.T))
    last = 1 - columns.sum(axis=1, keepdims=True)
    return normalised_rows(np.hstack([columns, np.maximum(last, clip[0])]))


def class_pairs(labels: np.ndarray, classes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (row numbers, two classes) for each pair of ``classes``.

    The order is first and second, first and third, ...
    """
    return [
        (np.flatnonzero((labels == one) | (labels == other)), np.array([one, other]))
        for one, other in combinations(classes, 2)
    ]


@contextmanager
def pair_in_errors(classes: np.ndarray) -> Iterator[None]:
    """Name the two ``classes`` in every error raised inside the block.

    A ValueError names them in its message, other errors in a note.
    """
    one, other = classes.tolist()
    try:
        yield
    except ValueError as error:
        raise ValueError(f"in the pair of classes {one!r} and {other!r}: {error}") from error
    except Exception as error:  # other errors may not accept a message alone
        error.add_note(f"in the pair of classes {one!r} and {other!r}")
        raise


def couple_pairs(probabilities: list[np.ndarray], n_classes: int) -> np.ndarray:
    """Return (n_rows, n_classes) probabilities from the (n_rows,) probabilities of each pair.

    This is the second approach of Wu, Lin & Weng (2004), which LIBSVM uses. Let r_ij be the predicted probability of
    class i for a row of class i or j. The result is the p that minimise

        sum over i of sum over j != i of (r_ji p_i - r_ij p_j)^2   under   sum of p = 1, p >= 0.

    If some p agree with every pair, r_ij = p_i / (p_i + p_j), the result is these p. The minimum solves the linear
    system Q p + b e = 0, e'p = 1 with Q_ii = sum over s != i of r_si^2 and Q_ij = -r_ji r_ij. Its p are not negative.

    ``probabilities`` come in the order of ``class_pairs`` and belong to the second class of each pair (r_ji for i < j).
    They must lie strictly within (0, 1), because otherwise the system may have no unique solution.
    """
    n_rows = len(probabilities[0])
    r = np.zeros((n_rows, n_classes, n_classes))
    for (i, j), of_second in zip(combinations(range(n_classes), 2), probabilities, strict=True):
        r[:, j, i], r[:, i, j] = of_second, 1 - of_second
    # The last row and column hold e, the multiplier b of the sum, so one call solves the systems of all rows.
    system = np.ones((n_rows, n_classes + 1, n_classes + 1))
    system[:, :-1, :-1] = -r * r.transpose(0, 2, 1)
    places = np.arange(n_classes)
    system[:, places, places] = (r**2).sum(axis=1)
    system[:, -1, -1] = 0.0
    wanted = np.zeros((n_rows, n_classes + 1, 1))
    wanted[:, -1] = 1.0
    p = np.linalg.solve(system, wanted)[:, :-1, 0]
    p = np.maximum(p, 0.0)  # negative only by rounding
    normalised: np.ndarray = p / p.sum(axis=1, keepdims=True)
    return normalised
