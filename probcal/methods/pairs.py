"""More than two classes out of two-class estimates: each pair of classes by itself, and the pairs coupled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations

import numpy as np


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
