"""A model of what Probing costs, fitted to some of the runs.

For each learner and way the seconds of n rows and k probes are

    c0 + c1 n + c2 k + c3 n k + c4 n^2 k        (of trees n log2 n in place of n)

with coefficients that are not negative and make the squares of the relative errors least. The last term is of what
grows faster than the rows: memory that no longer fits a cache, and probes that are fitted the slow way, of which there
are the more the more rows lie near a line between the classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from growth import AT_PROBES, Measurement
from scipy.optimize import nnls

ROWS, PROBES = (10_000, 100_000, 1_000_000), (10, 50, 400)
"""Runs with so many rows and 100 probes, and with so many probes, are what the model is fitted to."""
TERMS = ("1", "n", "k", "n k", "n^2 k")


@dataclass(frozen=True)
class Model:
    """``coefficients``: (5,) seconds of each of ``TERMS``."""

    learner: str
    way: str
    coefficients: np.ndarray

    def seconds(self, rows: np.ndarray | float, probes: np.ndarray | float) -> np.ndarray:
        return terms(self.learner, rows, probes) @ self.coefficients

    def error(self, measured: Measurement) -> float:
        """How much more than measured the model says, as a share."""
        return float(self.seconds(measured.rows, measured.probes) / measured.cpu - 1)


def terms(learner: str, rows: np.ndarray | float, probes: np.ndarray | float) -> np.ndarray:
    """(..., 5): what the coefficients are of."""
    rows, probes = np.broadcast_arrays(np.asarray(rows, float), np.asarray(probes, float))
    work = rows * np.log2(rows) if learner == "c45" else rows
    return np.stack([np.ones_like(work), work, probes, work * probes, work**2 * probes], axis=-1)


def fitted(measured: Iterable[Measurement]) -> Model:
    known = [one for one in measured if is_known(one)]
    seconds = np.array([one.cpu for one in known])
    found = terms(known[0].learner, *np.array([(one.rows, one.probes) for one in known], float).T)
    scale = found.max(axis=0)  # n^2 k is too large a number beside 1
    shares = nnls(found / scale / seconds[:, None], np.ones(len(known)))[0]
    return Model(known[0].learner, known[0].way, shares / scale)


def is_known(one: Measurement) -> bool:
    """Whether the model is fitted to it; the others it predicts."""
    return one.probes in PROBES or (one.probes == AT_PROBES and one.rows in ROWS)
