"""A model of what Probing costs, fitted to small runs.

For each learner and way the seconds of n rows and k probes are

    c0 + c1 n + c2 k + c3 n k        (of trees n log2 n in place of n)

with coefficients that are not negative and make the squares of the relative errors least.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from growth import Measurement
from scipy.optimize import nnls

MOST_ROWS, MOST_PROBES = 100_000, 100
TERMS = ("1", "n", "k", "n k")


@dataclass(frozen=True)
class Model:
    """``coefficients``: (4,) seconds of each of ``TERMS``."""

    learner: str
    way: str
    coefficients: np.ndarray

    def seconds(self, rows: np.ndarray | float, probes: np.ndarray | float) -> np.ndarray:
        return terms(self.learner, rows, probes) @ self.coefficients

    def error(self, measured: Measurement) -> float:
        """How much more than measured the model says, as a share."""
        return float(self.seconds(measured.rows, measured.probes) / measured.cpu - 1)


def terms(learner: str, rows: np.ndarray | float, probes: np.ndarray | float) -> np.ndarray:
    """(..., 4): what the coefficients are of."""
    rows, probes = np.broadcast_arrays(np.asarray(rows, float), np.asarray(probes, float))
    work = rows * np.log2(rows) if learner == "tree" else rows
    return np.stack([np.ones_like(work), work, probes, work * probes], axis=-1)


def fitted(measured: Iterable[Measurement]) -> Model:
    small = [one for one in measured if is_small(one)]
    seconds = np.array([one.cpu for one in small])
    found = terms(small[0].learner, *np.array([(one.rows, one.probes) for one in small], float).T)
    return Model(small[0].learner, small[0].way, nnls(found / seconds[:, None], np.ones(len(small)))[0])


def is_small(one: Measurement) -> bool:
    return one.rows <= MOST_ROWS and one.probes <= MOST_PROBES
